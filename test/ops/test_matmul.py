# SPDX-License-Identifier: Apache-2.0
"""Products of matrices: every pair of ranks, with broadcast, and sums with another value."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Matmul(nn.Module):
    def forward(self, x, y):
        return torch.matmul(x, y)


class Bmm(nn.Module):
    def forward(self, x, y):
        return torch.bmm(x, y)


class Mm(nn.Module):
    def forward(self, x, y):
        return torch.mm(x, y)


class Addmm(nn.Module):
    def __init__(self, beta=1, alpha=1):
        super().__init__()
        self.factors = {"beta": beta, "alpha": alpha}

    def forward(self, z, x, y):
        return torch.addmm(z, x, y, **self.factors)


class Baddbmm(Addmm):
    def forward(self, z, x, y):
        return torch.baddbmm(z, x, y, **self.factors)


class MatmulConstant(nn.Module):
    def __init__(self, shape, first=False):
        super().__init__()
        self.matrix, self.first = nn.Buffer(torch.randn(shape)), first

    def forward(self, x):
        return self.matrix @ x if self.first else x @ self.matrix


op_suite(
    "matmul",
    Matmul,
    cases={
        "": Case(((4, 6), (6, 5))),
        "heads": Case(((1, 3, 8, 16), (1, 3, 16, 8))),
        "batches": Case(((2, 3, 4, 6), (2, 3, 6, 5))),
        "one_matrix": Case(((2, 3, 4, 6), (6, 5))),
        "batch_of_right": Case(((4, 6), (2, 3, 6, 5))),
        "broadcast": Case(((2, 1, 4, 6), (1, 3, 6, 5))),
        "vector_matrix": Case(((6,), (6, 5)), kinds=("MI", "BI")),
        "matrix_vector": Case(((4, 6), (6,)), kinds=("MI", "BI")),
        "batch_vector": Case(((2, 4, 6), (6,)), kinds=("MI", "BI")),
        "vector_batch": Case(((6,), (2, 6, 5)), kinds=("MI", "BI")),
        "dot": Case(((6,), (6,)), kinds=("MI",)),
        "deep": Case(((1, 4, 200), (1, 200, 4))),
        "one": Case(((1, 1), (1, 1)), kinds=("MI", "BI")),
    },
)
op_suite("bmm", Bmm, cases={"": Case(((3, 4, 6), (3, 6, 5)))})
op_suite("mm", Mm, cases={"": Case(((4, 6), (6, 5)))})
op_suite(
    "matmul_constant",
    MatmulConstant,
    cases={
        "": Case(((2, 4, 6),), ((6, 5),)),
        "first": Case(((2, 6, 5),), ((4, 6), True)),
    },
)
op_suite(
    "addmm",
    Addmm,
    cases={
        "": Case(((5,), (4, 6), (6, 5)), kinds=("MI",)),
        "factors": Case(((4, 5), (4, 6), (6, 5)), (-0.5, 2), kinds=("MI",)),
        "no_beta": Case(((1, 5), (4, 6), (6, 5)), (0, 0.25), kinds=("MI",)),
    },
)
op_suite(
    "baddbmm",
    Baddbmm,
    cases={
        "": Case(((3, 4, 5), (3, 4, 6), (3, 6, 5)), kinds=("MI",)),
        "factors": Case(((5,), (3, 4, 6), (3, 6, 5)), (2, 0.5), kinds=("MI",)),
    },
)

A, B, C = q8(0.05, -10), q8(0.03, 30), q8(0.08, 20)
W, V, U = q16(2e-4), q16(1e-4), q16(4e-4)
PAIR, TRIPLE = ((3, 4, 6), (3, 6, 5)), ((5,), (4, 6), (6, 5))
code_suite(
    "bmm",
    Bmm,
    {
        "": CodeCase((A, B), C, PAIR),
        "narrow": CodeCase((q8(0.05, -10, -127), B), q8(0.02, 20, -100, 100), PAIR),
        "int16": CodeCase((W, V), q16(3e-3), PAIR),
        "int16_deep": CodeCase((W, V), q16(6e-3), ((1, 3, 97), (1, 97, 4))),
        "int16_fine": CodeCase((W, V), q16(3e-5), PAIR),
    },
)
code_suite(
    "addmm",
    Addmm,
    {
        "": CodeCase((C, A, B), C, TRIPLE),
        "factors": CodeCase((C, A, B), q8(0.2, 3), TRIPLE, (-3, 2)),
        "negative_alpha": CodeCase((C, A, B), C, TRIPLE, (1, -0.5)),
        "no_beta": CodeCase((C, A, B), C, TRIPLE, (0, 1)),
        "large_first": CodeCase((q8(900.0), A, B), q8(1000.0), TRIPLE),
        "int16": CodeCase((U, W, V), q16(3e-3), TRIPLE),
    },
)
code_suite("baddbmm", Baddbmm, {"": CodeCase((C, A, B), C, ((3, 1, 5), *PAIR))})
