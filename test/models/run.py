# SPDX-License-Identifier: Apache-2.0
"""Runs what examples/arm/run.sh has compiled, on this machine, and compares with PyTorch.

    python -m test.models.run NAME DIR

DIR holds NAME.pte, the partitions' TOSA in dump/ and the test data of test.models.export. Where ExecuTorch's runtime is installed, it runs the .pte, and a stand-in for the NPU
executes each partition's TOSA by the reference; without it nothing is run, which is said.
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


def main():
    name, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    plugin = tosaic_binary().resolve().parent.parent / "lib" / "libtosaic_standin.so"
    if importlib.util.find_spec("executorch") is None or not plugin.exists():
        print("not run: ExecuTorch's runtime is not installed; test/setup_testing.sh installs it")
        return 0
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
    for index in range(sum(key.startswith("out_") for key in data.files)):
        actual = np.stack([np.load(path)[f"out{index}"] for path in targets]).astype(np.float64)
        expected = data[f"out_{index}"][:SAMPLES].astype(np.float64)
        print(f"output {index}: {sqnr_db(actual, expected):.1f} dB against PyTorch's float program, {SAMPLES} inputs")
    for path in (*sources, *targets):
        os.remove(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
