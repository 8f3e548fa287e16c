# SPDX-License-Identifier: Apache-2.0
"""Templates of what runs along axes: reductions, places of extremes, sums up to each element, softmax."""

import torch

from .drawing import Step
from .elements import bind, comparison

PLAIN = (torch.sum, torch.mean, torch.mean, torch.amax, torch.amin, torch.nansum)
SPREADS = (torch.var, torch.std, torch.var_mean, torch.std_mean)


def reduction(d):
    index, x = d.operand()
    function = d.pick(*PLAIN)
    if function in (torch.sum, torch.mean) and d.chance(0.1):
        return Step(function, [index])
    return Step(bind(function, d.axes(x), keepdim=d.chance(0.5)), [index])


def spread(d):
    index, x = d.operand(lambda x: x.numel() >= 8)
    if index is None:
        return None
    function = d.pick(*SPREADS)
    if d.chance(0.15):
        return Step(function, [index])
    return Step(bind(function, d.axes(x), correction=d.pick(0, 1), keepdim=d.chance(0.5)), [index])


def extreme(d):
    """The greatest or least of an axis with its place, of all, or both."""
    index, x = d.operand(lambda x: x.dim() > 0)
    axis, keep = d.axis(x), d.chance(0.5)
    function = d.pick(torch.max, torch.min)
    name = d.pick("value", "both", "all", "pair", "pair of all")
    return {
        "value": lambda: Step(lambda x: function(x, axis, keep)[0], [index]),
        "both": lambda: Step(bind(function, axis, keep), [index]),
        "all": lambda: Step(function, [index]),
        "pair": lambda: Step(bind(torch.aminmax, dim=axis, keepdim=keep), [index]),
        "pair of all": lambda: Step(torch.aminmax, [index]),
    }[name]()


def place(d):
    index, x = d.operand(lambda x: x.dim() > 0)
    function = d.pick(torch.argmax, torch.argmax, torch.argmin)
    if d.chance(0.1):
        return Step(function, [index])
    return Step(bind(function, d.axis(x), d.chance(0.4)), [index])


def norm(d):
    index, x = d.operand()
    axes, keep, order = d.axes(x), d.chance(0.5), d.pick(1, 2, 2, 2.0, float("inf"))
    function = d.pick(
        bind(torch.linalg.vector_norm, order, axes, keep),
        bind(torch.linalg.vector_norm, order),
        bind(torch.ops.aten.norm.Scalar, 2),
        bind(torch.ops.aten.norm.ScalarOpt_dim, order, axes, keep),
        bind(torch.logsumexp, axes, keep),
        bind(torch.logsumexp, axes, keep),
    )
    return Step(function, [index])


def cumulative(d):
    index, x = d.operand(lambda x: x.dim() > 0 and max(x.shape) <= 130)
    if index is None:
        return None
    axis = d.axis(x)
    if d.chance(0.7):
        return Step(bind(torch.cumsum, axis), [index])
    index, x = d.operand(lambda x: x.dim() > 0 and max(x.shape) <= 8)
    if index is None:
        return None
    axis = d.axis(x)
    return Step(d.pick(bind(torch.cumprod, axis), bind(torch.prod, axis, d.chance(0.5)), torch.prod), [index])


def truth(d):
    """all and any of conditions."""
    index, x = d.operand(dtype=torch.bool)
    if index is None:
        return comparison(d)
    function = d.pick(torch.all, torch.any)
    if x.dim() == 0 or d.chance(0.2):
        return Step(function, [index])
    axes = d.pick(d.axis(x), d.axes(x))
    return Step(bind(function, axes, d.chance(0.5)), [index])


def softmax(d):
    index, x = d.operand()
    function = d.pick(torch.softmax, torch.softmax, torch.log_softmax, torch.ops.aten._safe_softmax.default)
    return Step(bind(function, d.axis(x)), [index])
