# SPDX-License-Identifier: Apache-2.0
"""Interpolation along one axis after the other: rows, volumes, cubic curves, antialiasing, affine grids."""

from torch.nn.functional import affine_grid, interpolate

from ..tester.function import Function
from ..tester.suite import Case, op_suite

FLOAT = ("MI",)
ROW, IMAGE, VOLUME = (2, 3, 7), (1, 3, 5, 6), (1, 2, 3, 4, 5)


def resized(shape, **options):
    return Case((shape,), (lambda x: interpolate(x, **options),), kinds=FLOAT)


SIZES = {
    "": {"scale_factor": 2}, "broken": {"scale_factor": 1.7}, "down": {"scale_factor": 0.6},
    "corners": {"scale_factor": 2, "align_corners": True},
}  # fmt: skip
for mode, shape in (("linear", ROW), ("trilinear", VOLUME), ("bicubic", IMAGE)):
    op_suite(
        f"upsample_{mode}",
        Function,
        {label: resized(shape, mode=mode, **options) for label, options in SIZES.items()}
        | {"same": resized(shape, mode=mode, size=shape[2:])},
    )
op_suite(
    "upsample_sizes",
    Function,
    {
        "linear": resized(ROW, mode="linear", size=11),
        "linear_to_one": resized(ROW, mode="linear", size=1, align_corners=True),
        "trilinear": resized(VOLUME, mode="trilinear", size=(5, 2, 9)),
        "bicubic": resized(IMAGE, mode="bicubic", size=(3, 11)),
        "nearest_volume": resized(VOLUME, scale_factor=(2.0, 1.5, 1.0)),
        "nearest_volume_down": resized(VOLUME, size=(2, 6, 3)),
    },
)
for mode in ("bilinear", "bicubic"):
    op_suite(
        f"antialiased_{mode}",
        Function,
        {
            "down": resized((1, 3, 16, 13), mode=mode, antialias=True, size=(6, 5)),
            "up": resized(IMAGE, mode=mode, antialias=True, size=(9, 13)),
            "factor": resized((1, 2, 9, 12), mode=mode, antialias=True, scale_factor=(0.5, 0.4)),
        },
    )


def grid(corners):
    return lambda theta: affine_grid(theta, [2, 3, 4, 5], align_corners=corners)


op_suite(
    "affine_grid",
    Function,
    {
        label: Case(((2, 2, 3),), (grid(corners),), kinds=FLOAT)
        for label, corners in (("", False), ("corners", True))
    },
)
