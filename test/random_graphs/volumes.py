# SPDX-License-Identifier: Apache-2.0
"""Templates of layers over three axes, and of adaptive pooling over one to three."""

import torch
import torch.nn.functional as F

from .drawing import Step
from .elements import bind
from .layers import groups_of, window


def convolution(d):
    index, x = d.operand(rank=5)
    if index is None or x.numel() > 6000:
        return None
    channels = x.shape[1]
    kernel = [d.pick(1, 2, 3, 3) for _ in range(3)]
    stride, padding = [d.whole(1, 3) for _ in range(3)], [d.pick(0, 1, k // 2) for k in kernel]
    dilation, groups = [d.pick(1, 1, 1, 2) for _ in range(3)], groups_of(d, channels)
    out = groups * d.whole(1, max(1, 12 // groups))
    if out > 64:
        return None
    weight = d.weight(d.normal(out, channels // groups, *kernel))
    if d.chance(0.15):
        stride, padding = 1, d.pick("same", "valid")
    operands = [index, weight, d.bias(index, weight, out)]
    return Step(bind(F.conv3d, stride, padding, dilation, groups), operands, layer=True)


def pooling(d):
    index, x = d.operand(rank=d.pick(5, 5, 4))
    if index is None or x.numel() > 8000:
        return None
    kernel, stride, padding, dilation = zip(*(window(d, size) for size in x.shape[-3:]))
    padding, ceil = [min(p, k // 2) for p, k in zip(padding, kernel)], d.chance(0.3)
    name = d.pick("max", "avg", "indices")
    if name == "avg":
        return Step(bind(F.avg_pool3d, kernel, stride, padding, ceil, d.chance(0.5)), [index])
    return Step(values_of(F.max_pool3d, name, kernel, stride, padding, dilation, ceil), [index])


def values_of(function, name, *arguments):
    """Pooling as it is, or the values of its form that gives places too."""
    if name == "indices":
        return lambda x: function(x, *arguments, True)[0]
    return bind(function, *arguments)


def adaptive(d):
    axes = d.pick(1, 2, 3)
    index, x = d.operand(rank=axes + d.pick(1, 2, 2))
    if index is None or x.numel() > 8000:
        return None
    sizes = [d.pick(1, 1, 2, 3, size, max(1, size // 2)) for size in x.shape[-axes:]]
    name = d.pick("avg", "max", "max")
    function = getattr(torch.nn.functional, f"adaptive_{name}_pool{axes}d")
    return Step(bind(function, sizes[0] if axes == 1 else sizes), [index])
