# SPDX-License-Identifier: Apache-2.0
"""From a module to the files that the compiler reads, with the results it must reach; made once
per process."""

import copy
import dataclasses
import pathlib
from typing import Callable

import numpy as np
import torch

from ..common import SAMPLES
from ..models import NETS, condition, sample_inputs
from .exact import exact_outputs

WEIGHT_SEED, EXAMPLE_SEED, CALIBRATION_SEED, TEST_SEED = 0, 3, 5, 6


@dataclasses.dataclass(frozen=True)
class QuantParams:
    """Scale, zero point and code range of a quantised input or output."""

    scale: float
    zero_point: int
    low: int
    high: int
    dtype: torch.dtype

    def codes(self, values):
        """The codes of a float array, by PyTorch's own operator."""
        operator = torch.ops.quantized_decomposed.quantize_per_tensor.default
        tensor = torch.from_numpy(np.ascontiguousarray(values))
        return operator(
            tensor, self.scale, self.zero_point, self.low, self.high, self.dtype
        ).numpy()

    def values(self, codes):
        """The float32 values of an array of codes."""
        return ((codes.astype(np.int64) - self.zero_point) * np.float64(self.scale)).astype(
            np.float32
        )


@dataclasses.dataclass(frozen=True)
class Source:
    """A module to test: `key` names it in the workspace; `shapes` are those of its float inputs."""

    key: str
    factory: Callable
    shapes: tuple

    def make(self):
        """The module in eval mode and example inputs; the same on every call."""
        torch.manual_seed(WEIGHT_SEED)
        module = condition(self.factory(), self.shapes)
        return module, sample_inputs(self.shapes, 1, EXAMPLE_SEED)[0]


def net(name):
    """The Source of a reference network."""
    return Source(f"net/{name}", NETS[name].factory, NETS[name].shapes)


@dataclasses.dataclass
class Program:
    """An exported program on disk and what it must compute.

    `inputs` and `outputs` hold one list of arrays per sample, in the order of the program's
    signature; the quantisation of an input (output) is None where it is not quantised
    (dequantised) at the border."""

    path: pathlib.Path
    input_names: list
    input_quant: list
    output_quant: list
    inputs: list
    outputs: list
    # From a sample to its outputs with sums near a tie rounded up, and those with them rounded down.
    near_ties: Callable = None

    def expected(self, sample, index, codes):
        """What the output `index` must be: where both codes of a sum near a tie are right (exact.py),
        the way of rounding that gives `codes`, if one does."""
        params = self.output_quant[index]
        given = self.outputs[sample][index]
        if self.near_ties is None or np.array_equal(params.codes(given), codes):
            return given
        others = (outputs[index] for outputs in self.near_ties(sample))
        return next((x for x in others if np.array_equal(params.codes(x), codes)), given)

    def feed(self, sample, values, names):
        """The arrays of one sample for the inputs of a .tosa file, by name, as codes where the
        file has integers.

        `names` are the file's names for the program's inputs, in the program's order."""
        arrays = {}
        for value in values:
            index = names.index(value.name)
            array = self.inputs[sample][index]
            if value.dtype != "FP32" and array.dtype == np.float32:
                assert self.input_quant[
                    index
                ], f"input {value.name} is {value.dtype}, but the program does not quantise it"
                array = self.input_quant[index].codes(array)
            arrays[value.name] = array
        return arrays


def flat_outputs(module, inputs):
    """The outputs of one call as a list of arrays."""
    with torch.no_grad():
        result = module(*inputs)
    return [
        tensor.detach().numpy()
        for tensor in (result if isinstance(result, (tuple, list)) else (result,))
    ]


def border_params(node):
    """The parameters of a quantize or dequantize node per tensor; None for any other node."""
    if node.op != "call_function" or "quantize_per_tensor" not in str(node.target):
        return None
    return QuantParams(*node.args[1:6])


MOVES = ("transpose", "permute", "view", "reshape", "unsqueeze")


def quantisation_of(node):
    """The parameters that a float is quantised with, behind nodes that move its data too."""
    for user in node.users:
        if params := border_params(user):
            return params
    moves = [user for user in node.users if getattr(user.target, "_opname", "") in MOVES]
    return next((params for user in moves if (params := quantisation_of(user))), None)


def signature(program):
    """Input names, and quantisation of the inputs and outputs, of an exported program."""
    nodes = {node.name: node for node in program.graph.nodes}
    names = [
        spec.arg.name
        for spec in program.graph_signature.input_specs
        if spec.kind.name == "USER_INPUT"
    ]
    input_quant = [quantisation_of(nodes[name]) for name in names]
    output_quant = [
        border_params(nodes[spec.arg.name]) for spec in program.graph_signature.output_specs
    ]
    return names, input_quant, output_quant


LAYERS = ("conv1d", "conv2d", "linear")


def round_biases(module, dtype=torch.float32):
    """A copy of a PT2E graph module whose float biases of LAYERS are multiples of
    scale(input) * scale(weight) per channel."""
    module = copy.deepcopy(module)

    def attribute(node):
        value = module
        for name in node.target.split("."):
            value = getattr(value, name)
        return value

    for node in module.graph.nodes:
        bias = node.args[2] if len(node.args) > 2 else None
        is_layer = str(node.target).partition(".")[2].partition(".")[0] in LAYERS
        if not is_layer or bias is None or bias.op != "get_attr":
            continue
        activation, weight = node.args[:2]
        step = attribute(weight.args[1]).double() * activation.args[1]
        with torch.no_grad():
            values = attribute(bias)
            values.data = (torch.round(values.double() / step) * step).to(dtype)
    return module


class Workspace:
    """Exports and quantises each source once, keeping the files in `directory`."""

    def __init__(self, directory):
        self.directory = directory
        self.programs = {}

    def scratch(self, *parts):
        """A directory for the files of one test."""
        path = self.directory.joinpath(*parts)
        path.mkdir(parents=True, exist_ok=True)
        return path

    def program(self, source, quantizer=None, *, integer_biases=False, exact=False, core=False):
        """The float program of `source`, or the one quantised by "arm" or "xnnpack"; with `core`
        the float program in core ATen.

        With `integer_biases` the results are those of PyTorch's graph after its float biases were
        rounded to multiples of scale(input) * scale(weight), as an int32 accumulator holds them.
        With `exact` they are those of the graph in float64 (see exact.py)."""
        key = (source.key, quantizer, integer_biases, exact, core)
        if key not in self.programs:
            self.programs[key] = self._export(source, quantizer, integer_biases, exact, core)
        return self.programs[key]

    def _export(self, source, quantizer, integer_biases, exact, core):
        module, example = source.make()
        exported = torch.export.export(module, example)
        if core:
            exported = exported.run_decompositions()
        if quantizer:
            from ..models.quantize import quantize  # imports executorch, which takes seconds

            module = quantize(
                exported, sample_inputs(source.shapes, SAMPLES, CALIBRATION_SEED), quantizer
            )
            exported = torch.export.export(module, example)
        path = self.scratch(source.key) / f"{'core' if core else quantizer or 'float'}.pt2"
        torch.export.save(exported, path)
        tests = sample_inputs(source.shapes, SAMPLES, TEST_SEED)
        if integer_biases:
            module = round_biases(module, torch.float64 if exact else torch.float32)
        return Program(
            path,
            *signature(exported),
            inputs=[[tensor.numpy() for tensor in inputs] for inputs in tests],
            outputs=[(exact_outputs if exact else flat_outputs)(module, inputs) for inputs in tests],
            near_ties=(lambda sample: (exact_outputs(module, tests[sample], way) for way in (1, -1))) if exact else None,
        )
