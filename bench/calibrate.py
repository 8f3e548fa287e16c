# SPDX-License-Identifier: Apache-2.0
"""How long post-training quantisation takes, beside ExecuTorch's PT2E flow with the same samples.

    python -m bench.calibrate [NET ...] [--samples N] [--runs N]

First both results are checked: on 16 other inputs, the SQNR of our .tosa against the float network is at
most 0.5 dB below that of the graph that Arm's quantiser makes. Then both sides run in turn: `tosaic compile
--calibrate` as a whole process, and prepare, calibration and convert in this process, warm.
"""

import argparse
import pathlib
import tempfile

from test.models import sample_inputs
from test.models.quantize import quantize
from test.quant.calibration import Quantised, calibration_arrays
from test.tester.compare import sqnr_db
from test.tester.stages import CALIBRATION_SEED, Workspace, net

import torch

from .compile import text
from .reference import seconds

MAX_LOSS_DB = 0.5


def flat(module, inputs):
    with torch.no_grad():
        result = module(*map(torch.from_numpy, inputs))
    return [x.numpy() for x in (result if isinstance(result, (tuple, list)) else (result,))]


def measure(name, options, directory):
    source = net(name)
    program = Workspace(directory / name).program(source)
    arrays = calibration_arrays(source, program.input_names, options.samples)
    samples = sample_inputs(source.shapes, options.samples, CALIBRATION_SEED)
    exported = torch.export.load(program.path)

    ours, theirs, results = [], [], {}
    for _ in range(options.runs):
        folder = directory / name / "own"
        ours.append(seconds(lambda: results.update(own=Quantised(program.path, folder, **arrays))))
        theirs.append(seconds(lambda: results.update(arm=quantize(exported, samples, "arm"))))
    expected = [value for outputs in program.outputs for value in outputs]
    own, arm = [], []
    for inputs in program.inputs:
        own += results["own"].run(**dict(zip(program.input_names, inputs)))
        arm += flat(results["arm"], inputs)
    quality = sqnr_db(own, expected), sqnr_db(arm, expected)
    assert quality[0] >= quality[1] - MAX_LOSS_DB, f"{name}: {quality[0]:.1f} dB, PT2E {quality[1]:.1f} dB"
    print(f"{name:<8} {quality[0]:9.1f}  {text(ours, 1):<26} {quality[1]:9.1f}  {text(theirs, 1):<26}", flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("nets", nargs="*", default=["mv2"])
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print("network   SQNR, dB  tosaic, s (range)          SQNR, dB  PT2E, s (range)")
    with tempfile.TemporaryDirectory() as directory:
        for name in options.nets:
            measure(name, options, pathlib.Path(directory))


if __name__ == "__main__":
    main()
