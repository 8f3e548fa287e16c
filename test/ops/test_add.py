# SPDX-License-Identifier: Apache-2.0
"""add: both operands are brought to one scale before they are summed; broadcasting; alpha;
constants."""

import torch
from torch import nn

from ..tester.suite import Case, op_suite

BOTH = ("arm", "xnnpack")


class AddSelf(nn.Module):
    def forward(self, x):
        return x + x


class Add(nn.Module):
    def forward(self, a, b):
        return a + b


class AddConstant(nn.Module):
    """Adds a constant tensor of the given shape."""

    def __init__(self, shape):
        super().__init__()
        self.constant = nn.Buffer(torch.randn(shape))

    def forward(self, x):
        return x + self.constant


class AddAlpha(nn.Module):
    def forward(self, a, b):
        return torch.add(a, b, alpha=2)


class AddChain(nn.Module):
    """Sums of sums, so that outputs are inputs with other parameters."""

    def forward(self, a, b):
        first = a + b
        return first + a, first + first


op_suite(
    "add",
    AddSelf,
    cases={
        "": Case(((1, 16),), quantizers=BOTH),
        "rank3": Case(((2, 5, 7),)),
        "rank4": Case(((1, 8, 8, 4),)),
    },
)
op_suite(
    "add2",
    Add,
    cases={
        "": Case(((1, 4, 8, 8),) * 2, quantizers=BOTH),
        "rank1": Case(((40,),) * 2),
        "rank2": Case(((3, 40),) * 2),
        "broadcast_channel": Case(((1, 4, 8, 8), (1, 4, 1, 1))),
        "broadcast_both": Case(((1, 4, 1, 8), (1, 4, 8, 1))),
        "broadcast_rank": Case(((1, 4, 8, 8), (8, 8))),
        "odd": Case(((1, 3, 5, 7),) * 2),
    },
)
op_suite(
    "add_constant",
    AddConstant,
    cases={
        "full": Case(((1, 4, 8, 8),), ((1, 4, 8, 8),)),
        "channel": Case(((1, 4, 8, 8),), ((1, 4, 1, 1),)),
    },
)
op_suite("add_alpha", AddAlpha, cases={"": Case(((1, 4, 8, 8),) * 2, kinds=("MI",))})
op_suite("add_chain", AddChain, cases={"": Case(((1, 4, 8, 8),) * 2)})
