# SPDX-License-Identifier: Apache-2.0
"""Conversion of floats to integers, which cuts the fraction off."""

from ..tester.function import Function
from ..tester.suite import Case, op_suite

op_suite(
    "to_integers",
    Function,
    cases={
        "": Case(((4, 60),), (lambda x: (x * 5).int().float(),), kinds=("MI", "core")),
        "ties": Case(((4, 60),), (lambda x: ((x * 5).int().float() + 0.5).int().float() * x,), kinds=("MI",)),
    },
)
