# SPDX-License-Identifier: Apache-2.0
"""maximum and minimum: broadcast, operands of one or of several scales."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.function import Function
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
LIMITS = ((4, 6), (6,), (4, 1))
op_suite(
    "clamp_tensor",
    Function,
    cases={
        "": Case(LIMITS, (torch.clamp,)),
        "min": Case(((4, 6), (6,)), (lambda x, low: torch.clamp(x, min=low),)),
        "max": Case(((4, 6), (6,)), (lambda x, high: torch.clamp(x, max=high),), kinds=("MI",)),
        "in_place": Case(LIMITS, (lambda x, y, z: (x + 1).clamp_(y, z),), kinds=("MI",)),
        "clamp_min": Case(((4, 6), (6,)), (torch.clamp_min,), kinds=("MI", "core")),
        "clamp_max": Case(((4, 6), (6,)), (lambda x, y: (x + 1).clamp_max_(y),), kinds=("MI",)),
        "min_number": Case(((4, 6),), (lambda x: torch.clamp_min(x, -0.3),)),
        "max_number": Case(((4, 6),), (lambda x: (x + 1).clamp_max_(0.3),), kinds=("MI", "BI")),
        "fmax": Case(((4, 6), (6,)), (torch.fmax,), kinds=("MI",)),
        "fmin": Case(
            ((4, 6), (6,)),
            (lambda x, y: torch.fmin(torch.where(x > 0, x, float("nan")), y),),
            kinds=("MI",),
        ),
    },
)
code_suite(
    "clamp_tensor",
    Function,
    {"": CodeCase((A, B, B), q8(0.06, 5), ((4, 6), (6,), (4, 1)), (torch.clamp,))},
)
