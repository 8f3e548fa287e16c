# SPDX-License-Identifier: Apache-2.0
"""pixel_shuffle, pixel_unshuffle, channel_shuffle, unfold: elements between channels and pixels. A
sum behind each gives the NPU something to compute."""

from torch import nn

from ..tester.suite import Case, op_suite


class ThenSum(nn.Module):
    def __init__(self, layer, *args, **options):
        super().__init__()
        self.layer = layer(*args, **options)

    def forward(self, x):
        y = self.layer(x)
        return y + y


op_suite(
    "pixel_shuffle",
    ThenSum,
    cases={
        "": Case(((1, 8, 3, 4),), (nn.PixelShuffle, 2)),
        "by_3_batch": Case(((2, 9, 2, 3),), (nn.PixelShuffle, 3)),
        "batchless": Case(((8, 3, 4),), (nn.PixelShuffle, 2), kinds=("MI",)),
    },
)
op_suite(
    "pixel_unshuffle",
    ThenSum,
    cases={
        "": Case(((1, 2, 6, 4),), (nn.PixelUnshuffle, 2)),
        "by_3_batch": Case(((2, 1, 6, 9),), (nn.PixelUnshuffle, 3)),
    },
)
op_suite(
    "channel_shuffle", ThenSum, cases={"": Case(((1, 6, 4, 5),), (nn.ChannelShuffle, 3))}
)
op_suite(
    "unfold",
    ThenSum,
    cases={
        "": Case(((1, 2, 6, 5),), (nn.Unfold, (3, 2))),
        "all": Case(
            ((2, 2, 7, 8),), (nn.Unfold, 2), {"dilation": (2, 1), "padding": (0, 1), "stride": (2, 3)}
        ),
    },
)
