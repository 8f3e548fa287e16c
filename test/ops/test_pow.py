# SPDX-License-Identifier: Apache-2.0
"""pow with a number as exponent or as base, and sqrt, also of 0."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8
from ..tester.function import Function
from ..tester.suite import Case, op_suite


class Pow(nn.Module):
    def __init__(self, exponent, positive=False):
        super().__init__()
        self.exponent, self.positive = exponent, positive

    def forward(self, x):
        return torch.pow(x.abs() + 0.1 if self.positive else x, self.exponent)


class PowOf(nn.Module):
    def __init__(self, base):
        super().__init__()
        self.base = base

    def forward(self, x):
        return torch.pow(self.base, x)


class Sqrt(nn.Module):
    """Half of the values are 0."""

    def forward(self, x):
        return torch.sqrt(torch.relu(x))


class SqrtInPlace(nn.Module):
    def forward(self, x):
        y = x.abs()
        return y.sqrt_()


ONE = ((1, 4, 5, 6),)
op_suite(
    "pow",
    Pow,
    cases={
        str(exponent).replace("-", "minus_"): Case(ONE, (exponent,), kinds=("MI",))
        for exponent in (0, 1, 2, 3, 7, 10)
    },
)
op_suite(
    "pow_positive",
    Pow,
    cases={
        "half": Case(ONE, (0.5, True), kinds=("MI",)),
        "minus_half": Case(ONE, (-0.5, True), kinds=("MI",)),
        "minus_1": Case(ONE, (-1, True), kinds=("MI",)),
        "minus_3": Case(ONE, (-3.0, True), kinds=("MI",)),
    },
)
op_suite("pow_of_number", PowOf, cases={"": Case(ONE, (2.5,), kinds=("MI",))})
op_suite("sqrt", Sqrt, cases={"": Case(ONE, kinds=("MI",))})
op_suite("sqrt_in_place", SqrtInPlace, cases={"": Case(ONE, kinds=("MI",))})

GIVEN, POSITIVE = q8(0.05, -10), q8(1 / 32, -128)
code_suite(
    "pow",
    Pow,
    {
        "2": CodeCase((GIVEN,), q8(0.2, -128), args=(2,), steps=0),
        "3": CodeCase((GIVEN,), q8(1.0, -5), args=(3,)),
        "third": CodeCase((POSITIVE,), q8(1 / 64, -128), args=(1 / 3,)),
        "minus_2": CodeCase((POSITIVE,), q8(0.1, -128), args=(-2,)),
    },
)
code_suite("pow_of_number", PowOf, {"": CodeCase((GIVEN,), q8(0.2, -128), args=(2.5,))})
code_suite("sqrt", lambda: torch.sqrt, {"": CodeCase((POSITIVE,), q8(1 / 64, -128), steps=0)})
op_suite(
    "pow_operands",
    Function,
    cases={
        "fraction": Case(ONE, (lambda x: (x.abs() + 0.1) ** 1.7,), kinds=("MI", "core")),
        "large": Case(ONE, (lambda x: x**20,), kinds=("MI",)),
        "minus_fraction": Case(ONE, (lambda x: (x.abs() + 0.5) ** -0.3,), kinds=("MI",)),
        "tensors": Case(((4, 6), (6,)), (lambda x, y: (x.abs() + 0.1) ** y,), kinds=("MI",)),
        "whole": Case(((4, 6),), (lambda x: x ** torch.tensor([0.0, 1, 2, 3, -1, -2]),), kinds=("MI",)),
        "in_place": Case(ONE, (lambda x: (x + 1).pow_(2),), kinds=("MI", "BI")),
        "in_place_tensor": Case(
            ((4, 6), (6,)), (lambda x, y: (x.abs() + 0.1).pow_(y),), kinds=("MI",)
        ),
    },
)
