# SPDX-License-Identifier: Apache-2.0
"""Float programs, calibrated and compiled by the tool, and run on this machine."""

import json

import numpy as np

from ..cli.failing import start
from ..tester.native import run_program
from ..tester.stages import CALIBRATION_SEED, sample_inputs

DTYPES = {"int8": np.int8, "int16": np.int16}


def stacked(names, samples):
    """{name: array [samples, *shape]} from a list of tuples of tensors."""
    return {
        name: np.stack([np.asarray(value) for value in values])
        for name, values in zip(names, zip(*samples))
    }


def calibration_arrays(source, names, count):
    """Calibration samples of a Source: the ones that PT2E programs of the workspace see."""
    return stacked(names, sample_inputs(source.shapes, count, CALIBRATION_SEED))


def warnings_of(result):
    """Codes of the warnings that the tool printed."""
    return [
        line.split("warning[")[1].split("]")[0]
        for line in result.stderr.splitlines()
        if "warning[" in line
    ]


class Quantised:
    """A .tosa that the tool made of a float .pt2 and calibration samples, with its report."""

    def __init__(self, program, folder, *flags, target="tosa-int", **arrays):
        folder.mkdir(parents=True, exist_ok=True)
        np.savez(folder / "samples.npz", **arrays)
        flags = ("--calibrate", "samples.npz", "--target", target, "-o", "x.tosa", "--json", *flags)
        result = start("compile", program, *flags, folder=folder)
        assert result.returncode == 0, result.stderr
        self.folder, self.path = folder, folder / "x.tosa"
        self.report = json.loads(result.stdout)
        self.warnings, self.stderr = warnings_of(result), result.stderr
        self.inputs = self.report["io"]["inputs"]
        self.outputs = self.report["io"]["outputs"]

    def codes(self, **arrays):
        """Output codes, as lists in the order of the program, for float inputs by name."""
        quantised = {}
        for value in self.inputs:
            dtype = DTYPES[value["dtype"]]
            limits = np.iinfo(dtype)
            codes = np.rint(arrays[value["name"]] / value["scale"]) + value["zero_point"]
            quantised[value["name"]] = np.clip(codes, limits.min, limits.max).astype(dtype)
        results = run_program(self.path, quantised, self.folder)
        return [results[value["name"]] for value in self.outputs]

    def run(self, **arrays):
        """Outputs as floats."""
        return [
            (codes.astype(np.float64) - value["zero_point"]) * value["scale"]
            for codes, value in zip(self.codes(**arrays), self.outputs, strict=True)
        ]
