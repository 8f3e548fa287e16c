# SPDX-License-Identifier: Apache-2.0
"""Activations with a threshold, and gates, in float and on every code."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8
from ..tester.function import Function
from ..tester.suite import Case, op_suite

ONE = ((1, 4, 5, 6),)
FLOAT = {"kinds": ("MI", "core")}
GIVEN = q8(0.05, -10)
ACTIVATIONS = {
    "hardshrink": (nn.Hardshrink, (0.4,), q8(0.05, -10)),
    "softshrink": (nn.Softshrink, (0.4,), q8(0.05, -10)),
    "threshold": (nn.Threshold, (0.1, -1.0), q8(0.05, -40)),
    "mish": (nn.Mish, (), q8(0.05, -100)),
    "logsigmoid": (nn.LogSigmoid, (), q8(0.05, 127)),
}
for name, (layer, arguments, result) in ACTIVATIONS.items():
    op_suite(name, layer, cases={"": Case(ONE, arguments, **FLOAT)})
    code_suite(
        name, layer, {"": CodeCase((GIVEN,), result, args=arguments, kinds=("BI", "u55"), steps=0)}
    )

op_suite(
    "threshold_in_place",
    Function,
    cases={"": Case(ONE, (lambda x: torch.threshold_(x + 0.1, 0.1, -1.0),), kinds=("MI",))},
)
op_suite(
    "mish_in_place",
    Function,
    cases={"": Case(ONE, (lambda x: nn.functional.mish(x + 0.1, True),), kinds=("MI",))},
)
op_suite("rrelu", nn.RReLU, cases={"": Case(ONE, (0.1, 0.3), kinds=("MI",))})
op_suite(
    "glu",
    nn.GLU,
    cases={"": Case(ONE, (1,)).core(), "last": Case(((3, 8),), kinds=("MI", "BI"))},
)


def logit_of(eps):
    return lambda x: torch.logit(torch.sigmoid(x), eps)


op_suite(
    "logit",
    Function,
    cases={
        "": Case(ONE, (logit_of(None),), **FLOAT),
        "eps": Case(ONE, (logit_of(0.3),), **FLOAT),
    },
)
code_suite(
    "logit",
    Function,
    {
        "eps": CodeCase(
            (q8(1 / 256, -128),), q8(0.05, 3), args=(lambda x: torch.logit(x, 0.01),), steps=0
        ),
    },
)
