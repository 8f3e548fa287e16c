# SPDX-License-Identifier: Apache-2.0
"""roll, repeat_interleave, repeat, tile, expand_as: elements around axes and several times."""

import torch
from torch import nn

from ..tester.suite import Case, op_suite


class Apply(nn.Module):
    """A function, and a sum behind it."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        y = self.function(*inputs)
        return y + y


SHAPES = ((1, 3, 5, 4),)

op_suite(
    "roll",
    Apply,
    cases={
        "": Case(SHAPES, (lambda x: torch.roll(x, 2, 3),)),
        "two_axes": Case(SHAPES, (lambda x: torch.roll(x, (-1, 7), (2, -1)),)),
        "flat": Case(SHAPES, (lambda x: torch.roll(x, 5),)),
        "nothing": Case(SHAPES, (lambda x: torch.roll(x, 5, 2),)),
    },
)
op_suite(
    "repeat_interleave",
    Apply,
    cases={
        "": Case(SHAPES, (lambda x: x.repeat_interleave(2, 1),)),
        "last": Case(SHAPES, (lambda x: x.repeat_interleave(3, -1),)),
        "flat": Case(((3, 4),), (lambda x: x.repeat_interleave(2),)),
    },
)
op_suite(
    "repeat",
    Apply,
    cases={
        "": Case(SHAPES, (lambda x: x.repeat(1, 2, 1, 3),)),
        "more_axes": Case(((3, 4),), (lambda x: x.repeat(2, 1, 3),)),
    },
)
op_suite("tile", Apply, cases={"": Case(SHAPES, (lambda x: torch.tile(x, (2, 3)),))})
op_suite(
    "expand_as",
    Apply,
    cases={"": Case(((1, 3, 1), (1, 3, 4)), (lambda x, y: x.expand_as(y) + y,))},
)
