# SPDX-License-Identifier: Apache-2.0
"""conv_transpose1d and conv_transpose2d."""

from torch import nn

from ..tester.suite import Case, op_suite

IMAGE = ((1, 4, 5, 6),)
ROW = ((1, 4, 9),)

op_suite(
    "conv_transpose2d",
    nn.ConvTranspose2d,
    cases={
        "": Case(IMAGE, (4, 6, 3), {"stride": 2}),
        "stride1": Case(IMAGE, (4, 6, 3)),
        "padded": Case(IMAGE, (4, 6, 4), {"stride": 2, "padding": 1}),
        "output_padding": Case(
            IMAGE, (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1}
        ).core(),
        "no_bias": Case(IMAGE, (4, 6, 2), {"stride": 2, "bias": False}),
        "stride3": Case(((1, 3, 4, 4),), (3, 1, 5), {"stride": 3, "padding": 2}).without("u55"),
        "groups": Case(IMAGE, (4, 6, 3), {"stride": 2, "groups": 2}, kinds=("MI",)),
        "dilated": Case(IMAGE, (4, 6, 3), {"stride": 2, "dilation": (2, 3)}),
        "dilated_groups": Case(IMAGE, (4, 6, (3, 1)), {"groups": 2, "dilation": 2}, kinds=("MI", "core")),
        "batchless": Case(((4, 5, 6),), (4, 6, 3), kinds=("MI",)),
    },
)
op_suite(
    "conv_transpose1d",
    nn.ConvTranspose1d,
    cases={
        "": Case(ROW, (4, 6, 4), {"stride": 2, "padding": 1}, kinds=("MI", "core")),
        "dilated": Case(ROW, (4, 6, 3), {"dilation": 2}, kinds=("MI",)),
    },
)
