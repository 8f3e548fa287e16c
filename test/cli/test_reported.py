# SPDX-License-Identifier: Apache-2.0
"""What users of ExecuTorch's Arm backend and of torch-mlir reported, as far as no other test has
it; the numbers are those of their issues and pull requests."""

import contextlib
import functools
import json
import os
import pty
import re
import subprocess

import numpy as np
import pytest
import torch
from torch import nn

from ..common import FAMILIES, TARGETS, tosaic_binary
from ..tester.checks import border_names, check_integer
from ..tester.codes import CodeCase, q8, q16
from ..tester.codes import export as export_codes
from ..quant.calibration import calibration_arrays
from ..tester.native import compile_program, run_program
from ..tester.stages import Source, net
from ..tosautil import TosaFile
from .failing import assert_one_error, fails, start


def export(module, example, path, **options):
    torch.export.save(torch.export.export(module.eval(), example, **options), path)
    return path


def explained(program, folder, *flags):
    """{operator: (device, why)} and the text of `explain`."""
    shown = start("explain", program, *flags, "--json", folder=folder)
    assert shown.returncode == 0, shown.stderr
    nodes = json.loads(shown.stdout)["nodes"]
    text = start("explain", program, *flags, folder=folder).stdout
    return {node["op"]: (node["device"], node.get("reason")) for node in nodes}, text


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tmp_path_factory.mktemp("reported")


# ET#17668, PR#20763


DECONVOLUTIONS = {
    "stride 3": {"in_channels": 3, "out_channels": 1, "kernel_size": 5, "stride": 3, "padding": 2},
    "group": {"in_channels": 3, "out_channels": 3, "kernel_size": 3, "groups": 3},
    "dilation 2": {"in_channels": 3, "out_channels": 1, "kernel_size": 3, "dilation": 2},
}


@pytest.mark.parametrize("quantised_by", ("tosaic", "arm"))
@pytest.mark.parametrize("words", DECONVOLUTIONS)
def test_a_transposed_convolution_is_taken_or_refused_with_its_reason(
    workspace, folder, words, quantised_by
):
    """Never an abort; what is taken is exact."""
    options = DECONVOLUTIONS[words]
    factory = functools.partial(nn.ConvTranspose2d, **options)
    source = Source(f"reported/deconv {words}", factory, ((1, 3, 4, 4),))
    program = workspace.program(source, None if quantised_by == "tosaic" else quantised_by)
    flags = ("--target", TARGETS["u55"], "-o", "x.pte", "--json")
    if quantised_by == "tosaic":
        np.savez(folder / "s.npz", **calibration_arrays(source, program.input_names, 4))
        flags = (*flags, "--calibrate", "s.npz")
    result = start("compile", program.path, *flags, folder=folder)
    assert "Traceback" not in result.stderr
    if result.returncode:
        assert_one_error(result, "E0308")
        assert words in result.stderr and "conv_transpose2d" in result.stderr
        return
    (node,) = (n for n in json.loads(result.stdout)["nodes"] if "conv_transpose2d" in n["op"])
    assert node["type"].endswith("[1,1,10,10]") or "stride" not in options
    if node["device"] == "cpu":
        assert words in node["reason"]["message"]
    elif quantised_by == "arm":
        check_integer(program, folder, steps=1)


# ET#16629, PR#14540, PR#16826


ACTIVATIONS = {
    "relu": nn.ReLU,
    "relu6": nn.ReLU6,
    "hardswish": nn.Hardswish,
    "leaky_relu": lambda inplace: nn.LeakyReLU(0.1, inplace),
}


@pytest.mark.U85
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_in_place_activations_change_nothing(made, folder, name):
    rng = np.random.default_rng(0)
    np.savez(folder / "s.npz", rng.standard_normal((2, 1, 3, 224, 224), np.float32))
    flags = ("--target", "ethos-u85-256", "--calibrate", "s.npz", "--precision", "int16x8")
    compiled = []
    for inplace in (False, True):
        torch.manual_seed(0)
        conv = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        module = nn.Sequential(conv, ACTIVATIONS[name](inplace=inplace))
        program = export(module, (torch.randn(1, 3, 224, 224),), made / f"{name}_{inplace}.pt2")
        result = start("compile", program, *flags, "-o", "x.pte", "--json", folder=folder)
        assert result.returncode == 0, result.stderr
        report = json.loads(result.stdout)
        assert len(report["delegates"]) == 1
        on_npu = [node["type"] for node in report["nodes"] if node["device"] == "npu"]
        assert len(on_npu) == 2, "both the convolution and the activation"
        rest = [node["op"] for node in report["nodes"] if node["device"] != "npu"]
        compiled.append((rest, on_npu, (folder / "x.pte").read_bytes()))
    assert compiled[0] == compiled[1]


