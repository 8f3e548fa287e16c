# SPDX-License-Identifier: Apache-2.0
"""Judges results by tosa_reference_model and, where bits may differ, by TOSA's verify library."""

import contextlib
import functools
import os
import subprocess
import tempfile

import numpy as np
import tosa_reference_model
from checker.verifier import VerifierLibrary

from .execute import plain
from .generate import TOOLS, VERIFY_LIBRARY

# How the verify library wants values of types that NumPy lacks.
VERIFIED_AS = {"BF16": "V2", "FP8E4M3": "V1", "FP8E5M2": "u1"}


def reference_files(test):
    """(result, bounds or None) of each output, kept beside the test: floats in double precision.

    The model's executable knows every type; its Python binding lacks int4, int48 and this mode.
    """
    folder = test.folder / "reference"
    if not (folder / "done").exists():
        folder.mkdir(exist_ok=True)
        command = [
            TOOLS / "tosa_reference_model", f"--operator_fbs={TOOLS / 'tosa.fbs'}", "--precise_mode=1",
            f"--test_desc={test.folder / 'desc.json'}", f"--output_dir={folder}",
        ]  # fmt: skip
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode:
            reason = f"tosa_reference_model: status {result.returncode}\n{result.stderr[-500:]}"
            raise RuntimeError(f"{test.name}: {reason}")
        (folder / "done").touch()
    for file in test.desc["ofm_file"]:
        bounds = folder / f"bounds_{file}"
        yield folder / file, bounds if bounds.exists() else None


def by_binding(test):
    """The outputs by the reference model's Python binding; None when it lacks a type."""
    types = " ".join(map(str, test.details.get("output_types", [])))
    if not test.inputs or "48" in types or "int4" in types:
        return None
    inputs = [np.ascontiguousarray(np.load(test.folder / file)) for file in test.inputs.values()]
    try:
        return tosa_reference_model.run(test.tosa.read_bytes(), inputs)[0]
    except (ValueError, RuntimeError):
        return None


def judge_bits(test, arrays):
    """Why results are wrong; None when every bit is that of the reference model."""
    expected = by_binding(test)
    if expected is None:
        expected = [np.load(path) for path, _ in reference_files(test)]
    for name, wanted in zip(test.outputs, expected, strict=True):
        actual, wanted = arrays[name], plain(np.asarray(wanted))
        if actual.shape != wanted.shape:
            return f"{name}: shape {actual.shape}, expected {wanted.shape}"
        wrong = np.count_nonzero(actual != wanted.astype(actual.dtype))
        if wrong:
            return f"{name}: {wrong} of {actual.size} elements are wrong"
    return None


@functools.cache
def verifier():
    return VerifierLibrary(VERIFY_LIBRARY)


@contextlib.contextmanager
def captured():
    """What native code writes to the terminal goes into a file, which the caller may read."""
    kept = os.dup(1), os.dup(2)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        try:
            yield file
        finally:
            for number, descriptor in zip((1, 2), kept, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)


def judge_compliance(test, arrays):
    """Why TOSA's verify library finds results not compliant; None when it does."""
    compliance = test.desc["meta"]["compliance"]
    for name, (result, bounds) in zip(test.outputs, reference_files(test), strict=True):
        data_type = compliance["tensors"][name]["data_type"]
        actual = arrays[name].view(VERIFIED_AS.get(data_type, arrays[name].dtype))
        files = (np.load(path) if path else None for path in (result, bounds))
        with captured() as output:
            compliant = verifier().verify_data(name, compliance, actual, *files)
            output.seek(0)
            words = " ".join(output.read().split())
        if not compliant:
            return f"{name}: not compliant: {words[:300]}"
    return None


def judge(test, arrays):
    """Why results are wrong; None when they are right."""
    exact = set(test.modes().values()) <= {"EXACT"}
    return judge_bits(test, arrays) if exact and test.integers else judge_compliance(test, arrays)
