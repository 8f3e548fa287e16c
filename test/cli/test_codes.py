# SPDX-License-Identifier: Apache-2.0
"""Every diagnostic code has a test; here stand those of codes that no other test raises."""

import json
import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import conv2d, conv_transpose2d

from ..common import ROOT, TARGETS
from ..tester.codes import CodeCase, q8
from ..tester.codes import export as export_codes
from .failing import fails, start

CODE = re.compile(r"^TOSAIC_CODE\((\w+), (\w+),", re.MULTILINE)


def mentions(names, text):
    return any(re.search(rf"\b{name}\b", text) for name in names)


def test_every_code_is_in_a_test():
    codes = CODE.findall((ROOT / "src" / "support" / "errors.def").read_text())
    assert len(codes) > 60
    tests = "\n".join(
        path.read_text()
        for pattern in ("src/**/*_test.cpp", "test/**/*.py", "test/**/*.tir")
        for path in ROOT.glob(pattern)
    )
    sources = "\n".join(
        path.read_text()
        for pattern in ("src/**/*.cpp", "src/**/*.h")
        for path in ROOT.glob(pattern)
        if not path.name.endswith("_test.cpp")
    )
    untested = {code for code, name in codes if not mentions((code, f"Code::{name}"), tests)}
    unraised = {code for code, name in codes if not mentions((f"Code::{name}",), sources)}
    assert not untested, "no test names them"
    assert not unraised, "no source raises them"


def export(module, example, path, **options):
    torch.export.save(torch.export.export(module.eval(), example, **options), path)
    return path


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *values):
        return self.function(*values)


IMAGE = (torch.randn(1, 3, 8, 8),)
HEIGHT = torch.export.Dim("height", min=4, max=64)
MAX_POOL = torch.ops.aten.max_pool2d_with_indices.default
TALL = {"values": ({2: HEIGHT},)}


def float_case(function, example=IMAGE, **options):
    return lambda path: export(Function(function), example, path, **options)


def code_case(function, inputs, shapes, output=q8(0.1)):
    return lambda path: export_codes(CodeCase(inputs, output, shapes), lambda: function, path).path


REASONS = {
    "R0001": ("tosa-fp", float_case(torch.special.i0e)),
    "R0003": ("tosa-fp", float_case(lambda x, w: conv_transpose2d(x, w, dilation=2), (*IMAGE, torch.randn(3, 1, 3, 3)))),
    "R0004": ("tosa-fp", float_case(torch.relu, dynamic_shapes=TALL)),
    "R0006": (
        TARGETS["u55"],
        code_case(conv2d, (q8(0.1), q8(0.1)), ((1, 3, 8, 8), (4, 3, 3, 3))),
    ),
    "R0007": ("tosa-int", code_case(torch.mul, (q8(1e5), q8(1e5)), ((1, 4), (1, 4)), q8(1e-9))),
    "R0008": ("tosa-fp", float_case(lambda x: MAX_POOL(x, [2, 2])[1])),
    "R0012": (TARGETS["u55"], code_case(lambda x: x.view(3, 64), (q8(0.1),), ((1, 3, 8, 8),))),
}


@pytest.mark.parametrize("code", REASONS)
def test_reasons_of_the_cpu(folder, code):
    target, make = REASONS[code]
    path = make(folder / "x.pt2")
    shown = start("explain", path, "--target", target, "--json", folder=folder)
    assert shown.returncode == 0, shown.stderr
    reasons = [n["reason"] for n in json.loads(shown.stdout)["nodes"] if n.get("reason")]
    assert code in {reason["code"] for reason in reasons}, reasons
    assert f"remark[{code}]" in start("explain", path, "--target", target, folder=folder).stdout


def test_operations_that_the_target_lacks(folder):
    text = "tosa graph @main(%x: i32[4]) {\n  %y: i32[4] = tosa.bitwise_not(%x)\n  return %y\n}\n"
    (folder / "x.tir").write_text(text)
    shown = start("explain", "x.tir", "--target", TARGETS["u55"], "--json", folder=folder)
    assert shown.returncode == 0, shown.stderr
    (node,) = json.loads(shown.stdout)["nodes"]
    assert node["reason"]["code"] == "R0009" and "bitwise_not" in node["reason"]["message"]


def test_an_operand_that_must_be_a_constant(folder):
    text = "tosa graph @main(%x: i8[4], %t: i8[256]) {\n  %y: i8[4] = tosa.table(%x, %t)\n  return %y\n}\n"
    (folder / "x.tir").write_text(text)
    result = start("opt", "x.tir", folder=folder)
    assert result.returncode == 1 and not result.stdout
    assert "error[V0008]" in result.stderr and "operand table" in result.stderr


def test_a_node_that_nothing_computes(folder):
    path = export(Function(torch.special.i0e), IMAGE, folder / "x.pt2")
    flags = ("--target", TARGETS["u55"], "-o", "x.pte")
    said = fails("compile", path, *flags, code="E0308", folder=folder)
    assert "aten.special_i0e.default: no ExecuTorch kernel computes it" in said
    assert "in Function" in said and "note: and the NPU does not take it" in said
    assert "hint: write it with operators that `tosaic ops` lists" in said


def test_a_choice_at_run_time_that_nothing_computes(folder):
    choice = Function(lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)))
    path = export(choice, IMAGE, folder / "x.pt2")
    for target in ("cpu", TARGETS["u85"]):
        said = fails("compile", path, "--target", target, "-o", "x.pte", code="E0308", folder=folder)
        assert "higher_order.cond" in said and "choose by torch.where" in said


def test_results_that_the_specification_leaves_open(folder):
    (folder / "x.tir").write_text(
        "tosa graph @main(%x: i32[1]) {\n  %m = const i32[1] [1073741824]\n"
        "  %s = const i8[1] [63]\n  %i = const i32[1] [0]\n  %o = const i8[1] [0]\n"
        "  %y: i8[1] = tosa.rescale(%x, %m, %s, %i, %o) {scale32 = true, rounding_mode = "
        '"single", per_channel = false, input_unsigned = false, output_unsigned = false}\n'
        "  return %y\n}\n"
    )
    made = start("opt", "x.tir", "-o", "x.tosa", folder=folder)
    assert made.returncode == 0, made.stderr
    np.savez(folder / "in.npz", x=np.ones(1, np.int32))
    result = start("run", "x.tosa", "--input", "in.npz", "-o", "out.npz", folder=folder)
    assert result.returncode == 0 and "warning[E0311]" in result.stderr


def test_an_input_whose_layout_a_kernel_fixes(folder):
    path = export(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU()), IMAGE, folder / "x.pt2")
    flags = ("--target", TARGETS["u55"], "-o", "x.pte", "--io-layout", "channels_last")
    result = start("compile", path, *flags, folder=folder)
    assert result.returncode == 0, result.stderr
    assert "warning[W0006]" in result.stderr
