# SPDX-License-Identifier: Apache-2.0
"""Functions made of others (exp2, erfc, sinc, hypot, …), and what is no number or infinite."""

import math

import torch

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.function import Function
from ..tester.suite import Case, op_suite

ONE, PAIR = ((2, 3, 8),), ((2, 3, 8), (3, 1))
FLOAT = ("MI",)
UNARY = {
    "exp2": torch.exp2, "erfc": torch.erfc, "sinc": torch.sinc, "rad2deg": torch.rad2deg, "deg2rad": torch.deg2rad,
    "frac": torch.frac, "clip": lambda x: torch.clip(x, -0.5, 0.7), "clip_above": lambda x: torch.clip(x, max=0.7),
    "clip_in_place": lambda x: (x + 0).clip_(-0.5, 0.5),
    "clip_between": lambda x: torch.clip(x, torch.full((8,), -0.5), torch.full((8,), 0.5)),
}  # fmt: skip
BINARY = {
    "hypot": torch.hypot,
    "logaddexp": torch.logaddexp,
    "xlogy": lambda x, y: torch.xlogy(x.relu(), y.exp()),
    "heaviside": lambda x, y: torch.heaviside(x.relu(), y),
}


def holes(x):
    """The input and in each row a value that is no number, one above and one below all numbers."""
    special = torch.tensor([math.nan, math.inf, -math.inf])
    return torch.cat([x, special.expand(*x.shape[:-1], 3)], -1)


def choice(question):
    return lambda x: torch.where(question(holes(x)), 1.0, 2.0)


QUESTIONS = {
    "isnan": torch.isnan, "isinf": torch.isinf, "isfinite": torch.isfinite, "isposinf": torch.isposinf,
    "isneginf": torch.isneginf,
}  # fmt: skip
for name, function in UNARY.items():
    op_suite(name, Function, {"": Case(ONE, (function,), kinds=FLOAT)})
for name, function in BINARY.items():
    op_suite(name, Function, {"": Case(PAIR, (function,), kinds=FLOAT)})
for name, function in QUESTIONS.items():
    op_suite(name, Function, {"": Case(ONE, (choice(function),), kinds=FLOAT)})
REPLACED = {
    "": lambda x: torch.nan_to_num(holes(x).clip(-1e3, 1e3)),
    "given": lambda x: torch.nan_to_num(holes(x), 0.5, 2.0, -3.0),
    "nansum": lambda x: torch.nansum(torch.where(x > 1, math.nan, x)),
    "nansum_dim": lambda x: torch.nansum(torch.where(x > 1, math.nan, x), 1, True),
}
op_suite(
    "nan_to_num", Function, {label: Case(ONE, (function,), kinds=FLOAT) for label, function in REPLACED.items()}
)
GIVEN = q8(0.03, -10)
code_suite("exp2_codes", lambda: Function(torch.exp2), {"": CodeCase((GIVEN,), q8(0.06, -128), steps=0)})
code_suite("erfc_codes", lambda: Function(torch.erfc), {"": CodeCase((GIVEN,), q8(0.008, -128), steps=0)})
code_suite("sinc_codes", lambda: Function(torch.sinc), {"": CodeCase((GIVEN,), q8(0.005, -80), steps=0)})
code_suite(
    "nan_to_num_codes", lambda: Function(torch.nan_to_num), {"": CodeCase((GIVEN,), GIVEN, steps=0, kinds=("BI",))}
)
code_suite("exp2_wide", lambda: Function(torch.exp2), {"": CodeCase((q16(1e-4),), q16(3e-4), kinds=("BI",))})
