# SPDX-License-Identifier: Apache-2.0
"""Products of vectors and tensors (outer, inner, tensordot, kron, …), differences along an axis, vectors
normal to others, weights as a direction and a length, losses."""

import torch
from torch import nn
from torch.nn.functional import l1_loss, mse_loss
from torch.nn.utils import parametrizations

from ..tester.function import Function
from ..tester.suite import Case, op_suite

FLOAT = ("MI",)
VECTORS, VOLUMES = ((5,), (7,)), ((2, 3, 4), (4, 3, 5))


def case(function, *shapes):
    return Case(shapes, (function,), kinds=FLOAT)


op_suite(
    "products",
    Function,
    {
        "outer": case(torch.outer, *VECTORS),
        "inner": case(torch.inner, (2, 3, 6), (4, 6)),
        "inner_of_a_number": case(lambda x: torch.inner(x, x.sum()), (4, 6)),
        "tensordot": case(lambda x, y: torch.tensordot(x, y, dims=([1, 2], [1, 0])), *VOLUMES),
        "tensordot_last": case(lambda x, y: torch.tensordot(x, y, dims=([-1], [0])), *VOLUMES),
        "tensordot_none": case(lambda x, y: torch.tensordot(x, y, dims=0), *VECTORS),
        "vdot": case(torch.vdot, (9,), (9,)),
        "kron": case(torch.kron, (2, 3), (4, 5)),
        "kron_ranks": case(torch.kron, (3,), (2, 4, 5)),
        "addmv": case(lambda x, m, v: torch.addmv(x, m, v, beta=0.5, alpha=-2), (4,), (4, 6), (6,)),
        "addmv_number": case(lambda x, m, v: torch.addmv(x.sum(), m, v), (4,), (4, 6), (6,)),
        "addr": case(lambda x, v, w: torch.addr(x, v, w, alpha=3), (5, 7), *VECTORS),
        "addbmm": case(
            lambda x, a, b: torch.addbmm(x, a, b, beta=2, alpha=0.5), (4, 5), (3, 4, 6), (3, 6, 5)
        ),
        "trace": case(torch.trace, (4, 6)),
        "cross": case(torch.linalg.cross, (2, 4, 3), (2, 4, 3)),
        "cross_first": case(lambda x, y: torch.cross(x, y), (4, 3, 3), (4, 3, 3)),
        "cross_axis": case(lambda x, y: torch.linalg.cross(x, y, dim=1), (4, 3, 2), (4, 3, 1)),
    },
)
op_suite(
    "diff",
    Function,
    {
        "": case(torch.diff, (4, 6)),
        "twice": case(lambda x: torch.diff(x, n=2, dim=0), (4, 6)),
        "longer": case(lambda x, y: torch.diff(x, prepend=y, append=y * 2), (4, 6), (4, 2)),
    },
)
op_suite(
    "loss",
    Function,
    {
        f"{name}_{kind}": case(lambda x, y, f=f, kind=kind: f(x, y, reduction=kind), (4, 6), (4, 6))
        for name, f in (("mse", mse_loss), ("l1", l1_loss))
        for kind in ("none", "mean", "sum")
    },
)


def conv1d():
    return parametrizations.weight_norm(nn.Conv1d(4, 6, 3, padding=1))


def conv2d():
    return parametrizations.spectral_norm(nn.Conv2d(3, 6, 3))


# The weight is one constant in the end, and quantised as such.
op_suite("weight_norm", conv1d, {"": Case(((1, 4, 9),))})
op_suite(
    "weight_norm_axis", lambda: parametrizations.weight_norm(nn.Linear(6, 4), dim=1), {"": Case(((3, 6),), kinds=FLOAT)}
)
op_suite("spectral_norm", conv2d, {"": Case(((1, 3, 7, 7),))})
