# SPDX-License-Identifier: Apache-2.0
"""What `compile` says of memory and speed, against what is known of the networks and of Vela."""

import math
import re

import pytest
from torch import nn

from ..tester.native import compile_program
from ..tester.stages import Source, net
from .failing import fails, start

TARGET = "ethos-u55-128"


class Wide(nn.Module):
    """Its output alone is 64 * 224 * 224 = 3 211 264 bytes of int8."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3, padding=1)

    def forward(self, x):
        return self.conv(x)


class LinearRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(640, 128)

    def forward(self, x):
        return self.linear(x).relu()


@pytest.fixture(scope="module")
def wide(workspace):
    return workspace.program(Source("report/wide", Wide, ((1, 3, 224, 224),)), "arm").path


@pytest.mark.U55
def test_what_exceeds_the_sram_is_refused_with_its_peak_layer(wide, tmp_path):
    flags = ("--sram-limit", "2M", "--io-dtype", "int8")
    said = fails(
        "compile", wide, "--target", TARGET, "-o", "x.pte", *flags, code="E0408", folder=tmp_path
    )
    numbers = re.search(r"needs (\d+) bytes of SRAM, --sram-limit allows (\d+): (\d+)", said)
    needed, allowed, excess = map(int, numbers.groups())
    assert allowed == 2 << 20 and needed - allowed == excess >= 3211264 - (2 << 20)
    assert "Wide.conv" in said and "Conv2D" in said and "--optimise size" in said
    assert "test_report.py" in said  # the line of the program


@pytest.mark.U55
def test_float_borders_are_named_as_what_would_help(wide, tmp_path):
    arguments = ("compile", wide, "--target", TARGET, "-o", "x.pte", "--sram-limit", "8192K")
    said = fails(*arguments, code="E0408", folder=tmp_path)
    assert f"leaves out {4 * (3 * 224 * 224 + 3211264)} bytes" in said


@pytest.mark.U55
def test_what_fits_says_how_much_is_needed(wide, tmp_path):
    result = start(
        "compile", wide, "--target", TARGET, "-o", "x.pte", "--sram-limit", "32M", folder=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert "of 32.0 MiB allowed" in result.stdout


@pytest.mark.U55
@pytest.mark.parametrize("text", ["0", "-1", "2G", "M", "1.5M", "99999999999999999999"])
def test_a_bad_limit_is_refused(wide, tmp_path, text):
    fails(
        "compile", wide, "--target", TARGET, "-o", "x.pte", f"--sram-limit={text}", code="E0104",
        folder=tmp_path,
    )  # fmt: skip


@pytest.mark.U55
def test_linear_is_one_operation_of_its_macs(workspace, tmp_path):
    """Vela 5.1 and later estimate 12980 cycles of the NPU and 112 of SRAM; reading the weights from
    flash takes longer, and decides. 5.0 took 20 600 of SRAM."""
    program = workspace.program(Source("report/linear", LinearRelu, ((1, 640),)), "arm")
    (delegate,) = compile_program(program.path, TARGET, tmp_path / "x.pte")["delegates"]
    assert delegate["macs"] == 640 * 128
    assert delegate["npu_ops"] == 1
    assert delegate["cycles"]["npu"] == pytest.approx(12_980, rel=0.1)
    accesses = {memory["name"]: memory["access_cycles"] for memory in delegate["memories"]}
    assert accesses["Sram"] < 200
    assert delegate["cycles"]["total"] == accesses["OffChipFlash"] >= 640 * 128  # a byte each


@pytest.mark.U55
@pytest.mark.parametrize("name", ["dscnn", "three_parts"])
def test_layers_are_modules_and_add_up(workspace, tmp_path, name):
    source = net(name)
    program = workspace.program(source, "arm")
    report = compile_program(program.path, TARGET, tmp_path / "x.pte")
    model, _ = source.make()
    modules = {f"{type(model).__name__}.{path}".rstrip(".") for path, _ in model.named_modules()}
    assert report["delegates"]
    for delegate in report["delegates"]:
        layers = delegate["layers"]
        assert {layer["where"]["module"] for layer in layers} <= modules
        assert sum(layer["macs"] for layer in layers) == delegate["macs"]
        operations = sum(layer["npu_ops"] for layer in layers)
        assert operations + delegate["layout_copies"]["npu_ops"] == delegate["npu_ops"]
        peak = layers[delegate["peak_layer"]]
        assert peak["sram_bytes"] == max(layer["sram_bytes"] for layer in layers)
        # 500 MHz is the clock of the default system configuration.
        assert math.isclose(delegate["seconds"], delegate["cycles"]["total"] / 500e6)
        assert math.isclose(delegate["inferences_per_second"] * delegate["seconds"], 1)


@pytest.mark.U55
def test_without_a_list_of_operations_the_report_has_no_layers(workspace, tmp_path):
    """The vela command, which flags ask for, gives none."""
    program = workspace.program(net("add"), "arm")
    flags = ("--vela-flags", "--verbose-config")
    (delegate,) = compile_program(program.path, TARGET, tmp_path / "x.pte", *flags)["delegates"]
    assert delegate["layers"] == [] and delegate["seconds"] is None
    text = start("compile", program.path, "--target", TARGET, "-o", "x.pte", *flags, folder=tmp_path)
    assert ("Vela's estimate: n/a" in text.stdout) == (delegate["cycles"]["total"] == 0)
    assert "Vela's estimate: " in text.stdout
