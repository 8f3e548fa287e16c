# SPDX-License-Identifier: Apache-2.0
"""Writes a reference network and its test data as files.

    python -m test.models.export NAME OUTDIR [--quantize arm|ethosu|xnnpack|none] [--samples N]

| file | content |
|---|---|
| NAME.pt2 | the float program |
| NAME_q.pt2 | the program quantised by PT2E (not with --quantize none) |
| NAME_cal.npz | calibration samples: per input name, an array [samples, *input shape] |
| NAME_test.npz | inputs likewise; outputs out_0, out_1, …: arrays [samples, *output shape] |
| | and the fake-quantised outputs out_0_q, out_1_q, … (not with --quantize none) |

Without --quantize neither executorch nor torchao is imported.
"""

import argparse
import pathlib

import numpy as np
import torch

from . import NETS, make, sample_inputs

CALIBRATION_SEED, TEST_SEED = 5, 6


def outputs_of(model, inputs):
    """The outputs of one call as a tuple."""
    with torch.no_grad():
        result = model(*inputs)
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def stack(names, samples):
    """{name: array [samples, *shape]} from a list of tuples."""
    return {
        name: torch.stack(values).detach().numpy() for name, values in zip(names, zip(*samples))
    }


def export_net(name, directory, quantizer="none", count=16):
    """Writes the files of the table above into `directory`; returns it as a Path."""
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    model, example = make(name)
    net = NETS[name]
    calibration, tests = (
        sample_inputs(net.shapes, count, seed) for seed in (CALIBRATION_SEED, TEST_SEED)
    )
    np.savez(directory / f"{name}_cal.npz", **stack(net.inputs, calibration))

    program = torch.export.export(model, example)
    torch.export.save(program, directory / f"{name}.pt2")
    arrays = stack(net.inputs, tests)
    expected = [outputs_of(model, inputs) for inputs in tests]
    arrays |= stack([f"out_{index}" for index in range(len(expected[0]))], expected)
    if quantizer != "none":
        from .quantize import quantize  # imports executorch, which takes seconds

        quantised = quantize(program, calibration, quantizer)
        torch.export.save(torch.export.export(quantised, example), directory / f"{name}_q.pt2")
        expected = [outputs_of(quantised, inputs) for inputs in tests]
        arrays |= stack([f"out_{index}_q" for index in range(len(expected[0]))], expected)
    np.savez(directory / f"{name}_test.npz", **arrays)
    return directory


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", choices=NETS)
    parser.add_argument("directory")
    parser.add_argument("--quantize", choices=("none", "arm", "ethosu", "xnnpack"), default="none")
    parser.add_argument("--samples", type=int, default=16)
    options = parser.parse_args()
    export_net(options.name, options.directory, options.quantize, options.samples)


if __name__ == "__main__":
    main()
