# SPDX-License-Identifier: Apache-2.0
"""`--io-dtype` and `--io-layout`: programs whose own inputs and outputs are integers, or NHWC.

In ExecuTorch's runtime they are tested in test/runtime."""

import re
import subprocess

import numpy as np
import pytest
import torch
from torch import nn

from ..cli.failing import fails, start
from ..common import SAMPLES
from ..quant.calibration import Quantised, calibration_arrays, stacked
from ..tester.native import compile_program, run_program
from ..tester.stages import Source, net
from ..tosautil import TosaFile


class Add(nn.Module):
    def forward(self, x, y):
        return x + y


@pytest.fixture(scope="module")
def ones(workspace, tmp_path_factory):
    """a + b, calibrated on ones: both inputs in [0, 1], the output in [0, 2]."""
    program = workspace.program(Source("io/ones", Add, ((1, 1, 1, 1),) * 2), None)
    sample = np.ones((4, 1, 1, 1, 1), np.float32)
    folder = tmp_path_factory.mktemp("ones")
    return Quantised(program.path, folder, "--io-dtype", "int8", x=sample, y=sample)


@pytest.mark.INT
def test_add_of_ones_has_the_parameters_of_its_ranges(ones):
    assert [entry["dtype"] for entry in ones.inputs + ones.outputs] == ["int8"] * 3
    for entry in ones.inputs:
        assert entry["scale"] == pytest.approx(1 / 255, rel=1e-6) and entry["zero_point"] == -128
    (output,) = ones.outputs
    assert output["scale"] == pytest.approx(2 / 255, rel=1e-6) and output["zero_point"] == -128


@pytest.mark.INT
@pytest.mark.parametrize(("code", "value"), [(127, 2.0), (1, 1.0118)])
def test_add_of_ones_takes_raw_codes(ones, code, value):
    raw = np.full((1, 1, 1, 1), code, np.int8)
    (output,) = run_program(ones.path, {"x": raw, "y": raw}, ones.folder).values()
    assert output.item() == code
    (entry,) = ones.outputs
    assert (output.item() - entry["zero_point"]) * entry["scale"] == pytest.approx(value, abs=1e-4)


C_PROGRAM = """
#include "x_io.h"
#include "x_io.h"
#include <stdio.h>
static const int shape[X_INPUT_1_RANK] = X_INPUT_1_SHAPE;
int main(void) {
  X_OUTPUT_0_TYPE stored = 127;
  printf("%d %d %d %s %s %d %.9g %d %.9g %d %.6f\\n", X_NUM_INPUTS, X_NUM_OUTPUTS,
         X_INPUT_1_NUM_ELEMENTS, X_INPUT_0_NAME, X_INPUT_1_NAME, shape[3], X_INPUT_0_SCALE,
         X_INPUT_0_ZERO_POINT, X_OUTPUT_0_SCALE, X_OUTPUT_0_ZERO_POINT,
         X_OUTPUT_0_SCALE * (stored - X_OUTPUT_0_ZERO_POINT));
  return 0;
}
"""


@pytest.mark.INT
@pytest.mark.parametrize(
    "compiler", [("gcc", "-std=c99", "-pedantic"), ("g++", "-x", "c++", "-std=c++17")]
)
def test_header_is_c_and_says_what_the_report_says(ones, compiler):
    (ones.folder / "main.c").write_text(C_PROGRAM, encoding="utf-8")
    flags = ("-Wall", "-Wextra", "-Wconversion", "-Werror", "main.c", "-o", "main")
    subprocess.run([*compiler, *flags], cwd=ones.folder, check=True)
    said = subprocess.run([ones.folder / "main"], capture_output=True, text=True, check=True)
    words = said.stdout.split()
    assert words[:6] == ["2", "1", "1", "x", "y", "1"]
    assert [float(word) for word in words[6:10]] == pytest.approx([1 / 255, -128, 2 / 255, -128])
    assert float(words[10]) == pytest.approx(2.0, abs=1e-5)
    assert ones.report["header"].endswith("x_io.h")


