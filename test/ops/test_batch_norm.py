# SPDX-License-Identifier: Apache-2.0
"""batch_norm: folded into the convolution before it, or a multiplication and an addition of
constants."""

from torch import nn

from ..tester.suite import Case, op_suite


class ConvNorm(nn.Sequential):
    """A convolution, its normalisation and a relu, as in most networks."""

    def __init__(self, groups=1, bias=False, affine=True):
        super().__init__(
            nn.Conv2d(4, 4, 3, padding=1, groups=groups, bias=bias),
            nn.BatchNorm2d(4, affine=affine),
            nn.ReLU(),
        )


class NormConv(nn.Sequential):
    """A normalisation that cannot fold backwards."""

    def __init__(self):
        super().__init__(nn.BatchNorm2d(4), nn.Conv2d(4, 6, 3))


class ConvNormTwice(nn.Module):
    """The convolution's own output is used beside its normalisation: it must not be folded away."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4)

    def forward(self, x):
        y = self.conv(x)
        return self.norm(y) + y


class LinearNorm(nn.Sequential):
    """The normalisation folds into the linear layer."""

    def __init__(self):
        super().__init__(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU())


IMAGE = ((1, 4, 10, 10),)
FLOAT = ("MI",)
op_suite(
    "conv_batch_norm",
    ConvNorm,
    cases={
        "": Case(IMAGE, quantizers=("arm", "xnnpack")).core(),
        "bias": Case(IMAGE, (1, True)),
        "depthwise": Case(IMAGE, (4,), quantizers=("arm", "xnnpack")),
        "not_affine": Case(IMAGE, (1, False, False)),
    },
)
op_suite("linear_batch_norm", LinearNorm, cases={"": Case(((4, 64),))})
op_suite(
    "batch_norm",
    nn.BatchNorm2d,
    cases={"": Case(IMAGE, (4,), kinds=FLOAT).core(), "eps": Case(IMAGE, (4, 0.5), kinds=FLOAT)},
)
op_suite(
    "batch_norm1d",
    nn.BatchNorm1d,
    cases={"": Case(((3, 8),), (8,), kinds=FLOAT), "rank3": Case(((3, 8, 10),), (8,), kinds=FLOAT)},
)
op_suite("batch_norm_conv", NormConv, cases={"": Case(IMAGE, kinds=FLOAT)})
op_suite("conv_batch_norm_twice", ConvNormTwice, cases={"": Case(IMAGE, kinds=FLOAT)})
