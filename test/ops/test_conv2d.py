# SPDX-License-Identifier: Apache-2.0
"""conv2d: kernels, strides, padding, dilation, groups, bias, batch, and the activations that fuse
with it."""

from torch import nn

from ..tester.suite import Case, op_suite

BOTH = ("arm", "xnnpack")


def conv(*args, channels=3, size=12, batch=1, width=None, quantizers=("arm",), **options):
    """A case of nn.Conv2d(*args, **options) on an input of `channels` x `size` x `width`."""
    return Case(((batch, channels, size, width or size),), args, options, quantizers=quantizers)


op_suite(
    "conv2d",
    nn.Conv2d,
    cases={
        "": conv(3, 8, 3, quantizers=BOTH).core(),
        "1x1": conv(3, 5, 1),
        "2x2": conv(3, 4, 2),
        "3x3_padded": conv(3, 8, 3, padding=1, quantizers=BOTH),
        "3x3_no_bias": conv(3, 8, 3, padding=1, bias=False, quantizers=BOTH),
        "5x5_stride2": conv(3, 4, 5, stride=2, padding=2),
        "3x3_stride3": conv(3, 4, 3, stride=3),
        "windows_on_padding": conv(3, 4, 1, stride=3, padding=1, width=1),
        "stride_leaves_rest": conv(3, 4, 2, stride=3, size=13),
        "rectangular": conv(
            2, 4, (3, 5), stride=(2, 1), padding=(1, 2), channels=2, size=10, width=14
        ),
        "same_padding": conv(3, 4, 3, padding="same"),
        "same_padding_even": conv(3, 4, 4, padding="same"),
        "dilated": conv(3, 4, 3, dilation=2, padding=2),
        "dilated_rectangular": conv(3, 4, 3, dilation=(1, 2), padding=(1, 2)),
        "one_channel": conv(1, 1, 3, channels=1),
        "many_channels": conv(40, 33, 3, channels=40, size=5),
        "batch3": conv(3, 4, 3, batch=3, size=6),
        "kernel_is_input": conv(3, 4, 6, size=6),
        "depthwise": conv(6, 6, 3, groups=6, padding=1, channels=6, quantizers=BOTH).core(),
        "depthwise_no_bias": conv(6, 6, 3, groups=6, bias=False, channels=6),
        "depthwise_stride2": conv(6, 6, 3, stride=2, groups=6, padding=1, channels=6),
        "depthwise_dilated": conv(6, 6, 3, dilation=2, groups=6, channels=6),
        "depthwise_multiplier2": conv(4, 8, 3, groups=4, padding=1, channels=4),
        "depthwise_5x3": conv(4, 4, (5, 3), groups=4, padding=(2, 1), channels=4),
        "groups": conv(4, 6, 3, groups=2, channels=4, quantizers=BOTH),
        "groups_of_many": conv(12, 24, 3, groups=3, padding=1, channels=12, size=8),
        "groups_stride2": conv(8, 8, 3, groups=4, stride=2, padding=1, bias=False, channels=8),
        "groups_dilated_batch": conv(4, 4, 3, groups=2, dilation=2, channels=4, batch=2),
        "valid_padding": conv(3, 4, 3, padding="valid", stride=2),
        "same_padding_dilated": conv(3, 4, (2, 3), padding="same", dilation=(3, 2)),
        "stride_and_padding_leave_rest": conv(3, 4, 3, stride=(3, 2), padding=(1, 0), size=11),
        "stride_dilated": conv(3, 4, 3, stride=2, padding=2, dilation=2, size=11),
        "padding_above_kernel": conv(3, 4, 1, padding=2, size=6),
        "reflect": conv(3, 4, 3, padding=1, padding_mode="reflect"),
        "replicate": conv(3, 4, 4, padding="same", padding_mode="replicate"),
        "circular": conv(3, 4, 3, padding=(1, 2), padding_mode="circular"),
        # Ethos-U55 strides by 1 to 3; the model test `three_parts` says what happens beyond.
        "stride4": conv(3, 4, 4, stride=4).without("u55"),
    },
)


class ConvActivation(nn.Sequential):
    """A convolution and an activation that its rescaling can take over."""

    def __init__(self, activation, groups=1):
        super().__init__(
            nn.Conv2d(4, 8 if groups == 1 else 4, 3, padding=1, groups=groups), activation
        )


class ConvChain(nn.Sequential):
    """Convolutions without activations, so that each takes the parameters of the one before."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 8, 3, padding=1),
            nn.Conv2d(8, 8, 3, groups=8, padding=1),
            nn.Conv2d(8, 4, 1),
        )


IMAGE = ((1, 4, 10, 10),)
op_suite(
    "conv2d_fused",
    ConvActivation,
    cases={
        "relu": Case(IMAGE, (nn.ReLU(),), quantizers=BOTH),
        "relu6": Case(IMAGE, (nn.ReLU6(),), quantizers=BOTH),
        "hardtanh": Case(IMAGE, (nn.Hardtanh(-0.4, 0.3),), quantizers=BOTH),
        "hardtanh_positive": Case(IMAGE, (nn.Hardtanh(0.0, 0.25),), quantizers=BOTH),
        "depthwise_relu": Case(IMAGE, (nn.ReLU(), 4), quantizers=BOTH),
        "depthwise_relu6": Case(IMAGE, (nn.ReLU6(), 4)),
    },
)
op_suite("conv2d_chain", ConvChain, cases={"": Case(((1, 3, 10, 10),), steps=2, quantizers=BOTH)})

# Windows side by side, whose strides Ethos-U55 lacks.
op_suite(
    "conv2d_patches",
    nn.Conv2d,
    cases={
        "": Case(((1, 3, 16, 24),), (3, 8, 4, 4)),
        "uneven": Case(((1, 3, 16, 10),), (3, 8, (8, 5), (8, 5))),
        "batch": Case(((2, 3, 10, 5),), (3, 4, 5, 5)),
        "rest": Case(((1, 3, 18, 17),), (3, 8, 4, 4)),
    },
)
