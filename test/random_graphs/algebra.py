# SPDX-License-Identifier: Apache-2.0
"""Templates of products of vectors and matrices beside those of layers.py, orders of elements, losses."""

import torch
import torch.nn.functional as F

from .drawing import Step
from .elements import bind


def vectors(d):
    index, x = d.operand(lambda x: x.numel() <= 130, rank=1)
    if index is None:
        return None
    size, other = x.shape[0], d.whole(1, 12)
    return {
        "vdot": lambda: Step(torch.vdot, [index, d.like([size])]),
        "outer": lambda: Step(torch.outer, [index, d.like([other])]),
        "kron": lambda: Step(torch.kron, [index, d.like([other])]),
        "inner": lambda: Step(torch.inner, [index, d.like([size])]),
        "addr": lambda: Step(torch.addr, [d.like([size, other]), index, d.like([other])]),
        "addmv": lambda: Step(torch.addmv, [d.like([other]), d.like([other, size]), index]),
    }[d.pick("vdot", "outer", "kron", "inner", "addr", "addmv")]()


def matrices(d):
    index, x = d.operand(lambda x: x.numel() <= 2000 and max(x.shape) <= 64, rank=d.pick(2, 3))
    if index is None:
        return None
    out = d.whole(1, 12)
    if x.dim() == 3:
        factors = [index, d.like([x.shape[0], x.shape[2], out], constant=0.2)]
        if d.chance(0.6):
            return Step(torch.addbmm, [d.like([x.shape[1], out]), *factors])
        return Step(bind(torch.tensordot, 2), [index, d.like([x.shape[1], x.shape[2], out])])
    name = d.pick("inner", "trace", "kron", "tensordot")
    if name == "trace":
        return Step(torch.trace, [index])
    other = {"inner": [out, x.shape[1]], "kron": [2, d.whole(1, 3)], "tensordot": [x.shape[1], out]}[name]
    function = bind(torch.tensordot, 1) if name == "tensordot" else getattr(torch, name)
    return Step(function, [index, d.like(other)])


def cross(d):
    index, x = d.operand(lambda x: 3 in x.shape and x.numel() <= 4000)
    if index is None:
        index, x = d.input(d.normal(d.whole(1, 16), 3))
    axis = d.pick(*(i for i, size in enumerate(x.shape) if size == 3))
    return Step(bind(torch.linalg.cross, dim=axis), [index, d.like(x.shape)])


def order(d):
    """Elements by their size."""
    index, x = d.operand(lambda x: 0 < x.dim() < 5 and max(x.shape) <= 33 and x.numel() <= 1000)
    if index is None:
        return None
    axis = d.axis(x)
    count, largest = d.whole(1, x.shape[axis]), d.chance(0.5)
    function = d.pick(
        lambda x: torch.topk(x, count, axis, largest)[0],
        lambda x: torch.sort(x, dim=axis, descending=largest)[0],
        lambda x: torch.kthvalue(x, count, axis)[0],
        lambda x: torch.median(x, axis)[0],
        torch.msort,
    )
    return Step(function, [index])


def neighbours(d):
    index, x = d.operand(lambda x: x.dim() > 0 and max(x.shape) > 2)
    axis = d.pick(*(i for i, size in enumerate(x.shape) if size > 2))
    return Step(bind(torch.diff, d.pick(1, 1, 2), axis), [index])


def loss(d):
    index, x = d.operand()
    return Step(bind(d.pick(F.mse_loss, F.l1_loss), reduction=d.pick("none", "mean", "sum")), [index, d.like(x.shape)])


def question(d):
    """Of infinities and missing numbers."""
    index, _ = d.operand()
    return Step(d.pick(torch.isnan, torch.isinf, torch.isfinite, torch.isposinf, torch.isneginf), [index])
