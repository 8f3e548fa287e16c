# SPDX-License-Identifier: Apache-2.0
"""Compiled programs run in ExecuTorch's own runtime, a stand-in computing what the NPU would.

All programs run in one process, whose imports take seconds: the fixture `runs`. Beside the
fake-quantised PyTorch graph stands `Pte`: ExecuTorch's reader, PyTorch's kernels and
tosa_reference_model. Two ways of executing one file, with no code in common, give the same bits.
"""

import dataclasses

import numpy as np
import pytest
import torch

from ..common import FAMILIES, MIN_SQNR_DB, SAMPLES, TARGETS
from ..tester.checks import BORDER_KERNELS, Agreement
from ..tester.compare import Steps, assert_same_bits
from ..tester.native import ToolError, compile_program
from ..tester.pte import Pte
from ..tester.stages import net
from .runtime import in_executorch


@dataclasses.dataclass(frozen=True)
class Case:
    """A network, its quantiser, and what its result must reach. `delegates`: by family; `io`: the
    values of --io-dtype and --io-layout."""

    net: str
    quantizer: str = "arm"
    steps: int | None = None
    integer_biases: bool = False
    delegates: dict = dataclasses.field(default_factory=dict, compare=False)
    io: tuple = ("float32", "contiguous")

    @property
    def name(self):
        words = [self.net] if self.quantizer == "arm" else [self.net, self.quantizer]
        return "_".join(words + [w for w in self.io if w not in ("float32", "contiguous")])

    @property
    def flags(self):
        return ("--io-dtype", self.io[0], "--io-layout", self.io[1])


CASES = [
    Case("add", steps=0),
    Case("add", "xnnpack", steps=0),
    Case("sub", steps=0),  # swapped inputs would change the sign
    Case("sub", "xnnpack", delegates={"u55": 0, "u85": 0}),  # left in float: a kernel alone
    Case("dscnn", steps=0),
    Case("dscnn", "xnnpack", steps=0, integer_biases=True),  # test_dscnn.py says why
    Case("cat"),
    Case("cat", "xnnpack"),
    Case("leaky_relu"),
    Case("leaky_relu", "xnnpack"),
    Case("linear"),
    Case("linear", "xnnpack"),
    Case("two_outputs"),
    Case("two_outputs", "xnnpack"),
    Case("encoder", "xnnpack", integer_biases=True),
    Case("input_is_output", steps=0),
    Case("input_is_output", "xnnpack", steps=0),
    Case("output_twice"),
    Case("output_twice", "xnnpack"),
    # In PyTorch's graph the strided convolution is float too, but sums in another order.
    Case("three_parts", delegates={"u55": 2}),
    Case("three_parts", "xnnpack", delegates={"u55": 2}),
    Case("dscnn", steps=0, io=("int8", "contiguous")),
    Case("sub", steps=0, io=("uint8", "channels_last")),
    Case("cat", io=("float32", "channels_last")),
    Case("two_outputs", io=("int8", "channels_last")),
    Case("input_is_output", steps=0, io=("int8", "channels_last")),
    Case("output_twice", io=("uint8", "contiguous")),
    Case("three_parts", delegates={"u55": 2}, io=("uint8", "channels_last")),
]


@dataclasses.dataclass
class Run:
    """One case on one target: `error` is what went wrong in the tool or in the runtime."""

    program: object
    folder: object
    error: str | None = None
    report: dict | None = None

    @property
    def pte(self):
        return self.folder / "model.pte"

    def inputs(self, sample):
        """The program's inputs, as the caller of the compiled program gives them."""
        arrays = self.program.inputs[sample]
        borders = self.report["io"]["inputs"] if self.report else [{}] * len(arrays)
        return [encoded(a, border) for a, border in zip(arrays, borders, strict=True)]

    def outputs(self, sample):
        with np.load(self.folder / f"out_{sample}.npz") as arrays:
            found = [arrays[f"out{index}"] for index in range(len(arrays.files))]
        return [decoded(a, border) for a, border in zip(found, self.report["io"]["outputs"])]


LIMITS = {"int8": (torch.int8, -128, 127), "uint8": (torch.uint8, 0, 255)}