# PR#19689


class Pad(nn.Module):
    def forward(self, x):
        return nn.functional.pad(x, (1, 1, 1, 1)) * 2


def test_a_dynamic_height_is_named_with_the_way_out(made, folder):
    height = torch.export.Dim("H", min=8, max=64)
    program = export(
        Pad(), (torch.randn(1, 3, 16, 16),), made / "pad.pt2", dynamic_shapes={"x": {2: height}}
    )
    flags = ("--target", "tosa-fp")
    said = fails("compile", program, *flags, "-o", "x.tosa", code="E0306", folder=folder)
    assert 'input "x"' in said and "axis 2" in said and "--shape x=1,3,?,16" in said
    assert "-1" not in said
    _, text = explained(program, folder, *flags)
    assert "aten.pad" in text and "symbolic" in text and "test_reported.py:" in text
    assert "--shape" in text
    nodes, _ = explained(program, folder, *flags, "--shape", "x=1,3,24,16")
    assert {device for device, _ in nodes.values()} == {"tosa"}


def test_a_static_pad_of_rank_5_is_delegated(made, folder):
    program = export(Pad(), (torch.randn(1, 2, 3, 4, 5),), made / "pad5.pt2")
    nodes, _ = explained(program, folder, "--target", "tosa-fp")
    assert {device for device, _ in nodes.values()} == {"tosa"}
    np.savez(folder / "s.npz", np.random.default_rng(0).standard_normal((4, 1, 2, 3, 4, 5), np.float32))
    flags = ("--target", TARGETS["u55"], "--calibrate", "s.npz", "-o", "x.pte", "--json")
    result = start("compile", program, *flags, folder=folder)
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["delegates"]) == 1


# PR#18095, PR#18365


class WhereBool(nn.Module):
    def forward(self, a, b):
        return torch.where(torch.logical_and(a, b), a, b)


def test_boolean_selections_stay_on_the_cpu_of_u55_by_name_of_their_type(made, folder):
    example = (torch.zeros(2, 3, dtype=torch.bool), torch.ones(2, 3, dtype=torch.bool))
    program = export(WhereBool(), example, made / "where.pt2")
    nodes, _ = explained(program, folder, "--target", TARGETS["u55"])
    for name in ("aten.where.self", "aten.logical_and.default"):
        device, reason = nodes[name]
        assert device == "cpu" and reason["code"] == "R0002" and "bool" in reason["message"]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_product_of_two_int16_activations(made, folder, family):
    wide = q16(1e-3)
    case = CodeCase((wide, wide), q16(1e-2), ((1, 4, 8), (1, 8, 4)))
    program = export_codes(case, lambda: torch.matmul, made / f"matmul_{family}.pt2").path
    nodes, _ = explained(program, folder, "--target", TARGETS[family])
    device, reason = nodes["aten.matmul.default"]
    assert device == "npu" or (reason["code"] == "R0002" and "i16" in reason["message"]), reason


# PR#15446, PR#17247, PR#18198


class ScalarFirst(nn.Module):
    def forward(self, x):
        return (1.5 + x) * (1 - x)


