# SPDX-License-Identifier: Apache-2.0
"""`run --batch` and `explain --batch`: many programs in one process."""

import json

import numpy as np
import pytest

from ..tester.native import compile_program, run_program
from ..tester.stages import net
from .failing import fails, start


@pytest.mark.FP
def test_each_program_has_its_own_verdict(workspace, tmp_path):
    program = workspace.program(net("add"))
    tosa = tmp_path / "add.tosa"
    (entry,) = compile_program(program.path, "tosa-fp", tosa)["io"]["inputs"]
    (tmp_path / "broken.tosa").write_bytes(tosa.read_bytes()[:100])
    np.savez(tmp_path / "in.npz", **{entry["name"]: program.inputs[0][0]})
    np.savez(tmp_path / "bad.npz", **{entry["name"]: program.inputs[0][0].astype(np.float64)})
    batch = [
        {"program": "add.tosa", "input": "in.npz", "output": "out.npz"},
        {"program": "add.tosa"},
        {"program": "broken.tosa", "input": "in.npz", "output": "none.npz"},
        {"program": "add.tosa", "input": "bad.npz", "output": "none.npz"},
    ]
    (tmp_path / "batch.json").write_text(json.dumps(batch), encoding="utf-8")
    result = start("run", "--batch", "batch.json", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    first, second, third, fourth = json.loads(result.stdout)
    assert first == second == {"ok": True, "warning": None}
    assert not third["ok"] and third["code"] in ("E0205", "E0307")
    assert fourth["code"] == "E0310" and not (tmp_path / "none.npz").exists()
    alone = run_program(tosa, {entry["name"]: program.inputs[0][0]}, tmp_path)
    with np.load(tmp_path / "out.npz") as arrays:
        for name, array in alone.items():
            np.testing.assert_array_equal(arrays[name], array)


@pytest.mark.FP
@pytest.mark.parametrize(
    "text", ["", "{", "{}", "[1]", '[{"input": "x"}]', '[{"program": "x", "input": "y"}]']
)
def test_a_list_that_is_none_is_refused(tmp_path, text):
    (tmp_path / "batch.json").write_text(text, encoding="utf-8")
    fails("run", "--batch", "batch.json", code="E0203", folder=tmp_path)


@pytest.mark.U55
def test_programs_are_explained_as_one_by_one(program, folder):
    """The reasons are those of `explain` alone; a file that cannot be read spoils nothing."""
    paths = [str(program("three_parts")), "broken.tosa", str(program("add"))]
    (folder / "broken.tosa").write_bytes(b"TOSA")
    (folder / "batch.json").write_text(json.dumps([{"program": path} for path in paths]))
    target = ("--target", "ethos-u55-128")
    result = start("explain", "--batch", "batch.json", *target, folder=folder)
    assert result.returncode == 0, result.stderr
    first, second, third = json.loads(result.stdout)
    alone = json.loads(start("explain", paths[0], *target, "--json", folder=folder).stdout)
    expected = [node["reason"] | {"op": node["op"]} for node in alone["nodes"] if "reason" in node]
    assert first["ok"] and expected
    assert first["reasons"] == [{key: e[key] for key in ("op", "code", "message")} for e in expected]
    assert not second["ok"] and second["code"] == "E0205"
    assert first["nodes"] == len(alone["nodes"])
    assert third["ok"] and third["nodes"] > 0 and third["reasons"] == []


@pytest.mark.FP
def test_without_batch_all_three_are_needed(tmp_path):
    assert "a program is missing" in fails("run", code="E0104", folder=tmp_path)
    assert "--input is missing" in fails("run", "x.tosa", code="E0104", folder=tmp_path)
