# SPDX-License-Identifier: Apache-2.0
"""Runs TOSA's conformance tests by test/conformance and counts them."""
import re
import subprocess

from scripts import project

TOTAL = re.compile(r"(\d+) passed, (\d+) failed")


def run(preset, profile):
    """(passed, failed) of all tests of a profile, positive and negative."""
    command = [project.python(), "-m", "test.conformance", "--profile", profile]
    environment = project.test_environment(TOSAIC_TOOL=str(project.tool(preset)))
    last = ""
    with subprocess.Popen(command, cwd=project.ROOT, env=environment, stdout=subprocess.PIPE, text=True,
                          errors="replace") as runner:
        for line in runner.stdout:
            print(line, end="", flush=True)
            last = line
    total = TOTAL.match(last)
    if not total:
        raise project.Failure(f"the conformance runner ended with status {runner.returncode} and no total")
    passed, failed = map(int, total.groups())
    return passed, failed or int(runner.returncode != 0)
