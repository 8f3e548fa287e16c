# SPDX-License-Identifier: Apache-2.0
"""silu: x * sigmoid(x) in float, one table on quantised values."""

from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite

SHAPES = ((1, 4, 6, 6),)
op_suite(
    "silu",
    nn.SiLU,
    cases={
        "": Case(SHAPES),
        "rank1": Case(((20,),)),
        "rank3": Case(((2, 3, 20),)),
    },
)
code_suite(
    "silu",
    nn.SiLU,
    {
        "": CodeCase((q8(0.06, -5),), q8(0.05, -120), steps=0),
        "int16": CodeCase((q16(8 / 32768),), q16(8 / 32768), steps=2),
    },
)


class ConvSiLU(nn.Sequential):
    """Between convolutions: one table maps the first one's parameters to the second one's."""

    def __init__(self, inplace=False):
        super().__init__(nn.Conv2d(3, 6, 3), nn.SiLU(inplace), nn.Conv2d(6, 4, 1))


op_suite(
    "silu_conv",
    ConvSiLU,
    cases={
        "": Case(((1, 3, 10, 10),), steps=2),
        "in_place": Case(((1, 3, 10, 10),), (True,), steps=2),
    },
)
