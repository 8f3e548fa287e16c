# SPDX-License-Identifier: Apache-2.0
"""cumsum and cumprod along any axis, in place, and on every code."""

import torch

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.function import Function
from ..tester.suite import Case, op_suite

IMAGE = ((2, 3, 5, 4),)


def sum_along(axis):
    return lambda x: torch.cumsum(x, axis)


op_suite(
    "cumsum",
    Function,
    cases={
        "": Case(IMAGE, (sum_along(-1),)).core(),
        "channels": Case(IMAGE, (sum_along(1),)),
        "batch": Case(IMAGE, (sum_along(0),), kinds=("MI",)),
        "rank1": Case(((20,),), (sum_along(0),)),
        "long": Case(((1, 300),), (sum_along(1),), kinds=("MI", "BI")),
        "in_place": Case(((4, 6),), (lambda x: (x + 1).cumsum_(0),), kinds=("MI",)),
    },
)
op_suite(
    "cumprod",
    Function,
    cases={
        "": Case(IMAGE, (lambda x: torch.cumprod(x, -1),), kinds=("MI", "core")),
        "channels": Case(IMAGE, (lambda x: torch.cumprod(x, 1),), kinds=("MI",)),
        "one": Case(((2, 1, 3),), (lambda x: torch.cumprod(x, 1) * x,), kinds=("MI",)),
        "long": Case(((2, 37),), (lambda x: torch.cumprod(x.abs() + 0.5, 1),), kinds=("MI",)),
        "in_place": Case(((4, 6),), (lambda x: (x + 1).cumprod_(0),), kinds=("MI",)),
    },
)
code_suite(
    "cumsum",
    Function,
    {
        "": CodeCase((q8(0.05, -10),), q8(0.3, 4), ((4, 20),), (sum_along(-1),)),
        "middle": CodeCase((q8(0.05, -10),), q8(0.2, 4), ((2, 5, 6),), (sum_along(1),)),
        "int16": CodeCase((q16(2e-4),), q16(8e-4), ((4, 20),), (sum_along(-1),)),
    },
)
