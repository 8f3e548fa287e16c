# SPDX-License-Identifier: Apache-2.0
"""`tosaic opt`: passes on text IR from the command line."""

import re

import numpy as np
import pytest

from ..common import ROOT, TARGETS
from ..tester.oracles import reference_model
from ..tosautil import TosaFile
from .failing import fails, start

PASSES = ROOT / "test" / "passes"
SEPARATOR = "// ----- expected"
# The golden files of each pass that has a folder; the steps of partitioning are no passes.
GOLDEN = {
    name: sorted((PASSES / name).glob("*.tir"))
    for name in sorted(path.name for path in PASSES.iterdir() if list(path.glob("*.tir")))
    if name not in ("ir", "partition")
}
DROPOUT = PASSES / "remove_no_ops" / "dropout.tir"


def given_and_expected(path):
    given, _, expected = path.read_text().partition(SEPARATOR)
    return given, expected


def statements(text):
    """Lines without comments and blanks."""
    lines = (line.split("//")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


@pytest.fixture
def opt(folder):
    def run(source, *flags):
        (folder / "x.tir").write_text(source)
        result = start("opt", "x.tir", *flags, folder=folder)
        assert result.returncode == 0, result.stderr
        return result

    return run


@pytest.mark.parametrize("name", GOLDEN)
def test_the_command_does_what_golden_files_say(opt, name):
    """The same text as in the C++ runner, whose expectations are reviewed."""
    checked = 0
    for path in GOLDEN[name]:
        given, expected = given_and_expected(path)
        if "// error" in given or "^" in expected or "error" in expected or not expected.strip():
            continue
        passes = re.search(r"^// test: pass (\S+)$", given, re.MULTILINE)
        if not passes:
            continue
        made = opt(given, f"--passes={passes[1]}").stdout
        assert statements(made) == statements(expected), path.name
        checked += 1
    assert checked, f"no golden file of {name} was used"


def test_output_goes_to_the_file_asked_for(opt, folder):
    given, expected = given_and_expected(DROPOUT)
    result = opt(given, "--passes=remove_no_ops", "-o", "y.tir")
    assert not result.stdout
    assert statements((folder / "y.tir").read_text()) == statements(expected)
    # Text IR is a fixed point: what was written is read again and stays.
    again = opt((folder / "y.tir").read_text(), "--passes=remove_no_ops").stdout
    assert again == (folder / "y.tir").read_text()


TRANSPOSE = """tosa graph @main(%x: i8[2,3] "x") {
  %y: i8[3,2] "y" = tosa.transpose(%x) {perms = [1, 0]}
  return %y
}
"""


def test_text_becomes_a_tosa_file(opt, folder):
    opt(TRANSPOSE, "-o", "y.tosa")
    file = TosaFile(folder / "y.tosa")
    assert [(v.name, list(v.shape)) for v in (*file.inputs, *file.outputs)] == [("x", [2, 3]), ("y", [3, 2])]
    given = np.arange(6, dtype=np.int8).reshape(2, 3)
    np.testing.assert_array_equal(reference_model(folder / "y.tosa", {"x": given})["y"], given.T)
    (folder / "x.tir").write_text(given_and_expected(DROPOUT)[0])
    assert "@main" in fails("opt", "x.tir", "-o", "z.tosa", code="E0104", folder=folder)


def test_text_is_explained(opt, folder):
    opt(TRANSPOSE, "-o", "y.tir")
    for name in ("x.tir", "y.tir"):
        result = start("explain", name, "--target", "ethos-u55-128", folder=folder)
        assert "1 nodes on the target" in result.stdout, result.stderr
    (folder / "x.tir").write_text(given_and_expected(DROPOUT)[0])
    result = start("explain", "x.tir", "--target", "tosa-fp", folder=folder)
    assert "nodes on the target" in result.stdout, result.stderr


def test_several_passes_run_in_order(opt):
    given, expected = given_and_expected(DROPOUT)
    text = opt(given, "--passes=remove_no_ops,remove_dead_nodes", "--print-after=all").stderr
    assert text.index("remove_no_ops") < text.index("remove_dead_nodes")


def test_flags_of_passes(opt):
    given, expected = given_and_expected(DROPOUT)
    left = opt(given, "--passes=remove_no_ops", "--disable=remove_no_ops").stdout
    assert statements(left) == statements(given)
    assert "remove_no_ops" in opt(given, "--passes=remove_no_ops", "--print-changed").stderr
    assert "dropout" in opt(given, "--passes=remove_no_ops", "--print-before=remove_no_ops").stderr


def test_unknown_pass_names_the_nearest_one(folder):
    given, _ = given_and_expected(DROPOUT)
    (folder / "x.tir").write_text(given)
    text = fails("opt", "x.tir", "--passes=remove_no_op", code="E0312", folder=folder)
    assert "did you mean remove_no_ops" in text
    fails("opt", "x.tir", "--passes=remove_no_ops,magic", code="E0312", folder=folder)


@pytest.mark.parametrize("text, code", [
    ("graph", "E0204"),
    ("aten graph @main(%x: f32[4]) {\n  return %y\n}\n", "E0204"),
    ("aten graph @main(%x: f32[4]) {\n  %y: f32[5] = aten.relu.default(%x)\n", "E0204"),
])  # fmt: skip
def test_damaged_text_names_the_line(folder, text, code):
    (folder / "x.tir").write_text(text)
    assert "x.tir:" in fails("opt", "x.tir", "--passes=remove_no_ops", code=code, folder=folder)


def test_wrong_files_are_errors(folder):
    fails("opt", "missing.tir", "--passes=remove_no_ops", code="E0101", folder=folder)
    (folder / "x.tir").write_text(given_and_expected(DROPOUT)[0])
    fails("opt", "x.tir", "--passes=remove_no_ops", "-o", "no/x.tir", code="E0102", folder=folder)
    fails("opt", "x.tir", "--passes=remove_no_ops", "--target=x", code="E0105", folder=folder)


@pytest.mark.parametrize("words", [
    ("opt", "x.tir", "--passes=fold_qdq"),
    ("explain", "x.tir", "--target", TARGETS["u55"]),
    ("compile", "x.tir", "--target", TARGETS["u55"], "-o", "x.pte"),
])  # fmt: skip
def test_error_of_the_program_inside_a_pass_leaves_no_file(folder, words):
    """A pass that fails by its own fault keeps its input for a report; by the program's it does not."""
    given, _ = given_and_expected(PASSES / "fold_qdq" / "add_relu.tir")
    (folder / "x.tir").write_text(re.sub(r"scale = ", "scale = -", given, count=1))
    assert "scale -" in fails(*words, code="E0305", folder=folder)