class IndexPut(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[torch.tensor([[0], [2]]), torch.tensor([1, 3])] = 5.0
        return y + 1


class IndexPutRepeated(nn.Module):
    def forward(self, x):
        rows = (torch.tensor([0, 0, 1]),)
        return torch.index_put(x, rows, torch.ones(3, 8), accumulate=True) + 1


class SliceScatter(nn.Module):
    def forward(self, x):
        return torch.slice_scatter(x, torch.ones(4, 4), 1, 0, 8, 2) + 1


@pytest.mark.parametrize("factory", (ScalarFirst, IndexPut, IndexPutRepeated, SliceScatter))
def test_writes_and_scalars_are_right_or_refused(made, folder, factory):
    x = torch.randn(4, 8)
    program = export(factory(), (x,), made / f"{factory.__name__}.pt2")
    nodes, _ = explained(program, folder, "--target", "tosa-fp")
    refused = [reason for device, reason in nodes.values() if device == "cpu"]
    if refused:
        assert factory is not ScalarFirst
        assert all(reason["code"].startswith("R") and reason["message"] for reason in refused)
        return
    report = compile_program(program, "tosa-fp", folder / "x.tosa")
    (name,), (result,) = border_names(report)
    actual = run_program(folder / "x.tosa", {name: x.numpy()}, folder)[result]
    np.testing.assert_allclose(actual, factory()(x).numpy(), rtol=1e-6)


# torch-mlir#4266, torch-mlir#4279


class Unsupported(nn.Module):
    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def forward(self, x):
        return self.operator(x)


class Encoder(nn.Module):
    def __init__(self, operator):
        super().__init__()
        blocks = [nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), Unsupported(operator)]
        self.blocks = nn.ModuleList(blocks)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class Net(nn.Module):
    def __init__(self, operator):
        super().__init__()
        self.enc = Encoder(operator)

    def forward(self, x):
        return self.enc(x)


def spectrum(x):
    return torch.fft.rfft(x).abs()


COMMAND = re.compile(r"^  note: show this (?:alone|again) with: (.*)$", re.MULTILINE)


def run_in_shell(command, folder):
    """The lines of the program that a command, copied from a message, speaks of, and where."""
    result = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, cwd=folder, timeout=60
    )
    assert "Traceback" not in result.stderr
    return result.stdout + result.stderr


@pytest.mark.parametrize("target", ("tosa-fp", TARGETS["u55"]))
@pytest.mark.parametrize("operator", (spectrum, torch.special.i0e), ids=("rfft", "i0e"))
def test_an_unsupported_operator_is_placed_and_shown_again_by_one_command(made, folder, operator, target):
    program = export(Net(operator), (torch.randn(1, 256),), folder / "it's a net.pt2")
    output = "x.tosa" if target == "tosa-fp" else "x.pte"
    result = start("compile", program.name, "--target", target, "-o", output, folder=folder)
    assert result.returncode == 1 and not (folder / output).exists()
    said = result.stderr
    assert "enc.blocks.3" in said and "test_reported.py:" in said, said
    assert ("fft_rfft" if operator is spectrum else "special_i0e") in said
    (command,) = COMMAND.findall(said)
    place = re.search(r"^(.*test_reported.py:\d+): \w+\[[A-Z]\d+\]: (.*)$", said, re.MULTILINE)
    again = run_in_shell(command, folder)
    assert place[1] in again and place[2] in again, again
    assert "enc.blocks.3" in again
    assert "enc.blocks.2" not in again or target != "tosa-fp", "the node alone is shown"


def test_every_remark_has_the_command_that_shows_it_alone(workspace, folder):
    """With the flags that decide it."""
    source = net("three_parts")
    program = workspace.program(source)
    samples = calibration_arrays(source, program.input_names, 4)
    np.savez(folder / "my samples.npz", **samples)
    flags = ("--target", TARGETS["u55"], "--calibrate", "my samples.npz", "--calibrate-limit=3")
    flags = (*flags, "--observer=mse", "--precision=int16x8")
    text = start("explain", program.path, *flags, folder=folder).stdout
    report = json.loads(start("explain", program.path, *flags, "--json", folder=folder).stdout)
    reasons = [node["reason"] for node in report["nodes"] if "reason" in node]
    commands = COMMAND.findall(text)
    assert commands and commands == [reason["command"] for reason in reasons]
    for command, reason in zip(commands, reasons):
        assert all(flag in command for flag in flags[-3:] if "=" not in flag)
        again = run_in_shell(command, folder)
        assert again.count("remark[") == 1 and reason["message"] in again
        assert not COMMAND.findall(again)


def test_a_node_to_explain_is_named_as_in_the_program(made, folder):
    program = export(Net(torch.special.i0e), (torch.randn(1, 256),), made / "named.pt2")
    flags = ("--target", "tosa-fp")
    shown = start("explain", program, *flags, "--node", "relu", "--json", folder=folder)
    (node,) = json.loads(shown.stdout)["nodes"]
    assert node["name"] == "relu" and node["op"] == "aten.relu.default"
    said = fails("explain", program, *flags, "--node=special_i0", code="E0104", folder=folder)
    assert "did you mean special_i0e" in said


