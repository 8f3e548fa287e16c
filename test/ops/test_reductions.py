# SPDX-License-Identifier: Apache-2.0
"""prod, any, all and logsumexp along one axis, several and all."""

import torch

from ..tester.function import Function
from ..tester.suite import Case, op_suite

ONE = ((4, 6),)
FLOAT = {"kinds": ("MI", "core")}


def number_of(function):
    """Of whether elements are above 0.2, as a float."""
    return lambda x: torch.where(function(x > 0.2), 1.0, 0.0)


op_suite(
    "prod",
    Function,
    cases={
        "": Case(ONE, (torch.prod,), **FLOAT),
        "dim": Case(ONE, (lambda x: torch.prod(x, -1),), **FLOAT),
        "keepdim": Case(ONE, (lambda x: torch.prod(x, 0, True),), **FLOAT),
    },
)
op_suite(
    "truth",
    Function,
    cases={
        "any": Case(ONE, (number_of(torch.any),), kinds=("MI",)),
        "any_dim": Case(ONE, (number_of(lambda x: torch.any(x, 1)),), kinds=("MI",)),
        "any_dims": Case(ONE, (number_of(lambda x: torch.any(x, (0, 1), True)),), kinds=("MI",)),
        "all": Case(ONE, (number_of(torch.all),), kinds=("MI",)),
        "all_dim": Case(ONE, (number_of(lambda x: torch.all(x, 0, True)),), kinds=("MI",)),
        "all_dims": Case(ONE, (number_of(lambda x: torch.all(x, (1,))),), kinds=("MI",)),
        "all_floats": Case(ONE, (lambda x: torch.where(torch.all(x.relu(), 1), 1.0, 0.0),), kinds=("MI",)),
    },
)
op_suite(
    "logsumexp",
    Function,
    cases={
        "": Case(ONE, (lambda x: torch.logsumexp(x, 1),), **FLOAT),
        "axes": Case(((2, 3, 4),), (lambda x: torch.logsumexp(x * 30, (0, -1), True),), **FLOAT),
        "infinite": Case(
            ONE,
            (lambda x: torch.logsumexp(torch.where(x < x.amax(0), float("-inf"), x), 0),),
            kinds=("MI",),
        ),
    },
)
