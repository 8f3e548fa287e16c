# SPDX-License-Identifier: Apache-2.0
"""linear: any rank of input, with and without bias, with the activations that fuse with it."""

from torch import nn

from ..tester.suite import Case, op_suite

BOTH = ("arm", "xnnpack")
op_suite(
    "linear",
    nn.Linear,
    cases={
        "": Case(((1, 16),), (16, 10), quantizers=BOTH),
        "no_bias": Case(((1, 16),), (16, 10), {"bias": False}, quantizers=BOTH),
        "rows": Case(((5, 16),), (16, 10)),
        "rank1": Case(((16,),), (16, 10)),
        "rank3": Case(((2, 5, 16),), (16, 10)),
        "rank4": Case(((2, 3, 5, 16),), (16, 10)),
        "one_output": Case(((1, 16),), (16, 1)),
        "one_input": Case(((3, 1),), (1, 5)),
        "wide": Case(((1, 200),), (200, 130)),
    },
)


class LinearActivation(nn.Sequential):
    def __init__(self, activation):
        super().__init__(nn.Linear(16, 12), activation, nn.Linear(12, 5))


op_suite(
    "linear_fused",
    LinearActivation,
    cases={
        "relu": Case(((4, 16),), (nn.ReLU(),), steps=2, quantizers=BOTH),
        "relu6": Case(((4, 16),), (nn.ReLU6(),), steps=2),
    },
)


class Digits(nn.Sequential):
    """ET#7645: flatten after convolutions, which compute in NHWC, keeps the order of NCHW."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(),
            nn.Flatten(), nn.Linear(64 * 28 * 28, 128), nn.ReLU(), nn.Linear(128, 10),
        )  # fmt: skip


op_suite("digits", Digits, cases={"": Case(((1, 1, 28, 28),), steps=2, kinds=("MI", "BI", "u55"))})
