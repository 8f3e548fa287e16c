# SPDX-License-Identifier: Apache-2.0
"""permute, transpose, t, expand, stack: data in another order, repeated, along new axes."""

import torch
from torch import nn

from ..tester.function import Function
from ..tester.suite import Case, op_suite


class Permute(nn.Module):
    def __init__(self, *dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        y = x.permute(self.dims)
        return y + y


class Transpose(nn.Module):
    def __init__(self, dim0, dim1):
        super().__init__()
        self.dim0, self.dim1 = dim0, dim1

    def forward(self, x):
        y = x.transpose(self.dim0, self.dim1)
        return y + y


class Matrix(nn.Module):
    def forward(self, x):
        return x.t() + x.t()


class Expand(nn.Module):
    def forward(self, x):
        y = x.expand(2, -1, -1, 5)
        return y + y


class Stack(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.stack([x, x + x], self.dim)


op_suite(
    "permute",
    Permute,
    cases={
        "": Case(((1, 3, 4, 5),), (0, 2, 3, 1)),
        "negative": Case(((2, 3, 4),), (-1, 0, -2), kinds=("MI", "BI")),
        "of_ones": Case(((1, 3, 1, 5),), (1, 0, 3, 2)),
    },
)
op_suite(
    "transpose",
    Transpose,
    cases={"": Case(((1, 3, 4, 5),), (1, 3)), "last": Case(((2, 3, 4),), (-1, -2))},
)
op_suite("t", Matrix, cases={"": Case(((3, 5),))})
op_suite("expand", Expand, cases={"": Case(((3, 4, 1),), kinds=("MI", "BI"))})
op_suite("stack", Stack, cases={"": Case(((1, 3, 4),), (1,)), "last": Case(((1, 3, 4),), (-1,))})


class Axes(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        y = self.function(x)
        return y + y


op_suite(
    "movedim",
    Axes,
    cases={
        "": Case(((1, 3, 4, 5),), (lambda x: x.movedim(1, -1),)),
        "list": Case(((1, 3, 4, 5),), (lambda x: x.movedim((1, 3), (3, 2)),)),
        "axis": Case(((1, 3, 4, 5),), (lambda x: x.moveaxis(-1, 0),), kinds=("MI", "BI")),
    },
)
op_suite("swapaxes", Axes, cases={"": Case(((1, 3, 4, 5),), (lambda x: x.swapaxes(1, -1),))})
op_suite("matrix_transpose", Axes, cases={"": Case(((1, 3, 4, 5),), (lambda x: x.mT,))})
op_suite("all_axes", Axes, cases={"": Case(((3, 4),), (lambda x: x.T,))})
op_suite(
    "adjoints",
    Axes,
    cases={
        "mH": Case(((2, 3, 4),), (lambda x: x.mH,), kinds=("MI",)),
        "matrix_H": Case(((3, 4),), (lambda x: x.H,), kinds=("MI",)),
        "adjoint": Case(((2, 3, 4),), (lambda x: x.adjoint(),), kinds=("MI",)),
    },
)
op_suite(
    "broadcasts",
    Function,
    cases={
        "to": Case(((4, 1),), (lambda x: torch.broadcast_to(x, (2, 4, 3)) + 1,), kinds=("MI", "BI")),
        "tensors": Case(
            ((4, 1), (3,)), (lambda x, y: torch.broadcast_tensors(x + 1, y),), kinds=("MI",)
        ),
        "meshgrid": Case(
            ((3,), (4,)),
            (lambda x, y: torch.meshgrid(x + 1, y, indexing="ij"),),
            kinds=("MI",),
        ),
        "meshgrid_xy": Case(
            ((3,), (4,), (2,)),
            (lambda x, y, z: torch.meshgrid(x + 1, y, z, indexing="xy"),),
            kinds=("MI",),
        ),
    },
)
