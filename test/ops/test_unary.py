# SPDX-License-Identifier: Apache-2.0
"""Functions of one value: TOSA operations in float, tables on quantised values. Each table is
tested on all codes, where it must be PyTorch's result to the step."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Apply(nn.Module):
    """A function of torch; `prepare` brings inputs into its domain."""

    def __init__(self, name, prepare=None):
        super().__init__()
        self.function = getattr(torch, name)
        self.prepare = prepare and getattr(torch, prepare)

    def forward(self, x):
        return self.function(self.prepare(x) if self.prepare else x)


class ApplyInPlace(nn.Module):
    """The in-place form, on a copy of the input."""

    def __init__(self, name):
        super().__init__()
        self.name = name

    def forward(self, x):
        y = x * 2
        getattr(y, self.name + "_")()
        return y


RANK4 = ((1, 4, 6, 6),)
# Functions that ExecuTorch's quantiser annotates as they are.
for name in ("tanh", "exp", "abs", "neg", "expm1", "sinh", "cosh", "floor", "ceil", "round"):
    op_suite(
        name,
        Apply,
        cases={
            "": Case(RANK4, (name,)),
            "rank1": Case(((20,),), (name,), kinds=("MI",)),
            "rank3": Case(((2, 3, 20),), (name,), kinds=("MI", "BI")),
        },
    )
    op_suite(
        f"{name}_in_place",
        ApplyInPlace,
        cases={"": Case(RANK4, (name,), kinds=("MI",))},
    )
# Broken into others by the quantiser, or with poles that a calibration does not meet.
op_suite("sign", Apply, cases={"": Case(RANK4, ("sign",), kinds=("MI", "BI", "u85"))})
op_suite("trunc", Apply, cases={"": Case(RANK4, ("trunc",), kinds=("MI",))})
op_suite("square", Apply, cases={"": Case(RANK4, ("square",), kinds=("MI",))})
op_suite("rsqrt", Apply, cases={"": Case(RANK4, ("rsqrt", "abs"), kinds=("MI",))})
op_suite("reciprocal", Apply, cases={"": Case(RANK4, ("reciprocal", "exp"), kinds=("MI",))})
for name in ("sin", "cos", "tan", "erf"):
    op_suite(name, Apply, cases={"": Case(RANK4, (name,), kinds=("MI",))})
for name in ("log", "log2", "log10", "log1p"):
    op_suite(name, Apply, cases={"": Case(RANK4, (name, "exp"), kinds=("MI",))})

EVERYWHERE = q8(0.05, -10)
POSITIVE = q8(1 / 32, -128)
UNIT = q8(1 / 128)
INT8 = {
    "tanh": (EVERYWHERE, q8(1 / 128)),
    "exp": (EVERYWHERE, q8(0.5, -128)),
    "expm1": (EVERYWHERE, q8(0.5, -126)),
    "abs": (EVERYWHERE, q8(0.05, -128)),
    "neg": (EVERYWHERE, q8(0.05, 10)),
    "sign": (EVERYWHERE, q8(1 / 127)),
    "square": (EVERYWHERE, q8(0.2, -128)),
    "rsqrt": (POSITIVE, q8(0.03, -128)),
    "reciprocal": (EVERYWHERE, q8(0.1, 3)),
    "sinh": (EVERYWHERE, q8(1.0, 1)),
    "cosh": (EVERYWHERE, q8(1.0, -128)),
    "log": (POSITIVE, q8(1 / 32, 0)),
    "log2": (POSITIVE, q8(1 / 24, 0)),
    "log10": (POSITIVE, q8(1 / 64, 0)),
    "log1p": (POSITIVE, q8(1 / 100, -128)),
    "sin": (EVERYWHERE, q8(1 / 128)),
    "cos": (EVERYWHERE, q8(1 / 128)),
    "tan": (EVERYWHERE, q8(1 / 16)),
    "erf": (EVERYWHERE, q8(1 / 128)),
    "floor": (EVERYWHERE, q8(0.5, -5)),
    "ceil": (EVERYWHERE, q8(0.5, -5)),
    "trunc": (EVERYWHERE, q8(0.5, -5)),
    "round": (EVERYWHERE, q8(0.5, -5)),
    "asin": (UNIT, q8(1 / 64)),
    "acos": (UNIT, q8(1 / 64, -100)),
    "atan": (EVERYWHERE, q8(1 / 64)),
    "asinh": (EVERYWHERE, q8(1 / 32)),
    "acosh": (q8(1 / 32, -128), q8(1 / 64, -128)),
    "atanh": (UNIT, q8(1 / 32)),
}
for name, (given, result) in INT8.items():
    code_suite(name, Apply, {"": CodeCase((given,), result, args=(name,), steps=0)})

# On 16-bit values tables interpolate; abs and neg are exact.
WIDE = q16(8 / 32768)
for name, result, steps in (
    ("tanh", q16(1 / 32768), 2),
    ("abs", q16(8 / 32768), 0),
    ("neg", q16(8 / 32768), 0),
    ("atan", q16(1.6 / 32768), 2),
    ("sin", q16(1 / 32768), 2),
    ("exp", q16(20 / 32768), 2),  # saturates
    ("square", q16(64 / 32768), 2),
):
    code_suite(name, Apply, {"int16": CodeCase((WIDE,), result, args=(name,), steps=steps)})


class Scaled(nn.Module):
    """Of numbers so small that their sum with 1 keeps little of them, or nothing."""

    def __init__(self, name, factor):
        super().__init__()
        self.function, self.factor = getattr(torch, name), factor

    def forward(self, x):
        return self.function(x * self.factor)


for name in ("log1p", "expm1"):
    op_suite(
        f"{name}_small",
        Scaled,
        cases={
            str(digits): Case(((1, 64),), (name, 10.0**-digits), kinds=("MI",))
            for digits in (1, 4, 6, 9, 20)
        },
    )
