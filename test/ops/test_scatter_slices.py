# SPDX-License-Identifier: Apache-2.0
"""slice_scatter with steps, select_scatter, copy and fill: what writes to a part of a tensor is
after run_decompositions()."""

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
    "assignment",
    Function,
    cases={
        "slice": Case(((4, 6), (4, 2)), (set_slice,), kinds=("core",)),
        "broadcast": Case(((4, 6), (1, 2)), (set_slice,), kinds=("core",)),
        "steps": Case(((4, 7), (4, 3)), (set_steps,), kinds=("core",)),
        "row": Case(((4, 6), (4,)), (set_row,), kinds=("core",)),
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
