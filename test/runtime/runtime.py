# SPDX-License-Identifier: Apache-2.0
"""ExecuTorch's runtime, in a process of its own: what it registers is for good."""

import json
import subprocess
import sys

from ..common import ROOT, tosaic_binary

RUN_TIMEOUT_S = 300


def in_executorch(cases):
    """Runs the cases of test/standin/run_pte.py in one process; returns an error or None for each."""
    plugin = tosaic_binary().resolve().parent.parent / "lib" / "libtosaic_standin.so"
    assert plugin.exists(), (
        f"{plugin} does not exist: ./dev build makes it where the project's environment has "
        "executorch >= 1.5 (test/setup_testing.sh installs it)"
    )
    result = subprocess.run(
        [sys.executable, "-m", "test.standin.run_pte", plugin],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=RUN_TIMEOUT_S,
    )
    assert result.returncode == 0, f"the runtime's process failed:\n{result.stderr[-4000:]}"
    return [
        None if outcome["ok"] else f"{outcome['error']}\n{result.stderr[-4000:]}"
        for outcome in json.loads(result.stdout)
    ]
