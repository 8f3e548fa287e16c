# SPDX-License-Identifier: Apache-2.0
"""Templates of what takes several tensors: interpolations, fused products, distances, sums after Einstein."""

import torch
import torch.nn.functional as F

from .drawing import Constant, Step
from .elements import bind, broadcast, comparison

EQUATIONS = {
    1: ("i,j->ij", "i,i->", "i,j->ji"),
    2: ("ij,jk->ik", "ij,kj->ik", "ij,ij->i", "ij,jk->ki", "ij,j->i", "ij->ji", "ij->j"),
    3: ("bij,bjk->bik", "bij,bkj->bik", "bij,jk->bik", "bij,bij->bi", "bij,kj->bki", "bij->bji"),
    4: ("bhid,bhjd->bhij", "bhij,bhjd->bhid", "bhid,hdk->bhik", "nchw,kc->nkhw", "bhid,bjhd->bhij"),
}


def blend(d):
    """lerp, addcmul and addcdiv."""
    index, x = d.operand()
    others = [d.like(x.shape if d.chance(0.7) else broadcast(d, x)) for _ in range(2)]
    name = d.pick("lerp", "lerp", "addcmul", "addcdiv")
    if name == "lerp" and d.chance(0.5):
        return Step(bind(torch.lerp, d.number(-0.5, 1.5)), [index, others[0]])
    if name == "lerp":
        return Step(torch.lerp, [index, others[0], d.constant(d.uniform(0, 1, *x.shape))])
    if name == "addcdiv":
        others[1] = d.constant(d.uniform(0.5, 2, *x.shape))
    return Step(bind(getattr(torch, name), value=d.pick(1, 1, 2, d.number(-2, 2))), [index, *others])


def limit(d):
    """Clamps to tensors."""
    index, x = d.operand()
    low, high = (d.like(x.shape if d.chance(0.7) else broadcast(d, x), constant=0.7) for _ in range(2))
    function = d.pick(torch.fmin, torch.fmax, torch.clamp_min, torch.clamp_max, torch.clamp)
    return Step(function, [index, low, high] if function is torch.clamp and d.chance(0.6) else [index, low])


def choice(d):
    """Forms of where."""
    condition, mask = d.operand(dtype=torch.bool)
    if condition is None:
        return comparison(d)
    one, two = d.number(-2, 2), d.number(-2, 2)
    value = d.like(mask.shape, constant=0)
    name = d.pick("self", "other", "scalars", "tensor", "broadcast")
    if name == "self":
        return Step(lambda c, x: torch.where(c, one, x), [condition, value])
    if name == "other":
        return Step(lambda c, x: torch.where(c, x, one), [condition, value])
    if name == "scalars":
        return Step(lambda c: torch.where(c, one, two), [condition])
    if name == "tensor":
        return Step(lambda x, c: torch.masked_fill(x, c, torch.tensor(one)), [value, condition])
    other = d.like(broadcast(d, mask))
    return Step(torch.where, [condition, value, other])


def einsum(d):
    rank = d.pick(1, 2, 2, 3, 3, 4)
    index, x = d.operand(lambda x: max(x.shape) <= 130, rank=rank)
    if index is None:
        return None
    equation = d.pick(*EQUATIONS[rank])
    names = equation.split("->")[0].split(",")
    sizes = dict(zip(names[0], x.shape))
    others = [[sizes.setdefault(name, d.whole(1, 12)) for name in part] for part in names[1:]]
    function = lambda *xs: torch.einsum(equation, *xs)  # noqa: E731
    return Step(function, [index, *(d.like(shape, constant=0.3) for shape in others)])


def distance(d):
    index, x = d.operand(lambda x: x.dim() > 1 and x.shape[-1] <= 64 and x.numel() <= 4000)
    if index is None:
        return None
    name = d.pick("cdist", "pairwise", "cosine")
    if name == "cdist":
        other = d.like([*x.shape[:-2], d.whole(1, 8), x.shape[-1]])
        mode = d.pick("use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")
        return Step(bind(torch.cdist, d.pick(2.0, 1.0), mode), [index, other])
    other = d.like(x.shape)
    if name == "pairwise":
        return Step(bind(F.pairwise_distance, d.pick(2.0, 1.0), 1e-6, d.chance(0.5)), [index, other])
    return Step(bind(F.cosine_similarity, d.axis(x), 1e-6), [index, other])


def grid(d):
    index, x = d.operand(lambda x: x.numel() <= 130, rank=1)
    if index is None:
        return None
    order = d.pick("ij", "xy")
    others = [d.like([d.whole(1, 12)]) for _ in range(d.whole(1, 2))]
    return Step(lambda *xs: torch.meshgrid(*xs, indexing=order), [index, *others], moves=False)


def spreading(d):
    """Tensors brought to one shape."""
    index, x = d.operand(lambda x: x.numel() <= 4000)
    other = d.like(broadcast(d, x))
    return Step(torch.broadcast_tensors, [index, other])


def likewise(d):
    """What takes its type or memory from another."""
    index, x = d.operand()
    other = d.like(x.shape)
    if isinstance(other, Constant):
        return None
    return Step(d.pick(torch.Tensor.type_as, torch.ops.aten.copy.default), [index, other])
