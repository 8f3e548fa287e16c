# SPDX-License-Identifier: Apache-2.0
"""Files of TOSA 0.80: Vela 4.2.0, which reads no other version, compiles them; and its own classes
find in them what those of tosa-tools find in the file of 1.0 of the same graph: operators, shapes,
dtypes, attributes, and every byte of the constants."""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from ..models.export import export_net
from ..tester.native import invoke
from ..tosautil.dump import dump

FOLDER = pathlib.Path(__file__).resolve().parents[1]
OLD = pathlib.Path(sys.prefix) / "tosa080" / "bin"
EVERY_OP = FOLDER / "tosautil" / "every_op.tir"
NUMPY = {
    "BOOL": np.uint8, "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "SHAPE": np.int64,
    "FP16": np.float16, "FP32": np.float32,
}  # fmt: skip


def old(program, *arguments):
    """Runs a program of the environment of Vela 4.2.0; returns what it prints."""
    assert (OLD / program).exists(), f"{OLD} does not exist: test/setup_testing.sh makes it"
    result = subprocess.run([OLD / program, *arguments], capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def old_dump(path):
    return json.loads(old("python", FOLDER / "tosautil" / "dump.py", "ethosu.vela.tosa", path))


class Operator:
    """An operator of a 1.0 file, as the rules of OLD_FIELDS ask for it."""

    def __init__(self, file, operator):
        self.file, self.operator = file, operator

    def __getattr__(self, name):
        return self.operator["fields"][name]

    def tensor(self, index):
        return self.file["tensors"][self.operator["inputs"][index]]

    @property
    def result(self):
        return self.file["tensors"][self.operator["outputs"][0]]

    @property
    def is_float(self):
        return self.tensor(0)["dtype"] in ("FP32", "FP16", "BF16")

    def numbers(self, index):
        """A constant operand as a list."""
        tensor = self.tensor(index)
        data = bytes.fromhex(tensor["data"])
        count = int(np.prod(tensor["shape"]))
        if tensor["dtype"] == "INT4":  # two of them in a byte
            return [((byte & 15) ^ 8) - 8 for byte in data][:count]
        if tensor["dtype"] == "INT48":
            return [int.from_bytes(data[i : i + 6], "little", signed=True) for i in range(0, 6 * count, 6)]
        return np.frombuffer(data, NUMPY[tensor["dtype"]])[:count].tolist()

    def zero_point(self, index, unsigned=False):
        (number,) = self.numbers(index)
        bits = {"INT8": 8, "INT16": 16}.get(self.tensor(index)["dtype"])
        return int(number) % (1 << bits) if unsigned else int(number)


def f32_bytes(stored, dtype):
    """The little-endian float32 of an attribute that has the type of the operand."""
    return list(np.array(np.frombuffer(bytes(stored), NUMPY[dtype])[:1], np.float32).tobytes())


def conv(o):
    return {
        "Pad": o.Pad, "Stride": o.Stride, "Dilation": o.Dilation,
        "InputZp": o.zero_point(3), "WeightZp": o.zero_point(4),
    }  # fmt: skip


def transpose_conv(o):
    return {
        "OutPad": o.OutPad, "Stride": o.Stride, "OutputShape": o.result["shape"],
        "InputZp": o.zero_point(3), "WeightZp": o.zero_point(4),
    }  # fmt: skip


def avg_pool(o):
    return {
        "Kernel": o.Kernel, "Stride": o.Stride, "Pad": o.Pad, "AccumDtype": o.AccType,
        "InputZp": o.zero_point(1), "OutputZp": o.zero_point(2),
    }  # fmt: skip


def clamp(o):
    """Numbers of the other kind say nothing."""
    dtype = o.tensor(0)["dtype"]
    if o.is_float:
        return {"MinFp": f32_bytes(o.MinVal, dtype), "MaxFp": f32_bytes(o.MaxVal, dtype)}
    low, high = (np.frombuffer(bytes(value), NUMPY[dtype])[0] for value in (o.MinVal, o.MaxVal))
    return {"MinInt": low, "MaxInt": high}


def pad(o):
    if o.is_float:
        tensor = o.tensor(2)
        return {
            "Padding": o.numbers(1),
            "PadConstFp": f32_bytes(bytes.fromhex(tensor["data"]), tensor["dtype"]),
        }
    return {"Padding": o.numbers(1), "PadConstInt": o.numbers(2)[0]}


ROUNDING_DOUBLE = 3


def rescale(o):
    """Vela's classes are of 0.80.0, which does not know what is unsigned."""
    return {
        "Multiplier": o.numbers(1), "Shift": o.numbers(2), "Scale32": o.Scale32,
        "PerChannel": o.PerChannel, "DoubleRound": o.RoundingMode == ROUNDING_DOUBLE,
        "InputZp": o.zero_point(3, o.InputUnsigned), "OutputZp": o.zero_point(4, o.OutputUnsigned),
    }  # fmt: skip


def resize(o):
    return {"Scale": o.numbers(1), "Offset": o.numbers(2), "Border": o.numbers(3), "Mode": o.Mode}


def axis(o):
    return {"Axis": o.Axis}


# Operator: (table of 0.80, number of inputs there, fields from the 1.0 operator). Without an entry
# there is no table, and all inputs stay. A table without a name is one that Vela does not know.
OLD_FIELDS = {
    "ARGMAX": ("AxisAttribute", 1, axis),
    "AVG_POOL2D": ("PoolAttribute", 1, avg_pool),
    "MAX_POOL2D": ("PoolAttribute", 1, lambda o: {"Kernel": o.Kernel, "Stride": o.Stride, "Pad": o.Pad}),
    "CONV2D": ("ConvAttribute", 3, conv),
    "CONV3D": ("ConvAttribute", 3, conv),
    "DEPTHWISE_CONV2D": ("ConvAttribute", 3, conv),
    "TRANSPOSE_CONV2D": ("TransposeConvAttribute", 3, transpose_conv),
    "MATMUL": ("MatMulAttribute", 2, lambda o: {"AZp": o.zero_point(2), "BZp": o.zero_point(3)}),
    "CLAMP": ("ClampAttribute", 1, clamp),
    "ARITHMETIC_RIGHT_SHIFT": ("ArithmeticRightShiftAttribute", 2, lambda o: {"Round": o.Round}),
    "MUL": ("MulAttribute", 2, lambda o: {"Shift": o.numbers(2)[0]}),
    "TABLE": ("TableAttribute", 1, lambda o: {"Table": o.numbers(1)}),
    "NEGATE": ("NegateAttribute", 1, lambda o: {"Input1Zp": o.zero_point(1), "OutputZp": o.zero_point(2)}),
    **{
        name: ("AxisAttribute", None, axis)
        for name in (
            "REDUCE_ALL", "REDUCE_ANY", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PRODUCT", "REDUCE_SUM",
            "CONCAT", "REVERSE",
        )
    },
    "PAD": ("PadAttribute", 1, pad),
    "RESHAPE": ("ReshapeAttribute", 1, lambda o: {"NewShape": o.numbers(1)}),
    "SLICE": ("SliceAttribute", 1, lambda o: {"Start": o.numbers(1), "Size": o.numbers(2)}),
    "TILE": ("TileAttribute", 1, lambda o: {"Multiples": o.numbers(1)}),
    "TRANSPOSE": ("TransposeAttribute", 1, lambda o: {"Perms": o.Perms}),
    "RESIZE": ("ResizeAttribute", 1, resize),
    "RESCALE": ("RescaleAttribute", 1, rescale),
    "FFT2D": ("FFTAttribute", 2, lambda o: {"Inverse": o.Inverse}),
    "RFFT2D": (None, 1, lambda o: {}),
}  # fmt: skip

DTYPES_OF_10 = {3: "INT8", 4: "INT16", 5: "INT32", 6: "INT48", 7: "FP32", 8: "FP16"}
DTYPES_OF_080 = {4: "INT8", 5: "INT16", 6: "INT32", 7: "INT48", 8: "FP32", 10: "FP16"}


def real_operators(file):
    return [o for o in file["operators"] if o["op"] not in ("CONST", "CONST_SHAPE")]


def assert_same(old_file, new_file):
    """Operator by operator; tensors are the same where they come from and in what they are."""
    assert old_file["version"] == [0, 80, 1] and not old_file["draft"]
    assert old_file["inputs"] == new_file["inputs"] and old_file["outputs"] == new_file["outputs"]
    same = {}

    def compare(old_name, new_name, where):
        a, b = old_file["tensors"][old_name], new_file["tensors"][new_name]
        assert (a["dtype"], a["shape"]) == (b["dtype"], b["shape"]), where
        assert a["data"] == b["data"], where
        if not a["data"]:
            assert same.setdefault(new_name, old_name) == old_name, where

    for name in new_file["inputs"]:
        compare(name, name, name)
    old_operators, new_operators = real_operators(old_file), real_operators(new_file)
    assert [o["op"] for o in old_operators] == [o["op"] for o in new_operators]
    for index, (a, b) in enumerate(zip(old_operators, new_operators)):
        where = f"operator {index}: {a['op']}"
        table, num_inputs, fields = OLD_FIELDS.get(a["op"], ("NONE", None, lambda o: {}))
        assert a["table"] == table, where
        wanted = fields(Operator(new_file, b))
        found = {name: a["fields"].get(name) for name in wanted}
        if "AccumDtype" in wanted:
            wanted["AccumDtype"] = DTYPES_OF_10[wanted["AccumDtype"]]
            found["AccumDtype"] = DTYPES_OF_080[found["AccumDtype"]]
        assert found == wanted, where
        inputs = b["inputs"][:num_inputs]
        assert len(a["inputs"]) == len(inputs) and len(a["outputs"]) == len(b["outputs"]), where
        for pair in (*zip(a["inputs"], inputs), *zip(a["outputs"], b["outputs"])):
            compare(*pair, where)
    for name in new_file["outputs"]:
        assert same[name] == name
    used = {name for o in old_operators for name in o["inputs"]}
    constants = [o["outputs"][0] for o in old_file["operators"] if o["op"] == "CONST"]
    assert set(constants) == {name for name, t in old_file["tensors"].items() if t["data"]} <= used


@pytest.mark.INT
@pytest.mark.parametrize("name", ["add", "dscnn", "mv2"])
def test_vela_4_2_compiles_it_and_finds_the_same_graph(tmp_path, name):
    """Quantised by one sample: accuracy is other tests' matter."""
    program = export_net(name, tmp_path, "arm", count=1) / f"{name}_q.pt2"
    files = {version: tmp_path / f"{version}.tosa" for version in ("0.80", "1.0")}
    for version, path in files.items():
        invoke("compile", program, "--target", "tosa-int", "--tosa-version", version, "-o", path)
    assert_same(old_dump(files["0.80"]), dump("tosa", files["1.0"]))
    for accelerator in ("ethos-u55-128", "ethos-u85-256"):
        folder = tmp_path / accelerator
        text = old("vela", files["0.80"], "--accelerator-config", accelerator, "--output-dir", folder)
        assert "CPU operators = 0" in text or "CPU operators" not in text
        made = [path for path in folder.iterdir() if path.suffix in (".npz", ".tflite")]
        assert made and made[0].stat().st_size > 0


def test_every_operation_is_what_its_schema_says(tmp_path):
    for version in ("0.80", "1.0"):
        invoke("opt", EVERY_OP, "--tosa-version", version, "-o", tmp_path / f"{version}.tosa")
    assert_same(old_dump(tmp_path / "0.80.tosa"), dump("tosa", tmp_path / "1.0.tosa"))


def test_1_1_differs_from_1_0_by_its_number(tmp_path):
    files = {}
    for version in ("1.0", "1.1"):
        path = tmp_path / f"{version}.tosa"
        invoke("opt", EVERY_OP, "--tosa-version", version, "-o", path)
        files[version] = dump("tosa", path)
    numbers = [(file.pop("version"), file.pop("draft")) for file in files.values()]
    assert numbers == [([1, 0, 0], False), ([1, 1, 0], True)]
    assert files["1.0"] == files["1.1"]


@pytest.mark.parametrize("version", ["0.80", "1.1"])
def test_reading_a_version_and_writing_1_0_changes_nothing(tmp_path, version):
    """Back to the operators of 1.0, and to each of their numbers."""
    other, again, direct = (tmp_path / name for name in ("other.tosa", "again.tosa", "direct.tosa"))
    invoke("opt", EVERY_OP, "--tosa-version", version, "-o", other)
    invoke("opt", other, "-o", again)
    invoke("opt", EVERY_OP, "-o", direct)
    a, b = dump("tosa", again), dump("tosa", direct)
    assert [o["op"] for o in real_operators(a)] == [o["op"] for o in real_operators(b)]
    for x, y in zip(real_operators(a), real_operators(b)):
        assert (x["op"], x["fields"]) == (y["op"], y["fields"])
        for p, q in zip(x["inputs"], y["inputs"]):
            assert {**a["tensors"][p]} == {**b["tensors"][q]}, x["op"]
