# SPDX-License-Identifier: Apache-2.0
"""`tosaic explain`: where each node runs and why, for .pt2 and .tosa; it writes nothing."""

import json

import pytest
import torch

from ..common import FAMILIES, TARGETS
from ..tester.oracles import vela
from .failing import fails, start, tree


def explain(path, target, folder, *flags):
    result = start("explain", path, "--target", target, *flags, folder=folder)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout) if "--json" in flags else result.stdout


def compute_nodes(path):
    """Names of a .pt2's operators by torch's own reader, without q and dq."""
    nodes = torch.export.load(path).graph.nodes
    names = [str(node.target) for node in nodes if node.op == "call_function"]
    return [name for name in names if not name.startswith("quantized_decomposed.")]


def test_every_node_is_placed_once(program, folder):
    path = program("three_parts")
    report = explain(path, TARGETS["u55"], folder, "--json")
    placed = {
        device: [node["op"] for node in report["nodes"] if node["device"] == device]
        for device in ("npu", "cpu")
    }
    borders = [name for name in placed["cpu"] if name.startswith("quantized_decomposed.")]
    kinds = [name.split(".")[1] for name in borders]
    assert kinds == ["quantize_per_tensor", "dequantize_per_tensor"]
    computed = [node["op"] for node in report["nodes"] if node["op"] not in borders]
    assert computed == compute_nodes(path)
    assert [name for name in placed["cpu"] if name not in borders] == ["aten.conv2d.default"]
    delegates = [delegate["name"] for delegate in report["delegates"]]
    assert delegates == ["part0", "part1"]
    for node in report["nodes"]:
        assert (node["delegate"] in delegates) == (node["device"] == "npu")
    assert not tree(folder)


@pytest.mark.parametrize("flags", ((), ("--json",)))
def test_the_reason_names_rule_value_limit_and_place(program, folder, flags):
    report = explain(program("three_parts"), TARGETS["u55"], folder, *flags)
    if not flags:
        assert "remark[R0010]" in report and "stride 4 is above 3" in report
        assert "in ThreePartitions.strided" in report and "hint: " in report
        assert "4 nodes on the target in 2 partitions" in report
        return
    (node,) = [node for node in report["nodes"] if "reason" in node]
    assert node["reason"]["code"] == "R0010"
    assert "stride 4 is above 3, the limit of Ethos-U55" in node["reason"]["message"]
    assert node["reason"]["hint"]
    assert node["where"]["module"] == "ThreePartitions.strided"
    assert "self.strided(" in node["where"]["source"] and node["where"]["line"] > 0


def test_a_larger_npu_takes_all(program, folder):
    report = explain(program("three_parts"), TARGETS["u85"], folder, "--json")
    assert len(report["delegates"]) == 1
    assert not [node for node in report["nodes"] if "reason" in node]


@pytest.mark.parametrize("target", ("tosa-int", TARGETS["u55"]))
def test_a_float_program_says_that_it_has_to_be_quantised(program, folder, target):
    report = explain(program("dscnn", "float"), target, folder, "--json")
    reasons = [node["reason"] for node in report["nodes"] if "reason" in node]
    assert {reason["code"] for reason in reasons} == {"R0005"}
    assert all("quantise" in reason["hint"] for reason in reasons)


def test_tosa_fp_takes_a_float_program(program, folder):
    report = explain(program("dscnn", "float"), "tosa-fp", folder, "--json")
    assert {node["device"] for node in report["nodes"]} == {"tosa"}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("net", ("dscnn", "three_parts"))
def test_operations_of_a_tosa_file_are_judged_as_vela_does(program, folder, net, family):
    """Vela refuses a program with an operation that the NPU lacks, and takes it without one."""
    made = start("compile", program(net), "--target", "tosa-int", "-o", "x.tosa", folder=folder)
    assert made.returncode == 0, made.stderr
    report = explain(folder / "x.tosa", TARGETS[family], folder, "--json")
    reasons = [node["reason"]["message"] for node in report["nodes"] if "reason" in node]
    assert bool(reasons) == ((net, family) == ("three_parts", "u55")), reasons
    on_npu = True
    try:
        on_npu = vela(folder / "x.tosa", TARGETS[family])["cpu_ops"] == 0
    except AssertionError:
        on_npu = False
    assert on_npu == (not reasons)
    text = explain(folder / "x.tosa", TARGETS[family], folder)
    assert "x.tosa:0" not in text


def test_what_cannot_be_explained(folder, program):
    fails("explain", "x.pte", "--target", "tosa-int", code="E0103", folder=folder)
    fails("explain", "x.tosa", "--target", "tosa-int", code="E0101", folder=folder)
    fails("explain", program("add"), "--target", "ethos-u54", code="E0105", folder=folder)
