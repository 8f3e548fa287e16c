# SPDX-License-Identifier: Apache-2.0
"""leaky_relu: a TABLE when quantised, whose slope is an attribute of the operator."""

from torch import nn

from ..tester.suite import Case, op_suite

SHAPES = ((1, 4, 8, 8),)
op_suite(
    "leaky_relu",
    nn.LeakyReLU,
    cases={
        "": Case(SHAPES),
        "slope_0_3": Case(SHAPES, (0.3,)),
        "slope_1_5": Case(SHAPES, (1.5,)),
        "slope_0": Case(SHAPES, (0.0,)),
        "slope_negative": Case(SHAPES, (-0.2,)),
        "slope_1": Case(SHAPES, (1.0,)),
        "rank1": Case(((60,),)),
        "rank3": Case(((2, 3, 20),), (0.1,)),
    },
)


class ConvLeakyRelu(nn.Sequential):
    """Between convolutions: the table maps the first one's parameters to the second one's."""

    def __init__(self, slope):
        super().__init__(nn.Conv2d(3, 6, 3), nn.LeakyReLU(slope), nn.Conv2d(6, 4, 1))


op_suite(
    "leaky_relu_conv",
    ConvLeakyRelu,
    cases={"": Case(((1, 3, 10, 10),), (0.01,), steps=2, quantizers=("arm", "xnnpack"))},
)
