# SPDX-License-Identifier: Apache-2.0
"""One random graph through `tosaic compile`."""

import collections
import dataclasses
import functools
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from ..common import tosaic_binary
from ..tester.native import invoke
from .drawing import PRECISIONS

VELA_SECONDS = 60
# What the tool says of programs that it does not compile for want of a kernel.
WANTING = ("E0308",)
NO_OPERATORS = ("quantized_decomposed.", "tosaic.")


@dataclasses.dataclass
class Outcome:
    """`numbers`: what is wrong with them; None where they were not checked."""

    error: str = ""
    numbers: str | None = None
    wanting: str = ""
    delegates: int = 0
    drawn: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    on_npu: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    on_cpu: collections.Counter = dataclasses.field(default_factory=collections.Counter)


@functools.cache
def rows():
    """{row: names of its operators} of what PyTorch has."""
    return {
        row["name"]: {schema["name"] for schema in row["schemas"]}
        for row in json.loads(invoke("ops", "--json").stdout)["ops"]
        if not row["schemas"][0]["name"].startswith(NO_OPERATORS) and row["name"] != "unknown"
    }


def write(drawing, stem, steps=None):
    """The program, the names of its operators and, of a float one, its samples in a file named by the precision."""
    from . import graphs

    program, examples = drawing.program(steps)
    pt2 = stem.with_suffix(".pt2")
    operators = graphs.export(program, examples, pt2.with_suffix(".part"))
    stem.with_suffix(".json").write_text(json.dumps(operators))
    if not drawing.quantised:
        samples = {f"x{number}": example.unsqueeze(0).numpy() for number, example in enumerate(examples)}
        np.savez(stem.with_suffix(f".{drawing.precision}.npz"), **samples)
    os.replace(pt2.with_suffix(".part"), pt2)


def quantising_flags(stem):
    """Those of a float program."""
    files = {precision: stem.with_suffix(f".{precision}.npz") for precision in PRECISIONS.values()}
    return [f for p, path in files.items() if path.exists() for f in ("--calibrate", path, "--precision", p)]


def compile_for(stem, target):
    """The Outcome of a written program."""
    flags = quantising_flags(stem)
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "model.pte"
        command = [tosaic_binary(), "compile", stem.with_suffix(".pt2"), "--target", target, "-o", output, "--json"]
        command += [*flags, "--vela-timeout", str(VELA_SECONDS)]
        result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "TMPDIR": folder})
    wanting = next((code for code in WANTING if f"error[{code}]" in result.stderr), None)
    if result.returncode == 1 and wanting:
        return Outcome(wanting=wanting)
    if result.returncode:
        return Outcome(error=" ".join(result.stderr.split())[:600] or f"status {result.returncode}")
    report = json.loads(result.stdout)
    outcome = Outcome(delegates=len(report["delegates"]))
    outcome.drawn.update(json.loads(stem.with_suffix(".json").read_text()))
    for node in report["nodes"]:
        if node["op"].startswith(NO_OPERATORS):
            continue
        where = outcome.on_npu if node["device"] == "npu" else outcome.on_cpu
        where[node["op"]] += 1
    if "W0002" in result.stderr:
        outcome.error = " ".join(result.stderr[result.stderr.index("W0002") :].split())[:600]
    return outcome


def check_one(seed, _, folder):
    """The Outcome of the numbers of the graph of a seed."""
    from . import check, graphs

    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        try:
            numbers = check.check(graphs.draw(seed), pathlib.Path(scratch))
        except IndexError as error:  # of torch.export
            print(f"graph {seed}: not exported: {error}", flush=True)
            return [Outcome(wanting="torch.export")]
        return [Outcome(error=numbers or "", numbers=numbers)]


def try_one(seed, targets, folder):
    """Outcomes by target of the graph of a seed. Its program is made if the folder has none."""
    from . import graphs

    stem = folder / seed.replace(".", "_")
    if not stem.with_suffix(".pt2").exists():
        try:
            write(graphs.draw(seed), stem)
        except Exception as error:  # whatever torch.export raises
            print(f"graph {seed}: not exported: {str(error).splitlines()[:1]}", flush=True)
            return [Outcome(wanting="torch.export")] * len(targets)
    return [compile_for(stem, target) for target in targets]


class Trial:
    """The graph of a seed, which fails on a target."""

    def __init__(self, seed, target):
        self.seed, self.target = seed, target

    def reduce(self):
        """Prints the fewest operators that fail; 1, as the failure stands."""
        from . import graphs

        drawing = graphs.draw(self.seed)
        with tempfile.TemporaryDirectory() as folder:
            stem = pathlib.Path(folder) / "reduced"

            def error_of(steps):
                write(drawing, stem, steps)
                return compile_for(stem, self.target).error

            steps = graphs.reduce(drawing, error_of)
            error = error_of(steps)
            if not error:
                print(f"{self.target}: graph {self.seed} does not fail")
                return 0
            flags = quantising_flags(stem)
            print(invoke("explain", stem.with_suffix(".pt2"), "--target", self.target, *flags).stdout)
            print(f"{self.target}: graph {self.seed}, {len(steps)} of {len(drawing.steps)} operators: {error}")
        return 1
