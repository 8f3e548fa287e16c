# SPDX-License-Identifier: Apache-2.0
"""where and masked_fill: tensors and numbers, on float and on quantised values. Ethos-U55 has no
bool."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Where(nn.Module):
    def forward(self, x, y):
        return torch.where(x > y, x, y)


class WhereMask(nn.Module):
    """A constant mask that broadcasts."""

    def __init__(self, shape):
        super().__init__()
        self.mask = nn.Buffer(torch.rand(shape) > 0.4)

    def forward(self, x, y):
        return torch.where(self.mask, x, y)


class WhereNumber(nn.Module):
    """A number on either side."""

    def __init__(self, number, first=False):
        super().__init__()
        self.number, self.first = number, first

    def forward(self, x):
        mask = x > 0
        if self.first:
            return torch.where(mask, self.number, x)
        return torch.where(mask, x, self.number)


class WhereNumbers(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, 1.5, -0.5) + x


class MaskedFill(nn.Module):
    def __init__(self, value, shape=(5, 6)):
        super().__init__()
        self.value = value
        self.mask = nn.Buffer(torch.rand(shape) > 0.6)

    def forward(self, x):
        return x.masked_fill(self.mask, self.value)


class MaskedFillInPlace(MaskedFill):
    def forward(self, x):
        y = x * 2
        y.masked_fill_(self.mask, self.value)
        return y


class MaskedFillTensor(MaskedFill):
    def forward(self, x):
        return x.masked_fill(self.mask, torch.tensor(self.value))


class Triangle(nn.Module):
    def __init__(self, name, diagonal=0):
        super().__init__()
        self.function, self.diagonal = getattr(torch, name), diagonal

    def forward(self, x):
        return self.function(x, self.diagonal)


ONE = ((1, 4, 5, 6),)
PAIR = ((1, 4, 5, 6), (4, 1, 6))
TARGETS = ("BI", "u85")
op_suite(
    "where",
    Where,
    cases={
        "": Case(((1, 4, 5, 6), (1, 4, 5, 6)), kinds=("MI", *TARGETS)),
        "broadcast": Case(PAIR, kinds=("MI", *TARGETS)),
    },
)
op_suite(
    "where_mask",
    WhereMask,
    cases={
        "": Case(PAIR, ((5, 6),), kinds=("MI", *TARGETS)),
        "per_channel": Case(PAIR, ((4, 1, 1),), kinds=("MI",)),
    },
)
op_suite(
    "where_number",
    WhereNumber,
    cases={
        "": Case(ONE, (-0.5,), kinds=("MI", *TARGETS)),
        "first": Case(ONE, (0.5, True), kinds=("MI",)),
    },
)
op_suite("where_numbers", WhereNumbers, cases={"": Case(ONE, kinds=("MI",))})
op_suite("masked_fill", MaskedFill, cases={"": Case(ONE, (-2.5,), kinds=("MI",))})
op_suite("masked_fill_in_place", MaskedFillInPlace, cases={"": Case(ONE, (1,), kinds=("MI",))})
op_suite("masked_fill_tensor", MaskedFillTensor, cases={"": Case(ONE, (0.5,), kinds=("MI",))})

for name in ("tril", "triu"):
    op_suite(
        name,
        Triangle,
        cases={
            "": Case(ONE, (name,), kinds=("MI",)),
            "above": Case(((5, 6),), (name, 2), kinds=("MI",)),
            "below": Case(((5, 6),), (name, -1), kinds=("MI",)),
        },
    )

A, B = q8(0.05, -10), q8(0.03, 30)
# Ethos-U55 chooses by a constant mask alone.
EVERY = (*TARGETS, "u55", "u65")
for name in ("tril", "triu"):
    case = CodeCase((A,), A, ONE, (name, 1), EVERY, steps=0)
    code_suite(name, Triangle, {"": case})
code_suite(
    "where",
    WhereMask,
    {
        "": CodeCase((A, A), A, PAIR, ((5, 6),), EVERY, steps=0),
        "other_scales": CodeCase((A, B), q8(0.06, 5), PAIR, ((5, 6),), EVERY),
        "int16": CodeCase((q16(2e-4), q16(2e-4)), q16(2e-4), PAIR, ((5, 6),), EVERY, steps=0),
    },
)
code_suite(
    "where_number",
    WhereNumber,
    {
        "": CodeCase((A,), A, args=(-0.52,), kinds=TARGETS, steps=0),
        "first": CodeCase((A,), A, args=(0.77, True), kinds=TARGETS, steps=0),
        "infinite": CodeCase((A,), A, args=(-float("inf"),), kinds=TARGETS, steps=0),
    },
)
code_suite(
    "masked_fill",
    MaskedFill,
    {
        "": CodeCase((A,), A, ONE, (1.23,), EVERY, steps=0),
        "infinite": CodeCase((A,), A, ONE, (-float("inf"),), EVERY, steps=0),
        "other_scale": CodeCase((A,), q8(0.07, 3), ONE, (-9.0,), EVERY),
    },
)
