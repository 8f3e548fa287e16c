# SPDX-License-Identifier: Apache-2.0
"""How long an inference takes in `tosaic run`, beside tosa_reference_model.

    python -m bench.reference [NET ...] [--runs N] [--samples N]

For each network, quantised by Arm's quantiser and float: first both must give the same result on each
sample, every bit of integers, within the float tolerance otherwise. Then both run in turn: as whole
processes on one sample, and per inference in a process that is already up (`tosaic run` on all samples less
`tosaic run` on one; tosa_reference_model through its Python binding). Median and range of each.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

from test.common import FLOAT_TOLERANCE, tosaic_binary
from test.tester.checks import border_names
from test.tester.compare import assert_same_bits, relative_error
from test.tester.native import compile_program, run_program
from test.tester.oracles import reference_model
from test.tester.stages import Workspace, net
from test.tosautil import TosaFile

from .compile import text

REFERENCE_MODEL = pathlib.Path(sys.executable).with_name("tosa_reference_model")
FORMS = {"int8": ("arm", "tosa-int"), "fp32": (None, "tosa-fp")}


def seconds(function):
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


class Subject:
    """A network's .tosa file with inputs, and the commands that run it."""

    def __init__(self, name, form, folder, samples):
        quantizer, target = FORMS[form]
        program = Workspace(folder).program(net(name), quantizer)
        self.tosa, self.folder, self.count = folder / "model.tosa", folder, samples
        names = border_names(compile_program(program.path, target, self.tosa))[0]
        file = TosaFile(self.tosa)
        self.inputs, self.outputs = file.inputs, file.outputs
        self.samples = [program.feed(index, file.inputs, names) for index in range(samples)]
        for path, many in ((self.one, self.samples[:1]), (self.all, self.samples)):
            np.savez(path, **{key: np.stack([sample[key] for sample in many]) for key in many[0]})
        for value in self.inputs:
            np.save(folder / f"{value.name}.npy", self.samples[0][value.name])

    @property
    def one(self):
        return self.folder / "one.npz"

    @property
    def all(self):
        return self.folder / "all.npz"

    def check(self):
        for sample in self.samples:
            ours = run_program(self.tosa, sample, self.folder)
            for name, theirs in reference_model(self.tosa, sample).items():
                if theirs.dtype == np.float32:
                    assert relative_error(ours[name], theirs) <= FLOAT_TOLERANCE, name
                else:
                    assert_same_bits(ours[name], theirs, name)

    def run(self, inputs):
        command = [tosaic_binary(), "run", self.tosa, "--input", inputs, "-o", self.folder / "out.npz"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def run_reference_model(self):
        command = [REFERENCE_MODEL, f"--tosa_file={self.tosa}", "--tosa_level=EIGHTK"]
        command += [f"--flatbuffer_dir={self.folder}", f"--output_dir={self.folder}"]
        for kind, values in (("ifm", self.inputs), ("ofm", self.outputs)):
            command += [f"--{kind}_name={','.join(value.name for value in values)}"]
            command += [f"--{kind}_file={','.join(value.name + '.npy' for value in values)}"]
        subprocess.run(command, check=True, capture_output=True)

    def inference(self):
        """Seconds of one more inference in a running process."""
        one, many = seconds(lambda: self.run(self.one)), seconds(lambda: self.run(self.all))
        return (many - one) / (self.count - 1)


def measure(name, form, options, directory):
    folder = pathlib.Path(directory) / name / form
    folder.mkdir(parents=True)
    subject = Subject(name, form, folder, options.samples)
    subject.check()
    times = {kind: [] for kind in ("process", "other process", "inference", "other inference")}
    for _ in range(options.runs):
        times["process"].append(seconds(lambda: subject.run(subject.one)))
        times["other process"].append(seconds(subject.run_reference_model))
        times["inference"].append(subject.inference())
        times["other inference"].append(
            seconds(lambda: reference_model(subject.tosa, subject.samples[0]))
        )
    print(f"{name:<8} {form:<5}", *(f"{text(values):<28}" for values in times.values()), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("nets", nargs="*", default=["mv2"])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--samples", type=int, default=8, help="from 2 to 16")
    options = parser.parse_args()
    titles = ("tosaic, ms a process", "reference model", "tosaic, ms an inference", "reference model")
    print("network  form ", *(f"{title:<28}" for title in titles))
    with tempfile.TemporaryDirectory() as directory:
        for name in options.nets:
            for form in FORMS:
                measure(name, form, options, directory)


if __name__ == "__main__":
    main()
