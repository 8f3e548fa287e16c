# SPDX-License-Identifier: Apache-2.0
"""Programs with state against tosa_reference_model, run by run.

TOSA's generator writes no tests of variables, so files are made here by TOSA's own serialiser. The
model knows a variable as a marked tensor that IDENTITY reads and writes; it has no VARIABLE operators.
It takes and leaves the state in a file, and follows values and not the order of operators: where a
read and a write are not ordered by values, it is no judge.
"""

import dataclasses
import json
import subprocess

import ml_dtypes  # noqa: F401  (NumPy then knows the types' names)
import numpy as np
import pytest
import tosa_serializer as ts

from ..common import TARGETS, tosaic_binary
from .generate import TOOLS

STATE = "state"
SHAPE = [2, 3]
DTYPES = {"i8": (ts.DType.INT8, np.int8), "f16": (ts.DType.FP16, np.float16), "f32": (ts.DType.FP32, np.float32)}
STEPS = 5


def attribute(name, *values):
    made = ts.TosaSerializerAttribute()
    getattr(made, f"{name}Attribute")(*values)
    return made


class Block:
    """A region with one block that uses the variable."""

    def __init__(self, serializer, name, dtype, initial=None, used=True):
        if name != "main":  # which is there from the beginning
            serializer.startRegion(name)
            serializer.currRegion.addBasicBlock(name)
        region = serializer.currRegion
        self.block, self.dtype, self.name = region.currBasicBlock, dtype, name
        if used:
            self.block.addTensor(STATE, SHAPE, dtype, initial, variable=True, variable_name=STATE)

    def tensor(self, name, shape=None, dtype=None, data=None):
        self.block.addTensor(name, SHAPE if shape is None else shape, self.dtype if dtype is None else dtype, data)
        return name

    def constant(self, name, data, **type_):
        self.tensor(name, data=data, **type_)
        self.block.addOperator(ts.Op.CONST, [], [name], attribute("Const"))

    def input(self, name, **type_):
        self.block.addInput(self.tensor(name, **type_))
        return name

    def op(self, name, inputs, output, *values):
        """`output` is the variable, or a new tensor."""
        if output != STATE:
            self.tensor(output)
        words = "".join(word.title() for word in name.split("_"))
        self.block.addOperator(getattr(ts.Op, name), inputs, [output], attribute(words, *values))
        return output

    def output(self, name):
        self.block.addOutput(name)


def start(dtype, initial):
    serializer = ts.TosaSerializer("", targetMajor=1, targetMinor=0, targetPatch=0, targetDraft=False)
    return serializer, Block(serializer, "main", DTYPES[dtype][0], initial)


def combine(block, a, b, output):
    """Of two values, by an operation that the type has."""
    if block.dtype == ts.DType.INT8:
        return block.op("BITWISE_XOR", [a, b], output)
    return block.op("ADD", [a, b], output)


def accumulate(dtype, initial, read="IDENTITY", write="IDENTITY"):
    serializer, main = start(dtype, initial)
    if read != "IDENTITY":
        main.block.addOperator(ts.Op.VARIABLE, [], [STATE], attribute("Variable"))
    x = main.input("x")
    old = main.op(read, [STATE], "old")
    new = combine(main, old, x, "new")
    main.op(write, [new], STATE)
    main.output(old)
    main.output(new)
    return serializer, ["x"], ["old", "new"]


def in_place(dtype, initial):
    """Operations read and write the variable themselves."""
    serializer, main = start(dtype, initial)
    x = main.input("x")
    y = combine(main, STATE, x, "y")
    combine(main, y, x, STATE)
    main.output(y)
    return serializer, ["x"], ["y"]


