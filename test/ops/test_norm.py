# SPDX-License-Identifier: Apache-2.0
"""Normalisation of rows, of groups of channels and of single channels, with weights of both signs
and biases; rows of little and of no variance."""

import torch
from torch import nn

from ..tester.codes import CodeCase, code_suite, q8, q16
from ..tester.stages import QuantParams
from ..tester.suite import Case, op_suite


def with_parameters(factory):
    """`factory`, with a weight and a bias that a fresh layer has not."""

    def make(*args, **options):
        module = factory(*args, **options)
        with torch.no_grad():
            for index, parameter in enumerate(module.parameters()):
                parameter.copy_(torch.randn(parameter.shape) + 0.5 - index)
            if getattr(module, "running_var", None) is not None:
                module.running_var.uniform_(0.5, 2)
                module.running_mean.uniform_(-1, 1)
        return module

    return make


class CoreLayerNorm(nn.Module):
    """Core ATen's form; `which` of its results."""

    def __init__(self, which):
        super().__init__()
        self.which, self.weight = which, nn.Buffer(torch.randn(8))

    def forward(self, x):
        return torch.ops.aten.native_layer_norm.default(x, [8], self.weight, None, 1e-5)[self.which]


class CoreGroupNorm(nn.Module):
    def __init__(self, which):
        super().__init__()
        self.which, self.bias = which, nn.Buffer(torch.randn(4))

    def forward(self, x):
        return torch.ops.aten.native_group_norm.default(x, None, self.bias, 2, 4, 30, 2, 1e-5)[
            self.which
        ]


class CoreRmsNorm(nn.Module):
    def __init__(self, which):
        super().__init__()
        self.which = which

    def forward(self, x):
        return torch.ops.aten._fused_rms_norm.default(x, [8], None, 1e-5)[self.which]


LayerNorm, GroupNorm = with_parameters(nn.LayerNorm), with_parameters(nn.GroupNorm)
InstanceNorm, RmsNorm = with_parameters(nn.InstanceNorm2d), with_parameters(nn.RMSNorm)
ROWS, IMAGE = ((2, 5, 8),), ((2, 4, 5, 6),)
FLOAT = {"kinds": ("MI",)}
# ExecuTorch's quantiser leaves rms_norm and instance_norm whole; it breaks the others into int8
# primitives.
op_suite(
    "layer_norm",
    LayerNorm,
    cases={
        "": Case(ROWS, (8,), steps=4),
        "two_axes": Case(ROWS, ((5, 8),), **FLOAT),
        "all_axes": Case(((5, 8),), ((5, 8),), **FLOAT),
        "no_bias": Case(ROWS, (8,), {"bias": False}, **FLOAT),
        "plain": Case(ROWS, (8,), {"elementwise_affine": False}, **FLOAT),
        "large_eps": Case(ROWS, (8,), {"eps": 0.5}, **FLOAT),
        "rank1": Case(((8,),), (8,), **FLOAT),
    },
)
op_suite("rms_norm", RmsNorm, cases={"": Case(ROWS, (8,)), "eps": Case(ROWS, (8,), {"eps": 0.1})})
op_suite(
    "group_norm",
    GroupNorm,
    cases={
        "": Case(IMAGE, (2, 4), **FLOAT),
        "one": Case(IMAGE, (1, 4), **FLOAT),
        "rank2": Case(((3, 8),), (2, 8), **FLOAT),
        "rank3": Case(((3, 8, 5),), (4, 8), **FLOAT),
    },
)
op_suite(
    "instance_norm",
    InstanceNorm,
    cases={
        "": Case(IMAGE, (4,), {"affine": True}),
        "plain": Case(IMAGE, (4,)),
        "stored": Case(IMAGE, (4,), {"affine": True, "track_running_stats": True}, **FLOAT),
    },
)
op_suite("layer_norm_core", CoreLayerNorm, {str(i): Case(ROWS, (i,), **FLOAT) for i in range(3)})
op_suite("group_norm_core", CoreGroupNorm, {str(i): Case(IMAGE, (i,), **FLOAT) for i in range(3)})
op_suite("rms_norm_core", CoreRmsNorm, {str(i): Case(ROWS, (i,), **FLOAT) for i in range(2)})

ALL = ("BI", "u55", "u65", "u85")
A, Y = q8(0.05, -10), q8(0.03, 12)
W, V = q16(3e-4), q16(2e-4)
CODES = {
    "": CodeCase((A,), Y, ROWS, (8,), kinds=ALL),
    "plain": CodeCase((A,), Y, ((4, 8),), ((8,), 1e-5, False)),
    "two_axes": CodeCase((A,), Y, ROWS, ((5, 8),)),
    "one": CodeCase((A,), Y, ((4, 1),), (1,), kinds=("BI",)),
    "long": CodeCase((A,), Y, ((3, 1500),), (1500,), kinds=("BI", "u55")),
    "width_192": CodeCase((A,), Y, ((3, 192),), (192,)),
    "little_variance": CodeCase((q8(0.05, -10, -11, -10),), q8(0.05), ((6, 192),), (192,)),
    "no_variance": CodeCase((q8(0.05, -10, -11, -10),), Y, ((32, 2),), (2,)),
    "eps": CodeCase((q8(1e-3, -10),), Y, ROWS, ((8,), 0.01)),
    "large_eps": CodeCase((q8(1e-3, -10),), q8(1e-3), ROWS, ((8,), 100.0, False)),
    "int16": CodeCase((W,), V, ROWS, (8,), kinds=ALL, steps=2),
    "int16_pairs": CodeCase((W,), V, ((8, 2),), (2,), kinds=("BI",), steps=2),
    "int16_long": CodeCase((W,), V, ((3, 17000),), (17000,), kinds=("BI",), steps=2),
    "int16_width_192": CodeCase((W,), V, ((3, 192),), (192,), steps=2),
    "int16_little_variance": CodeCase(
        (QuantParams(3e-4, 0, -20, 30, torch.int16),), V, ((3, 192),), (192,), steps=2
    ),
}
code_suite("layer_norm", LayerNorm, CODES)
code_suite(
    "rms_norm",
    RmsNorm,
    {
        "": CodeCase((A,), Y, ROWS, (8,), kinds=ALL),
        "eps": CodeCase((q8(1e-3, -10),), Y, ROWS, ((8,), 1e-3)),
        "int16": CodeCase((W,), V, ROWS, (8,), steps=2),
    },
)
code_suite(
    "group_norm",
    GroupNorm,
    {
        "": CodeCase((A,), Y, IMAGE, (2, 4), kinds=ALL),
        "one": CodeCase((A,), Y, IMAGE, (1, 4)),
        "int16": CodeCase((W,), V, IMAGE, (2, 4), steps=2),
    },
)
code_suite(
    "instance_norm",
    InstanceNorm,
    {
        "": CodeCase((A,), Y, IMAGE, (4, 1e-5, 0.1, True)),
        "int16": CodeCase((W,), V, IMAGE, (4, 1e-5, 0.1, True), steps=2),
    },
)
