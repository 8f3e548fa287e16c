# SPDX-License-Identifier: Apache-2.0
"""Templates of tensors that a program makes of numbers, and of what leaves elements as they are."""

import torch
import torch.nn.functional as F

from .drawing import Constant, Step
from .elements import bind


def fill(d):
    index, x = d.operand()
    number = d.number(-2, 2)
    function = d.pick(
        torch.zeros_like, torch.ones_like, bind(torch.full_like, number),
        lambda x: x.new_full(x.shape, number), lambda x: x.new_ones(x.shape), lambda x: x.new_zeros(x.shape),
        lambda x: torch.empty_like(x).fill_(number), lambda x: torch.fill(x, number),
        lambda x: torch.fill(x, torch.tensor(number)),
    )  # fmt: skip
    return Step(lambda y: y + function(y), [index])


def filled(d):
    index, x = d.operand()
    shape, number = list(x.shape), d.number(-2, 2)
    last = shape[-1] if shape else 1
    function = d.pick(
        lambda: torch.zeros(shape), lambda: torch.ones(shape), lambda: torch.full(shape, number),
        lambda: torch.arange(last, dtype=torch.float32), lambda: torch.scalar_tensor(number),
        lambda: torch.arange(1.0, last + 1), lambda: torch.arange(0.0, 2.0 * last, 2.0),
        lambda: torch.linspace(-1, number, last), lambda: torch.logspace(-1, 0.3, last),
        lambda: torch.eye(shape[-2], last) if len(shape) > 1 else torch.eye(1)[0],
    )  # fmt: skip
    return Step(d.pick(lambda y: y + function(), lambda y: function() * y), [index])


def counted(d):
    """Rows read at places that the program counts."""
    index, x = d.operand(lambda x: x.dim() > 0 and x.shape[0] > 1)
    if index is None:
        return None
    size, step = x.shape[0], d.whole(1, 2)
    return Step(lambda x: torch.index_select(x, 0, torch.arange(0, size, step)), [index])


def corner(d):
    """Elements kept where a made condition holds."""
    index, x = d.operand(lambda x: x.dim() > 1)
    shape, number = x.shape[-2:], d.number(-2, 2)
    kept = d.pick(lambda: torch.eye(*shape) > 0, lambda: torch.ones(shape, dtype=torch.bool).tril())
    return Step(lambda x: torch.where(kept(), x, torch.full((), number)), [index])


def no_op(d):
    index, x = d.operand()
    function = d.pick(
        torch.clone, torch.detach, bind(F.dropout, 0.5, False), lambda x: x.contiguous(),
        lambda x: x.to(torch.float32), lambda x: x.view(x.shape),
    )  # fmt: skip
    if d.chance(0.15):
        return Step(torch.Tensor.type_as, [index, Constant((torch.zeros(1),))], moves=True)
    return Step(function, [index], moves=True)
