# SPDX-License-Identifier: Apache-2.0
"""A random program in PyTorch. Three in four are quantised as PT2E quantisers leave them: a quantize and
a dequantize node behind each result, none between a layer and its activation, and none or equal ones around
what moves elements. The others are float, for our own quantisation."""

import dataclasses
import math
import random
from typing import Callable

import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401  the operators below

QUANTIZED = torch.ops.quantized_decomposed
SIZES = (1, 2, 3, 4, 5, 7, 8, 10, 16, 17, 24, 33, 64, 130, 300)
LARGE_SIZES = (257, 513, 1025, 2049, 4097)  # rarely
RANKS = (4, 4, 4, 4, 4, 4, 3, 3, 3, 3, 2, 2, 2, 1, 1, 5, 5, 6)
MAX_ELEMENTS = 20_000
PRECISIONS = {torch.int8: "int8", torch.int16: "int16x8"}  # of our own quantisation
CODES = {torch.int8: (-128, 127), torch.int16: (-32768, 32767)}


@dataclasses.dataclass(frozen=True)
class Params:
    scale: float
    zero_point: int
    dtype: torch.dtype

    def arguments(self):
        return self.scale, self.zero_point, *CODES[self.dtype], self.dtype

    def quantize(self, x):
        return QUANTIZED.quantize_per_tensor.default(x, *self.arguments())

    def dequantize(self, codes):
        return QUANTIZED.dequantize_per_tensor.default(codes, *self.arguments())

    def fake(self, x):
        return self.dequantize(self.quantize(x))


@dataclasses.dataclass(frozen=True)
class Constant:
    """A constant operand: what is stored, and how the program reads it."""

    tensors: tuple
    read: Callable = lambda x: x
    weight_axis: int | None = None  # of a float weight: our quantisation gives each index a scale


def per_channel(x, scales, axis, dtype):
    """A constant with a scale for each index of an axis, symmetric."""
    most = 127 if dtype == torch.int8 else 2**31 - 1
    sizes = [-1 if i == axis else 1 for i in range(x.dim())]
    codes = torch.round(x.double() / scales.double().reshape(sizes)).clamp(-most, most).to(dtype)
    operator = QUANTIZED.dequantize_per_channel.default
    tensors = codes, scales, torch.zeros(scales.numel(), dtype=torch.int64)
    return Constant(tensors, lambda c, s, z: operator(c, s, z, axis, -most, most, dtype))


@dataclasses.dataclass
class Step:
    """`operands`: indices of values, and Constants."""

    function: Callable
    operands: list
    moves: bool = False  # elements keep their values
    layer: bool = False  # takes an activation behind it
    name: str = ""  # of its template
    results: list = dataclasses.field(default_factory=list)  # (index, Params or None)

    def values(self):
        """Indices of operands that are no constants."""
        return [operand for operand in self.operands if not isinstance(operand, Constant)]


class Program(torch.nn.Module):
    """`inputs`: (index, Params or None). `outputs`: indices."""

    def __init__(self, inputs, steps, outputs):
        super().__init__()
        self.inputs, self.steps, self.outputs = inputs, steps, outputs
        for number, step in enumerate(steps):
            for position, operand in enumerate(step.operands):
                for part, tensor in enumerate(operand.tensors if isinstance(operand, Constant) else ()):
                    self.register_buffer(f"c{number}_{position}_{part}", tensor)

    def operand(self, number, position, values):
        operand = self.steps[number].operands[position]
        if not isinstance(operand, Constant):
            return values[operand]
        return operand.read(*(getattr(self, f"c{number}_{position}_{i}") for i in range(len(operand.tensors))))

    def forward(self, *inputs):
        values = {}
        for (index, params), x in zip(self.inputs, inputs, strict=True):
            values[index] = params.fake(x) if params else x
        for number, step in enumerate(self.steps):
            operands = [self.operand(number, position, values) for position in range(len(step.operands))]
            for (index, params), result in zip(step.results, listed(step.function(*operands)), strict=True):
                values[index] = params.fake(result) if params else result
        return tuple(values[index] for index in self.outputs)