def branches(dtype, initial):
    """One side adds to the state, the other starts again."""
    serializer, main = start(dtype, initial)
    main.block.addInput("up")
    main.block.addTensor("up", [1], ts.DType.BOOL)
    x = main.input("x")
    old = main.op("IDENTITY", [STATE], "old")
    main.tensor("y")
    main.block.addOperator(ts.Op.COND_IF, ["up", x, old], ["y"], attribute("CondIf", "sum", "restart"))
    main.output(old)
    main.output("y")
    total = Block(serializer, "sum", main.dtype)
    new = combine(total, total.input("a"), total.input("b"), "c")
    total.op("IDENTITY", [new], STATE)
    total.output(new)
    again = Block(serializer, "restart", main.dtype)
    r = again.input("r")
    again.input("s")
    again.op("IDENTITY", [r], STATE)
    again.output(again.op("IDENTITY", [r], "copy"))
    return serializer, ["up", "x"], ["old", "y"]


def rounds(dtype, initial):
    """Each round of a loop reads the state and adds to it."""
    count = {"shape": [1], "dtype": ts.DType.INT32}
    serializer, main = start(dtype, initial)
    main.input("n", **count)
    x = main.input("x")
    old = main.op("IDENTITY", [STATE], "old")
    main.tensor("left", **count)
    main.tensor("y")
    main.tensor("z")
    main.block.addOperator(
        ts.Op.WHILE_LOOP, ["n", x, old], ["left", "y", "z"], attribute("WhileLoop", "more", "round")
    )
    main.output(old)
    main.output("y")
    more = Block(serializer, "more", main.dtype, used=False)
    more.input("i", **count)
    more.input("a")
    more.input("b")
    more.constant("zero", np.zeros(1, np.int32), **count)
    more.tensor("is_more", [1], ts.DType.BOOL)
    more.block.addOperator(ts.Op.GREATER, ["i", "zero"], ["is_more"], attribute("Greater"))
    more.output("is_more")
    body = Block(serializer, "round", main.dtype)
    body.input("j", **count)
    body.input("c")
    body.input("d")
    body.constant("one", np.ones(1, np.int32), **count)
    body.tensor("next", **count)
    body.block.addOperator(ts.Op.SUB, ["j", "one"], ["next"], attribute("Sub"))
    new = combine(body, body.op("IDENTITY", [STATE], "read"), "c", "new")
    body.op("IDENTITY", [new], STATE)
    body.output("next")
    body.output(body.op("IDENTITY", [new], "e"))
    body.output(body.op("IDENTITY", ["c"], "f"))
    return serializer, ["n", "x"], ["old", "y"]


PROGRAMS = {"accumulate": accumulate, "in_place": in_place, "branches": branches, "rounds": rounds}


@dataclasses.dataclass
class Program:
    path: object
    inputs: list
    outputs: list


def initial_state(dtype):
    return np.arange(6).reshape(SHAPE).astype(DTYPES[dtype][1])


def steps(program, dtype, seed=1):
    """Inputs of each run."""
    generator = np.random.default_rng(seed)
    for _ in range(STEPS):
        values = {"up": np.array([generator.integers(0, 3) != 0]),
                  "n": generator.integers(0, 4, 1).astype(np.int32),
                  "x": generator.integers(-5, 5, SHAPE).astype(DTYPES[dtype][1])}  # fmt: skip
        yield {name: values[name] for name in program.inputs}


def by_model(make, state, runs, folder):
    """Outputs of each run by tosa_reference_model. It leaves the state in a file, and what the next
    run starts from is the initial value of another program that `make` makes of it."""
    folder.mkdir()
    results = []
    for arrays in runs:
        program = make(state, folder / "program.tosa")
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
        description = {
            "tosa_file": str(program.path), "expected_return_code": 0, "expected_failure": False,
            "ifm_name": program.inputs, "ifm_file": [f"{name}.npy" for name in program.inputs],
            "ofm_name": program.outputs, "ofm_file": [f"{name}_out.npy" for name in program.outputs],
            "variable_name": [STATE], "variable_file": "state.npy",
        }  # fmt: skip
        (folder / "desc.json").write_text(json.dumps(description))
        command = [
            TOOLS / "tosa_reference_model", f"--operator_fbs={TOOLS / 'tosa.fbs'}", "--test_desc=desc.json",
            "--flatbuffer_dir=.", "--output_dir=.",
        ]  # fmt: skip
        result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        state = np.load(folder / "state.npy").reshape(SHAPE)
        results.append([np.load(folder / f"{name}_out.npy") for name in program.outputs])
    return [np.stack(values) for values in zip(*results)]


