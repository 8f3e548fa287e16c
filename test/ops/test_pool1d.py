# SPDX-License-Identifier: Apache-2.0
"""max_pool1d, avg_pool1d and the adaptive ones."""

from torch import nn

from ..tester.suite import Case, op_suite

SHAPES = ((1, 3, 17),)

op_suite(
    "max_pool1d",
    nn.MaxPool1d,
    cases={
        "": Case(((1, 8, 32),), (2,), steps=0),
        "padded": Case(SHAPES, (3, 2, 1)).core(),
        "dilation": Case(SHAPES, (3, 2), {"dilation": 2}),
        "ceil_mode": Case(SHAPES, (2,), {"ceil_mode": True}),
        "batchless": Case(((3, 17),), (2,), kinds=("MI",)),
    },
)
op_suite(
    "avg_pool1d",
    nn.AvgPool1d,
    cases={
        "": Case(SHAPES, (2,)),
        "padded": Case(SHAPES, (3, 2, 1)),
        "padding_not_counted": Case(SHAPES, (3, 2, 1), {"count_include_pad": False}),
        "ceil_mode": Case(SHAPES, (2,), {"ceil_mode": True}),
    },
)
op_suite(
    "adaptive_avg_pool1d",
    nn.AdaptiveAvgPool1d,
    cases={"": Case(((1, 3, 16),), (4,)), "whole": Case(SHAPES, (1,)), "uneven": Case(SHAPES, (5,))},
)
op_suite(
    "adaptive_max_pool1d",
    nn.AdaptiveMaxPool1d,
    cases={"": Case(((1, 3, 16),), (4,)), "whole": Case(SHAPES, (1,)), "uneven": Case(SHAPES, (5,))},
)
