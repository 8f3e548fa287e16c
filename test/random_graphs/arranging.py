# SPDX-License-Identifier: Apache-2.0
"""Templates of what joins, cuts, turns and frames: the forms beside those of moves.py."""

import torch
import torch.nn.functional as F

from .drawing import Step
from .elements import bind
from .moves import moving

JOINED_AXES = {torch.hstack: lambda rank: 0 if rank == 1 else 1, torch.vstack: lambda rank: None if rank == 1 else 0,
               torch.dstack: lambda rank: 2 if rank > 2 else None,
               torch.column_stack: lambda rank: None if rank == 1 else 1}  # fmt: skip
CUTS = {torch.hsplit: (lambda rank: 0 if rank == 1 else 1, 1), torch.vsplit: (lambda rank: 0, 2),
        torch.dsplit: (lambda rank: 2, 3)}  # fmt: skip


def stacking(d):
    index, x = d.operand(lambda x: 0 < x.dim() < 5 and x.numel() < 8000)
    if index is None:
        return None
    function = d.pick(*JOINED_AXES)
    axis = JOINED_AXES[function](x.dim())
    operands = [index]
    for _ in range(d.whole(1, 2)):
        sizes = list(x.shape)
        if axis is not None:
            sizes[axis] = d.pick(sizes[axis], 1, 3)
        operands.append(d.like(sizes, constant=0.2))
    d.random.shuffle(operands)
    return Step(lambda *xs: function(xs), operands)


def cutting(d):
    function = d.pick(*CUTS)
    axis_of, least = CUTS[function]
    index, x = d.operand(lambda x: x.dim() >= least and x.shape[axis_of(x.dim())] > 1)
    if index is None:
        return None
    size = x.shape[axis_of(x.dim())]
    counts = [n for n in range(2, 5) if size % n == 0]
    where = d.pick(*counts, [d.whole(1, size - 1)])
    return moving(bind(function, where), index)


def turning(d):
    index, x = d.operand(lambda x: x.dim() > 1)
    axes = d.random.sample(range(x.dim()), 2)
    return moving(d.pick(torch.fliplr, torch.flipud, bind(torch.rot90, d.whole(1, 3), axes)), index)


def diagonal(d):
    index, x = d.operand(lambda x: 0 < x.dim() < 5 and max(x.shape) <= 64 and x.numel() < 1000)
    if index is None:
        return None
    offset = d.whole(-2, 2)
    if x.dim() > 1 and d.chance(0.6):
        axes = d.random.sample(range(x.dim()), 2)
        function = torch.diag if x.dim() == 2 and d.chance(0.5) else None
        return moving(bind(function, offset) if function else bind(torch.diagonal, offset, *axes), index)
    return Step(bind(torch.diag if x.dim() == 1 and d.chance(0.5) else torch.diag_embed, offset), [index])


def windows(d):
    """Views of overlapping windows of an axis."""
    index, x = d.operand(lambda x: 0 < x.dim() < 5 and x.numel() < 4000)
    if index is None:
        return None
    axis = d.axis(x)
    return moving(lambda x, size=d.whole(1, min(x.shape[axis], 8)), step=d.whole(1, 3): x.unfold(axis, size, step), index)


def framing(d):
    """Reflected and replicated borders."""
    index, x = d.operand(lambda x: 1 < x.dim() < 6 and x.numel() < 8000)
    if index is None:
        return None
    axes = d.pick(*(n for n in (1, 2, 3) if 1 <= x.dim() - n <= 2))
    mode = d.pick("reflection", "replication")
    least = 1 if mode == "reflection" else 0
    sizes = [min(3, size - least) for size in reversed(x.shape[-axes:]) for _ in range(2)]
    function = getattr(torch.ops.aten, f"{mode}_pad{axes}d").default
    pads = [d.whole(0, most) for most in sizes]
    return moving(d.pick(bind(function, pads), bind(F.pad, pads, mode="reflect" if least else "replicate")), index)


def plain(d):
    """Shapes that forms without arguments give."""
    index, _ = d.operand()
    return moving(d.pick(torch.ravel, torch.atleast_1d, torch.atleast_2d, torch.atleast_3d, torch.real), index)
