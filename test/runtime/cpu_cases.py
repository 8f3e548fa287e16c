# SPDX-License-Identifier: Apache-2.0
"""A call of each row of src/aten/ops that has `.cpu`: what test_cpu_rows.py runs.

    "amax": [call("amax.default", normal(2, 3, 4), [1], True)],

An input of the program stands where it is in the call; all else are constants, tensors too. Several
calls where a row has several ways to its kernel.
"""

import dataclasses
from typing import Callable

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (registers quantized_decomposed)


@dataclasses.dataclass(frozen=True)
class Input:
    """Makes one input of the program."""

    make: Callable


@dataclasses.dataclass(frozen=True)
class Call:
    operator: str
    args: tuple
    keywords: dict

    @property
    def overload(self):
        name = self.operator if "::" in self.operator else f"aten::{self.operator}"
        namespace, _, rest = name.partition("::")
        packet, _, overload = rest.partition(".")
        return getattr(getattr(getattr(torch.ops, namespace), packet), overload)

    def module(self):
        """A module that makes the call, and its example inputs."""
        torch.manual_seed(0)
        inputs, constants = [], {}

        def slot(value):
            """A function from the module's inputs to an argument."""
            if isinstance(value, Input):
                index = len(inputs)
                inputs.append(value.make())
                return lambda given: given[index]
            if isinstance(value, list):
                items = [slot(item) for item in value]
                return lambda given: [item(given) for item in items]
            if isinstance(value, torch.Tensor):
                name = f"constant_{len(constants)}"
                constants[name] = value
                return lambda given: getattr(made, name)
            return lambda given: value

        slots, overload, keywords = [slot(value) for value in self.args], self.overload, self.keywords

        class Module(torch.nn.Module):
            def forward(self, *given):
                return overload(*[item(given) for item in slots], **keywords)

        made = Module()
        for name, value in constants.items():
            made.register_buffer(name, value)
        return made, tuple(inputs)


def call(operator, *args, **keywords):
    return Call(operator, args, keywords)


def normal(*shape):
    return Input(lambda: torch.randn(shape))


def between(low, high, *shape):
    return Input(lambda: torch.rand(shape) * (high - low) + low)


def integers(low, high, *shape, dtype=torch.int32):
    return Input(lambda: torch.randint(low, high, shape, dtype=dtype))


def booleans(*shape):
    return Input(lambda: torch.rand(shape) > 0.5)


def tensor(values, dtype=torch.float32):
    return Input(lambda: torch.tensor(values, dtype=dtype))


# Codes that occur again, so that comparisons for equality find both.
LEVELS = tensor([[-1.5, 0.0, 2.0], [0.5, 2.0, -1.5]])
OTHERS = tensor([[-1.5, 1.0, -2.0], [0.5, 3.0, 0.5]])
HALVES = tensor([-2.5, -1.5, -0.7, -0.5, 0.0, 0.5, 1.5, 2.5, 3.2])
ROWS, IMAGE = normal(2, 3, 4), normal(1, 4, 6, 8)
MASKS = (booleans(2, 3, 4), booleans(2, 3, 4))
DIVIDENDS, DIVISORS = integers(-100, 100, 3, 4), tensor([[7, -3, 2, -9]], torch.int32)
BITS = (integers(-100, 100, 2, 5), integers(-100, 100, 2, 5))
PADS = {1: normal(2, 3, 5), 2: normal(1, 2, 4, 5), 3: normal(1, 2, 3, 4, 5)}
INT8 = (-128, 127, torch.int8)
QUANTISED = "quantized_decomposed::"

# Of one float input, by where it is defined.
UNARY = {
    "abs ceil cos cosh erf exp expm1 floor neg relu relu6 sigmoid sign sin sinh tan tanh trunc": HALVES,
    "acos asin atanh": between(-0.9, 0.9, 2, 7),
    "asinh atan": normal(2, 7),
    "acosh": between(1.1, 4, 2, 7),
    "log log10 log1p log2 reciprocal rsqrt sqrt": between(0.1, 4, 2, 7),
}
COMPARED = ("eq", "ge", "gt", "le", "lt", "ne")

