# SPDX-License-Identifier: Apache-2.0
"""The numbers of a random graph, operator by operator.

The program is compiled with each of its values as an output and run, by our reference and PyTorch's kernels. What
PyTorch makes in float64 of the operands that the compiled program had must be the compiled program's result: within a
step of quantisation, or within the rounding of float32. So an error shows at the operator that makes it, neither
grown nor hidden by what follows.
"""

import dataclasses
import itertools

import numpy as np
import torch

from ..common import FLOAT_TOLERANCE, TARGETS
from ..tester.native import ToolError, compile_program, run_program
from .drawing import Constant, listed

# What the tool says of programs without a form for the target.
NO_FORM = ("E0308", "E0309")
INTERPOLATED = {
    "elements.curve", "elements.pair", "elements.scalar", "elements.glu", "layers.attention", "layers.normalisation",
    "spellings.normalisation", "reductions.softmax", "reductions.norm", "reductions.spread", "blends.distance",
}  # fmt: skip
INTERPOLATED_STEPS = 256
# Conditions on values of different parameters, which are near each other.
WRONG_CONDITIONS = 0.02


@dataclasses.dataclass
class Difference:
    """Of one result, `worst` of whose elements is off by so many steps, or such a part of the largest; `share` of
    them are off by more than is allowed."""

    number: int
    name: str
    shapes: list
    worst: float
    share: float
    unit: str

    def __str__(self):
        return (
            f"operator {self.number} ({self.name}) on {self.shapes}: {self.share:.2%} of the elements are off, by up "
            f"to {self.worst:.3g} {self.unit}"
        )


class Run:
    """The values of a compiled program by the drawing's indices, and how they are quantised."""

    def __init__(self, drawing, pt2, target, folder, flags=()):
        program, examples = drawing.program(show_all=True)
        made = folder / ("all.tosa" if target.startswith("tosa") else "all.pte")
        if made.suffix == ".pte":
            flags = [*flags, "--dump", folder / "dump", "--io-dtype", dtype_name(drawing.dtype)]
        io = compile_program(pt2, target, made, *flags)["io"]
        given = [feed(entry, example) for entry, example in zip(io["inputs"], examples, strict=True)]
        results = (run_pte if made.suffix == ".pte" else run_tosa)(made, io, given, folder)
        self.values, self.entries = {}, {}
        indices = itertools.chain((index for index, _ in program.inputs), program.outputs)
        arrays = itertools.chain(zip(io["inputs"], given), zip(io["outputs"], results, strict=True))
        for index, (entry, array) in zip(indices, arrays, strict=True):
            self.values[index], self.entries[index] = read(entry, array), entry


def run_tosa(path, io, arrays, folder):
    results = run_program(path, {entry["name"]: array for entry, array in zip(io["inputs"], arrays)}, folder)
    return [results[entry["name"]] for entry in io["outputs"]]


def run_pte(path, io, arrays, folder):
    from ..tester.pte import Pte

    partitions = sorted((folder / "dump").glob("*.tosa"), key=lambda p: int(p.stem.removeprefix("part")))
    return Pte(path.read_bytes()).run(arrays, partitions, lambda part, given: run_program(part, given, folder))


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def feed(entry, example):
    array = example.numpy()
    if entry["scale"] is None:
        return array.astype(entry["dtype"])
    return codes_of(array.astype(np.float64), entry).astype(entry["dtype"])


def codes_of(values, entry):
    limits = np.iinfo(entry["dtype"])
    return np.clip(np.floor(values / entry["scale"] + 0.5) + entry["zero_point"], limits.min, limits.max)


def read(entry, array):
    if entry["scale"] is None:  # places, which targets hold in fewer bits
        return torch.from_numpy(array.astype(np.int64) if array.dtype.kind == "i" else array)
    return torch.from_numpy(np.asarray((array.astype(np.float64) - entry["zero_point"]) * entry["scale"]))


def wide(x):
    return x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x


def expected_results(drawing, run):
    """(number of a step, its Step, index, what PyTorch makes of the run's own operands)"""
    hidden = {}
    for number, step in enumerate(drawing.steps):
        operands = [
            o.read(*o.tensors) if isinstance(o, Constant) else hidden.get(o, run.values.get(o)) for o in step.operands
        ]
        for (index, _), result in zip(step.results, listed(step.function(*map(wide, operands))), strict=True):
            if index in drawing.hidden:
                hidden[index] = result
            else:
                yield number, step, index, result


def step_of(drawing, entry, index):
    """The entry of how a result is quantised, None for what is a float."""
    params = drawing.params[index]
    if entry["scale"] is not None or params is None:
        return entry if entry["scale"] else None
    return {"scale": params.scale, "zero_point": params.zero_point, "dtype": dtype_name(params.dtype)}


def allowed_steps(step, entry):
    """One rounding; in 16 bits the tables of curves interpolate."""
    if entry["dtype"] == "int8":
        return 1
    return INTERPOLATED_STEPS if step.name.removeprefix("activation of ") in INTERPOLATED else 2


def distance(step, actual, expected, entry):
    """How far each element is off, the unit of that, and what is allowed."""
    actual, wanted = actual.numpy().astype(np.float64), expected.numpy().astype(np.float64)
    if entry:
        return np.abs(codes_of(actual, entry) - codes_of(wanted, entry)), "steps", allowed_steps(step, entry)
    if not expected.is_floating_point():
        return np.abs(actual - wanted), "places", 0
    return np.abs(actual - wanted) / max(np.abs(wanted).max(), 1e-30), "of the largest", FLOAT_TOLERANCE


def differences(drawing, run):
    for number, step, index, expected in expected_results(drawing, run):
        actual = run.values[index]
        shapes = [list(run.values[i].shape) for i in step.values() if i in run.values]
        if actual.shape != expected.shape:
            yield Difference(number, step.name, [*shapes, list(actual.shape)], np.inf, 1, "sizes")
            continue
        off, unit, allowed = distance(step, actual, expected, step_of(drawing, run.entries[index], index))
        share = float(np.mean(off > allowed))
        if share > (WRONG_CONDITIONS if expected.dtype == torch.bool else 0):
            yield Difference(number, step.name, shapes, float(off.max()), share, unit)


def targets_of(drawing):
    """A quantised program is checked as TOSA, or when some of it stays in float as a .pte for one of two families."""
    if not drawing.quantised:
        return ("tosa-fp",)
    return "tosa-int", TARGETS["u85"] if len(drawing.steps) % 2 else TARGETS["u55"]


def check(drawing, folder):
    """What is wrong with the numbers of a graph; None when there is no form of it to run."""
    from . import graphs

    program, examples = drawing.program(show_all=True)
    pt2 = folder / "all.pt2"
    graphs.export(program, examples, pt2)
    for target in targets_of(drawing):
        try:
            run = Run(drawing, pt2, target, folder)
        except ToolError as error:
            if any(f"error[{code}]" in error.stderr for code in NO_FORM):
                continue
            return f"{target}: {' '.join(str(error).split())[:600]}"
        return "; ".join(f"{target}: {found}" for found in differences(drawing, run))
    return None
