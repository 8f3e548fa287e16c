# SPDX-License-Identifier: Apache-2.0
"""elu, celu and selu: EXP in float, tables on quantised values."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite

SHAPES = ((1, 4, 6, 6),)
GIVEN = q8(0.05, -10)
RESULT = q8(0.05, -60)

op_suite(
    "elu",
    nn.ELU,
    cases={
        "": Case(SHAPES),
        "alpha": Case(SHAPES, (0.3,)),
        "negative_alpha": Case(SHAPES, (-0.5,)),
        "rank1": Case(((20,),), (2.0,)),
        "rank3": Case(((2, 3, 20),)),
    },
)
op_suite("celu", nn.CELU, cases={"": Case(SHAPES), "alpha": Case(SHAPES, (2.0,))})
op_suite("selu", nn.SELU, cases={"": Case(SHAPES)})


class InPlace(nn.Sequential):
    """The in-place form."""

    def __init__(self, activation):
        super().__init__(nn.Conv2d(4, 4, 1), activation(inplace=True))


for activation in (nn.ELU, nn.CELU, nn.SELU):
    name = activation.__name__.lower()
    op_suite(f"{name}_in_place", InPlace, cases={"": Case(SHAPES, (activation,), steps=2)})
code_suite(
    "elu",
    nn.ELU,
    {
        "": CodeCase((GIVEN,), RESULT, steps=0),
        "alpha": CodeCase((GIVEN,), RESULT, args=(0.3,), steps=0),
        "int16": CodeCase((q16(8 / 32768),), q16(8 / 32768), steps=2),
    },
)
code_suite("celu", nn.CELU, {"": CodeCase((GIVEN,), RESULT, args=(1.5,), steps=0)})
code_suite("selu", nn.SELU, {"": CodeCase((GIVEN,), RESULT, steps=0)})


class ScaledElu(nn.Module):
    """Core ATen's elu with all of its arguments."""

    def forward(self, x):
        return torch.ops.aten.elu.default(x, 0.7, 1.3, 0.5)


op_suite("elu_scaled", ScaledElu, cases={"": Case(SHAPES, kinds=("MI",))})
code_suite("elu_scaled", ScaledElu, {"": CodeCase((GIVEN,), RESULT)})
