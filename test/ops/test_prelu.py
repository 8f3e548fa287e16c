# SPDX-License-Identifier: Apache-2.0
"""prelu: slopes per channel or one for all; on quantised values one integer sum."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, fake_quantise, q8, q16
from ..tester.suite import Case, op_suite


class Prelu(nn.Module):
    """Slopes of both signs, one above 1."""

    def __init__(self, slopes):
        super().__init__()
        self.slopes = nn.Parameter(torch.tensor(slopes))

    def forward(self, x):
        return nn.functional.prelu(x, self.slopes)


class QuantisedPrelu(Prelu):
    """With slopes quantised per tensor."""

    def forward(self, x):
        return nn.functional.prelu(x, fake_quantise(self.slopes, q8(0.02, 10)))


FOUR = (0.25, -0.5, 1.5, 0.0)
op_suite(
    "prelu",
    Prelu,
    cases={
        "": Case(((1, 4, 6, 6),), (FOUR,), kinds=("MI",)),
        "batch": Case(((3, 4, 6, 6),), (FOUR,), kinds=("MI",)),
        "one_slope": Case(((1, 4, 6, 6),), ((0.25,),), kinds=("MI",)),
        "rank2": Case(((5, 4),), (FOUR,), kinds=("MI",)),
        "rank3": Case(((2, 4, 9),), (FOUR,), kinds=("MI",)),
        "rank1": Case(((20,),), ((0.25,),), kinds=("MI",)),
    },
)
GIVEN, SHAPES = q8(0.05, -10), ((1, 4, 8, 8),)
code_suite(
    "prelu",
    QuantisedPrelu,
    {
        "": CodeCase((GIVEN,), q8(0.05, 3), SHAPES, (FOUR,)),
        "one_slope": CodeCase((GIVEN,), q8(0.03, 3), None, ((0.25,),)),
        "saturated": CodeCase((GIVEN,), q8(0.01, 3, low=-120), SHAPES, (FOUR,)),
        "batch": CodeCase((GIVEN,), q8(0.05, 3), ((3, 4, 5),), (FOUR,)),
        "int16": CodeCase((q16(2e-4),), q16(2e-4), SHAPES, (FOUR,), steps=2),
    },
)
