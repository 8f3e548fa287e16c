# SPDX-License-Identifier: Apache-2.0
"""Templates of what reads and writes at places: indices of every kind, slices that are written."""

import torch

from .drawing import Constant, Step
from .elements import bind


def numbers(d, size, *sizes, apart=False):
    """An operand of indices below `size`: computed by the program, an input or a constant."""
    if apart:
        return Constant((torch.randperm(size, generator=d.torch)[: sizes[0]],))
    found = d.found(lambda y: list(y.shape) == list(sizes) and 0 <= y.min() and y.max() < size, torch.int64)
    if found and d.chance(0.8):
        return d.random.choice(found)
    where = d.indices(size, *sizes)
    return Constant((where,)) if d.chance(0.5) else d.input(where)[0]


def chosen(d):
    """A value read at the places that the program has found."""
    places, where = d.operand(lambda x: 0 < x.dim() < 3, dtype=torch.int64)
    if places is None:
        return None
    index, x = d.operand(lambda x: x.dim() > 0 and x.shape[0] > where.max() and x.numel() < 4000)
    if index is None or where.min() < 0:
        return None
    if where.dim() == 1 and d.chance(0.5):
        return Step(lambda x, i: torch.index_select(x, 0, i), [index, places])
    return Step(lambda x, i: x[i], [index, places])


def along(d):
    index, x = d.operand(lambda x: x.dim() > 0)
    axis = d.whole(0, x.dim() - 1)
    sizes = [d.pick(size, 1) for size in x.shape]
    sizes[axis] = d.whole(1, 4)
    where = numbers(d, x.shape[axis], *sizes)
    return Step(lambda x, i: torch.take_along_dim(x, i, axis), [index, where])


def embedding(d):
    rows, width = d.whole(2, 40), d.whole(1, 24)
    shape = d.shape(d.whole(1, 2), 60)
    where = numbers(d, rows, *shape)
    table = d.constant(d.normal(rows, width))
    return Step(lambda i, w: torch.embedding(w, i), [where, table])


def scattering(d):
    """Writes of single elements."""
    index, x = d.operand(lambda x: 0 < x.dim() and x.numel() <= 2000)
    if index is None:
        return None
    axis = d.whole(0, x.dim() - 1)
    sizes = [d.whole(1, size) for size in x.shape]
    where = torch.rand(sizes[:axis] + [x.shape[axis]] + sizes[axis + 1 :], generator=d.torch)
    where = Constant((where.argsort(axis).narrow(axis, 0, sizes[axis]).contiguous(),))
    if d.chance(0.3):
        number = d.number(-2, 2)
        return Step(lambda x, i: torch.scatter(x, axis, i, number), [index, where])
    function = d.pick(torch.scatter, torch.scatter_add)
    return Step(lambda x, i, s: function(x, axis, i, s), [index, where, d.like(sizes, constant=0.2)])


def rows(d):
    """Writes of whole rows."""
    index, x = d.operand(lambda x: 0 < x.dim() and x.numel() <= 4000)
    if index is None:
        return None
    axis = d.whole(0, x.dim() - 1)
    count = d.whole(1, min(4, x.shape[axis]))
    where = numbers(d, x.shape[axis], count, apart=True)
    name = d.pick("index_add", "index_copy", "index_fill", "index_put")
    if name == "index_fill":
        number = d.number(-2, 2)
        return Step(lambda x, i: torch.index_fill(x, axis, i, number), [index, where])
    sizes = list(x.shape)
    sizes[axis] = count
    source = d.like(sizes, constant=0.2)
    if name == "index_put":
        add = d.chance(0.3)
        return Step(
            lambda x, i, s: torch.index_put(x, (None,) * axis + (i,), s, add) if axis == 0 else put(x, axis, i, s),
            [index, where, source],
        )
    options = {"alpha": d.pick(1, 1, 2)} if name == "index_add" else {}
    function = getattr(torch, name)
    return Step(lambda x, i, s: function(x, axis, i, s, **options), [index, where, source])


def put(x, axis, where, source):
    copy = x.clone()
    copy[(slice(None),) * axis + (where,)] = source
    return copy


def slices(d):
    """A slice, a row or a diagonal that is written."""
    index, x = d.operand(lambda x: 0 < x.dim() and x.numel() <= 8000)
    if index is None:
        return None
    axis = d.axis(x)
    size = x.shape[axis]
    start, step = d.whole(0, size - 1), d.pick(1, 1, 2, 3)
    stop = d.whole(start + 1, size)
    name = d.pick("select", "slice", "slice", "diagonal")
    if name == "diagonal" and x.dim() > 1:
        part = torch.diagonal(x)
        return Step(torch.diagonal_scatter, [index, d.like(part.shape)])
    if name == "select":
        part = x.select(axis, start)
        return Step(bind(torch.select_scatter, axis, start), [index, d.like(part.shape)])
    part = torch.ops.aten.slice.Tensor(x, axis, start, stop, step)
    return Step(bind(torch.slice_scatter, axis, start, stop, step), [index, d.like(part.shape)])
