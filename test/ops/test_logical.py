# SPDX-License-Identifier: Apache-2.0
"""logical_and, or, xor and not, and the operators & | ^ ~ on bool. Ethos-U55 has no bool."""

import operator

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8
from ..tester.suite import Case, op_suite


class Choose(nn.Module):
    """x where the operation on two truth values holds, else y."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, y):
        return torch.where(self.function(x > 0.1, y > -0.1), x, y)


class ChooseNumbers(Choose):
    """Numbers as truth values."""

    def forward(self, x, y):
        return torch.where(self.function(torch.sign(x - y) + 1, y > 0), x, y)


class Not(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return torch.where(self.function(x > 0), x, -0.5)


PAIR = ((1, 4, 5, 6), (4, 1, 6))
GIVEN = q8(0.05, -10)
FUNCTIONS = {
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
    "logical_xor": torch.logical_xor,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
}
for name, function in FUNCTIONS.items():
    op_suite(name, Choose, cases={"": Case(PAIR, (function,), kinds=("MI",))})
    if name.startswith("logical"):
        op_suite(f"{name}_numbers", ChooseNumbers, cases={"": Case(PAIR, (function,), kinds=("MI",))})
    case = CodeCase((GIVEN, GIVEN), GIVEN, PAIR, (function,), ("BI", "u85"), steps=0)
    code_suite(name, Choose, {"": case})
for name, function in (("logical_not", torch.logical_not), ("bitwise_not", operator.invert)):
    op_suite(name, Not, cases={"": Case(((1, 4, 5, 6),), (function,), kinds=("MI",))})
    case = CodeCase((GIVEN,), GIVEN, None, (function,), ("BI", "u85"), steps=0)
    code_suite(name, Not, {"": case})
