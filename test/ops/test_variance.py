# SPDX-License-Identifier: Apache-2.0
"""var and std over any axes, with each of PyTorch's ways to say what is divided by."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.function import Function
from ..tester.suite import Case, op_suite


class Var(nn.Module):
    function = staticmethod(torch.var)

    def __init__(self, dim=None, **options):
        super().__init__()
        self.arguments = () if dim is None else (dim,)
        self.options = options

    def forward(self, x):
        return self.function(x, *self.arguments, **self.options)


class Std(Var):
    function = staticmethod(torch.std)


SHAPE = ((2, 4, 5, 6),)
FLOAT = {"kinds": ("MI",)}
CASES = {
    "": Case(SHAPE, **FLOAT),
    "last": Case(SHAPE, (-1,), **FLOAT),
    "channels": Case(SHAPE, (1,), {"keepdim": True}, **FLOAT),
    "plane": Case(SHAPE, ((2, 3),), {"unbiased": False}, **FLOAT),
    "apart": Case(SHAPE, ((0, 2),), {"correction": 0}, **FLOAT),
    "correction": Case(SHAPE, (3,), {"correction": 2, "keepdim": True}, **FLOAT),
    "biased": Case(SHAPE, options={"unbiased": False}, **FLOAT),
}
op_suite("var", Var, CASES)
op_suite("std", Std, CASES | {"": Case(SHAPE, (-1,))})

A, W = q8(0.05, -10), q16(3e-4)
ALL = ("BI", "u55", "u65", "u85")


def codes(out8, out16):
    return {
        "": CodeCase((A,), out8, SHAPE, (-1,), kinds=ALL),
        "channels": CodeCase((A,), out8, SHAPE, (1,)),
        "plane": CodeCase((A,), out8, SHAPE, ((2, 3),)),
        "apart": CodeCase((A,), out8, SHAPE, ((1, 3),)),
        "all": CodeCase((A,), out8, SHAPE, kinds=("BI",)),
        "int16": CodeCase((W,), out16, SHAPE, (-1,), kinds=ALL),
    }


code_suite("var", Var, codes(q8(0.15, -128), q16(2e-3)))
code_suite("std", Std, codes(q8(0.03, -128), q16(3e-4)))
code_suite("std_equal", Std, {"": CodeCase((q8(0.05, 3, 3, 4),), q8(0.001), ((40, 2),), (-1,))})
op_suite(
    "var_mean",
    Function,
    cases={
        "": Case(SHAPE, (torch.var_mean,), **FLOAT),
        "dim": Case(SHAPE, (lambda x: torch.var_mean(x, 1, unbiased=False),), **FLOAT),
        "correction": Case(
            SHAPE, (lambda x: torch.var_mean(x, dim=(2, 3), correction=2, keepdim=True),), **FLOAT
        ),
        "std": Case(SHAPE, (lambda x: torch.std_mean(x, dim=-1),), **FLOAT),
        "std_all": Case(SHAPE, (lambda x: torch.std_mean(x, False),), **FLOAT),
    },
)
