# SPDX-License-Identifier: Apache-2.0
"""max_pool2d: rests of a division, padding, windows that hang over the end (ceil_mode)."""

from torch import nn

from ..tester.suite import Case, op_suite

SHAPES = ((1, 4, 9, 8),)

op_suite(
    "max_pool2d",
    nn.MaxPool2d,
    cases={
        "": Case(SHAPES, (2,)),
        "stride1": Case(SHAPES, (3, 1)),
        "overlapping": Case(SHAPES, (3, 2)),
        "stride4": Case(((1, 4, 12, 16),), (4,)),
        "stride5": Case(((1, 4, 17, 20),), ((2, 3), (4, 5))),
        "padded": Case(SHAPES, (3, 2, 1)),
        "ceil_mode": Case(SHAPES, (2,), {"ceil_mode": True}),
        "ceil_mode_padded": Case(SHAPES, ((4, 3), (3, 2), 1), {"ceil_mode": True}),
        "whole": Case(SHAPES, ((9, 8),)),
        "dilation": Case(((1, 8, 16, 16),), (3, 1), {"dilation": 2}, steps=0),
        "dilation_all": Case(
            SHAPES, ((3, 2), 2, 1), {"dilation": (2, 3), "ceil_mode": True}
        ),
        "batchless": Case(((4, 6, 6),), (2,), kinds=("MI",)),
    },
)
