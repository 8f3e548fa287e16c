# SPDX-License-Identifier: Apache-2.0
"""mul: broadcasting, constants, numbers."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Mul(nn.Module):
    def forward(self, a, b):
        return a * b


class MulConstant(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.constant = nn.Buffer(torch.randn(shape))

    def forward(self, x):
        return x * self.constant


class MulNumber(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return x * self.number


class SumNumbers(nn.Module):
    """Sums and differences with numbers."""

    def forward(self, x):
        return (x + 0.75) - 2


op_suite(
    "mul",
    Mul,
    cases={
        "": Case(((1, 16), (1, 16))),
        "rank4": Case(((1, 4, 5, 6), (1, 4, 5, 6))),
        "broadcast": Case(((1, 4, 5, 6), (4, 1, 6))),
    },
)
op_suite(
    "mul_constant",
    MulConstant,
    cases={"": Case(((1, 4, 5, 6),), ((1, 4, 1, 1),)), "low_rank": Case(((1, 4, 5, 6),), ((6,),))},
)
op_suite(
    "mul_number",
    MulNumber,
    cases={"": Case(((1, 4, 5, 6),), (1.5,)), "negative": Case(((1, 4, 5, 6),), (-0.25,))},
)
code_suite(
    "mul_by_0",
    lambda: lambda x: torch.ops.aten.mul.Scalar(x, 0),
    {"": CodeCase((q8(0.1, 3),), q8(0.5, -7), steps=0), "int16": CodeCase((q16(0.1),), q16(0.5), steps=0)},
)
op_suite("add_number", SumNumbers, cases={"": Case(((1, 4, 5, 6),), kinds=("MI",))})
