# SPDX-License-Identifier: Apache-2.0
"""Vela refuses a partition that our rows accept: the nodes to blame go to the CPU, with a warning."""

import json
import pathlib
import sys

import pytest
from torch import nn

from ..common import ROOT
from ..tester.stages import Source
from .failing import fails, start

TARGET = "ethos-u55-128"
REAL = str(pathlib.Path(sys.executable).with_name("vela"))
# The real command, but for files with a TABLE.
VELA = f"""#!{sys.executable}
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from test.tosautil import TosaFile
(program,) = [word for word in sys.argv[1:] if word.endswith(".tosa")]
if {{refuses}}:
    sys.exit("RuntimeError: Compilation failed: Non-passthrough operation (LUT) could not run on NPU")
os.execv({REAL!r}, [{REAL!r}, *sys.argv[1:]])
"""


class Net(nn.Module):
    """Two functions that become tables, between convolutions."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Conv2d(3, 3, 3, padding=1) for _ in range(3))

    def forward(self, x):
        return self.c(self.b(self.a(x).sigmoid()).tanh())


@pytest.fixture
def vela(tmp_path):
    def write(refuses):
        path = tmp_path / "vela"
        path.write_text(VELA.format(refuses=refuses), encoding="utf-8")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def program(workspace):
    return workspace.program(Source("eviction/net", Net, ((1, 3, 8, 8),)), "arm").path


TABLE = '"TABLE" in str(TosaFile(program).ops)'


@pytest.mark.U55
def test_refused_nodes_go_to_the_cpu(program, vela, folder):
    arguments = ("compile", program, "--target", TARGET, "-o", "x.pte", "--vela", vela(TABLE), "--json")
    result = start(*arguments, folder=folder, timeout=120)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert len(report["delegates"]) == 3
    on_cpu = {node["op"]: node["reason"] for node in report["nodes"] if "reason" in node}
    assert set(on_cpu) == {"aten.sigmoid.default", "aten.tanh.default"}
    assert {reason["code"] for reason in on_cpu.values()} == {"R0013"}
    assert {"aten::sigmoid.out", "aten::tanh.out"} <= set(report["kernels"])
    assert "warning[W0002]: Vela refused 2 nodes" in result.stderr
    assert "(LUT) could not run on NPU" in result.stderr and "test_eviction.py" in result.stderr


@pytest.mark.U55
def test_strict_makes_it_an_error(program, vela, folder):
    arguments = ("compile", program, "--target", TARGET, "-o", "x.pte", "--vela", vela(TABLE))
    said = fails(*arguments, "--strict", code="E0402", folder=folder)
    assert "(LUT) could not run on NPU" in said


@pytest.mark.U55
def test_a_vela_that_takes_nothing_is_an_error(program, vela, folder):
    arguments = ("compile", program, "--target", TARGET, "-o", "x.pte", "--vela", vela("True"))
    assert "(LUT) could not run on NPU" in fails(*arguments, code="E0402", folder=folder)


@pytest.mark.U55
@pytest.mark.parametrize("strict", (False, True))
def test_a_crash_is_a_refusal(program, vela, folder, strict):
    path = vela(TABLE)
    crash = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); os.kill(os.getpid(), 11)"
    path.write_text(path.read_text().replace("sys.exit(", crash + "; sys.exit("), encoding="utf-8")
    arguments = ("compile", program, "--target", TARGET, "-o", "x.pte", "--vela", path, "--json")
    if strict:
        assert "SIGSEGV" in fails(*arguments, "--strict", code="E0409", folder=folder)
        return
    result = start(*arguments, folder=folder, timeout=120)
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["delegates"]) == 3
    assert "warning[W0002]: Vela refused 2 nodes" in result.stderr and "SIGSEGV" in result.stderr


class LongAudio(nn.Module):
    """A convolution over more samples than a transposition of the NPU has, between what fits."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Conv1d(2, 4, 3, padding=1)
        self.strided = nn.Conv1d(4, 4, 8, stride=8)

    def forward(self, x):
        return self.strided(self.wide(x).relu()).relu()


@pytest.mark.U55
def test_what_the_rows_refuse_after_lowering_goes_to_the_cpu(workspace, folder):
    """The row of conv1d alone does not show the TRANSPOSE of 70000 samples that the layout needs."""
    long = workspace.program(Source("eviction/long_audio", LongAudio, ((1, 2, 70_000),)), "arm").path
    result = start("compile", long, "--target", TARGET, "-o", "x.pte", "--json", folder=folder, timeout=120)
    assert result.returncode == 0, result.stderr
    assert "warning[W0002]: the verifier refused" in result.stderr
    compiled = json.loads(result.stdout)
    explained = json.loads(start("explain", long, "--target", TARGET, "--json", folder=folder).stdout)
    devices = [{node["name"]: node["device"] for node in report["nodes"]} for report in (compiled, explained)]
    assert devices[0] == devices[1]
    reasons = [node["reason"] for node in explained["nodes"] if node.get("reason", {}).get("code") == "R0013"]
    assert reasons and all("65536" in reason["message"] for reason in reasons), reasons
    fails("compile", long, "--target", TARGET, "-o", "y.pte", "--strict", code="V0013", folder=folder)
