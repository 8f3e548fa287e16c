# SPDX-License-Identifier: Apache-2.0
"""Tensors whose numbers the program states, added to an input."""

import torch
from torch import nn

from ..tester.function import Function
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
op_suite(
    "fills_spaced",
    Plus,
    cases={
        "linspace": Case(ONE, (lambda: torch.linspace(-1, 2, 6),)),
        "one": Case(ONE, (lambda: torch.linspace(-1, 2, 1),), kinds=("MI",)),
        "logspace": Case(ONE, (lambda: torch.logspace(-1, 1, 6),), kinds=("MI",)),
        "base": Case(ONE, (lambda: torch.logspace(0, 3, 6, base=2),), kinds=("MI",)),
        "eye": Case(((6, 6),), (lambda: torch.eye(6),)),
        "eye_columns": Case(ONE, (lambda: torch.eye(4, 6),), kinds=("MI",)),
        "eye_rows": Case(((7, 2),), (lambda: torch.eye(7, 2),), kinds=("MI",)),
    },
)
op_suite(
    "fills_new",
    Function,
    cases={
        label: Case(ONE, (function,), kinds=("MI", "core"))
        for label, function in {
            "zeros": lambda x: x + x.new_zeros(6),
            "ones": lambda x: x + x.new_ones(4, 1),
            "full": lambda x: x + x.new_full((6,), 0.5),
            "empty": lambda x: x + torch.empty(6).fill_(2),
            "empty_like": lambda x: x + torch.empty_like(x).fill_(0.5),
            "new_empty": lambda x: x + x.new_empty(6).zero_(),
            "zero": lambda x: (x + 1).zero_() + x,
            "fill": lambda x: (x * 2).fill_(0.25) + x,
        }.items()
    },
)
