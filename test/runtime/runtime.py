# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's runtime, in a process of its own: what it registers is for good."""

import json
import subprocess
import sys

from ..common import ROOT, tosaic_binary

RUN_TIMEOUT_S = 300


def in_executorch(cases):
    """Runs the cases of test/standin/run_pte.py in one process; returns an error or None for each.

    A case on which the runtime aborts has failed; a new process runs those behind it."""
    plugin = tosaic_binary().resolve().parent.parent / "lib" / "libtosaic_standin.so"
    assert plugin.exists(), (
        f"{plugin} does not exist: ./dev build makes it where the project's environment has "
        "executorch >= 1.5 (test/setup_testing.sh installs it)"
    )
    errors = []
    while len(errors) < len(cases):
        result = subprocess.run(
            [sys.executable, "-m", "test.standin.run_pte", plugin],
            input=json.dumps(cases[len(errors) :]),
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=RUN_TIMEOUT_S,
        )
        said = result.stderr[-4000:]
        for outcome in map(json.loads, result.stdout.splitlines()):
            errors.append(None if outcome["ok"] else f"{outcome['error']}\n{said}")
        if result.returncode:
            assert len(errors) < len(cases), f"the runtime's process failed at its end:\n{said}"
            errors.append(f"the runtime ended with status {result.returncode}:\n{said}")
    return errors
