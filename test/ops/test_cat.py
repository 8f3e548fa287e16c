# SPDX-License-Identifier: Apache-2.0
"""cat: one set of quantisation parameters for all inputs and the output, whatever produced them."""

import torch
from torch import nn

from ..tester.function import Function
from ..tester.suite import Case, op_suite

BOTH = ("arm", "xnnpack")


class Cat(nn.Module):
    """Concatenates its inputs."""

    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, *parts):
        return torch.cat(parts, self.dim)


class CatSame(nn.Module):
    """The same value twice."""

    def forward(self, x):
        return torch.cat([x, x], 1)


class CatActivations(nn.Module):
    """Branches of different range and sign: a fused relu keeps its bound although the shared zero
    point is not the smallest code."""

    def __init__(self, *activations):
        super().__init__()
        self.branches = nn.ModuleList(
            nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), activation) for activation in activations
        )

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class CatSums(nn.Module):
    """Sums into a concatenation, one of which is used beside it."""

    def forward(self, a, b):
        total = a + b
        return torch.cat([total, a], 1), total + b


op_suite(
    "cat",
    Cat,
    cases={
        "": Case(((1, 4, 8, 8), (1, 4, 8, 8)), (1,), quantizers=BOTH),
        "one": Case(((1, 4, 8, 8),), (1,), kinds=("MI",)),
        "three": Case(((1, 4, 8, 8), (1, 3, 8, 8), (1, 1, 8, 8)), (1,)),
        "height": Case(((1, 4, 8, 8), (1, 4, 3, 8)), (2,)),
        "last": Case(((1, 4, 8, 8), (1, 4, 8, 5)), (-1,)),
        "batch": Case(((1, 4, 8, 8), (2, 4, 8, 8)), (0,)),
        "rank2": Case(((3, 10), (3, 7)), (1,)),
        "rank1": Case(((10,), (7,)), (0,)),
        "rank3": Case(((2, 3, 10), (2, 5, 10)), (-2,)),
    },
)
op_suite("cat_same", CatSame, cases={"": Case(((1, 4, 8, 8),))})
IMAGE = ((1, 3, 10, 10),)
op_suite(
    "cat_activations",
    CatActivations,
    cases={
        "relu_none": Case(IMAGE, (nn.ReLU(), nn.Identity()), quantizers=BOTH),
        "relu_relu6": Case(IMAGE, (nn.ReLU(), nn.ReLU6()), quantizers=BOTH),
        "relu6_hardtanh": Case(IMAGE, (nn.ReLU6(), nn.Hardtanh()), quantizers=BOTH),
        "hardtanh_positive_none": Case(
            IMAGE, (nn.Hardtanh(0.0, 0.25), nn.Identity()), quantizers=BOTH
        ),
    },
)
op_suite("cat_sums", CatSums, cases={"": Case(((1, 4, 8, 8), (1, 4, 8, 8)))})


def function_of(name):
    return lambda x, y: getattr(torch, name)((x + 1, y))


op_suite(
    "stacks",
    Function,
    cases={
        label: Case(shapes, (function_of(label.partition("_of_")[0]),), kinds=("MI", "BI"))
        for label, shapes in {
            "hstack": ((2, 3), (2, 4)),
            "hstack_of_vectors": ((3,), (4,)),
            "vstack": ((2, 3), (4, 3)),
            "vstack_of_vectors": ((3,), (3,)),
            "dstack": ((2, 3), (2, 3)),
            "dstack_of_vectors": ((3,), (3,)),
            "dstack_of_images": ((2, 3, 4), (2, 3, 1)),
            "column_stack": ((3, 2), (3,)),
            "row_stack": ((3,), (2, 3)),
        }.items()
    },
)
