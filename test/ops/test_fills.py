# SPDX-License-Identifier: Apache-2.0
"""Tensors whose numbers the program states, added to an input."""

import torch
from torch import nn

from ..tester.suite import Case, op_suite


class Plus(nn.Module):
    """x + a tensor that `make` gives at each call."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, x):
        return x + self.make()


class Like(nn.Module):
    """x + a constant of its sizes."""

    def __init__(self, name, *arguments):
        super().__init__()
        self.function, self.arguments = getattr(torch, name), arguments

    def forward(self, x):
        return x + self.function(x, *self.arguments)


ONE = ((4, 6),)
op_suite(
    "fills_like",
    Like,
    cases={
        "zeros": Case(ONE, ("zeros_like",)),
        "ones": Case(ONE, ("ones_like",)),
        "full": Case(ONE, ("full_like", -0.75)),
    },
)
op_suite(
    "fills",
    Plus,
    cases={
        "zeros": Case(ONE, (lambda: torch.zeros(6),)),
        "ones": Case(ONE, (lambda: torch.ones(4, 1),)),
        "full": Case(ONE, (lambda: torch.full((6,), -0.75),)),
        "scalar_tensor": Case(ONE, (lambda: torch.scalar_tensor(2.5),)),
        "arange": Case(ONE, (lambda: torch.arange(6.0),)),
        "arange_start": Case(ONE, (lambda: torch.arange(-2.0, 4.0),)),
        "arange_step": Case(ONE, (lambda: torch.arange(3, 0, -0.5),)),
        "arange_ints": Case(ONE, (lambda: torch.arange(6),), kinds=("MI",)),
    },
)
