# SPDX-License-Identifier: Apache-2.0
"""conv1d: every kind of stride, padding, dilation and groups, and activations behind it."""

from torch import nn

from ..tester.suite import Case, op_suite

BOTH = ("arm", "xnnpack")
SHAPES = ((1, 4, 20),)


class ConvRelu(nn.Module):
    """A batch_norm and a relu, which fold into the convolution."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(4, 8, 5, stride=2, padding=2, bias=False)
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x):
        return self.norm(self.conv(x)).relu()


op_suite(
    "conv1d",
    nn.Conv1d,
    cases={
        "": Case(SHAPES, (4, 6, 3), quantizers=BOTH).core(),
        "stride": Case(SHAPES, (4, 6, 3), {"stride": 2, "padding": 1}),
        "stride4": Case(((1, 4, 43),), (4, 6, 10), {"stride": 4, "padding": 2}),
        "stride5_wide": Case(((1, 1, 400),), (1, 6, 80), {"stride": 5}),
        "dilation": Case(SHAPES, (4, 6, 3), {"dilation": 2}),
        "no_bias": Case(SHAPES, (4, 6, 1), {"bias": False}),
        # Arm's quantiser leaves conv1d.padding in float.
        "same": Case(SHAPES, (4, 6, 4), {"padding": "same"}, kinds=("MI",)),
        "depthwise": Case(SHAPES, (4, 8, 3), {"groups": 4}),
        "groups": Case(SHAPES, (4, 6, 3), {"groups": 2, "stride": 2}),
        "groups_dilation": Case(SHAPES, (4, 6, 3), {"groups": 2, "dilation": 3, "padding": 2}),
        "batch": Case(((3, 4, 20),), (4, 6, 3)),
        "batchless": Case(((4, 20),), (4, 6, 3), kinds=("MI",)),
        "reflect": Case(SHAPES, (4, 6, 3), {"padding": 1, "padding_mode": "reflect"}),
        "replicate": Case(SHAPES, (4, 6, 3), {"padding": 2, "padding_mode": "replicate"}),
        "circular": Case(SHAPES, (4, 6, 3), {"padding": 2, "padding_mode": "circular"}),
    },
)
op_suite("conv1d_relu", ConvRelu, cases={"": Case(SHAPES).core()})
