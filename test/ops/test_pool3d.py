# SPDX-License-Identifier: Apache-2.0
"""Pooling over three axes."""

from torch import nn

from ..tester.suite import Case, op_suite

SHAPES = ((1, 2, 5, 6, 7),)

op_suite(
    "max_pool3d",
    nn.MaxPool3d,
    cases={
        "": Case(SHAPES, (2,)).core(),
        "padded": Case(SHAPES, (3, 2, 1)),
        "each_axis": Case(SHAPES, ((1, 2, 3), (2, 1, 2), (0, 1, 1)), {"ceil_mode": True}),
        "dilation": Case(SHAPES, (2, 1), {"dilation": (2, 1, 3)}),
        "batch": Case(((2, 3, 4, 4, 4),), (2,)),
        "batchless": Case(((2, 4, 4, 4),), (2,), kinds=("MI",)),
    },
)
op_suite(
    "avg_pool3d",
    nn.AvgPool3d,
    cases={
        "": Case(SHAPES, (2,)),
        "padded": Case(SHAPES, (3, 2, 1)),
        "padding_not_counted": Case(
            SHAPES, (3, 2, 1), {"count_include_pad": False, "ceil_mode": True}
        ),
        "planes": Case(SHAPES, ((1, 2, 2),)),
        "depth": Case(SHAPES, ((3, 1, 1), 1)),
        "divisor": Case(SHAPES, (2,), {"divisor_override": 5}, kinds=("MI",)),
    },
)
for name, layer in {"avg": nn.AdaptiveAvgPool3d, "max": nn.AdaptiveMaxPool3d}.items():
    op_suite(
        f"adaptive_{name}_pool3d",
        layer,
        cases={
            "": Case(SHAPES, (1,)),
            "uneven": Case(SHAPES, ((2, 4, 3),), kinds=("MI", "BI")),
            "batch": Case(((2, 3, 4, 4, 4),), ((2, None, 1),)),
        },
    )
