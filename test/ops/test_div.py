# SPDX-License-Identifier: Apache-2.0
"""div, floor_divide, remainder and fmod: of tensors, constants and numbers, also where the quotient
is a whole number or the operands are negative."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Divide(nn.Module):
    """By a tensor that stays away from 0."""

    def __init__(self, function, sign=1, **options):
        super().__init__()
        self.function, self.sign, self.options = getattr(torch, function), sign, options

    def forward(self, x, y):
        return self.function(x, self.sign * (y.abs() + 0.5), **self.options)


class DivideWhole(Divide):
    """Whole numbers, whose quotients are often whole."""

    def forward(self, x, y):
        return self.function(whole(3 * x), self.sign * (whole(y.abs()) + 1), **self.options)


def whole(x):
    """Sums of signs: whole numbers from -3 to 3."""
    return torch.sign(x) + torch.sign(x - 1) + torch.sign(x + 1)


class DivideNumber(nn.Module):
    def __init__(self, function, number, **options):
        super().__init__()
        self.function, self.number, self.options = getattr(torch, function), number, options

    def forward(self, x):
        return self.function(x, self.number, **self.options)


class DivideConstant(nn.Module):
    def __init__(self):
        super().__init__()
        self.constant = nn.Buffer(torch.tensor([[[1.5]], [[-2.0]], [[0.25]], [[3.0]]]))

    def forward(self, x):
        return x / self.constant


class InPlace(nn.Module):
    def forward(self, x):
        y = x * 2
        y /= 3
        y.remainder_(0.75)
        return y.floor_divide_(0.5)


ONE = ((1, 4, 5, 6),)
PAIR = ((1, 4, 5, 6), (4, 1, 6))
FORMS = {
    "div": ("div", {}),
    "div_floor": ("div", {"rounding_mode": "floor"}),
    "div_trunc": ("div", {"rounding_mode": "trunc"}),
    "floor_divide": ("floor_divide", {}),
    "remainder": ("remainder", {}),
    "fmod": ("fmod", {}),
}
for name, (function, options) in FORMS.items():
    for sign, label in ((1, ""), (-1, "_negative")):
        arguments = {"args": (function, sign), "options": options, "kinds": ("MI",)}
        op_suite(f"{name}{label}", Divide, cases={"": Case(PAIR, **arguments)})
        op_suite(f"{name}_whole{label}", DivideWhole, cases={"": Case(PAIR, **arguments)})
    op_suite(
        f"{name}_number",
        DivideNumber,
        cases={
            "": Case(ONE, (function, 0.3), options, kinds=("MI",)),
            "negative": Case(ONE, (function, -2.0), options, kinds=("MI",)),
        },
    )
op_suite("div_constant", DivideConstant, cases={"": Case(ONE, kinds=("MI",))})
op_suite("div_in_place", InPlace, cases={"": Case(ONE, kinds=("MI",))})


class ByNumber(DivideNumber):
    """With the operators that a program without a quantiser's rewriting has."""

    def __init__(self, operator, number, *arguments):
        nn.Module.__init__(self)
        self.operator, self.number, self.arguments = operator, number, arguments

    def forward(self, x):
        if self.arguments:
            return self.operator(x, self.number, rounding_mode=self.arguments[0])
        return self.operator(x, self.number)


ATEN = torch.ops.aten
GIVEN, WIDE = q8(0.0625, -8), q8(0.5, 3)
code_suite(
    "div_number",
    ByNumber,
    {
        "": CodeCase((GIVEN,), q8(0.05, 5), args=(ATEN.div.Scalar, 1.5)),
        "negative": CodeCase((GIVEN,), q8(0.05, 5), args=(ATEN.div.Scalar, -1.5)),
        "floor": CodeCase((GIVEN,), WIDE, args=(ATEN.div.Scalar_mode, 1.5, "floor"), steps=0),
        "trunc": CodeCase((GIVEN,), WIDE, args=(ATEN.div.Scalar_mode, -1.5, "trunc"), steps=0),
        "int16": CodeCase((q16(2e-4),), q16(2e-4), args=(ATEN.div.Scalar, 1.5)),
    },
)
code_suite(
    "floor_divide_number",
    ByNumber,
    {"": CodeCase((GIVEN,), WIDE, args=(ATEN.floor_divide.Scalar, 0.75), steps=0)},
)
# 7 and -7 are among the values; the rest has the sign of the divisor.
code_suite(
    "remainder_number",
    ByNumber,
    {
        "": CodeCase((GIVEN,), q8(1 / 32, -20), args=(ATEN.remainder.Scalar, 3.0), steps=0),
        "negative": CodeCase((GIVEN,), q8(1 / 32, 20), args=(ATEN.remainder.Scalar, -3.0), steps=0),
    },
)
code_suite(
    "fmod_number",
    ByNumber,
    {"": CodeCase((GIVEN,), q8(1 / 32, 5), args=(ATEN.fmod.Scalar, 3.0), steps=0)},
)
