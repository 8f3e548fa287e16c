# SPDX-License-Identifier: Apache-2.0
"""relu, relu6, hardtanh: a CLAMP; alone, after an addition, with bounds that cut the quantised
range."""

import torch
from torch import nn

from ..tester.suite import Case, op_suite

IMAGE = Case(((1, 4, 8, 8),))


class AddActivation(nn.Module):
    """Arm's quantiser puts q and dq between the sum and the activation, XNNPACK's does not."""

    def __init__(self, activation):
        super().__init__()
        self.activation = activation

    def forward(self, a, b):
        return self.activation(a + b)


class Functional(nn.Module):
    """The functional spellings, which export as operators of their own."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


op_suite(
    "relu",
    nn.ReLU,
    cases={
        "": IMAGE,
        "rank1": Case(((50,),)),
        "rank2": Case(((3, 50),)),
        "rank3": Case(((2, 3, 20),)),
    },
)
op_suite("relu6", nn.ReLU6, cases={"": IMAGE})
op_suite(
    "hardtanh",
    nn.Hardtanh,
    cases={
        "": IMAGE,
        "narrow": Case(((1, 4, 8, 8),), (-0.25, 0.3)),
        "positive": Case(((1, 4, 8, 8),), (0.1, 0.5)),
        "negative": Case(((1, 4, 8, 8),), (-0.9, -0.2)),
        "wide": Case(((1, 4, 8, 8),), (-100.0, 100.0)),
    },
)
op_suite(
    "activation_function",
    Functional,
    cases={
        "relu": Case(((1, 4, 8, 8),), (torch.relu,)),
        "relu6": Case(((1, 4, 8, 8),), (nn.functional.relu6,)),
    },
)
PAIR = ((1, 4, 8, 8), (1, 4, 8, 8))
op_suite(
    "add_fused",
    AddActivation,
    cases={
        "relu": Case(PAIR, (nn.ReLU(),), quantizers=("arm", "xnnpack")),
        "relu6": Case(PAIR, (nn.ReLU6(),)),
        "hardtanh": Case(PAIR, (nn.Hardtanh(-0.5, 0.5),)),
    },
)