def by_tosaic(program, runs, folder):
    folder.mkdir()
    source, result = folder / "in.npz", folder / "out.npz"
    np.savez(source, **{name: np.stack([run[name] for run in runs]) for name in program.inputs})
    tosaic("run", program.path, "--input", source, "-o", result)
    with np.load(result) as arrays:
        return [arrays[name] for name in program.outputs]


def tosaic(*arguments):
    result = subprocess.run([tosaic_binary(), *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def written(made, path):
    serializer, inputs, outputs = made
    path.write_bytes(serializer.serialize())
    return Program(path, inputs, outputs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_state_is_the_reference_models(tmp_path, name, dtype):
    def make(state, path):
        return written(PROGRAMS[name](dtype, state), path)

    program = make(initial_state(dtype), tmp_path / "program.tosa")
    runs = list(steps(program, dtype))
    wanted = by_model(make, initial_state(dtype), runs, tmp_path / "model")
    for actual, expected in zip(by_tosaic(program, runs, tmp_path / "tosaic"), wanted, strict=True):
        np.testing.assert_array_equal(actual.view(np.uint8), expected.view(np.uint8))
    assert len(np.unique(wanted[0], axis=0)) > 2, "the state changes nothing"


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_written_again_is_the_same_to_the_reference_model(tmp_path, name):
    def make(state, path):
        return written(PROGRAMS[name]("f32", state), path)

    def make_again(state, path):
        program = make(state, path.with_suffix(".first.tosa"))
        tosaic("opt", program.path, "-o", path)
        return dataclasses.replace(program, path=path)

    state = initial_state("f32")
    runs = list(steps(make(state, tmp_path / "program.tosa"), "f32"))
    for a, b in zip(*(by_model(f, state, runs, tmp_path / f.__name__) for f in (make, make_again)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_operators_of_variables_mean_what_copies_mean(tmp_path):
    initial = initial_state("f32")
    copies = written(accumulate("f32", initial), tmp_path / "copies.tosa")
    operators = written(accumulate("f32", initial, "VARIABLE_READ", "VARIABLE_WRITE"), tmp_path / "operators.tosa")
    for program in (copies, operators):
        tosaic("opt", program.path, "-o", program.path.with_suffix(".tir"))
    texts = [program.path.with_suffix(".tir").read_text().replace(str(program.path), "") for program in (copies, operators)]
    without_places = [[line.partition(" loc(")[0] for line in text.splitlines()] for text in texts]
    assert without_places[0] == without_places[1]
    assert sum("tosa.variable" in line for line in without_places[0]) == 3


STATEFUL = """tosa graph @main(%c: bool[1], %x: i8[2]) {
  tosa.variable(none) {name = "v", var_shape = [2], type = i8}
  tosa.variable_write(%x) {name = "v"}
  %0: i8[2] = tosa.variable_read() {name = "v"}
  %1: i8[2] = tosa.custom(%0) {operator_name = "n", domain_name = "d", implementation_attrs = ""}
  %2: i8[2] = tosa.cond_if(%c, %1) {then_graph = @same, else_graph = @same}
  return %2
}

tosa graph @same(%x: i8[2]) {
  return %x
}
"""


@pytest.mark.parametrize("family", sorted(TARGETS))
def test_no_npu_takes_state_custom_operations_and_graphs(tmp_path, family):
    (tmp_path / "x.tir").write_text(STATEFUL)
    command = [tosaic_binary(), "explain", tmp_path / "x.tir", "--target", TARGETS[family]]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    said = result.stdout + result.stderr
    for name in ("variable", "variable_write", "variable_read", "custom"):
        assert f" has no tosa.{name}\n" in said
    branches_reason = "tosa.cond_if runs other graphs" if family == "u85" else " has no tosa.cond_if\n"
    assert branches_reason in said
    assert "gives \n" not in said
