# SPDX-License-Identifier: Apache-2.0
"""rsub: numbers and tensors less a value."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Rsub(nn.Module):
    def forward(self, x, y):
        return torch.rsub(x, y, alpha=2)


class NumberLess(nn.Module):
    def __init__(self, number, alpha=1):
        super().__init__()
        self.number, self.alpha = number, alpha

    def forward(self, x):
        return torch.rsub(x, self.number, alpha=self.alpha)


PAIR = ((1, 4, 5, 6), (4, 1, 6))
op_suite("rsub", Rsub, cases={"": Case(PAIR, kinds=("MI",))})
op_suite(
    "rsub_number",
    NumberLess,
    cases={
        "": Case(((1, 4, 5, 6),), (1.5,)),
        "alpha": Case(((1, 4, 5, 6),), (-0.5, 3), kinds=("MI",)),
        "integer": Case(((20,),), (1,), kinds=("MI",)),
    },
)
GIVEN = q8(0.05, -10)
code_suite("rsub", Rsub, {"": CodeCase((GIVEN, q8(0.03, 4)), q8(0.1, 5), PAIR)})
code_suite(
    "rsub_number",
    NumberLess,
    {
        "": CodeCase((GIVEN,), q8(0.05, 20), args=(1.5,)),
        "negative": CodeCase((GIVEN,), q8(0.06, 20), args=(-1.5,)),
        "zero": CodeCase((GIVEN,), q8(0.05, 20), args=(0.0,)),
        "alpha": CodeCase((GIVEN,), q8(0.1, 20), args=(1.5, 2)),
        "int16": CodeCase((q16(2e-4),), q16(2e-4), args=(1.5,)),
    },
)
