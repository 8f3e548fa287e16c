# SPDX-License-Identifier: Apache-2.0
"""upsample_nearest and upsample_bilinear: whole and broken factors, sizes, and between convolutions."""

from torch import nn
from torch.nn.functional import interpolate

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.function import Function
from ..tester.suite import Case, op_suite


class Resized(nn.Module):
    """A sum behind it, so that the NPU has something to compute."""

    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, x):
        y = interpolate(x, **self.options)
        return y + y


class BetweenConvs(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.before, self.after = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 4, 3, padding=1)
        self.options = options

    def forward(self, x):
        return self.after(interpolate(self.before(x).relu(), **self.options))


IMAGE = ((1, 3, 5, 6),)

op_suite(
    "upsample_nearest",
    Resized,
    cases={
        "": Case(IMAGE, options={"scale_factor": 2}),
        "3": Case(IMAGE, options={"scale_factor": 3}),
        "2_4": Case(IMAGE, options={"scale_factor": (2.0, 4.0)}),
        "8": Case(((1, 2, 3, 2),), options={"scale_factor": 8}),
        "broken": Case(IMAGE, options={"scale_factor": 1.5}),
        "size": Case(IMAGE, options={"size": (7, 9)}),
        "down": Case(IMAGE, options={"size": (2, 4)}),
        "batch": Case(((2, 3, 4, 5),), options={"scale_factor": 2}),
        "row": Case(((1, 3, 6),), options={"scale_factor": 2}),
    },
)
EXACT = {"mode": "nearest-exact"}
op_suite(
    "upsample_nearest_exact",
    Resized,
    cases={
        "": Case(IMAGE, options={"scale_factor": 2} | EXACT, kinds=("MI",)),
        "broken": Case(IMAGE, options={"scale_factor": 1.5} | EXACT, kinds=("MI",)),
        "size": Case(IMAGE, options={"size": (7, 9)} | EXACT, kinds=("MI", "core")),
        "down": Case(IMAGE, options={"size": (2, 4)} | EXACT, kinds=("MI",)),
        "row": Case(((1, 3, 6),), options={"scale_factor": 2.5} | EXACT, kinds=("MI",)),
    },
)
NEAREST = {"scale_factor": 2, "mode": "nearest-exact"}
EXACT_CODES = {
    "": CodeCase((q8(0.05, -10),), q8(0.05, -10), IMAGE, steps=0),
    "other_scale": CodeCase((q8(0.05, -10),), q8(0.04, 3), IMAGE),
}
code_suite("upsample_nearest_exact_whole", lambda: Function(lambda x: interpolate(x, **NEAREST)), EXACT_CODES)
code_suite(
    "upsample_nearest_exact_part", lambda: Function(lambda x: interpolate(x, size=(4, 7), mode="nearest-exact")), EXACT_CODES
)
BILINEAR = {"mode": "bilinear"}
# U55 has no bilinear RESIZE: depthwise convolutions or products with a matrix take its place. Weights are
# sixteenths, so that many results are ties, which TOSA rounds up and PyTorch to even; the sum behind doubles
# the step.
op_suite(
    "upsample_bilinear",
    Resized,
    cases={
        "": Case(IMAGE, options={"scale_factor": 2} | BILINEAR, steps=2),
        "3": Case(IMAGE, options={"scale_factor": 3} | BILINEAR, steps=2),
        "4": Case(((2, 3, 5, 4),), options={"scale_factor": 4} | BILINEAR, steps=2),
        "2_4": Case(IMAGE, options={"scale_factor": (2.0, 4.0)} | BILINEAR, steps=2),
        "row_8": Case(((1, 2, 3, 4),), options={"scale_factor": (1.0, 8.0)} | BILINEAR, steps=2),
        "corners": Case(
            IMAGE, options={"scale_factor": 2, "align_corners": True} | BILINEAR, steps=2
        ),
        "broken": Case(((1, 2, 4, 6),), options={"scale_factor": 1.5} | BILINEAR, steps=2),
        "size": Case(IMAGE, options={"size": (7, 9)} | BILINEAR),
        "one": Case(((1, 3, 1, 6),), options={"size": (4, 12)} | BILINEAR, steps=2),
    },
)
op_suite(
    "upsample_between_convs",
    BetweenConvs,
    cases={
        "": Case(((1, 3, 20, 20),), options={"scale_factor": 2}),
        "3": Case(IMAGE, options={"scale_factor": 3}),  # ET#21585: any whole factor
        "4": Case(IMAGE, options={"scale_factor": 4}),
        "2_4": Case(IMAGE, options={"scale_factor": (2.0, 4.0)}),
    },
)
# What the result cuts off counts in its neighbours.
CUT = {
    "cut": CodeCase((q8(0.05, -10),), q8(0.01, 3), IMAGE),
    "cut_16": CodeCase((q16(0.003),), q16(0.0001), IMAGE),
    "corners": CodeCase((q8(0.05, -10),), q8(0.04, 3), IMAGE, ({"align_corners": True},)),
    "sizes": CodeCase((q8(0.05, -10),), q8(0.05, -10), IMAGE, ({"scale_factor": None, "size": (9, 4)},)),
    "sizes_16": CodeCase((q16(0.003),), q16(0.003), IMAGE, ({"scale_factor": None, "size": (9, 4)},)),
    "wide": CodeCase((q8(0.05, -10),), q8(0.05, -10), ((1, 2, 3, 90),), ({"align_corners": True},)),
    "wider": CodeCase((q8(0.05, -10),), q8(0.1, 30), IMAGE),
}


def bilinear(options=None):
    options = {"scale_factor": 2} | BILINEAR | (options or {})
    return Function(lambda x: interpolate(x, **options))


code_suite("upsample_bilinear", bilinear, CUT)