def test_what_no_kernel_computes_is_known_before_compiling(made, folder):
    program = export(Net(torch.special.i0e), (torch.randn(1, 256),), made / "no_kernel.pt2")
    for target in (TARGETS["u55"], "cpu"):
        shown = start("explain", program, "--target", target, folder=folder)
        assert shown.returncode == 0 and "warning[E0308]: aten.special_i0e" in shown.stderr
    assert not start("explain", program, "--target", "tosa-fp", folder=folder).stderr


# PR#18973


def test_sigmoid_has_the_codes_of_the_formula(made, folder):
    case = CodeCase((q8(1 / 16, 0, -127),), q8(1 / 256, -128))
    program = export_codes(case, lambda: torch.sigmoid, made / "sigmoid.pt2").path
    report = compile_program(program, "tosa-int", folder / "x.tosa")
    (name,), (result,) = border_names(report)
    (value,) = TosaFile(folder / "x.tosa").inputs
    given = np.array([-127, -64, -16, -1, 0, 1, 16, 64, 127], np.int8)
    codes = np.zeros(value.shape, np.int8)
    codes.flat[: given.size] = given
    actual = run_program(folder / "x.tosa", {name: codes}, folder)[result].flat[: given.size]
    assert actual.tolist() == [-128, -123, -59, -4, 0, 4, 59, 123, 127]
    assert TosaFile(folder / "x.tosa").ops["TABLE"] == 1


# PR#17484, ET#16173


def test_unknown_targets_name_the_choices(made, folder):
    program = export(nn.ReLU(), (torch.randn(1, 4),), made / "relu.pt2")

    def said(*flags, code):
        return fails("compile", program, *flags, code=code, folder=folder)

    text = said("--target", "TOSA-1.0+BAD", "-o", "x.tosa", code="E0105")
    for word in ("--target", "TOSA-1.0+BAD", "BAD", "INT", "FP", "int16"):
        assert word in text
    text = said("--target", "TOSA-1.0+INTT", "-o", "x.tosa", code="E0105")
    assert "--target" in text and "did you mean INT" in text
    text = said("--target", "ethos-u55-12", "-o", "x.pte", code="E0105")
    assert "--target" in text and "ethos-u55-256" in text and "did you mean ethos-u55-" in text


@pytest.fixture
def calibrated(made, folder):
    """compile for U55 with more flags."""
    program = export(nn.Conv2d(3, 4, 3), (torch.randn(1, 3, 8, 8),), made / "conv.pt2")
    np.savez(folder / "s.npz", np.random.default_rng(0).standard_normal((4, 1, 3, 8, 8), np.float32))
    return ("compile", program, "--target", TARGETS["u55"], "--calibrate", "s.npz", "-o", "x.pte")


@pytest.mark.parametrize("flags, words", [
    (("--memory-mode", "Dedicated_Sram"), ("Dedicated_Sram", "vela.ini", "--memory-mode", "Sram")),
    (("--memory-mode", "Shared_Sam"), ("Shared_Sam", "--memory-mode", "did you mean Shared_Sram")),
    (("--system-config", "Ethos_U85_SYS_DRAM_Mid"), ("Ethos_U85", "ethos-u55-128", "Ethos_U55_High_End_Embedded")),
    (("--system-config", "Ethos_U55_High_End_Embeded"), ("--system-config", "vela.ini", "did you mean Ethos_U55_High_End_Embedded")),
    (("--config", "own.ini"), ("own.ini", "Ethos_U55_High_End_Embedded", "--system-config", "Own")),
])  # fmt: skip
def test_wrong_configurations_name_flag_value_file_and_choices(calibrated, folder, flags, words):
    (folder / "own.ini").write_text("[System_Config.Own]\ncore_clock=1e6\n[Memory_Mode.Own]\n")
    said = fails(*calibrated, *flags, code="E0406", folder=folder)
    for word in words:
        assert word in said, said


SYSTEM = re.compile(r"--system-config .*?default: (\S+), (\S+) or (\S+)", re.DOTALL)
MEMORY = re.compile(r"--memory-mode .*?default: (\S+) \(U55\), (\S+) \(U65\), (\S+) \(U85\)", re.DOTALL)


