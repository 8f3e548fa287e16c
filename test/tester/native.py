# SPDX-License-Identifier: Apache-2.0
"""The command line of the native tool."""

import json
import signal
import subprocess

import numpy as np

from ..common import tosaic_binary

TIMEOUT_S = 120


class ToolError(AssertionError):
    """The tool ended with an error: its exit code and what it printed."""

    def __init__(self, arguments, result):
        code = result.returncode
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        super().__init__(f"tosaic {' '.join(arguments)}: {how}\n{result.stderr or result.stdout}")
        self.code, self.stderr = code, result.stderr


def invoke(*arguments, check=True, timeout=TIMEOUT_S):
    """Runs the tool; returns the CompletedProcess (text). Raises ToolError on a bad exit code if
    `check`."""
    binary = tosaic_binary()
    if not binary.exists():
        raise AssertionError(
            f"{binary} does not exist: build it, or set TOSAIC to the tool to test"
        )
    arguments = [str(argument) for argument in arguments]
    result = subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=timeout)
    for finding in ("Sanitizer", "runtime error"):  # of a sanitised build, whose exit code tells little
        assert finding not in result.stderr, f"tosaic {' '.join(arguments)}:\n{result.stderr}"
    if check and result.returncode:
        raise ToolError(arguments, result)
    return result


def compile_program(program, target, output, *flags):
    """`tosaic compile … --json`: returns the report as a dict."""
    result = invoke("compile", program, "--target", target, "-o", output, "--json", *flags)
    try:
        return json.loads(result.stdout)
    except json.JSONDecodeError as error:
        raise AssertionError(
            f"the report of --json is not JSON: {error}\n{result.stdout[:2000]}"
        ) from error


def run_program(program, inputs, scratch):
    """`tosaic run` on a dict of arrays by input name; returns a dict of arrays by output name."""
    given, made = scratch / "inputs.npz", scratch / "outputs.npz"
    np.savez(given, **inputs)
    made.unlink(missing_ok=True)
    invoke("run", program, "--input", given, "--output", made)
    with np.load(made) as arrays:
        return {name: arrays[name] for name in arrays.files}
