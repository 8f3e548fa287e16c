# SPDX-License-Identifier: Apache-2.0
"""pad with one number: any axes, values other than 0, negative padding."""

from torch import nn
from torch.nn import functional

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.function import Function
from ..tester.suite import Case, op_suite


class PadThenAdd(nn.Module):
    """A sum behind the padding, so that there is something to compute."""

    def __init__(self, pad, value=0.0):
        super().__init__()
        self.pad, self.value = pad, value

    def forward(self, x):
        y = functional.pad(x, self.pad, "constant", self.value)
        return y + y


SHAPES = ((1, 3, 5, 6),)

op_suite(
    "pad",
    PadThenAdd,
    cases={
        "": Case(SHAPES, ((1, 2, 3, 0),)),
        "value": Case(SHAPES, ((1, 1, 1, 1), 0.5)),
        "channels": Case(SHAPES, ((0, 0, 0, 0, 1, 2),)),
        "negative": Case(SHAPES, ((-1, 2, 1, -2),), kinds=("MI",)),
    },
)


class Border(nn.Module):
    def __init__(self, layer, *args):
        super().__init__()
        self.layer = layer(*args)

    def forward(self, x):
        y = self.layer(x)
        return y + y


op_suite(
    "pad_border",
    Border,
    cases={
        "reflect": Case(SHAPES, (nn.ReflectionPad2d, (1, 2, 3, 0))),
        "replicate": Case(SHAPES, (nn.ReplicationPad2d, (1, 2, 3, 0))),
        "circular": Case(SHAPES, (nn.CircularPad2d, (1, 2, 3, 0))),
        "reflect1d": Case(((2, 3, 8),), (nn.ReflectionPad1d, (2, 7)), kinds=("MI", "BI")),
        "replicate1d": Case(((2, 3, 8),), (nn.ReplicationPad1d, 3)),
    },
)
# A number that the parameters of the result hold, and those of the input do not.
NUMBER = {
    "coarse": CodeCase((q8(2.5, -120),), q8(0.08, 40), SHAPES, kinds=("BI",)),
    "beyond": CodeCase((q8(0.001, 0),), q8(0.02, 3), SHAPES, kinds=("BI",)),
    "beyond_16": CodeCase((q16(7e-6),), q16(2e-5), SHAPES, kinds=("BI",)),
}
code_suite(
    "pad_number", lambda: Function(lambda x: functional.pad(x, (1, 2, 0, 1), "constant", -0.25)), NUMBER
)