def listed(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


class Drawing:
    """`values` holds what the program computes on its example inputs, `params` how a value is quantised."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.torch = torch.Generator().manual_seed(self.random.getrandbits(60))
        self.quantised = self.chance(0.75)
        self.dtype = self.random.choice([torch.int8] * 4 + [torch.int16])
        self.steps = []
        self.values, self.params, self.used = {}, {}, set()
        self.hidden = set()  # between a layer and its activation
        self.shown = set()  # outputs that have uses as well

    @property
    def precision(self):
        return PRECISIONS[self.dtype]

    # ---- what templates draw with

    def pick(self, *choices):
        return self.random.choice(choices)

    def whole(self, low, high):
        return self.random.randint(low, high)

    def number(self, low, high):
        return round(self.random.uniform(low, high), 3)

    def chance(self, probability):
        return self.random.random() < probability

    def shape(self, rank=None, most=MAX_ELEMENTS):
        rank = rank or self.pick(*RANKS)
        while True:
            sizes = [self.pick(*(LARGE_SIZES if self.chance(0.01) else SIZES)) for _ in range(rank)]
            if rank > 2 and self.chance(0.8):
                sizes[0] = 1
            if math.prod(sizes) <= most:
                return sizes

    def normal(self, *sizes):
        return torch.randn(sizes, generator=self.torch)

    def uniform(self, low, high, *sizes):
        return torch.rand(sizes, generator=self.torch) * (high - low) + low

    def indices(self, size, *sizes):
        return torch.randint(0, size, sizes, generator=self.torch)

    def axis(self, x):
        axis = self.whole(0, x.dim() - 1)
        return axis - x.dim() if self.chance(0.3) else axis

    def axes(self, x):
        return self.random.sample(range(x.dim()), self.whole(1, x.dim()))

    # ---- operands

    def found(self, suits, dtype=torch.float32):
        return [i for i, x in self.values.items() if i not in self.hidden and x.dtype == dtype and suits(x)]

    def operand(self, suits=lambda x: True, rank=None, dtype=torch.float32):
        """(index, tensor) of a value, rather a late or unused one; now and then, or when there is none, of a
        new input. (None, None) when nothing suits."""
        found = self.found(lambda x: rank in (None, x.dim()) and suits(x), dtype)
        if found and self.chance(0.93):
            weights = [1 + 4 * (i not in self.used) + 2 * (i in found[-2:]) for i in found]
            index = self.random.choices(found, weights)[0]
            return index, self.values[index]
        for _ in range(20 if dtype == torch.float32 else 0):
            x = self.normal(*self.shape(rank)) * self.pick(0.1, 1, 1, 1, 8)
            if suits(x):
                return self.input(x)
        return None, None

    def like(self, shape, constant=0.4):
        """Another float of a shape: a value, a constant or a new input."""
        found = self.found(lambda x: list(x.shape) == list(shape))
        if found and self.chance(0.6):
            return self.random.choice(found)
        x = self.normal(*shape)
        return self.constant(x) if self.chance(constant) else self.input(x)[0]

    def input(self, tensor):
        params = self.choose_params(tensor)
        index = self.name(params.fake(tensor) if params else tensor, params)
        return index, self.values[index]

    def constant(self, x):
        """Quantised as activations are."""
        params = self.choose_params(x)
        if params is None:
            return Constant((x,))
        return Constant((params.quantize(x),), params.dequantize)

    def weight(self, x, axis=0):
        if not self.quantised:
            return Constant((x,), weight_axis=axis)
        others = [i for i in range(x.dim()) if i != axis]
        most = x.abs().amax(others) if others else x.abs()
        return per_channel(x, most.clamp(min=1e-5) / 127, axis, torch.int8)

    def bias(self, operand, weight, channels, groups=1):
        """None, a float, or an int32 with the steps of the products."""
        if self.chance(0.3):
            return Constant((None,), lambda _: None)
        x = self.normal(channels)
        if not self.quantised or self.chance(0.5):
            return Constant((x,))
        steps = weight.tensors[1] * self.params[operand].scale
        return per_channel(x, steps.repeat(groups), 0, torch.int32)

    # ---- steps

    def name(self, x, params):
        index = len(self.values)
        self.values[index], self.params[index] = x, params
        return index

    def choose_params(self, x):
        """None for what stays as it is."""
        if not self.quantised or not x.is_floating_point():
            return None
        low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
        spread = max(high - low, 0.01) * self.pick(1, 1, 1, 1, 0.5, 2, 30)
        if self.dtype == torch.int16:
            return Params(spread / 65535, 0, torch.int16)
        scale = spread / 255
        return Params(scale, max(-128, min(127, round(-128 - low / scale))), torch.int8)

    def take(self, step, activation=None):
        """Runs a step on the example; False when its results are none for a program."""
        operands = [o.read(*o.tensors) if isinstance(o, Constant) else self.values[o] for o in step.operands]
        try:
            results = listed(step.function(*operands))
        except (RuntimeError, IndexError, ValueError):
            return False
        floats = [x for x in results if x.is_floating_point()]
        if any(x.numel() == 0 or x.numel() > 4 * MAX_ELEMENTS or x.dim() > 6 for x in results):
            return False
        if not all(x.isfinite().all() for x in floats):
            return False
        self.steps.append(step)
        before = next(iter(step.values()), None)
        self.used.update(step.values())
        for x in results:
            step.results.append(self.finish(step, x, before, activation))
        return True

    def finish(self, step, x, before, activation):
        """Names a result; (index, its Params in the program)."""
        if activation:
            index = self.name(x, None)
            self.hidden.add(index)
            return index, None
        inherits = step.moves and self.params[before] is not None and self.chance(0.8)
        params = self.params[before] if inherits else self.choose_params(x)
        if params is None or (inherits and self.chance(0.5)):
            return self.name(x, params), None
        return self.name(params.fake(x), params), params

    def show_some(self):
        """Makes some results with uses outputs too."""
        self.shown.update(i for step in self.steps for i, _ in step.results if self.chance(0.04))

    def program(self, steps=None, show_all=False):
        """(Program, its example inputs) of all steps or some, whose results have other uses or none. With
        `show_all` each result is an output, but what stands before an activation."""
        steps = self.steps if steps is None else steps
        made = [index for step in steps for index, _ in step.results]
        used = {index for step in steps for index in step.values()}
        inputs = sorted(used - set(made))
        shown = set(made) if show_all else self.shown | (set(made) - used)
        outputs = [index for index in made if index in shown - self.hidden]
        program = Program([(index, self.params[index]) for index in inputs], steps, outputs)
        return program, tuple(self.values[index] for index in inputs)
