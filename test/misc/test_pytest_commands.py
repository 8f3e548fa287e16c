# SPDX-License-Identifier: Apache-2.0
"""Commands that users of ExecuTorch's Arm backend know, from the root of the project."""

import os
import pathlib
import subprocess
import sys

import pytest

from ..common import ROOT
from ..conftest import FVPS

SCRIPT = ROOT / "test" / "test_arm_baremetal.sh"


def run(*command, **environment):
    done = subprocess.run(
        list(map(str, command)),
        cwd=ROOT,
        env={**os.environ, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return done.returncode, done.stdout


def run_pytest(*arguments, **environment):
    command = (sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "no:cacheprovider")
    return run(*command, *arguments, **environment)


def test_one_test_is_selected_by_name():
    status, output = run_pytest(
        "-q", "--collect-only", "test/ops/test_add.py", "-k", "test_add2_tosa_BI"
    )
    assert status == 0 and "::test_add2_tosa_BI\n" in output, output


def fvp_error(path):
    status, output = run_pytest(
        "-n", "2", "test/ops/test_add.py", "--arm_run_corstoneFVP", PATH=str(path)
    )
    assert status == pytest.ExitCode.USAGE_ERROR, output
    (line,) = output.strip().splitlines()
    assert line.startswith("ERROR: --arm_run_corstoneFVP: ") and "cannot run on an FVP yet" in line
    return line


def test_fvp_that_is_missing_is_named(tmp_path):
    line = fvp_error(tmp_path)
    assert all(name in line for name in FVPS) and "put them there" in line
    (tmp_path / FVPS[0]).touch(mode=0o755)
    line = fvp_error(tmp_path)
    assert FVPS[1] in line and FVPS[0] not in line


def test_fvp_that_is_there_is_not_said_to_have_run(tmp_path):
    for name in FVPS:
        (tmp_path / name).touch(mode=0o755)
    assert "on PATH, but there is no executor runner" in fvp_error(tmp_path)


def test_coverage_counts_lines_and_branches(tmp_path):
    data = tmp_path / "data"
    rcfile = "--rcfile=test/.coveragerc"
    status, output = run(
        sys.executable, "-m", "coverage", "run", "--source=test", rcfile, "-m", "pytest",
        "--config-file=/dev/null", "-p", "no:cacheprovider", "test/misc/test_dev.py", "-k", "test_k_",
        COVERAGE_FILE=str(data),
    )  # fmt: skip
    assert status == 0, output
    status, output = run(sys.executable, "-m", "coverage", "report", rcfile, COVERAGE_FILE=str(data))
    assert status == 0 and "Branch" in output, output
    (line,) = [line for line in output.splitlines() if line.startswith("test/misc/test_dev.py")]
    assert int(line.split()[1]) > int(line.split()[2]) > 0, line  # some lines ran, others did not


def test_suites_are_listed():
    status, output = run(SCRIPT, "--help")
    assert status == 0 and "test_pytest " in output and "test_full_ethosu_fvp " in output
    without_name, said = run(SCRIPT)
    assert without_name == 2 and output in said and "name of a suite is missing" in said


@pytest.mark.parametrize(
    "words, said",
    [
        (["test_nothing"], "error: there is no suite test_nothing"),
        (["test_pytest", "test_models_tosa"], "error: one suite at a time"),
        (["test_run_ethosu_fvp"], "error: test_run_ethosu_fvp is not supported: there is no executor runner"),
        (["test_pytest_vkml"], "error: test_pytest_vkml is not supported: "),
        (["test_smaller_stories_llama"], "error: test_smaller_stories_llama is not supported: "),
    ],
)  # fmt: skip
def test_what_is_no_suite_is_an_error(words, said):
    status, output = run(SCRIPT, *words)
    assert status == 2 and said in output and "  hint: " in output and "PASS" not in output


def stand_in_venv(tmp_path, status):
    """A virtual environment whose pytest prints its arguments and ends with a status."""
    fake = tmp_path / "bin" / "pytest"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\necho pytest: \"$@\"\nexit {status}\n")
    fake.chmod(0o755)
    return pathlib.Path(tmp_path)


@pytest.mark.parametrize(
    "suite, runs",
    [
        ("test_pytest", ["test/ --ignore=test/models", "test/models"]),
        ("all", ["test/ --ignore=test/models", "test/models"]),
        ("test_pytest_models", ["test/models"]),
        ("test_models_ethos-u85", ["test/models -k u85"]),
        ("test_pytest_ops_ethosu_fvp", ["test/ --ignore=test/models --arm_run_corstoneFVP"]),
    ],
)
def test_a_suite_runs_pytest_and_passes_or_fails_with_it(tmp_path, suite, runs):
    for status in (0, 1):
        folder = tmp_path / str(status)
        folder.mkdir()
        ended, output = run(SCRIPT, suite, TOSAIC_VENV=str(stand_in_venv(folder, status)))
        lines = [line.split("no:cacheprovider ")[1] for line in output.splitlines() if "pytest: -c" in line]
        assert lines == (runs if status == 0 else runs[:1]), output
        assert ended == status and (f"{suite}: PASS" in output) == (status == 0)
