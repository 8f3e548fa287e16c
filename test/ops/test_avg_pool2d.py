# SPDX-License-Identifier: Apache-2.0
"""avg_pool2d: keeps its input's quantisation parameters, or reaches others by one rounding."""

from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite

SHAPES = ((1, 4, 12, 12),)
op_suite(
    "avg_pool2d",
    nn.AvgPool2d,
    cases={
        "": Case(SHAPES, (2,)),
        "3x3_stride1": Case(SHAPES, (3, 1)),
        "3x3_stride2": Case(SHAPES, (3, 2)),
        "rectangular": Case(((1, 4, 10, 14),), ((2, 5), (2, 3))),
        "leaves_rest": Case(((1, 4, 11, 13),), (3, 3)),
        "whole": Case(((1, 4, 6, 9),), ((6, 9),)),
        "padded": Case(SHAPES, (3, 2, 1)),
        "padded_not_counted": Case(SHAPES, (3, 2, 1), {"count_include_pad": False}),
        "ceil_mode": Case(((1, 4, 9, 10),), (3, 2), {"ceil_mode": True}),
        "ceil_mode_padded": Case(((1, 4, 9, 10),), (4, 3, 2), {"ceil_mode": True}),
        "ceil_mode_not_counted": Case(
            ((1, 4, 9, 10),), (3, 2, 1), {"ceil_mode": True, "count_include_pad": False}
        ),
        "divisor": Case(SHAPES, (3, 2, 1), {"divisor_override": 5, "ceil_mode": True}),
        "batch2": Case(((2, 4, 8, 8),), (2,)),
        "stride4": Case(((1, 8, 32, 32),), (4,)),
        "stride_of_keywords": Case(((1, 64, 25, 5),), ((25, 5),)),
        "stride_4_5": Case(((1, 4, 17, 20),), ((2, 3), (4, 5))),
        "stride4_batch": Case(((2, 3, 8, 12),), (4,)),
        "1x1": Case(SHAPES, (1,)),
    },
)


class ConvPool(nn.Sequential):
    """A global average after a convolution with relu, as at the end of a network."""

    def __init__(self):
        super().__init__(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1))


op_suite(
    "conv_pool",
    ConvPool,
    cases={"": Case(((1, 3, 12, 9),), quantizers=("arm", "xnnpack"))},
)
# Steps finer than those of the input, where windows hold fewer elements beside the padding.
FINE, IMAGE = (q8(0.05, -20),), ((2, 4, 7, 6),)
code_suite(
    "avg_pool2d",
    nn.AvgPool2d,
    {
        "inside": CodeCase(FINE, q8(0.005, 11), IMAGE, args=(3, 1, 1, False, False)),
        "strided": CodeCase(FINE, q8(0.005, 11), IMAGE, args=((3, 2), (2, 3), 1, False, False)),
        "hanging": CodeCase(FINE, q8(0.005, 11), IMAGE, args=(3, 2, 1, True, True)),
        "inside_16": CodeCase((q16(1e-4),), q16(1e-5), IMAGE, args=(3, 1, 1, False, False), kinds=("BI", "u85")),
    },
)
