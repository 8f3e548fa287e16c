# SPDX-License-Identifier: Apache-2.0
"""flatten, view, reshape: nothing but a change of shape, in whatever layout the producer left the
data."""

import torch
from torch import nn

from ..tester.function import Function
from ..tester.suite import Case, op_suite


class Reshape(nn.Module):
    """x.reshape(shape) after an addition, so that something is computed."""

    def __init__(self, *shape):
        super().__init__()
        self.shape = shape

    def forward(self, x):
        return (x + x).reshape(self.shape)


class View(nn.Module):
    def __init__(self, *shape):
        super().__init__()
        self.shape = shape

    def forward(self, x):
        return (x + x).view(self.shape)


class Flatten(nn.Module):
    def __init__(self, start=0, end=-1):
        super().__init__()
        self.start, self.end = start, end

    def forward(self, x):
        return torch.flatten(x + x, self.start, self.end)


class ConvFlatten(nn.Module):
    """A convolution's output flattened for a linear layer: its elements stay in NCHW order."""

    def __init__(self):
        super().__init__()
        self.conv, self.linear = nn.Conv2d(3, 4, 3), nn.Linear(4 * 6 * 5, 7)

    def forward(self, x):
        return self.linear(self.conv(x).flatten(1))


IMAGE = ((1, 4, 6, 8),)
op_suite(
    "flatten",
    Flatten,
    cases={"": Case(IMAGE), "from1": Case(IMAGE, (1,)), "middle": Case(((2, 4, 6, 8),), (1, 2))},
)
op_suite(
    "view",
    View,
    cases={
        "": Case(IMAGE, (1, 192)),
        "minus_one": Case(IMAGE, (4, -1)),
        "same": Case(IMAGE, (1, 4, 6, 8)),
        "rank6": Case(IMAGE, (1, 2, 2, 3, 2, 8)),
    },
)
op_suite(
    "reshape",
    Reshape,
    cases={
        "": Case(IMAGE, (2, 96)),
        "minus_one": Case(IMAGE, (1, -1)),
        "expand_rank": Case(((24,),), (2, 3, 4)),
    },
)
op_suite(
    "conv_flatten",
    ConvFlatten,
    cases={"": Case(((1, 3, 8, 7),), steps=2, quantizers=("arm", "xnnpack"))},
)


class Unflatten(nn.Module):
    def forward(self, x, y):
        return (x + x).unflatten(1, (2, -1)).view_as(y) + y


op_suite("unflatten", Unflatten, cases={"": Case(((1, 8, 3), (1, 4, 6)))})
op_suite(
    "ravel",
    Function,
    cases={
        "": Case(((2, 3, 4),), (lambda x: torch.ravel(x) + 1,)),
        "atleast_1d": Case(((4,),), (lambda x: torch.atleast_1d(x.sum()) + 1,), kinds=("MI",)),
        "atleast_2d": Case(((4,),), (lambda x: torch.atleast_2d(x) + 1,), kinds=("MI",)),
        "atleast_3d": Case(((4, 2),), (lambda x: torch.atleast_3d(x) + 1,), kinds=("MI",)),
        "type_as": Case(
            ((4, 2), (3,)), (lambda x, y: (x > 0).type_as(y) + x,), kinds=("MI", "core")
        ),
        "dropouts": Case(
            ((2, 3, 4),),
            (
                lambda x: torch.feature_alpha_dropout(
                    torch.alpha_dropout(torch.feature_dropout(x + 1, 0.5, False), 0.5, False),
                    0.5,
                    False,
                ),
            ),
            kinds=("MI", "core"),
        ),
        "native_dropout": Case(
            ((2, 3),), (lambda x: torch.native_dropout(x + 1, 0.5, False)[0],), kinds=("MI",)
        ),
        "real": Case(((2, 3),), (lambda x: torch.ops.aten.real.default(x) + 1,), kinds=("MI",)),
    },
)
