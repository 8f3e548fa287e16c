# SPDX-License-Identifier: Apache-2.0
"""mean and sum over axes: height and width as a pooling, others as sums."""

from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Mean(nn.Module):
    def __init__(self, dim, keepdim=False):
        super().__init__()
        self.dim, self.keepdim = dim, keepdim

    def forward(self, x):
        return x.mean(self.dim, self.keepdim)


class Sum(nn.Module):
    def __init__(self, dim, keepdim=False):
        super().__init__()
        self.dim, self.keepdim = dim, keepdim

    def forward(self, x):
        return x.sum(self.dim, self.keepdim)


class MeanOfAll(nn.Module):
    def forward(self, x):
        return x.mean()


class SumOfAll(nn.Module):
    def forward(self, x):
        return x.sum()


FLOAT = ("MI",)  # Arm's quantiser breaks a mean into sum and mul, which have rows of their own

op_suite(
    "mean",
    Mean,
    cases={
        "spatial": Case(((2, 4, 5, 6),), ((2, 3),), kinds=FLOAT),
        "spatial_keepdim": Case(((1, 4, 5, 6),), ((-1, -2), True), kinds=FLOAT),
        "last": Case(((3, 7),), (-1,), kinds=FLOAT),
        "first_of_three": Case(((3, 2, 7),), (0, True), kinds=FLOAT),
        "channels": Case(((1, 8, 3, 3),), ((1,),), kinds=FLOAT),
    },
)
op_suite(
    "sum",
    Sum,
    cases={
        "": Case(((1, 4, 5, 6),), ((2, 3), True)),
        "last": Case(((3, 7),), (-1,)),
    },
)
op_suite("mean_of_all", MeanOfAll, cases={"": Case(((2, 4, 5, 6),), kinds=FLOAT)})
op_suite("sum_of_all", SumOfAll, cases={"": Case(((2, 4, 5, 6),), kinds=FLOAT)})

A, W, SHAPE = q8(0.05, -10), q16(3e-4), ((2, 4, 5, 6),)
for name, factory, result, wide in (
    ("mean", Mean, q8(0.04, -5), q16(2e-4)),
    ("sum", Sum, q8(0.3, -5), q16(2e-3)),
):
    code_suite(
        name,
        factory,
        {
            "": CodeCase((A,), result, SHAPE, (-1,)),
            "apart": CodeCase((A,), result, SHAPE, ((1, 3), True)),
            "batch": CodeCase((A,), result, SHAPE, (0,)),
            "int16": CodeCase((W,), wide, SHAPE, ((1, 2),)),
        },
    )
# ET#16779: more elements than the 65536 that a pooling of Ethos-U55 may have.
LARGE = CodeCase((A,), q8(0.004), ((1, 256, 400),), ((1, 2), True))
code_suite("mean_of_many", Mean, {"": LARGE})
code_suite("mean_of_all", MeanOfAll, {"": CodeCase((A,), q8(0.005), SHAPE, kinds=("BI",))})
