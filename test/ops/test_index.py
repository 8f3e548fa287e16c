# SPDX-License-Identifier: Apache-2.0
"""flip, index_select and indexing by constant lists."""

import torch
from torch import nn

from ..tester.function import Function
from ..tester.suite import Case, op_suite


class Flip(nn.Module):
    def __init__(self, *dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return torch.flip(x, self.dims) + x


class IndexSelect(nn.Module):
    def __init__(self, dim, *indices):
        super().__init__()
        self.dim = dim
        self.register_buffer("indices", torch.tensor(indices))

    def forward(self, x):
        y = torch.index_select(x, self.dim, self.indices)
        return y + y


class Index(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("indices", torch.tensor([3, -1, 0, 1]))

    def forward(self, x):
        y = x[:, :, self.indices]
        return y + y


IMAGE = ((1, 3, 5, 4),)

op_suite(
    "flip",
    Flip,
    cases={
        "": Case(IMAGE, (3,)),
        "image": Case(IMAGE, (2, -1)),
        "channels": Case(IMAGE, (1,)),
        "rank2": Case(((3, 4),), (0,)),
    },
)
op_suite(
    "index_select",
    IndexSelect,
    cases={"": Case(IMAGE, (2, 3, 0, 1, 2)), "last": Case(IMAGE, (-1, 1))},
)
op_suite("index", Index, cases={"": Case(IMAGE)})
op_suite(
    "index_axes",
    Function,
    cases={
        "two": Case(((4, 6),), (lambda x, i, j: x[i, j] + 1, [0, 2, -1], [1, 5, 0])),
        "last_two": Case(IMAGE, (lambda x, i, j: x[:, :, i, j] + 1, [0, 2], [1, 3]), kinds=("MI",)),
        "grid": Case(
            IMAGE, (lambda x, i, j: x[:, :, i[:, None], j] + 1, [0, 2, 2], [1, 3]), kinds=("MI",)
        ),
        "many": Case(
            ((1, 60, 3),), (lambda x, i: x[:, i] + 1, list(range(59, 9, -1))), kinds=("MI", "BI")
        ),
    },
)
op_suite(
    "gather",
    Function,
    cases={
        "": Case(
            ((4, 6),), (lambda x, i: x.gather(1, i) + 1, [[0, 2], [1, 3], [5, 4], [0, 1]])
        ),
        "rows": Case(((4, 6),), (lambda x, i: x.gather(0, i) + 1, [[3, 0, 1]]), kinds=("MI",)),
        "take_along": Case(
            ((4, 6),),
            (lambda x, i: torch.take_along_dim(x, i, 1) + 1, [[0], [1], [5], [0]]),
            kinds=("MI",),
        ),
        "take_along_broadcast": Case(
            ((4, 1, 6),), (lambda x, i: torch.take_along_dim(x, i, 2) + 1, [[[0, 5, 2], [1, 1, 3]]]), kinds=("MI",)
        ),
        "take_all": Case(((4, 6),), (lambda x, i: torch.take_along_dim(x, i) + 1, [0, 23, 7]), kinds=("MI",)),
    },
)
op_suite(
    "rot90",
    Function,
    cases={
        "": Case(((4, 6),), (lambda x: torch.rot90(x) + 1,)),
        "back": Case(((4, 6),), (lambda x: torch.rot90(x, -1) + 1,), kinds=("MI",)),
        "half": Case(IMAGE, (lambda x: torch.rot90(x, 2, (2, 3)) + 1,), kinds=("MI",)),
        "axes": Case(IMAGE, (lambda x: torch.rot90(x, 5, (3, 1)) + 1,), kinds=("MI",)),
        "fliplr": Case(((4, 6),), (lambda x: torch.fliplr(x) + 1,)),
        "flipud": Case(((4, 6),), (lambda x: torch.flipud(x) + 1,), kinds=("MI",)),
    },
)
