# SPDX-License-Identifier: Apache-2.0
"""maximum and minimum: broadcast, operands of one or of several scales."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Binary(nn.Module):
    """A function of two tensors."""

    def __init__(self, name):
        super().__init__()
        self.function = getattr(torch, name)

    def forward(self, x, y):
        return self.function(x, y)


A, B = q8(0.05, -10), q8(0.02, 30)
PAIR = ((1, 4, 5, 6), (4, 1, 6))
for name in ("maximum", "minimum"):
    op_suite(
        name,
        Binary,
        cases={
            "": Case(((1, 4, 5, 6), (1, 4, 5, 6)), (name,)),
            "rank1": Case(((20,), (20,)), (name,)),
            "broadcast": Case(PAIR, (name,)),
            "other_name": Case(PAIR, (name[:3],)),
        },
    )
    code_suite(
        name,
        Binary,
        {
            "same_scale": CodeCase((A, A), A, ((1, 64), (1, 64)), (name,), steps=0),
            "other_scales": CodeCase((A, B), q8(0.06, 5), PAIR, (name,)),
            "saturated": CodeCase((A, B), q8(0.01, 5, low=-100, high=90), PAIR, (name,)),
            "int16": CodeCase((q16(2e-4), q16(3e-4)), q16(3e-4), PAIR, (name,)),
        },
    )
