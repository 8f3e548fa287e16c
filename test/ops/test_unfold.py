# SPDX-License-Identifier: Apache-2.0
"""Windows of an axis: side by side, overlapping, with gaps, few and many."""

from ..tester.codes import CodeCase, code_suite, q8
from ..tester.function import Function
from ..tester.suite import Case, op_suite

FLOAT = {"kinds": ("MI",)}


def windows(axis, size, step):
    return lambda x: x.unfold(axis, size, step) + 1


op_suite(
    "unfold",
    Function,
    cases={
        "": Case(((4, 9),), (windows(1, 3, 2),), kinds=("MI", "core")),
        "side_by_side": Case(((4, 10),), (windows(-1, 3, 3),), **FLOAT),
        "gaps": Case(((4, 10),), (windows(1, 2, 4),), **FLOAT),
        "rows": Case(((7, 2, 3),), (windows(0, 4, 1),), **FLOAT),
        "many": Case(((1, 200),), (windows(1, 4, 1),), **FLOAT),
        "one": Case(((2, 5),), (windows(1, 5, 1),), **FLOAT),
    },
)
A = q8(0.05, -10)
VIEW = ("BI",)  # a network of nothing but views is not compiled for an NPU
code_suite(
    "unfold", Function, {"": CodeCase((A,), A, ((2, 9),), (lambda x: x.unfold(1, 3, 2),), steps=0, kinds=VIEW)}
)
