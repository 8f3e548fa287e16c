# SPDX-License-Identifier: Apache-2.0
"""Diagonals of matrices, and matrices of diagonals."""

import torch

from ..tester.codes import CodeCase, code_suite, q8
from ..tester.function import Function
from ..tester.suite import Case, op_suite

FLOAT = {"kinds": ("MI",)}


def diagonal(*arguments):
    return lambda x: torch.diagonal(x, *arguments) + 1


def embedded(*arguments):
    return lambda x: torch.diag_embed(x, *arguments) + 1


op_suite(
    "diagonal",
    Function,
    cases={
        "": Case(((4, 4),), (diagonal(),), kinds=("MI", "core")),
        "above": Case(((4, 6),), (diagonal(1),), **FLOAT),
        "below": Case(((6, 4),), (diagonal(-2),), **FLOAT),
        "wide": Case(((2, 3, 4, 9),), (diagonal(3, 2, 3),), **FLOAT),
        "axes": Case(((3, 2, 4),), (diagonal(0, 2, 0),), **FLOAT),
        "diag": Case(((4, 6),), (lambda x: torch.diag(x, 2) + 1,), **FLOAT),
    },
)
op_suite(
    "diag_embed",
    Function,
    cases={
        "": Case(((4,),), (embedded(),), kinds=("MI", "core")),
        "above": Case(((2, 3),), (embedded(2),), **FLOAT),
        "below": Case(((2, 3),), (embedded(-1),), **FLOAT),
        "axes": Case(((2, 3),), (embedded(1, 0, 2),), **FLOAT),
        "diag": Case(((4,),), (lambda x: torch.diag(x, -1) + 1,), **FLOAT),
    },
)
A = q8(0.05, -10)
VIEW = ("BI",)  # a network of nothing but views is not compiled for an NPU
code_suite(
    "diagonal",
    Function,
    {"": CodeCase((A,), A, ((2, 4, 6),), (lambda x: torch.diagonal(x, 1, 1, 2),), steps=0, kinds=VIEW)},
)
code_suite(
    "diag_embed",
    Function,
    {"": CodeCase((A,), A, ((2, 4),), (lambda x: torch.diag_embed(x, 1),), steps=0, kinds=VIEW)},
)
