# SPDX-License-Identifier: Apache-2.0
"""slice, select, split, chunk, unbind: bounds from the end and beyond it, several results."""

import torch
from torch import nn

from ..tester.function import Function
from ..tester.suite import Case, op_suite


class Slices(nn.Module):
    def forward(self, x):
        return x[:, 1:3] + x[:, -2:] + x[:, 2:100]


class Select(nn.Module):
    def forward(self, x):
        return x[:, 0] + x[:, -1] + x.select(-1, 2)[:, :, None]


class Split(nn.Module):
    def forward(self, x):
        a, b, c = torch.split(x, [1, 2, 1], dim=1)
        d, e = torch.split(b, 1, dim=1)
        return a + c * d + e


class Chunk(nn.Module):
    def forward(self, x):
        a, b = x.chunk(2, dim=-1)
        return a + b


class Unbind(nn.Module):
    def forward(self, x):
        a, b, c, d = x.unbind(1)
        return (a + b) + (c + d)


SHAPES = ((1, 4, 6, 6),)
for name, module in {
    "slice": Slices,
    "select": Select,
    "split": Split,
    "chunk": Chunk,
    "unbind": Unbind,
}.items():
    op_suite(name, module, cases={"": Case(SHAPES)})


class Steps(nn.Module):
    """Every second and third element, to the end of the axis and short of it."""

    def forward(self, x):
        return x[:, :, ::2, 1::3] + x[:, :, 1::2, :4:2] + x[:, :, :3, ::5]


class Narrow(nn.Module):
    def forward(self, x):
        a, b, c = torch.tensor_split(x, 3, dim=2)
        d, _ = torch.tensor_split(x, (2,), dim=-2)
        return x.narrow(2, 1, 2) + x.narrow(2, -3, 2) + a + b + c + d


op_suite("slice_steps", Steps, cases={"": Case(SHAPES)})
op_suite("narrow", Narrow, cases={"": Case(SHAPES)})
op_suite(
    "splits",
    Function,
    cases={
        label: Case(((4, 6, 4),), (function,), kinds=("MI",))
        for label, function in {
            "hsplit": lambda x: torch.hsplit(x + 1, 3),
            "hsplit_places": lambda x: torch.hsplit(x + 1, (1, 4)),
            "hsplit_of_a_vector": lambda x: torch.hsplit(x.sum((0, 1)), 2),
            "vsplit": lambda x: torch.vsplit(x + 1, 2),
            "dsplit": lambda x: torch.dsplit(x + 1, (1, 2)),
            "unsafe_split": lambda x: torch.unsafe_split(x + 1, 4, 1),
            "unsafe_split_sizes": lambda x: torch.unsafe_split_with_sizes(x + 1, (1, 5), 1),
            "unsafe_chunk": lambda x: torch.unsafe_chunk(x + 1, 3, 1),
        }.items()
    },
)
