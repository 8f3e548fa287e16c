# SPDX-License-Identifier: Apache-2.0
"""softplus: EXP and LOG in float, tables on quantised values; small results, and thresholds at
which the function jumps."""

from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Scaled(nn.Module):
    """Of x * factor + offset."""

    def __init__(self, factor, offset):
        super().__init__()
        self.factor, self.offset = factor, offset

    def forward(self, x):
        return nn.functional.softplus(x * self.factor + self.offset)


SHAPES = ((1, 4, 6, 6),)
op_suite(
    "softplus",
    nn.Softplus,
    cases={
        "": Case(SHAPES),
        "beta": Case(SHAPES, (3.0,)),
        "negative_beta": Case(SHAPES, (-0.5,)),
        "jump": Case(SHAPES, (2.0, 1.0)),
        "everywhere_above": Case(SHAPES, (1.0, -100.0), kinds=("MI",)),
        "nowhere_above": Case(SHAPES, (1.0, float("inf")), kinds=("MI",)),
        "rank1": Case(((20,),), (2,), kinds=("MI", "BI")),
        "batch": Case(((2, 3, 20),)),
    },
)
op_suite(
    "softplus_scaled",
    Scaled,
    cases={
        "small": Case(SHAPES, (1.0, -14.0), kinds=("MI",)),  # where 1 + exp(x) keeps little of x
        "smallest": Case(SHAPES, (1.0, -40.0), kinds=("MI",)),  # ... and nothing
        "large": Case(SHAPES, (100.0, 0.0), kinds=("MI",)),  # where exp(x) overflows
    },
)

GIVEN, RESULT = q8(0.05, -10), q8(0.03, -128)
WIDE = q16(8 / 32768)
code_suite(
    "softplus",
    nn.Softplus,
    {
        "": CodeCase((GIVEN,), RESULT, steps=0),
        "beta": CodeCase((GIVEN,), RESULT, args=(3.0,), steps=0),
        "negative_beta": CodeCase((GIVEN,), q8(0.05, 100), args=(-0.5,), steps=0),
        "jump": CodeCase((GIVEN,), RESULT, args=(2.0, 1.0), steps=0),
        "int16": CodeCase((WIDE,), WIDE, steps=4, kinds=("BI", "u85")),
    },
)
