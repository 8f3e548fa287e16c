# SPDX-License-Identifier: Apache-2.0
"""How long `tosaic compile` takes, as a whole process, beside ExecuTorch's own lowering.

    python -m bench.compile [NET ...] [--runs N] [--baseline-runs N]

For each network: the PT2E-quantised .pt2 becomes TOSA for `tosa-int`. First the result is checked:
tosa_reference_model on our file must give what the fake-quantised graph gives. Then both sides run in
turn: the native tool as a process, and ExecuTorch's `to_edge_transform_and_lower` in this process, warm
(its imports, 8 s, are not counted). Median and range of each; peak memory of our process.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from test.common import tosaic_binary
from test.tester.checks import check_integer
from test.tester.stages import Workspace, net

DEFAULT_NETS = ("add", "dscnn")


# Peak memory is asked for in a small process: a child counts the memory of the process it was forked
# from, and this one holds torch.
PEAK = """
import os, sys
pid = os.fork()
if pid == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execv(sys.argv[1], sys.argv[1:])
print(os.wait4(pid, 0)[2].ru_maxrss / 1024)
"""


def tool_command(program, output):
    command = [tosaic_binary(), "compile", program, "--target", "tosa-int", "-o", output]
    return [str(word) for word in command]


def run_tool(program, output):
    """Wall seconds of one compilation."""
    start = time.perf_counter()
    subprocess.run(tool_command(program, output), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def peak_memory(program, output):
    """Peak resident memory of one compilation, in MB."""
    command = [sys.executable, "-c", PEAK, *tool_command(program, output)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def run_executorch(program):
    """Seconds of ExecuTorch's lowering of a loaded program to its TOSA backend."""
    from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec
    from executorch.backends.arm.tosa.partitioner import TOSAPartitioner
    from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

    partitioner = TOSAPartitioner(TosaCompileSpec("TOSA-1.0+INT"))
    start = time.perf_counter()
    to_edge_transform_and_lower(
        program,
        partitioner=[partitioner],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    return time.perf_counter() - start


def text(values, unit=1e3):
    """Median and range, in ms."""
    low, middle, high = (unit * f(values) for f in (min, statistics.median, max))
    return f"{middle:9.1f} ({low:.1f} .. {high:.1f})"


def measure(name, runs, baseline_runs, directory):
    import torch

    workspace = Workspace(pathlib.Path(directory))
    program = workspace.program(net(name), "arm")
    agreement = check_integer(program, workspace.scratch("check", name), steps=None)
    ours, theirs = [], []
    output = workspace.scratch("bench", name) / "model.tosa"
    loaded = torch.export.load(program.path) if baseline_runs else None
    run_tool(program.path, output)
    for index in range(runs):
        ours.append(run_tool(program.path, output))
        if index < baseline_runs:
            theirs.append(run_executorch(loaded))
    other = text(theirs) if theirs else "not run"
    peak = peak_memory(program.path, output)
    print(
        f"{name:<8} {agreement.sqnr:8.1f} {text(ours):<28} {peak:8.1f}  {other:<28}",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("nets", nargs="*", default=DEFAULT_NETS)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--baseline-runs", type=int, default=3)
    options = parser.parse_args()
    print("network  SQNR, dB tosaic, ms (range)           peak, MB  ExecuTorch, ms (range)")
    with tempfile.TemporaryDirectory() as directory:
        for name in options.nets:
            measure(name, options.runs, options.baseline_runs, directory)


if __name__ == "__main__":
    main()
