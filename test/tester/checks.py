# SPDX-License-Identifier: Apache-2.0
"""The assertions behind each kind of test. A report (`--json`) is read here and nowhere else:

    {"io": {"inputs": [{"name", "shape", "dtype", "scale", "zero_point", "layout"}],
            "outputs": [...]},
     "delegates": [...], …}

where the lists of `io` follow the program's signature and names are those of the .tosa file.
"""

import math

import numpy as np

from ..common import FLOAT_TOLERANCE, SAMPLES
from ..tosautil import TosaFile
from .compare import Steps, assert_same_bits, relative_error, sqnr_db
from .native import compile_program, run_program
from .oracles import reference_model, vela
from .pte import Pte

# What a program with everything on the NPU may still call.
BORDER_KERNELS = {
    "quantized_decomposed::quantize_per_tensor.out",
    "quantized_decomposed::dequantize_per_tensor.out",
}


def check_float(program, scratch, tolerance=FLOAT_TOLERANCE, samples=SAMPLES):
    """tosa-fp of a float program equals PyTorch within `tolerance` of the largest output, in our
    reference and in tosa_reference_model. Returns the two largest errors."""
    tosa = scratch / "float.tosa"
    report = compile_program(program.path, "tosa-fp", tosa)
    input_names, names = border_names(report)
    file = TosaFile(tosa)
    worst = {"tosaic run": 0.0, "tosa_reference_model": 0.0}
    for sample in range(samples):
        arrays = program.feed(sample, file.inputs, input_names)
        results = {
            "tosaic run": run_program(tosa, arrays, scratch),
            "tosa_reference_model": reference_model(tosa, arrays),
        }
        for who, outputs in results.items():
            for index, expected in enumerate(program.outputs[sample]):
                actual = outputs[names[index]]
                assert (
                    actual.shape == expected.shape
                ), f"{who}: output {index} is {actual.shape}, expected {expected.shape}"
                error = relative_error(actual, expected)
                assert (
                    error <= tolerance
                ), f"{who}: output {index} of sample {sample} is off by {error:.2e} of the largest"
                worst[who] = max(worst[who], error)
    return worst


def border_names(report):
    """The .tosa file's names for the program's inputs and outputs, in the program's order."""
    return tuple([entry["name"] for entry in report["io"][side]] for side in ("inputs", "outputs"))


def check_border(program, report):
    """The report's scales and zero points are those of the program's own q and dq nodes."""
    for side, params in (("inputs", program.input_quant), ("outputs", program.output_quant)):
        for entry, expected in zip(report["io"][side], params, strict=True):
            if expected is None or entry.get("scale") is None:
                continue
            what = f"{side[:-1]} {entry['name']}"
            assert math.isclose(
                entry["scale"], expected.scale, rel_tol=1e-6
            ), f"{what}: scale {entry['scale']}"
            assert (
                entry["zero_point"] == expected.zero_point
            ), f"{what}: zero point {entry['zero_point']}"


class Agreement:
    """How a quantised result agrees with the fake-quantised PyTorch graph: codes that differ, and
    SQNR in dB."""

    def __init__(self):
        self.steps = Steps()
        self.actual, self.expected = [], []

    def add(self, codes, expected, params):
        """Adds one output: `codes` as the compiler gives them, `expected` as floats."""
        assert codes.shape == expected.shape, f"shape {codes.shape}, expected {expected.shape}"
        self.steps.add(codes, params.codes(expected))
        self.actual.append(params.values(codes))
        self.expected.append(expected)

    @property
    def sqnr(self):
        """Differences below float rounding count as none."""
        return np.inf if not self.steps.differing else sqnr_db(self.actual, self.expected)

    def assert_within(self, steps):
        assert self.steps.worst <= steps, f"{self.steps}, SQNR {self.sqnr:.1f} dB; allowed: {steps}"


def check_integer(program, scratch, steps=1, samples=SAMPLES):
    """tosa-int of a quantised program: our reference equals tosa_reference_model in every bit,
    and both are within `steps` quantisation steps of the fake-quantised graph (None: any).
    Returns the Agreement."""
    tosa = scratch / "int.tosa"
    report = compile_program(program.path, "tosa-int", tosa)
    check_border(program, report)
    input_names, names = border_names(report)
    file = TosaFile(tosa)
    agreement = Agreement()
    for sample in range(samples):
        arrays = program.feed(sample, file.inputs, input_names)
        actual = run_program(tosa, arrays, scratch)
        for name, array in reference_model(tosa, arrays).items():
            assert_same_bits(
                actual[name], array, f"output {name} of tosaic run against tosa_reference_model"
            )
        for index, (name, params) in enumerate(zip(names, program.output_quant, strict=True)):
            assert params, f"output {index} of {program.path} is not quantised"
            codes = actual[name]
            agreement.add(codes, program.expected(sample, index, codes), params)
    if steps is not None:
        agreement.assert_within(steps)
    return agreement


def check_ethosu(program, scratch, target, delegates=1, kernels=(), steps=1, samples=SAMPLES):
    """The .pte for `target`: the report and ExecuTorch's reader agree on the number of delegates;
    Vela takes each partition's TOSA by itself; `kernels` run on the CPU (none given: nothing but
    borders does); and the program, with tosa_reference_model in the delegates' place and
    PyTorch's kernels for the rest, is within `steps` quantisation steps of the fake-quantised
    graph. Returns the Agreement."""
    output, dump = scratch / "model.pte", scratch / "dump"
    report = compile_program(program.path, target, output, "--dump", dump)
    partitions = sorted(dump.rglob("*.tosa"))
    assert (
        len(report["delegates"]) == delegates
    ), f"{len(report['delegates'])} delegates reported, expected {delegates}"
    assert (
        len(partitions) == delegates
    ), f"--dump left {[path.name for path in partitions]}, expected {delegates} files"
    for partition in partitions:
        vela(partition, target)
    pte = Pte(output.read_bytes())
    assert (
        pte.delegates == ["EthosUBackend"] * delegates
    ), f"the .pte has the delegates {pte.delegates}"
    on_cpu = set(pte.operators) - BORDER_KERNELS
    assert (
        set(kernels) <= on_cpu if kernels else not on_cpu
    ), f"on the CPU: {sorted(on_cpu)}, expected {sorted(kernels)}"
    return check_pte(program, pte, partitions, steps, samples)


def check_pte(program, pte, partitions, steps, samples=SAMPLES):
    """Runs a .pte on the samples and compares with the fake-quantised graph."""
    agreement = Agreement()
    for sample in range(samples):
        actual = pte.run(program.inputs[sample], partitions)
        for index, (array, expected) in enumerate(
            zip(actual, program.outputs[sample], strict=True)
        ):
            params = program.output_quant[index]
            if params is None:
                assert_same_bits(array, expected, f"output {index}, which is not quantised")
                continue
            codes = params.codes(array)
            agreement.add(codes, program.expected(sample, index, codes), params)
    if steps is not None:
        agreement.assert_within(steps)
    return agreement
