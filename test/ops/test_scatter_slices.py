# SPDX-License-Identifier: Apache-2.0
"""slice_scatter with steps, select_scatter, copy and fill, and writes to parts of a tensor, which become
these."""

import torch

from ..tester.function import Function
from ..tester.suite import Case, op_suite


def scattered(*arguments):
    return lambda x, y: torch.slice_scatter(x, y, *arguments)


def set_slice(x, y):
    z = x.clone()
    z[:, 1:3] = y
    return z


def set_steps(x, y):
    z = x.clone()
    z[:, 1::2] = y
    return z + x


def set_row(x, y):
    z = x.clone()
    z[:, -2] = y
    return z


def add_to_row(x):
    z = x.clone()
    z[0] += 1
    z[1:, ::2] *= 3
    return z


def through_views(x):
    """Views of views, that are written to and read later."""
    z = x + 1
    row, flat, turned = z[0], z.view(-1), z.t()
    turned.mul_(2)
    z[:, 1:3][1].add_(row[:2])
    flat[-1:] = 7
    z.unsqueeze(0).narrow(2, 0, 2).neg_()
    return z, row * 2, flat + 1, turned - x.t()


def swapped(x):
    z = x.clone()
    z[0], z[1] = x[1], x[0]
    z.transpose(0, 1)[2] = 0
    return z


def in_another(x):
    """A buffer that is filled part by part."""
    z = torch.zeros(4, 6)
    for row in range(4):
        z[row] = x[3 - row].cumsum(0)
    z[:, 0].clamp_(min=0)
    return z


WHOLE = ((4, 7), (4, 3))
FLOAT = {"kinds": ("MI",)}

op_suite(
    "slice_scatter",
    Function,
    cases={
        "": Case(WHOLE, (scattered(1, 2, 5),), **FLOAT),
        "begin": Case(WHOLE, (scattered(1, 0, 3),), **FLOAT),
        "end": Case(WHOLE, (scattered(-1, -3),), **FLOAT),
        "whole": Case(((4, 6), (4, 6)), (scattered(0),), **FLOAT),
        "step": Case(WHOLE, (scattered(1, 1, 7, 2),), **FLOAT),
        "step_first": Case(((4, 6), (4, 3)), (scattered(1, 0, 6, 2),), **FLOAT),
        "step_cut": Case(((4, 8), (4, 3)), (scattered(1, 1, 8, 3),), **FLOAT),
        "step_rows": Case(((5, 2, 3), (2, 2, 3)), (scattered(0, 1, 4, 2),), **FLOAT),
        "one": Case(((4, 6), (4, 1)), (scattered(1, 2, 4, 9),), **FLOAT),
    },
)
op_suite(
    "select_scatter",
    Function,
    cases={
        "": Case(((4, 6), (4,)), (lambda x, y: torch.select_scatter(x, y, 1, -2),), **FLOAT),
        "first": Case(((4, 6), (6,)), (lambda x, y: torch.select_scatter(x, y, 0, 0),), **FLOAT),
    },
)
op_suite(
    "diagonal_scatter",
    Function,
    cases={
        label: Case(shapes, (lambda x, y, arguments=arguments: torch.diagonal_scatter(x, y, *arguments),), **FLOAT)
        for label, shapes, arguments in (
            ("", ((4, 4), (4,)), ()),
            ("wide", ((3, 7), (3,)), (2,)),
            ("high", ((6, 4), (3,)), (-3,)),
            ("axes", ((2, 3, 5, 4), (2, 5, 3)), (-1, 3, 1)),
        )
    },
)
op_suite(
    "assignment",
    Function,
    cases={
        "slice": Case(((4, 6), (4, 2)), (set_slice,), kinds=("MI", "core")),
        "broadcast": Case(((4, 6), (1, 2)), (set_slice,), kinds=("MI", "core")),
        "steps": Case(((4, 7), (4, 3)), (set_steps,), kinds=("MI", "core")),
        "row": Case(((4, 6), (4,)), (set_row,), kinds=("MI", "core")),
    },
)
op_suite(
    "in_place",
    Function,
    cases={
        function.__name__: Case(((4, 6),), (function,), kinds=("MI", "core"))
        for function in (add_to_row, through_views, swapped, in_another)
    },
)
op_suite(
    "copy",
    Function,
    cases={
        "": Case(((4, 6), (6,)), (lambda x, y: (x + 1).copy_(y),), kinds=("MI", "core")),
        "fill": Case(((4, 6),), (lambda x: (x + 1).fill_(x.sum()) + x,), kinds=("MI", "core")),
    },
)
