# SPDX-License-Identifier: Apache-2.0
"""adaptive_avg_pool2d and adaptive_max_pool2d: windows that tile the input, windows of different
sizes that overlap, more windows than elements."""

from torch import nn
from torch.nn import functional

from ..tester.suite import Case, op_suite

SHAPES = ((1, 4, 12, 12),)
UNEVEN = ((1, 3, 9, 10),)

op_suite(
    "adaptive_avg_pool2d",
    nn.AdaptiveAvgPool2d,
    cases={
        "": Case(SHAPES, (1,)).core(),
        "quarters": Case(SHAPES, (3,)),
        "rows": Case(((1, 4, 12, 6),), ((4, 1),)),
        "same": Case(((1, 4, 6, 6),), (6,), kinds=("MI",)),
        "uneven": Case(UNEVEN, ((4, 3),)),
        "one_axis": Case(((1, 3, 3, 10),), ((None, 4),)),
        "many": Case(((1, 2, 9, 10),), (8,), kinds=("MI", "core")),
        "more": Case(((1, 2, 5, 6),), ((12, 11),), kinds=("MI",)),
        "batchless": Case(((3, 9, 9),), (4,), kinds=("MI",)),
    },
)
op_suite(
    "adaptive_max_pool2d",
    nn.AdaptiveMaxPool2d,
    cases={
        "": Case(SHAPES, (1,)),
        "tiles": Case(SHAPES, ((3, 4),)),
        "uneven": Case(UNEVEN, ((4, 3),)),
        "one_axis": Case(UNEVEN, ((None, 4),)),
        "more": Case(((1, 2, 5, 6),), ((12, 11),), kinds=("MI", "BI")),
        "batch": Case(((2, 3, 7, 8),), (3,)),
        "batchless": Case(((3, 9, 9),), (4,), kinds=("MI",)),
    },
)


class Greatest(nn.Module):
    """A pooling that was asked for indices, which nobody reads."""

    def __init__(self, function, *args):
        super().__init__()
        self.function, self.args = function, args

    def forward(self, x):
        return self.function(x, *self.args, return_indices=True)[0]


op_suite(
    "max_pool_indices",
    Greatest,
    cases={
        "": Case(SHAPES, (functional.max_pool2d, 2)).core(),
        "1d": Case(((1, 3, 10),), (functional.max_pool1d, 2)),
        "3d": Case(((1, 3, 4, 6, 6),), (functional.max_pool3d, 2)),
        "adaptive": Case(UNEVEN, (functional.adaptive_max_pool2d, 4)),
    },
)
