# SPDX-License-Identifier: Apache-2.0
"""softmax and its logarithm, along any axis; rows with one great element and flat ones, whose small
terms must not be lost."""

import torch
from torch import nn
from torch.nn import functional

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.suite import Case, op_suite


class Softmax(nn.Module):
    def __init__(self, dim=-1, gain=1.0):
        super().__init__()
        self.dim, self.gain = dim, gain

    def forward(self, x):
        return functional.softmax(x * self.gain if self.gain != 1 else x, self.dim)


class LogSoftmax(nn.Module):
    def __init__(self, dim=-1):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return functional.log_softmax(x, self.dim)


class CoreSoftmax(Softmax):
    def forward(self, x):
        return torch.ops.aten._softmax.default(x, self.dim, False)


class CoreLogSoftmax(LogSoftmax):
    def forward(self, x):
        return torch.ops.aten._log_softmax.default(x, self.dim, False)


class SafeSoftmax(nn.Module):
    """The first row of the mask is -inf altogether."""

    def __init__(self, dim=-1):
        super().__init__()
        mask = torch.zeros(4, 6)
        mask[0], mask[1, :4] = -torch.inf, -torch.inf
        self.dim, self.mask = dim, nn.Buffer(mask)

    def forward(self, x):
        return torch.ops.aten._safe_softmax.default(x + self.mask, self.dim)


ONE = ((2, 3, 4, 6),)
# ExecuTorch's quantiser breaks a softmax into int8 primitives, as the graph that is compared does.
op_suite(
    "softmax",
    Softmax,
    cases={
        "": Case(ONE),
        "channels": Case(ONE, (1,)),
        "steep": Case(ONE, (-1, 30.0), kinds=("MI",)),
        "rank1": Case(((7,),), kinds=("MI", "BI")),
        "rank2": Case(((1, 10),)),
        "one": Case(((3, 1),), kinds=("MI",)),
        "long": Case(((2, 500),), kinds=("MI", "BI")),
    },
)
op_suite(
    "log_softmax",
    LogSoftmax,
    cases={
        "": Case(ONE, kinds=("MI",)),
        "channels": Case(ONE, (1,), kinds=("MI",)),
        "core": Case(ONE, kinds=("MI",)),
    },
)
op_suite("softmax_core", CoreSoftmax, cases={"": Case(ONE, kinds=("MI",))})
op_suite("softmax_safe", SafeSoftmax, cases={"": Case(((2, 4, 6),), kinds=("MI",))})

ALL = ("BI", "u55", "u65", "u85")
P8 = q8(1 / 256, -128)
CODES = {
    "": CodeCase((q8(0.05, -10),), P8, ONE, kinds=ALL),
    "fine": CodeCase((q8(0.001, 5),), q8(0.3 / 255, -128), ONE),
    "steep": CodeCase((q8(1.04, 127),), P8, ONE),
    "channels": CodeCase((q8(0.05, -10),), P8, ONE, (1,)),
    "rows": CodeCase((q8(0.05, -10),), P8, ((2, 3, 6, 4),), (2,)),
    "long": CodeCase((q8(0.04, -10),), q8(0.02 / 255, -128), ((4, 400),)),
    "one": CodeCase((q8(0.05),), P8, ((3, 1),), kinds=("BI",)),
    "int16": CodeCase((q16(3e-4),), q16(1 / 32768), ONE, kinds=ALL, steps=2),
    "int16_steep": CodeCase((q16(1e-2),), q16(1 / 32768), ONE, steps=2),
    "int16_long": CodeCase((q16(2e-4),), q16(0.02 / 32768), ((4, 400),), steps=2),
}
code_suite("softmax", Softmax, CODES)
code_suite("softmax_core", CoreSoftmax, {"": CODES["channels"]})
code_suite(
    "log_softmax",
    LogSoftmax,
    {
        "": CodeCase((q8(0.05, -10),), q8(0.06, 127), ONE, kinds=ALL),
        "steep": CodeCase((q8(2.0, 127),), q8(2.0, 127), ONE),
        "rows": CodeCase((q8(0.05, -10),), q8(0.06, 127), ((2, 3, 6, 4),), (2,)),
        "int16": CodeCase((q16(3e-4),), q16(7e-4), ONE, kinds=ALL, steps=2),
        "int16_fine": CodeCase((q16(3e-5),), q16(1.5e-4), ONE, steps=2),
    },
)
code_suite("log_softmax_core", CoreLogSoftmax, {"": CodeCase((q8(0.05),), q8(0.06, 127), ONE)})
