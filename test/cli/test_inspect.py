# SPDX-License-Identifier: Apache-2.0
"""`tosaic inspect` says of each kind of file what torch, ExecuTorch, the TOSA schema's Python
reader and numpy say."""

import collections
import json

import numpy as np
import pytest
import torch

from ..common import TARGETS
from ..tester.pte import Pte
from ..tosautil import TosaFile
from .failing import fails, start, tree

# Our short names by those of torch and TOSA.
DTYPES = {torch.float32: "f32", torch.int8: "i8", "FP32": "f32", "INT8": "i8", "INT32": "i32"}


@pytest.fixture
def inspect(folder):
    """Runs the command; returns the text and the parsed JSON."""

    def run(path):
        before = tree(folder)
        text, as_json = (start("inspect", path, *flag, folder=folder) for flag in ((), ("--json",)))
        assert text.returncode == as_json.returncode == 0, text.stderr + as_json.stderr
        assert not text.stderr and tree(folder) == before
        return text.stdout, json.loads(as_json.stdout)

    return run


@pytest.mark.parametrize("net, quantizer", [
    ("dscnn", "arm"), ("dscnn", "float"), ("two_outputs", "xnnpack"), ("sub", "float"),
])  # fmt: skip
def test_pt2_as_torch_reads_it(inspect, program, net, quantizer):
    path = program(net, quantizer)
    text, shown = inspect(path)
    loaded = torch.export.load(path)
    nodes = {node.name: node for node in loaded.graph.nodes}
    (model,) = shown["programs"]
    assert (shown["kind"], shown["bytes"]) == ("pt2", path.stat().st_size)
    assert model["operators"] == collections.Counter(
        str(node.target) for node in nodes.values() if node.op == "call_function"
    )
    assert model["nodes"] == sum(model["operators"].values())
    assert model["quantised"] == (quantizer != "float")
    for side, names in (
        ("inputs", loaded.graph_signature.user_inputs),
        ("outputs", loaded.graph_signature.user_outputs),
    ):
        expected = [
            {"name": name, "dtype": DTYPES[value.dtype], "shape": list(value.shape)}
            for name in names
            for value in [nodes[name].meta["val"]]
        ]
        assert model[side] == expected
    assert model["weights"] == len(loaded.state_dict)
    assert model["weight_bytes"] == sum(t.nbytes for t in loaded.state_dict.values())
    assert model["torch_version"].split("+")[0] == torch.__version__.split("+")[0]
    for name in model["operators"]:
        assert name in text
    assert f"{path.stat().st_size} bytes" in text


@pytest.mark.parametrize("net, quantizer, target", [
    ("dscnn", "arm", "tosa-int"), ("cat", "float", "tosa-fp"), ("sub", "arm", "tosa-int"),
])  # fmt: skip
def test_tosa_as_its_schema_reads_it(inspect, program, folder, net, quantizer, target):
    flags = ("--target", target, "-o", "x.tosa")
    made = start("compile", program(net, quantizer), *flags, folder=folder)
    assert made.returncode == 0, made.stderr
    text, shown = inspect(folder / "x.tosa")
    file = TosaFile(folder / "x.tosa")
    for side, values in (("inputs", file.inputs), ("outputs", file.outputs)):
        assert shown[side] == [
            {"name": value.name, "dtype": DTYPES[value.dtype], "shape": list(value.shape)}
            for value in values
        ]
    expected = {
        f"tosa.{name.lower()}": count
        for name, count in file.ops.items()
        if not name.startswith("CONST")
    }
    assert shown["operations"] == expected
    assert shown["version"] == ".".join(map(str, file.version))
    assert text.startswith(f"// TOSA {shown['version']}\n")
    for name, count in expected.items():
        assert text.count(f"= {name}(") == count


@pytest.mark.parametrize("net, delegates", [("three_parts", 2), ("two_outputs", 1), ("add", 1)])
def test_pte_as_executorch_reads_it(inspect, program, folder, net, delegates):
    target = ("--target", TARGETS["u55"], "-o", "x.pte", "--json")
    made = start("compile", program(net), *target, folder=folder)
    assert made.returncode == 0, made.stderr
    report = json.loads(made.stdout)
    text, shown = inspect(folder / "x.pte")
    theirs = Pte((folder / "x.pte").read_bytes())
    (method,) = shown["methods"]
    assert shown["kind"] == "pte" and shown["bytes"] == (folder / "x.pte").stat().st_size
    assert method["name"] == theirs.plan.name == "forward"
    assert method["kernels"] == theirs.operators
    assert [delegate["id"] for delegate in method["delegates"]] == theirs.delegates
    assert len(method["delegates"]) == delegates
    for ours, told in zip(method["delegates"], report["delegates"], strict=True):
        for key in ("command_bytes", "weight_bytes", "scratch_bytes"):
            assert ours[key] == told[key]
    assert method["memory_bytes"] == list(theirs.plan.non_const_buffer_sizes)
    kinds = [
        type(instruction.instr_args).__name__
        for chain in theirs.plan.chains
        for instruction in chain.instructions
    ]
    shown_kinds = [
        "DelegateCall" if line.startswith("delegate ") else "KernelCall"
        for line in method["instructions"]
    ]
    assert shown_kinds == kinds
    for side in ("inputs", "outputs"):
        tensors = [theirs.plan.values[index].val for index in getattr(theirs.plan, side)]
        assert method[side] == [
            f"float32[{','.join(map(str, tensor.sizes))}]" for tensor in tensors
        ]
    for line in method["instructions"] + method["kernels"]:
        assert line in text


@pytest.mark.parametrize("save", (np.savez, np.savez_compressed))
def test_npz_as_numpy_reads_it(inspect, folder, save):
    arrays = {
        "image": np.zeros((2, 3, 4), np.float32),
        "codes": np.arange(5, dtype=np.int8),
        "scalar": np.array(7, np.int64),
        "mask": np.ones((1, 2), bool),
        "empty": np.zeros((0, 3), np.uint8),
        "ünï": np.zeros(2, np.float64),
    }
    save(folder / "x.npz", **arrays)
    text, shown = inspect(folder / "x.npz")
    with np.load(folder / "x.npz") as theirs:
        assert shown == {
            "kind": "npz",
            "arrays": [
                {"name": name, "dtype": array.dtype.str[1:], "shape": list(array.shape)}
                for name, array in theirs.items()
            ],
        }
    assert "image: f4[2,3,4]" in text.splitlines()
    np.save(folder / "x.npy", arrays["codes"])
    (array,) = inspect(folder / "x.npy")[1]["arrays"]
    assert (array["dtype"], array["shape"]) == ("i1", [5])


@pytest.mark.parametrize("name, content, code", [
    ("x.pt2", b"nothing", "E0201"), ("x.npz", b"nothing", "E0103"), ("x.npy", b"nothing", "E0103"),
    ("x.tosa", b"nothing", "E0205"), ("x.pte", b"nothing", "E0103"), ("x.bin", b"x", "E0103"),
    ("x.tosa", b"", "E0205"), ("x.pte", b"", "E0103"), ("x.npz", b"PK\3\4", "E0201"),
    ("x.npy", b"\x93NUMPY\1\0", "E0202"), ("x.pte", b"\x10\0\0\0ET12" + b"x" * 20, "E0205"),
])  # fmt: skip
def test_damaged_files_are_errors(folder, name, content, code):
    (folder / name).write_bytes(content)
    assert name in fails("inspect", name, code=code, folder=folder)
