# SPDX-License-Identifier: Apache-2.0
"""What a .tosa file says about itself."""

import collections
import dataclasses
import pathlib

import numpy as np
from tosa.DType import DType
from tosa.Op import Op
from tosa.TosaGraph import TosaGraph


def names_of(enumeration):
    """{number: name} of a class that flatc made from an enum."""
    return {number: name for name, number in vars(enumeration).items() if isinstance(number, int)}


DTYPES, OPS = names_of(DType), names_of(Op)
NUMPY_DTYPES = {
    "BOOL": np.bool_, "INT8": np.int8, "INT16": np.int16, "INT32": np.int32, "INT64": np.int64,
    "FP16": np.float16, "FP32": np.float32,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Value:
    """An input or output: its name, TOSA dtype ("INT8", "FP32", …) and shape."""

    name: str
    dtype: str
    shape: tuple

    @property
    def numpy_dtype(self):
        return NUMPY_DTYPES[self.dtype]


class TosaFile:
    """The main block of a .tosa file of version 1.x: `version`, `inputs`, `outputs`, and `ops`, a
    Counter by name."""

    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        if not TosaGraph.TosaGraphBufferHasIdentifier(data, 0):
            raise ValueError(f"{path} has no TOSA identifier")
        graph = TosaGraph.GetRootAs(data, 0)
        version = graph.Version()
        self.version = (version._Major(), version._Minor(), version._Patch())
        block = graph.Regions(0).Blocks(0)
        tensors = {}
        for index in range(block.TensorsLength()):
            tensor = block.Tensors(index)
            shape = tuple(tensor.Shape(axis) for axis in range(tensor.ShapeLength()))
            tensors[tensor.Name()] = Value(tensor.Name().decode(), DTYPES[tensor.Type()], shape)
        self.inputs = [tensors[block.Inputs(index)] for index in range(block.InputsLength())]
        self.outputs = [tensors[block.Outputs(index)] for index in range(block.OutputsLength())]
        self.ops = collections.Counter(
            OPS[block.Operators(index).Op()] for index in range(block.OperatorsLength())
        )