@pytest.mark.INT
def test_uint8_is_int8_moved_by_128(workspace, tmp_path):
    """The same program with both: every code of uint8 is that of int8 plus 128."""
    source = net("two_outputs")
    program = workspace.program(source, "arm")
    reports, results = {}, {}
    for dtype in ("int8", "uint8"):
        tosa = tmp_path / f"{dtype}.tosa"
        reports[dtype] = compile_program(program.path, "tosa-int", tosa, "--io-dtype", dtype)["io"]
        (entry,) = reports[dtype]["inputs"]
        assert entry["dtype"] == dtype
        codes = program.input_quant[0].codes(program.inputs[0][0])
        # TOSA has no unsigned tensors: their bits travel as int8.
        raw = (codes.astype(int) + (128 if dtype == "uint8" else 0)).astype(dtype).view(np.int8)
        results[dtype] = run_program(tosa, {entry["name"]: raw}, tmp_path)
    for a, b in zip(reports["int8"]["outputs"], reports["uint8"]["outputs"], strict=True):
        assert b["zero_point"] == a["zero_point"] + 128 and b["scale"] == a["scale"]
        unsigned = results["uint8"][b["name"]].view(np.uint8).astype(int)
        np.testing.assert_array_equal(unsigned - 128, results["int8"][a["name"]])


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, x):
        return torch.relu(self.conv(x))


@pytest.mark.INT
def test_channels_last_moves_no_data(workspace, tmp_path):
    program = workspace.program(Source("io/conv", Conv, ((1, 3, 8, 6),)), "arm")
    results = {}
    for layout in ("contiguous", "channels_last"):
        tosa = tmp_path / f"{layout}.tosa"
        io = compile_program(program.path, "tosa-int", tosa, "--io-layout", layout)["io"]
        (entry,), (output,) = io["inputs"], io["outputs"]
        assert entry["layout"] == output["layout"] == layout
        moves = [op for op in TosaFile(tosa).ops if "TRANSPOSE" in str(op)]
        codes = program.input_quant[0].codes(program.inputs[0][0]).astype(np.int8)
        if layout == "channels_last":
            assert entry["shape"] == [1, 8, 6, 3] and output["shape"] == [1, 8, 6, 8] and not moves
            codes = codes.transpose(0, 2, 3, 1)
        result = run_program(tosa, {entry["name"]: np.ascontiguousarray(codes)}, tmp_path)
        results[layout] = result[output["name"]]
    np.testing.assert_array_equal(
        results["contiguous"], results["channels_last"].transpose(0, 3, 1, 2)
    )


@pytest.mark.INT
def test_int16_io_of_a_program_in_16_bits(workspace, tmp_path):
    source = net("add")
    program = workspace.program(source, None)
    arrays = calibration_arrays(source, program.input_names, SAMPLES)
    flags = ("--precision", "int16x8", "--io-dtype", "int16")
    made = Quantised(program.path, tmp_path / "wide", *flags, **arrays)
    assert {entry["dtype"] for entry in made.inputs + made.outputs} == {"int16"}
    (output,) = made.run(**stacked_sample(program))
    np.testing.assert_allclose(output, program.outputs[0][0], atol=2e-3)


def stacked_sample(program):
    return {name: array for name, array in zip(program.input_names, program.inputs[0])}


@pytest.mark.INT
def test_what_cannot_be_is_refused(workspace, tmp_path):
    program = workspace.program(net("add"), "arm").path
    folder = tmp_path / "here"
    folder.mkdir()

    def refuse(*flags, target="ethos-u55-128", output="x.pte"):
        arguments = ("compile", program, "--target", target, "-o", output, *flags)
        return fails(*arguments, code="E0104", folder=folder)

    assert re.search("float32, int8, uint8 or int16", refuse("--io-dtype", "int4"))
    assert re.search("contiguous or channels_last", refuse("--io-layout", "nhwc"))
    assert re.search('"x" is quantised as int8', refuse("--io-dtype", "int16"))
    assert re.search("computes in integers", refuse("--io-dtype", "float32", target="tosa-int", output="x.tosa"))


@pytest.mark.INT
def test_a_float_border_is_warned_of(workspace, tmp_path):
    program = workspace.program(net("add"), None)  # nothing quantises it
    result = start(
        "compile", program.path, "--target", "ethos-u55-128", "-o", "x.tir", "--io-dtype", "int8",
        folder=tmp_path,
    )  # fmt: skip
    assert "W0005" in result.stderr
