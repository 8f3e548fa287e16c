# SPDX-License-Identifier: Apache-2.0
"""flip, index_select and indexing by constant lists."""

import torch
from torch import nn

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
