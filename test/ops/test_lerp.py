# SPDX-License-Identifier: Apache-2.0
"""lerp, addcmul and addcdiv: numbers and tensors as weights, broadcast, in place."""

import torch

from ..tester.function import Function
from ..tester.suite import Case, op_suite

PAIR = ((4, 6), (4, 6))
THREE = ((4, 6), (4, 6), (6,))
FLOAT = {"kinds": ("MI", "core")}

op_suite(
    "lerp",
    Function,
    cases={
        "": Case(PAIR, (lambda x, y: torch.lerp(x, y, 0.3),), **FLOAT),
        "near_end": Case(PAIR, (lambda x, y: torch.lerp(x, y, 0.8),), **FLOAT),
        "tensor": Case(THREE, (torch.lerp,), **FLOAT),
        "in_place": Case(PAIR, (lambda x, y: (x + 1).lerp_(y, 0.3),), **FLOAT),
        "tensor_in_place": Case(THREE, (lambda x, y, z: (x + 1).lerp_(y, z),), **FLOAT),
    },
)
op_suite(
    "addcmul",
    Function,
    cases={
        "": Case(THREE, (torch.addcmul,), **FLOAT),
        "value": Case(THREE, (lambda x, y, z: torch.addcmul(x, y, z, value=-0.5),), **FLOAT),
        "broadcast": Case(((4, 6), (4, 1), (6,)), (torch.addcmul,), **FLOAT),
        "in_place": Case(THREE, (lambda x, y, z: (x + 1).addcmul_(y, z, value=2),), **FLOAT),
    },
)


def positive(x):
    return x.abs() + 0.5


op_suite(
    "addcdiv",
    Function,
    cases={
        "": Case(THREE, (lambda x, y, z: torch.addcdiv(x, y, positive(z)),), **FLOAT),
        "value": Case(
            THREE, (lambda x, y, z: torch.addcdiv(x, y, positive(z), value=3),), **FLOAT
        ),
        "in_place": Case(THREE, (lambda x, y, z: (x + 1).addcdiv_(y, positive(z)),), **FLOAT),
    },
)
