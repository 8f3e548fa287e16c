# SPDX-License-Identifier: Apache-2.0
"""amax and amin along one axis, several and all."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.function import Function
from ..tester.suite import Case, op_suite


class Amax(nn.Module):
    def __init__(self, dim=(), keepdim=False):
        super().__init__()
        self.dim, self.keepdim = dim, keepdim

    def forward(self, x):
        return torch.amax(x, self.dim, self.keepdim)


class Amin(Amax):
    def forward(self, x):
        return torch.amin(x, self.dim, self.keepdim)


SHAPE = ((1, 4, 5, 6),)
CASES = {
    "": Case(SHAPE, (-1, True)),
    "channels": Case(SHAPE, (1,)),
    "plane": Case(SHAPE, ((2, 3),)),
    "all": Case(SHAPE, kinds=("MI", "BI")),
    "rank2": Case(((4, 6),), (0, True)),
}
op_suite("amax", Amax, CASES)
op_suite("amin", Amin, CASES)

A = q8(0.05, -10)
CODES = {
    "": CodeCase((A,), A, SHAPE, (-1,), steps=0),
    "other_scale": CodeCase((A,), q8(0.04, 3), SHAPE, (-1,)),
    "int16": CodeCase((q16(2e-4),), q16(2e-4), SHAPE, (-1,), steps=0),
    "int16_all": CodeCase((q16(2e-4),), q16(2e-4), None, (0,), steps=0),
    "five_axes": CodeCase((A,), A, ((4, 4, 3, 8, 10),), (0,), steps=0),
}
code_suite("amax", Amax, CODES)
code_suite("amin", Amin, CODES)
op_suite(
    "extrema",
    Function,
    cases={
        label: Case(SHAPE, (function,), kinds=("MI", "core"))
        for label, function in {
            "max": torch.max,
            "min": torch.min,
            "max_dim": lambda x: torch.max(x, 1)[0],
            "min_dim": lambda x: torch.min(x, -1, keepdim=True).values,
            "aminmax": torch.aminmax,
            "aminmax_dim": lambda x: torch.aminmax(x, dim=2, keepdim=True),
        }.items()
    },
)
