# SPDX-License-Identifier: Apache-2.0
"""Convolution over three axes: strides, padding, dilation, groups, without bias, batch."""

from torch import nn

from ..tester.suite import Case, op_suite

SHAPES = ((1, 2, 5, 6, 7),)
TOSA = {"kinds": ("MI", "BI")}  # Ethos-U has convolutions of one depth only

op_suite(
    "conv3d",
    nn.Conv3d,
    cases={
        "": Case(SHAPES, (2, 4, 3), {"padding": 1}, **TOSA).core(),
        "stride": Case(SHAPES, (2, 4, (2, 3, 3)), {"stride": (1, 2, 3)}, **TOSA),
        "each_axis": Case(
            SHAPES,
            (2, 3, (2, 3, 2)),
            {"padding": (1, 0, 1), "dilation": (1, 2, 3), "stride": (2, 1, 2)},
            **TOSA,
        ),
        "no_bias": Case(SHAPES, (2, 4, 2), {"bias": False}, **TOSA),
        "same": Case(SHAPES, (2, 4, (2, 3, 4)), {"padding": "same"}, kinds=("MI",)),
        "valid": Case(SHAPES, (2, 4, 3), {"padding": "valid"}, kinds=("MI",)),
        "groups": Case(((2, 4, 4, 4, 4),), (4, 6, 2), {"groups": 2}, **TOSA),
        "left_over": Case(((1, 2, 5, 7, 2),), (2, 4, (2, 3, 2)), {"stride": (2, 3, 4), "padding": (0, 1, 1)}, **TOSA),
        "on_padding": Case(((1, 2, 4, 7, 1),), (2, 4, 1), {"stride": (2, 3, 3), "padding": 1}),
        "groups_joined": Case(
            ((1, 4, 1, 5, 2),),
            (4, 8, (1, 3, 3)),
            {"groups": 4, "stride": (2, 2, 3), "padding": (0, 1, 1), "dilation": (1, 2, 1)},
        ),
        "depthwise": Case(((1, 4, 4, 4, 4),), (4, 4, 3), {"groups": 4}, kinds=("MI",)),
        "batchless": Case(((2, 4, 4, 4),), (2, 3, 2), kinds=("MI",)),
    },
)


class Activated(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv3d(2, 4, 3), nn.ReLU())


op_suite("conv3d_relu", Activated, cases={"": Case(SHAPES, **TOSA)})