CASES = {
    **{name: [call(f"{name}.default", x)] for names, x in UNARY.items() for name in names.split()},
    **{name: [call(f"{name}.Tensor", LEVELS, OTHERS)] for name in COMPARED},
    **{f"{name}_scalar": [call(f"{name}.Scalar", LEVELS, 0.5)] for name in COMPARED},
    **{f"bitwise_{name}": [call(f"bitwise_{name}.Tensor", *BITS)] for name in ("and", "or", "xor")},
    **{f"logical_{name}": [call(f"logical_{name}.default", *MASKS)] for name in ("and", "or", "xor")},
    **{
        f"{kind}_pad{rank}d": [call(f"{kind}_pad{rank}d.default", x, [1, 2, 2, 1, 1, 0][: 2 * rank])]
        for kind in ("reflection", "replication")
        for rank, x in PADS.items()
    },
    "adaptive_avg_pool2d": [call("_adaptive_avg_pool2d.default", IMAGE, [3, 2])],
    "add": [
        call("add.Tensor", ROWS, normal(3, 1), alpha=2),
        call("add.Tensor", integers(-9, 9, 2, 3), integers(-9, 9, 3)),
    ],
    "add_scalar": [call("add.Scalar", ROWS, 1.5, 2)],
    "addmm": [call("addmm.default", normal(4), normal(3, 5), normal(5, 4), beta=0.5, alpha=2)],
    "amax": [call("amax.default", ROWS, [1], True), call("amax.default", ROWS, [0, 2])],
    "amin": [call("amin.default", ROWS, [1], True), call("amin.default", ROWS, [-1])],
    "any": [call("any.default", MASKS[0]), call("any.dim", LEVELS, 1, True), call("any.dims", MASKS[0], [0, 2])],
    "arange": [call("arange.default", 5)],
    "arange_start": [
        call("arange.start", 2, 7),
        call("arange.start_step", 0.5, 3.0, 0.5, dtype=torch.float32),
    ],
    "argmax": [call("argmax.default", LEVELS), call("argmax.default", LEVELS, 1, True)],
    "argmin": [call("argmin.default", LEVELS), call("argmin.default", LEVELS, -2)],
    "atan2": [call("atan2.default", LEVELS, OTHERS)],
    "avg_pool2d": [
        call("avg_pool2d.default", IMAGE, [3, 2], [2, 2], [1, 1], True, False),
        call("avg_pool2d.default", IMAGE, [2, 2]),
    ],
    "bitwise_not": [call("bitwise_not.default", BITS[0])],
    **{f"bitwise_{name}_scalar": [call(f"bitwise_{name}.Scalar", BITS[0], 13)] for name in ("and", "or", "xor")},
    **{
        f"bitwise_{side}_shift": [call(f"bitwise_{side}_shift.Tensor", BITS[0], integers(0, 9, 2, 5))]
        for side in ("left", "right")
    },
    **{
        f"bitwise_{side}_shift_scalar": [call(f"bitwise_{side}_shift.Tensor_Scalar", BITS[0], 3)]
        for side in ("left", "right")
    },
    "bmm": [call("bmm.default", normal(2, 3, 4), normal(2, 4, 5))],
    "cat": [call("cat.default", [ROWS, normal(2, 1, 4), normal(2, 2, 4)], 1)],
    "clamp": [call("clamp.default", ROWS, -0.5, 0.5), call("clamp.default", ROWS, None, 0.2)],
    "clamp_tensor": [call("clamp.Tensor", ROWS, normal(4), between(0.5, 1, 3, 1))],
    "clone": [call("clone.default", ROWS)],
    "constant_pad_nd": [call("constant_pad_nd.default", ROWS, [1, 2, 0, 3], 0.5)],
    "conv1d": [call("conv1d.default", normal(2, 4, 9), normal(6, 2, 3), normal(6), [2], [1], [1], 2)],
    "conv2d": [
        call("conv2d.default", IMAGE, normal(6, 4, 3, 2), normal(6), [2, 1], [1, 0], [1, 2]),
        call("conv2d.default", IMAGE, normal(4, 1, 3, 3), None, [1, 1], [1, 1], [1, 1], 4),
    ],
    "conv_transpose2d": [
        call("conv_transpose2d.input", IMAGE, normal(4, 3, 3, 3), normal(3), [2, 2], [1, 1], [1, 0])
    ],
    "cumsum": [call("cumsum.default", ROWS, 1), call("cumsum.default", ROWS, -1)],
    "dequantize_per_channel": [
        call(
            f"{QUANTISED}dequantize_per_channel.default", integers(-128, 128, 3, 4, dtype=torch.int8),
            torch.tensor([0.1, 0.2, 0.4]), torch.tensor([0, 3, -7]), 0, *INT8,
        )
    ],
    "dequantize_per_tensor": [
        call(
            f"{QUANTISED}dequantize_per_tensor.default", integers(-128, 128, 3, 4, dtype=torch.int8),
            0.05, 7, *INT8,
        )
    ],
    "diagonal": [call("diagonal_copy.default", ROWS, 1, 1, 2)],
    "div": [call("div.Tensor", ROWS, between(0.5, 2, 4))],
    "div_mode": [
        call("div.Tensor_mode", ROWS, between(0.1, 2, 4), rounding_mode="floor"),
        call("div.Tensor_mode", ROWS, between(0.1, 2, 4), rounding_mode="trunc"),
        call("div.Tensor_mode", DIVIDENDS, DIVISORS, rounding_mode="floor"),
        call("div.Tensor_mode", DIVIDENDS, DIVISORS, rounding_mode="trunc"),
    ],
    "div_scalar": [call("div.Scalar", ROWS, 3.0)],
    "elu": [call("elu.default", ROWS, 0.7)],
    "embedding": [call("embedding.default", normal(7, 4), integers(0, 7, 2, 3, dtype=torch.int64))],
    "expand": [call("expand.default", normal(3, 1), [2, 3, 4])],
    "flip": [call("flip.default", ROWS, [0, 2])],
    "floor_divide": [
        call("floor_divide.default", ROWS, between(0.1, 2, 4)),
        call("floor_divide.default", DIVIDENDS, DIVISORS),
    ],
    "fmod": [
        call("fmod.Tensor", ROWS, between(0.1, 2, 4)),
        call("fmod.Tensor", DIVIDENDS, DIVISORS),
    ],
    "fmod_scalar": [call("fmod.Scalar", ROWS, 0.7), call("fmod.Scalar", DIVIDENDS, -7)],
    "full": [call("full.default", [2, 3], 1.5)],
    "full_like": [call("full_like.default", ROWS, 1.5)],
    "gather": [call("gather.default", ROWS, 1, integers(0, 3, 2, 2, 4, dtype=torch.int64))],
    "gelu": [call("gelu.default", ROWS), call("gelu.default", ROWS, approximate="tanh")],
    "grid_sampler": [
        call("grid_sampler.default", IMAGE, between(-1.2, 1.2, 1, 3, 5, 2), mode, border, corners)
        for mode, border, corners in ((0, 0, False), (1, 1, True), (0, 2, True))
    ],
    "hardtanh": [call("hardtanh.default", ROWS, -0.5, 0.8)],
    "index": [
        call("index.Tensor", ROWS, [integers(0, 2, 5, dtype=torch.int64)]),
        call("index.Tensor", ROWS, [None, integers(0, 3, 5, dtype=torch.int64)]),
    ],
    "index_put": [
        call("index_put.default", ROWS, [tensor([1, 0], torch.int64)], normal(3, 4)),
        call("index_put.default", ROWS, [tensor([1], torch.int64)], normal(1, 3, 4), True),
    ],
    "index_select": [call("index_select.default", ROWS, 1, integers(0, 3, 5, dtype=torch.int64))],
    "leaky_relu": [call("leaky_relu.default", ROWS, 0.2)],
    "linear": [call("linear.default", ROWS, normal(5, 4), normal(5))],
    "log_softmax": [call("_log_softmax.default", ROWS, 1, False), call("log_softmax.int", ROWS, -1)],
    "logical_not": [call("logical_not.default", MASKS[0])],
    "logit": [call("logit.default", between(0.1, 0.9, 2, 5)), call("logit.default", ROWS, 0.2)],
    "masked_fill": [call("masked_fill.Scalar", ROWS, booleans(3, 4), -2.5)],
    "masked_scatter": [call("masked_scatter.default", ROWS, booleans(2, 3, 4), normal(2, 3, 4))],
    "max_dim": [call("max.dim", ROWS, 1)],
    "max_pool2d_with_indices": [
        call("max_pool2d_with_indices.default", IMAGE, [3, 2], [2, 2], [1, 1], [1, 1], True)
    ],
    "maximum": [call("maximum.default", LEVELS, OTHERS)],
    "mean": [call("mean.dim", ROWS, [0, -1], True), call("mean.default", ROWS)],
    "min_dim": [call("min.dim", ROWS, -1, True)],
    "minimum": [call("minimum.default", LEVELS, OTHERS)],
    "mm": [call("mm.default", normal(3, 4), normal(4, 5))],
    "mul": [call("mul.Tensor", ROWS, normal(3, 1))],
    "mul_scalar": [call("mul.Scalar", ROWS, 1.5)],
    "native_group_norm": [
        call("native_group_norm.default", IMAGE, normal(4), normal(4), 1, 4, 48, 2, 1e-5)
    ],
    "native_layer_norm": [
        call("native_layer_norm.default", ROWS, [3, 4], normal(3, 4), normal(3, 4), 1e-5)
    ],
    "ones": [call("ones.default", [2, 3])],
    "ones_like": [call("ones_like.default", ROWS)],
    "permute": [call("permute.default", ROWS, [2, 0, 1])],
    "pixel_shuffle": [call("pixel_shuffle.default", IMAGE, 2)],
    "pixel_unshuffle": [call("pixel_unshuffle.default", IMAGE, 2)],
    "pow_of_number": [call("pow.Scalar", 2.5, ROWS)],
    "pow_scalar": [call("pow.Tensor_Scalar", between(0.1, 3, 2, 5), 1.7)],
    "pow_tensor": [call("pow.Tensor_Tensor", between(0.1, 3, 2, 5), normal(5))],
    "prod": [call("prod.default", ROWS)],
    "prod_dim": [call("prod.dim_int", ROWS, 1, True)],
    "quantize_per_channel": [
        call(
            f"{QUANTISED}quantize_per_channel.default", normal(3, 4),
            torch.tensor([0.01, 0.02, 0.04], dtype=dtype), torch.tensor([0, 3, -7]), 0, *INT8,
        )
        for dtype in (torch.float32, torch.float64)
    ],
    "quantize_per_tensor": [
        call(f"{QUANTISED}quantize_per_tensor.default", normal(3, 4), 0.02, 7, *INT8)
    ],
    "remainder": [call("remainder.Tensor", ROWS, between(0.1, 2, 4))],
    "remainder_scalar": [call("remainder.Scalar", ROWS, 0.7)],
    "repeat": [call("repeat.default", normal(2, 3), [2, 1, 3])],
    "roll": [call("roll.default", ROWS, [1, -2], [0, 2])],
    "round": [call("round.default", HALVES)],
    "rsub_scalar": [call("rsub.Scalar", ROWS, 1.5, 2)],
    "scalar_tensor": [call("scalar_tensor.default", 2.5)],
    "scatter": [
        call("scatter.src", ROWS, 1, integers(0, 3, 2, 1, 4, dtype=torch.int64), normal(2, 1, 4))
    ],
    "scatter_add": [
        call("scatter_add.default", ROWS, 1, integers(0, 3, 2, 2, 4, dtype=torch.int64), ROWS)
    ],
    "scatter_value": [
        call("scatter.value", ROWS, 1, integers(0, 3, 2, 2, 4, dtype=torch.int64), 2.5)
    ],
    "select": [call("select.int", ROWS, 1, -1)],
    "slice": [call("slice.Tensor", ROWS, 2, 1, 4, 2)],
    "softmax": [call("_softmax.default", ROWS, 1, False), call("softmax.int", ROWS, -1)],
    "stack": [call("stack.default", [ROWS, ROWS], 1)],
    "sub": [call("sub.Tensor", ROWS, normal(3, 1), alpha=2)],
    "sub_scalar": [call("sub.Scalar", ROWS, 1.5, 2)],
    "sum": [call("sum.dim_IntList", ROWS, [0, -1], True), call("sum.default", ROWS)],
    "t": [call("t.default", normal(3, 4))],
    "to": [
        call("_to_copy.default", HALVES, dtype=torch.int32),
        call("_to_copy.default", integers(-9, 9, 5), dtype=torch.float32),
    ],
    "topk": [
        call("topk.default", ROWS, 2, 1),
        call("topk.default", ROWS, 3, -1, False),
    ],
    "transpose": [call("transpose.int", ROWS, 0, 2)],
    "tril": [call("tril.default", normal(2, 4, 4), 1)],
    "unfold": [call("unfold_copy.default", ROWS, 2, 2, 1)],
    "unsqueeze": [call("unsqueeze.default", ROWS, 1)],
    "upsample_bilinear2d": [
        call("upsample_bilinear2d.vec", IMAGE, [9, 11], False, None),
        call("upsample_bilinear2d.vec", IMAGE, [9, 11], True, None),
    ],
    "upsample_nearest2d": [call("upsample_nearest2d.vec", IMAGE, [9, 20], None)],
    "var": [call("var.dim", ROWS, [1], False, True)],
    "var_correction": [call("var.correction", ROWS, [0, 2], correction=1, keepdim=True)],
    "view": [call("view.default", ROWS, [6, 4])],
    "where": [call("where.self", booleans(2, 3, 4), ROWS, normal(4))],
    "zeros": [call("zeros.default", [2, 3])],
    "zeros_like": [call("zeros_like.default", ROWS)],
}  # fmt: skip
