# SPDX-License-Identifier: Apache-2.0
"""A sample of TOSA's conformance tests for CI: docs/conformance.md has the table of all."""

import subprocess
import sys

import pytest

from ..common import ROOT

SAMPLE = {
    "int": ("gather", "intdiv", "resize", "reduce_any", "cond_if", "while_loop"),
    "fp": ("floor", "rfft2d"),
}


@pytest.mark.parametrize("profile", SAMPLE)
def test_sample_of_conformance(profile, tmp_path, monkeypatch):
    monkeypatch.setenv("TOSAIC_CONFORMANCE", str(tmp_path))
    command = [sys.executable, "-m", "test.conformance", "--profile", profile, *SAMPLE[profile]]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    assert int(result.stdout.splitlines()[-1].split()[0]) >= 8
