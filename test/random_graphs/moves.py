# SPDX-License-Identifier: Apache-2.0
"""Templates of what moves elements."""

import math

import torch
import torch.nn.functional as F

from .drawing import Constant, Step
from .elements import bind


def moving(function, index):
    return Step(function, [index], moves=True)


def factors(d, number, most=4):
    """Sizes whose product is `number`."""
    sizes = [number]
    for _ in range(d.whole(0, most - 1)):
        size = sizes.pop()
        divisor = d.pick(*(n for n in range(1, size + 1) if size % n == 0))
        sizes += [divisor, size // divisor]
    d.random.shuffle(sizes)
    return sizes


def view(d):
    index, x = d.operand(lambda x: x.is_contiguous())
    if index is None:
        return None
    name = d.pick("view", "reshape", "flatten", "unflatten", "view_as")
    if name == "flatten":
        first = d.whole(0, x.dim() - 1) if x.dim() else 0
        return moving(bind(torch.flatten, first, d.whole(first, max(x.dim() - 1, 0))), index)
    if name == "unflatten" and x.dim():
        axis = d.whole(0, x.dim() - 1)
        return moving(bind(torch.unflatten, axis, factors(d, x.shape[axis])), index)
    sizes = factors(d, x.numel(), 5)
    if name == "view_as":
        twin = d.constant(d.normal(*sizes))
        return Step(lambda x, y: x.view_as(y), [index, twin], moves=True)
    return moving(bind(torch.Tensor.view if name == "view" else torch.reshape, sizes), index)


def ones(d):
    index, x = d.operand()
    if d.chance(0.5) and x.dim() < 5:
        return moving(bind(torch.unsqueeze, d.whole(0, x.dim())), index)
    if d.chance(0.3):
        return moving(torch.squeeze, index)
    return moving(bind(torch.squeeze, d.axes(x)), index)


def permutation(d):
    index, x = d.operand(lambda x: x.dim() > 1)
    axes = list(range(x.dim()))
    first, second = d.random.sample(axes, 2)
    d.random.shuffle(axes)
    name = d.pick("permute", "permute", "transpose", "movedim", "swapaxes", "mT", "t", "T")
    function = {
        "permute": bind(torch.permute, axes),
        "transpose": bind(torch.transpose, first, second),
        "swapaxes": bind(torch.swapaxes, first, second),
        "movedim": bind(torch.movedim, first, second),
        "T": lambda x: x.T if x.dim() == 2 else x.mT,
        "mT": lambda x: x.mT,
        "t": torch.t if x.dim() == 2 else bind(torch.transpose, -1, -2),
    }[name]
    return moving(function, index)


def expansion(d):
    index, x = d.operand(lambda x: x.numel() < 4000)
    name = d.pick("expand", "repeat", "tile", "repeat_interleave", "expand_as")
    if name in ("expand", "expand_as"):
        sizes = [d.pick(2, 3, 8) if size == 1 else size for size in x.shape]
        sizes = [d.pick(1, 2, 3), *sizes] if d.chance(0.3) else sizes
        if name == "expand":
            return moving(lambda x: x.expand(sizes), index)
        return Step(lambda x, y: x.expand_as(y), [index, d.constant(d.normal(*sizes))], moves=True)
    if name == "repeat_interleave":
        return moving(bind(torch.repeat_interleave, d.whole(1, 3), d.axis(x)), index)
    times = [d.pick(1, 1, 2, 3) for _ in x.shape]
    if name == "repeat":
        times = [d.pick(1, 2), *times] if d.chance(0.3) else times
        return moving(lambda x: x.repeat(times), index)
    return moving(bind(torch.tile, times), index)


def rotation(d):
    index, x = d.operand()
    axis = d.axis(x)
    if d.chance(0.5):
        return moving(bind(torch.roll, d.whole(-3, 3), axis), index)
    return moving(bind(torch.flip, d.axes(x)), index)


def part(d):
    index, x = d.operand(lambda x: x.numel() > 1)
    axis = d.pick(*(i for i, size in enumerate(x.shape) if size > 1))
    size = x.shape[axis]
    start = d.whole(0, size - 1)
    stop, step = d.whole(start + 1, size), d.pick(1, 1, 1, 2, 3)
    places = [slice(None)] * axis + [slice(start, stop, step)]
    function = d.pick(
        lambda x: x[tuple(places)],
        bind(torch.narrow, axis, start, stop - start),
        bind(torch.select, axis, d.whole(0, size - 1)),
        bind(torch.select, axis, -1),
    )
    return moving(function, index)


def parts(d):
    index, x = d.operand(lambda x: x.numel() > 1)
    axis = d.pick(*(i for i, size in enumerate(x.shape) if size > 1))
    size = x.shape[axis]
    first = d.whole(1, size - 1)
    functions = [
        bind(torch.split, first, axis),
        bind(torch.split, [first, size - first], axis),
        bind(torch.chunk, 2, axis),
        bind(torch.tensor_split, 2, axis),
        bind(torch.tensor_split, [first], axis),
    ]
    if size < 5:
        functions.append(bind(torch.unbind, axis))
    function = d.pick(*functions)
    return None if len(function(x)) > 6 else moving(function, index)


def joining(d):
    index, x = d.operand(lambda x: x.dim() > 0)
    count, axis = d.whole(1, 3), d.whole(0, x.dim() - 1)
    operands = [index]
    for _ in range(count):
        sizes = list(x.shape)
        sizes[axis] = d.pick(sizes[axis], sizes[axis], 1, 3)
        operands.append(d.like(sizes, constant=0.2))
    if d.chance(0.25):
        operands = [index, *(d.like(x.shape, constant=0.2) for _ in range(count))]
        return Step(lambda *xs: torch.stack(xs, axis), operands)
    d.random.shuffle(operands)
    return Step(lambda *xs: torch.cat(xs, axis), operands)


def padding(d):
    index, x = d.operand(lambda x: x.dim() > 0)
    mode = d.pick("constant", "constant", "reflect", "replicate")
    if mode == "constant":
        pads = [d.pick(0, 1, 1, 2, -1) for _ in range(2 * d.whole(1, x.dim()))]
        return Step(bind(F.pad, pads, value=d.pick(0.0, 0.0, d.number(-1, 1))), [index])
    axes = x.dim() - 1 if x.dim() < 4 else x.dim() - 2
    if axes < 1 or axes > 3 or x.dim() - axes > 2:
        return None
    return moving(bind(F.pad, [d.whole(0, 2) for _ in range(2 * axes)], mode=mode), index)


def shuffle(d):
    index, x = d.operand(rank=4)
    n, c, h, w = x.shape
    name = d.pick("pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "unfold")
    common = [k for k in (2, 3, 4) if h % k == 0 and w % k == 0]
    if name == "pixel_shuffle" and c % 4 == 0:
        return moving(bind(F.pixel_shuffle, 2), index)
    if name == "pixel_unshuffle" and common:
        return moving(bind(F.pixel_unshuffle, d.pick(*common)), index)
    if name == "channel_shuffle":
        return moving(bind(F.channel_shuffle, d.pick(*(g for g in range(1, c + 1) if c % g == 0))), index)
    kernel, pad = d.whole(1, min(3, h, w)), d.whole(0, 1)
    return Step(bind(F.unfold, kernel, d.whole(1, 2), pad, d.whole(1, 3)), [index])


def lookup(d):
    index, x = d.operand(lambda x: x.dim() > 0)
    axis = d.whole(0, x.dim() - 1)
    name = d.pick("index_select", "index", "embedding", "gather")
    places = d.indices(x.shape[axis], d.whole(1, 8))
    if name == "embedding":
        rows, width = d.whole(2, 40), d.whole(1, 24)
        numbers = d.indices(rows, *d.shape(d.whole(1, 2), 60))
        where = Constant((numbers,)) if d.chance(0.2) else d.input(numbers)[0]
        return Step(lambda i, w: F.embedding(i, w), [where, d.constant(d.normal(rows, width))])
    if name == "gather":
        sizes = [d.whole(1, size) for size in x.shape]
        where = d.indices(x.shape[axis], *sizes)
        where = Constant((where,)) if d.chance(0.5) else d.input(where)[0]
        return Step(lambda x, i: torch.gather(x, axis, i), [index, where])
    if name == "index":
        return Step(lambda x, i: x[(slice(None),) * axis + (i,)], [index, Constant((places,))])
    where = Constant((places,)) if d.chance(0.6) else d.input(places)[0]
    return Step(lambda x, i: torch.index_select(x, axis, i), [index, where])


def resize(d):
    index, x = d.operand(lambda x: math.prod(x.shape) < 5000, rank=d.pick(3, 4, 4, 4, 4, 5))
    if index is None:
        return None
    smooth = {3: ("linear",), 4: ("bilinear", "bilinear", "bicubic"), 5: ("trilinear",)}[x.dim()]
    name = d.pick("nearest", "nearest", "nearest", *smooth)
    options = {} if name == "nearest" else {"align_corners": d.chance(0.5)}
    if d.chance(0.7):
        options["scale_factor"] = d.pick(2, 2, 2, 3, 4, 8, 1.5)
    else:
        options["size"] = [d.pick(1, 2, 5, 8, 16, 20) for _ in range(x.dim() - 2)]
    return Step(bind(F.interpolate, mode=name, **options), [index])
