# SPDX-License-Identifier: Apache-2.0
"""Runs generated tests by `tosaic run --batch`: many programs in one process."""

import json
import subprocess

import ml_dtypes  # noqa: F401  (NumPy then knows the types' names)
import numpy as np

from ..common import tosaic_binary


def plain(array):
    """As `tosaic run` takes and gives it: types that NumPy lacks as their bits."""
    lacks = array.dtype.kind == "V" or not array.dtype.isbuiltin
    return array.view(f"u{array.dtype.itemsize}") if lacks else array


def batch(entries, scratch):
    """What `tosaic run --batch` says of each program; where it dies, of each one alone."""
    listing = scratch / "batch.json"
    listing.write_text(json.dumps(entries), encoding="utf-8")
    result = subprocess.run([tosaic_binary(), "run", "--batch", listing], capture_output=True, text=True)
    if not result.returncode:
        return json.loads(result.stdout)
    if len(entries) == 1:
        message = f"tosaic ends with status {result.returncode}: {result.stderr.strip()[-200:]}"
        return [{"ok": False, "code": "E0001", "message": message}]
    return [verdict for entry in entries for verdict in batch([entry], scratch)]


def read_only(tests, scratch):
    """What reader and verifier say of each test's program."""
    return batch([{"program": str(test.tosa)} for test in tests], scratch)


def execute(tests, scratch):
    """(verdict, {output: array} or None) of each test."""
    entries = []
    for index, test in enumerate(tests):
        arrays = {name: plain(np.load(test.folder / file)) for name, file in test.inputs.items()}
        source, result = scratch / f"in_{index}.npz", scratch / f"out_{index}.npz"
        np.savez(source, **arrays)
        entries.append({"program": str(test.tosa), "input": str(source), "output": str(result)})
    for entry, verdict in zip(entries, batch(entries, scratch), strict=True):
        arrays = None
        if verdict["ok"]:
            with np.load(entry["output"]) as file:
                arrays = {name: file[name] for name in file.files}
        yield verdict, arrays
