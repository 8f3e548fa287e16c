# SPDX-License-Identifier: Apache-2.0
"""Runs what examples/arm/run.sh has compiled, on this machine, and compares with PyTorch.

    python -m test.models.run NAME DIR TARGET

DIR holds NAME.pte, the partitions' TOSA in dump/ and the data of test.models.export. Where ExecuTorch's runtime is installed, it runs the .pte, and a stand-in for the NPU
executes each partition's TOSA by the reference; without it `tosaic run` computes the target's integers from NAME.pt2, which is said.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import numpy as np

from ..common import ROOT, tosaic_binary
from . import NETS

SAMPLES = 4


def sqnr_db(actual, expected):
    noise = np.sum((actual - expected) ** 2)
    return np.inf if noise == 0 else 10 * np.log10(np.sum(expected**2) / noise)


def show_sqnr(outputs, data):
    """`outputs`: an array per output, its first axis the samples."""
    for index, actual in enumerate(outputs):
        expected = data[f"out_{index}"][: len(actual)].astype(np.float64)
        db = sqnr_db(actual.astype(np.float64), expected)
        print(f"output {index}: {db:.1f} dB against PyTorch's float program, {len(actual)} inputs")


def run_without_executorch(name, folder, target):
    """The integers that the .pte has the NPU compute, by `tosaic run`."""
    data = np.load(folder / f"{name}_test.npz")
    source, output = folder / "run_in.npz", folder / "run_out.npz"
    np.savez(source, **{key: data[key][:SAMPLES] for key in NETS[name].inputs})
    command = [tosaic_binary(), "run", folder / f"{name}.pt2", "--target", target, "--input", source,
               "--calibrate", folder / f"{name}_cal.npz", "-o", output]  # fmt: skip
    print("ExecuTorch's runtime is not installed (test/setup_testing.sh installs it): running the .pt2")
    result = subprocess.run(command)
    source.unlink()
    if result.returncode:
        print("not run: what stays on the CPU needs ExecuTorch's runtime")
        return 0
    with np.load(output) as outputs:
        show_sqnr([outputs[key] for key in outputs.files], data)
    output.unlink()
    return 0


def main():
    name, folder, target = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    plugin = tosaic_binary().resolve().parent.parent / "lib" / "libtosaic_standin.so"
    if importlib.util.find_spec("executorch") is None or not plugin.exists():
        return run_without_executorch(name, folder, target)
    data = np.load(folder / f"{name}_test.npz")
    sources, targets = [], []
    for sample in range(SAMPLES):
        sources.append(str(folder / f"run_in_{sample}.npz"))
        targets.append(str(folder / f"run_out_{sample}.npz"))
        arrays = [data[key][sample] for key in NETS[name].inputs]
        np.savez(sources[-1], **{f"in{i}": array for i, array in enumerate(arrays)})
    case = {
        "pte": str(folder / f"{name}.pte"), "standin_dir": str(folder / "dump"),
        "inputs": sources, "outputs": targets,
    }  # fmt: skip
    result = subprocess.run(
        [sys.executable, "-m", "test.standin.run_pte", plugin],
        input=json.dumps([case]), capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    if result.returncode or not json.loads(result.stdout)["ok"]:
        print(f"error: the runtime failed:\n{result.stdout[-500:]}{result.stderr[-2000:]}", file=sys.stderr)
        return 1
    count = sum(key.startswith("out_") for key in data.files)
    show_sqnr([np.stack([np.load(path)[f"out{i}"] for path in targets]) for i in range(count)], data)
    for path in (*sources, *targets):
        os.remove(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
