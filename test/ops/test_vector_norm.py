# SPDX-License-Identifier: Apache-2.0
"""Lengths of vectors of every order, and distances."""

import torch
from torch.nn import functional

from ..tester.function import Function
from ..tester.suite import Case, op_suite

ONE = ((4, 6),)
PAIR = ((4, 6), (4, 6))
FLOAT = {"kinds": ("MI", "core")}
ORDERS = {"0": 0, "1": 1, "2": 2, "3": 3, "half": 0.5, "inf": float("inf")}


def norm_along(order, **options):
    return lambda x: torch.linalg.vector_norm(x, order, **options)


op_suite(
    "vector_norm",
    Function,
    cases={
        label: Case(ONE, (norm_along(order, dim=1),), kinds=("MI",))
        for label, order in ORDERS.items()
    }
    | {
        "minus_inf": Case(ONE, (norm_along(float("-inf"), dim=0, keepdim=True),), kinds=("MI",)),
        "all": Case(ONE, (norm_along(2),), **FLOAT),
        "axes": Case(((2, 3, 4),), (norm_along(2, dim=(0, -1)),), **FLOAT),
    },
)
op_suite(
    "norm",
    Function,
    cases={
        "": Case(ONE, (torch.norm,), **FLOAT),
        "dim": Case(ONE, (lambda x: torch.norm(x, dim=1, keepdim=True),), **FLOAT),
        "order": Case(ONE, (lambda x: x.norm(1, 1),), **FLOAT),
        "scalar": Case(ONE, (lambda x: torch.ops.aten.norm.Scalar(x, 3),), kinds=("MI",)),
        "normalize": Case(ONE, (functional.normalize,), **FLOAT),
        "linalg": Case(ONE, (torch.linalg.norm,), **FLOAT),
        "linalg_dim": Case(ONE, (lambda x: torch.linalg.norm(x, dim=1, keepdim=True),), **FLOAT),
        "linalg_axes": Case(((2, 3, 4),), (lambda x: torch.linalg.norm(x, dim=(0, 2)),), **FLOAT),
        "linalg_order": Case(ONE, (lambda x: torch.linalg.norm(x, 1, dim=0),), **FLOAT),
    },
)
op_suite(
    "distances",
    Function,
    cases={
        "cosine": Case(PAIR, (functional.cosine_similarity,), **FLOAT),
        "cosine_last": Case(
            ((2, 3, 4), (2, 3, 4)),
            (lambda x, y: functional.cosine_similarity(x, y, dim=-1),),
            kinds=("MI",),
        ),
        "pairwise": Case(PAIR, (functional.pairwise_distance,), **FLOAT),
        "pairwise_1": Case(
            PAIR, (lambda x, y: functional.pairwise_distance(x, y, 1, keepdim=True),), **FLOAT
        ),
        "cdist": Case(((4, 6), (5, 6)), (torch.cdist,), kinds=("MI",)),
        "cdist_1": Case(
            ((2, 4, 6), (2, 5, 6)), (lambda x, y: torch.cdist(x, y, 1.0),), kinds=("MI",)
        ),
    },
)
