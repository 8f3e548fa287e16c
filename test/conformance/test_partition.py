# SPDX-License-Identifier: Apache-2.0
"""The rows of the NPUs decide as Vela does: on programs near the limits of each operation, and on a sample
of TOSA's conformance tests. docs/vela.md has the comparison over all of these."""

import os
import subprocess
import sys

import pytest

from ..common import ROOT, TARGETS, tosaic_binary
from . import limits, partition

FAMILIES = sorted(TARGETS)


def write(programs, folder):
    """{name: path of the .tosa}"""
    paths = {}
    for index, (name, text) in enumerate(programs.items()):
        source, paths[name] = folder / f"{index}.tir", folder / f"{index}.tosa"
        source.write_text(text)
        command = [tosaic_binary(), "opt", source, "-o", paths[name]]
        result = subprocess.run(command, capture_output=True, text=True)
        assert result.returncode == 0, f"{text}\n{result.stderr}"
    return paths


@pytest.mark.INT
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_velas_near_the_limits(tmp_path, family):
    programs = limits.programs(seed=20, count=12)
    comparison = partition.compare(write(programs, tmp_path), TARGETS[family], tmp_path)
    kept = comparison.both[True, True] + comparison.both[False, False]
    assert not comparison.accepted, "\n".join(f"{v}\n{programs[n]}" for n, v in comparison.accepted.items())
    assert len(comparison.refused) <= 0.02 * len(programs), comparison.report()
    assert kept >= 0.9 * len(programs), comparison.report()


UNPROVEN = {
    "cast": ("i32[8]", "i8[8]", "cast(%x0)"),
    "reverse": ("i32[1,4,4,8]", "i32[1,4,4,8]", "reverse(%x0) {axis = 1}"),
    "shift": ("i32[8]", "i32[8]", "arithmetic_right_shift(%x0, %x0) {round = false}"),
    "resize": (
        "i8[1,1,4,8]", "i8[1,1,7,8]", 'resize(%x0, %s, %o, %z) {mode = "nearest"}',
        "%s = const shape[4] [2, 1, 2, 1]", "%o = const shape[2] [0, 0]", "%z = const shape[2] [0, 0]",
    ),
}  # fmt: skip


@pytest.mark.INT
@pytest.mark.parametrize("name", UNPROVEN)
def test_what_nothing_proves_is_refused_though_vela_takes_it(tmp_path, name):
    operand, result, operation, *constants = UNPROVEN[name]
    paths = write({name: limits.program([operand], constants, (result, operation))}, tmp_path)
    assert partition.judge(paths, TARGETS["u55"]) == {name: partition.TAKEN}
    code, message = partition.explain(paths, TARGETS["u55"], tmp_path)[name]
    assert code == "R0014" and "nothing shows" in message


@pytest.mark.INT
def test_what_vela_may_crash_on_is_refused(tmp_path):
    """Vela takes the operation alone, and crashes when a reshape shows its result with other axes."""
    least = ("i8[4,4,3,8,10]", "i8[1,4,3,8,10]", 'reduce_min(%x0) {axis = 0, nan_mode = "propagate"}')
    programs = {"alone": limits.program([least[0]], [], (least[1], least[2]))}
    reshaped = [
        "%s = const shape[4] [4, 3, 8, 10]",
        f"%m: {least[1]} = tosa.{least[2]}",
    ]
    programs["reshaped"] = limits.program([least[0]], reshaped, ("i8[4,3,8,10]", "reshape(%m, %s)"))
    paths = write(programs, tmp_path)
    verdicts = partition.judge(paths, TARGETS["u55"])
    assert verdicts["alone"] == partition.TAKEN != verdicts["reshaped"]
    for code, message in partition.explain(paths, TARGETS["u55"], tmp_path).values():
        assert code == "R0009" and partition.excluded(code, message)


SAMPLE = ("matmul", "reduce_sum", "resize", "tile", "transpose")


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """All INT tests of some operators, {name: path of the .tosa}; a few of them are run, too."""
    folder = tmp_path_factory.mktemp("conformance")
    command = [sys.executable, "-m", "test.conformance", "--profile", "int", "--sign", "positive"]
    result = subprocess.run(
        [*command, "--every", "1000", *SAMPLE],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, "TOSAIC_CONFORMANCE": str(folder)},
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return partition.int_tests(folder)


@pytest.mark.INT
@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_velas_on_a_sample_of_conformance(sample, tmp_path, family):
    comparison = partition.compare(sample, TARGETS[family], tmp_path)
    assert len(sample) > 100
    assert comparison.holds(), comparison.report()
    assert comparison.both[True, True] > 50, comparison.report()
