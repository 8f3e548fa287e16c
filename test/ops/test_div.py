# SPDX-License-Identifier: Apache-2.0
"""div, floor_divide, remainder and fmod: of tensors, constants and numbers, also where the quotient
is a whole number or the operands are negative."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from ..tester.checks import check_integer
from ..tester.codes import CodeCase, code_suite, export, q8, q16
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
PAIR_OF_CODES = ((2, 4, 40), (4, 1))


def above(params, low):
    """The same with codes from `low` on."""
    return dataclasses.replace(params, low=low)


def below(params, high):
    return dataclasses.replace(params, high=high)


code_suite(
    "div",
    lambda: torch.div,
    {
        "": CodeCase((q8(1 / 32, 5), above(q8(1 / 64, -128), -100)), q8(1 / 16, -3), PAIR_OF_CODES),
        "negative": CodeCase((q8(1 / 32, 5), below(q8(1 / 64, 90), 70)), q8(1 / 16), PAIR_OF_CODES),
        "near_0": CodeCase((q8(1 / 32, 5), above(q8(1 / 64, -128), -127)), q8(1 / 16), PAIR_OF_CODES),
        "share": CodeCase((q8(0.001, -128), above(q8(0.5, -128), 0)), q8(2e-5, -128), PAIR_OF_CODES),
        "broadcast": CodeCase((q8(1 / 32), above(q8(1 / 8, -100), -90)), q8(0.5), ((4, 1), (2, 4, 5))),
        "limits": CodeCase((q8(1 / 32), above(q8(1 / 8), 9)), q8(0.02, 0, -100, 90), PAIR_OF_CODES),
        "int16": CodeCase((q16(2e-4), above(q16(1e-4), 2000)), q16(1e-3), PAIR_OF_CODES, steps=2),
        "int16_negative": CodeCase((q16(2e-4), below(q16(1e-4), -9)), q16(1e-2), PAIR_OF_CODES, steps=2),
        "int16_near_0": CodeCase((q16(2e-4), above(q16(1e-4), 1)), q16(1.0), PAIR_OF_CODES, steps=2),
        "int16_share": CodeCase(
            (above(q16(2e-4), 0), above(q16(2e-4), 30000)), q16(1 / 32767), PAIR_OF_CODES, steps=2
        ),
        "int16_fine": CodeCase(
            (above(below(q16(2e-4), 99), 0), above(q16(2e-4), 30)), q16(1e-4), PAIR_OF_CODES, steps=2
        ),
    },
)


@pytest.mark.INT
@pytest.mark.parametrize("params", (q8(1 / 16, 3), q16(1e-3)), ids=("int8", "int16"))
def test_a_divisor_of_0_is_half_a_step(workspace, params):
    """Which it may have been; PyTorch's quotient of the codes is infinite, or no number."""
    case = CodeCase((params, params), params, ((8,), (8,)))
    scratch = workspace.scratch("codes", "div_by_0", str(params.dtype))
    program = export(case, lambda: torch.div, scratch / "program.pt2")
    program.inputs = [[x, np.zeros_like(y)] for x, y in program.inputs]
    quotients = [x / np.float32(params.scale / 2) for x, _ in program.inputs]
    program.outputs = [[params.values(params.codes(quotient))] for quotient in quotients]
    check_integer(program, scratch, steps=0, samples=len(program.inputs))


class ByConstant(nn.Module):
    """By constants of both signs, the greatest and least a thousand times apart."""

    def __init__(self):
        super().__init__()
        self.constant = nn.Buffer(torch.tensor([[0.02], [-3.0], [20.0], [0.7]]))

    def forward(self, x):
        return x / self.constant


code_suite(
    "div_constants",
    ByConstant,
    {
        "": CodeCase((GIVEN,), q8(0.5, 5), ((2, 4, 6),)),
        "fine": CodeCase((GIVEN,), q8(0.01, 5), ((2, 4, 6),)),
        "int16": CodeCase((q16(2e-4),), q16(1e-2), ((2, 4, 6),), steps=2),
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
