# SPDX-License-Identifier: Apache-2.0
"""eq, ne, lt, le, gt, ge of tensors and of numbers, whose result chooses between values. Ethos-U55
has no bool."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


class Choose(nn.Module):
    """x where the comparison of x and y holds, else y."""

    def __init__(self, name):
        super().__init__()
        self.compare = getattr(torch, name)

    def forward(self, x, y):
        return torch.where(self.compare(x, y), x, y)


class ChooseRounded(nn.Module):
    """Values that are often equal."""

    def __init__(self, name):
        super().__init__()
        self.compare = getattr(torch, name)

    def forward(self, x, y):
        return torch.where(self.compare(torch.sign(x), torch.sign(y)), x, y)


class Against(nn.Module):
    """x where it compares with a number, else its half."""

    def __init__(self, name, number):
        super().__init__()
        self.compare, self.number = getattr(torch, name), number

    def forward(self, x):
        return torch.where(self.compare(x, self.number), x, x * 0 + 1)


class Bools(nn.Module):
    """Equality of truth values."""

    def __init__(self, name):
        super().__init__()
        self.compare = getattr(torch, name)

    def forward(self, x, y):
        return torch.where(self.compare(x > 0, y > 0), x, y)


class InPlace(nn.Module):
    """The in-place form gives 0 and 1 in the dtype of its operand."""

    def forward(self, x, y):
        z = x * 1
        z.gt_(y)
        return z + x


A, B = q8(0.05, -10), q8(0.03, 30)
SAME = ((1, 4, 5, 6), (1, 4, 5, 6))
PAIR = ((1, 4, 5, 6), (4, 1, 6))
TARGETS = ("BI", "u85")
for name in COMPARISONS:
    op_suite(
        name,
        Choose,
        cases={
            "": Case(SAME, (name,), kinds=("MI",) if name == "ne" else ("MI", *TARGETS)),
            "broadcast": Case(PAIR, (name,), kinds=("MI",)),
            "rank1": Case(((20,), (20,)), (name,), kinds=("MI",)),
        },
    )
    op_suite(f"{name}_rounded", ChooseRounded, cases={"": Case(SAME, (name,), kinds=("MI",))})
    op_suite(
        f"{name}_number",
        Against,
        cases={
            "": Case(((1, 4, 5, 6),), (name, 0.25), kinds=("MI",)),
            "integer": Case(((20,),), (name, 1), kinds=("MI",)),
        },
    )
    code_suite(
        name,
        Choose,
        {
            "": CodeCase((A, A), A, (((4, 300), (4, 300))), (name,), TARGETS, steps=0),
            "int16": CodeCase((q16(2e-4), q16(2e-4)), q16(2e-4), PAIR, (name,), TARGETS, steps=0),
        },
    )
for name in ("eq", "ne"):
    op_suite(f"{name}_bool", Bools, cases={"": Case(SAME, (name,), kinds=("MI",))})
op_suite("gt_in_place", InPlace, cases={"": Case(SAME, kinds=("MI",))})


class AgainstCodes(nn.Module):
    """x where it compares with a number, else a constant; every operand quantised alike."""

    def __init__(self, name, number):
        super().__init__()
        self.compare, self.number = getattr(torch, name), number

    def forward(self, x):
        return torch.where(self.compare(x, self.number), x, -0.5)


# On a step, between two, and outside of the values.
for name in COMPARISONS:
    code_suite(
        f"{name}_number",
        AgainstCodes,
        {
            label: CodeCase((A,), A, args=(name, number), kinds=TARGETS, steps=0)
            for label, number in (
                ("step", 1.0),
                ("between", 0.26),
                ("above", 100.0),
                ("below", -100.0),
            )
        },
    )
for name in ("lt", "ge"):
    code_suite(
        name,
        Choose,
        {"other_scales": CodeCase((A, B), q8(0.06, 5), PAIR, (name,), TARGETS)},
    )