@pytest.mark.parametrize("family", TARGETS)
def test_defaults_in_the_help_are_those_in_use(calibrated, folder, family):
    text = " ".join(start("compile", "--help", folder=folder).stdout.split())
    place = list(TARGETS).index(family)
    system, memory = SYSTEM.search(text)[place + 1], MEMORY.search(text)[place + 1]
    command = [TARGETS[family] if word == TARGETS["u55"] else word for word in calibrated]
    explicit = ("--system-config", system, "--memory-mode", memory, "--optimise", "performance",
                "--vela-timeout", "300", "--observer", "minmax", "--precision", "int8",
                "--io-layout", "contiguous", "--io-dtype", "float32")  # fmt: skip
    made = []
    for flags in ((), explicit):
        result = start(*command, *flags, "--json", folder=folder)
        assert result.returncode == 0, result.stderr
        made.append(((folder / "x.pte").read_bytes(), json.loads(result.stdout)["delegates"]))
    assert made[0] == made[1]
    if family == "u55":  # a memory mode that is none of the defaults shows in the estimate
        other = start(*command, "--memory-mode", "Sram_Only", "--json", folder=folder)
        assert json.loads(other.stdout)["delegates"] != made[0][1]


# PR#19842


LEVELS = ("error", "warning", "info", "debug")
SAYING = ((), ("--print-changed",), ("--print-before=all",), ("--print-after=all",), ("--verify",))


@pytest.mark.parametrize("flags", (*SAYING, ("--time-passes",), *(("--log-level", level) for level in LEVELS)))
def test_however_much_is_said_the_report_is_on_standard_output(calibrated, folder, flags):
    report = json.loads(start(*calibrated, "--json", *flags, folder=folder).stdout)
    assert report["nodes"] and report["delegates"] and report["io"]["inputs"]
    text = start(*calibrated, *flags, folder=folder).stdout
    assert "x.pte for ethos-u55-128" in text and "Vela's estimate" in text
    assert "graph @" not in text, "the IR is on standard error"


def said_at(level, command, folder):
    result = start(*command, "--log-level", level, folder=folder)
    assert result.returncode == 0, result.stderr
    return result.stderr


def test_each_log_level_says_what_the_one_before_says_and_more(calibrated, folder):
    np.savez(folder / "one.npz", np.zeros((1, 1, 3, 8, 8), np.float32))
    command = ["one.npz" if word == "s.npz" else word for word in calibrated]  # a single sample: a warning
    said = {level: said_at(level, command, folder) for level in LEVELS}
    assert said["error"] == ""
    assert "warning[W" in said["warning"] and "info: " not in said["warning"]
    assert said["info"].endswith(said["warning"])
    stages = ("info: reading", "info: calibrating by one.npz", "info: Vela compiles 1 partition", "info: writing x.pte")
    assert all(stage in said["info"] for stage in stages) and "debug: " not in said["info"]
    assert set(said["info"].splitlines()) <= set(said["debug"].splitlines())
    assert "debug: vela: " in said["debug"] and "debug: part0: " in said["debug"]
    assert "E0104" in start(*command, "--log-level", "loud", folder=folder).stderr


def test_on_a_terminal_a_line_tells_what_goes_on_and_is_gone_at_the_end(calibrated, folder):
    ours, theirs = pty.openpty()
    environment = {**os.environ, "COLUMNS": "200"}
    result = subprocess.run([tosaic_binary(), *calibrated], cwd=folder, stdout=subprocess.DEVNULL,
                            stderr=theirs, stdin=subprocess.DEVNULL, env=environment)  # fmt: skip
    os.close(theirs)
    said = b""
    with contextlib.suppress(OSError):  # the end of what was said
        while part := os.read(ours, 4096):
            said += part
    os.close(ours)
    lines = said.decode().split("\r\033[K")
    assert result.returncode == 0
    assert "calibrating: 4 of 4 samples" in lines and "Vela compiles 1 partition" in lines
    assert not lines[-1] or "warning" in lines[-1], "the line is gone"


def test_intermediates_with_a_blank_and_nothing_left_of_the_run_before(calibrated, folder):
    files = []
    for place in ("a b/out", "a b/again"):
        result = start(*calibrated, "--intermediates", place, folder=folder)
        assert result.returncode == 0, result.stderr
        assert result.stdout and (folder / place / "part0.payload").stat().st_size
        files.append({path.name: path.read_bytes() for path in (folder / place).iterdir()})
    assert files[0] == files[1]
