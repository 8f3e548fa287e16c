# SPDX-License-Identifier: Apache-2.0
"""gelu by the error function and by its approximation with tanh; one table on quantised values."""

from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite

SHAPES = ((1, 4, 6, 6),)
TANH = {"approximate": "tanh"}
op_suite(
    "gelu",
    nn.GELU,
    cases={
        "": Case(SHAPES),
        "tanh": Case(SHAPES, options=TANH),
        "tanh_rank3": Case(((2, 3, 20),), options=TANH),
    },
)
GIVEN, RESULT = q8(0.05, -10), q8(0.04, -120)
code_suite(
    "gelu",
    nn.GELU,
    {
        "": CodeCase((GIVEN,), RESULT, steps=0),
        "tanh": CodeCase((GIVEN,), RESULT, args=("tanh",), steps=0),
        "int16": CodeCase((q16(8 / 32768),), q16(8 / 32768), steps=2),
        "int16_fine": CodeCase((q16(4 / 32768),), q16(3 / 32768), steps=2),
    },
)