def encoded(array, border):
    """A float array in the integers of an entry of the report's `io`, by PyTorch's own function."""
    if border.get("scale") is None:
        return array
    dtype, low, high = LIMITS[border["dtype"]]
    return torch.ops.quantized_decomposed.quantize_per_tensor(
        torch.from_numpy(array), border["scale"], border["zero_point"], low, high, dtype
    ).numpy()


def decoded(array, border):
    if border.get("scale") is None:
        return array
    dtype, low, high = LIMITS[border["dtype"]]
    return torch.ops.quantized_decomposed.dequantize_per_tensor(
        torch.from_numpy(array), border["scale"], border["zero_point"], low, high, dtype
    ).numpy()


def compiled(workspace, case, family):
    """Compiles a case, and writes the samples' inputs beside it."""
    source = net(case.net)
    folder = workspace.scratch("runtime", case.name, family)
    program = workspace.program(
        source, case.quantizer, integer_biases=case.integer_biases
    )
    run = Run(program, folder)
    try:
        run.report = compile_program(
            program.path, TARGETS[family], run.pte, "--dump", folder / "dump", *case.flags
        )
    except ToolError as error:
        run.error = str(error)
    for sample in range(len(program.inputs)):
        arrays = run.inputs(sample)
        np.savez(folder / f"in_{sample}.npz", **{f"in{i}": a for i, a in enumerate(arrays)})
    return run


def execute(runs):
    """Runs what was compiled, in one process of ExecuTorch's runtime."""
    cases = [
        {
            "pte": str(run.pte),
            "standin_dir": str(run.folder / "dump"),
            "inputs": [str(run.folder / f"in_{sample}.npz") for sample in range(SAMPLES)],
            "outputs": [str(run.folder / f"out_{sample}.npz") for sample in range(SAMPLES)],
            "channels_last": [
                border["layout"] == "channels_last" for border in run.report["io"]["inputs"]
            ],
        }
        for run in runs
    ]
    for run, error in zip(runs, in_executorch(cases), strict=True):
        run.error = run.error or error


@pytest.fixture(scope="module")
def runs(workspace):
    every = {
        (case, family): compiled(workspace, case, family) for family in FAMILIES for case in CASES
    }
    execute([run for run in every.values() if run.error is None])
    return every


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def case(request):
    return request.param


@pytest.fixture
def run(runs, case, family):
    run = runs[case, family]
    assert run.error is None, run.error
    return run


@pytest.mark.INT
def test_runtime_gives_what_pytorch_gives(run, case, family):
    agreement = Agreement()
    for sample in range(SAMPLES):
        actual, expected = run.outputs(sample), run.program.outputs[sample]
        for index, (array, wanted) in enumerate(zip(actual, expected, strict=True)):
            params = run.program.output_quant[index]
            if params is None:
                assert_same_bits(array, wanted, f"output {index}, which is not quantised")
            else:
                assert array.dtype == np.float32, f"output {index} is {array.dtype}"
                agreement.add(params.codes(array), wanted, params)
    assert len(run.report["delegates"]) == case.delegates.get(family, 1)
    if case.steps is not None:
        agreement.assert_within(case.steps)
    if agreement.steps.total:
        assert agreement.sqnr >= MIN_SQNR_DB, f"SQNR {agreement.sqnr:.1f} dB, {agreement.steps}"


@pytest.mark.INT
def test_runtime_equals_reference_model_in_every_bit(run):
    """Kernels of ExecuTorch and PyTorch may sum floats in another order; a result computed with
    one may differ by a step where its sum lies between two codes."""
    pte = Pte(run.pte.read_bytes())
    partitions = [run.folder / "dump" / f"{d['name']}.tosa" for d in run.report["delegates"]]
    sums = any(name.startswith("aten::convolution") for name in pte.operators)
    assert not set(pte.operators) - BORDER_KERNELS - {"aten::convolution.out", "aten::sub.out"}
    steps = Steps()
    for sample in range(SAMPLES):
        others = pte.run(run.inputs(sample), partitions)
        borders = run.report["io"]["outputs"]
        others = [decoded(other, border) for other, border in zip(others, borders, strict=True)]
        for index, (array, other) in enumerate(zip(run.outputs(sample), others, strict=True)):
            if sums:
                params = run.program.output_quant[index]
                steps.add(params.codes(array), params.codes(other))
            else:
                assert_same_bits(array, other, f"output {index} of sample {sample}")
    assert steps.worst <= 1 and steps.differing <= 0.01 * steps.total, steps
