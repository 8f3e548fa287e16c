# SPDX-License-Identifier: Apache-2.0
"""All that a .tosa file says, read by classes that flatc made of a schema: those of the package
`tosa` (1.x), or `ethosu.vela.tosa` of Vela 4.2.0 (0.80). Needs nothing of the tests, so that another
Python can run it:

    python dump.py PACKAGE FILE...   # prints one JSON object per line
"""

import importlib
import json
import pathlib
import sys


class Schema:
    """The classes of one package."""

    def __init__(self, package):
        self.package = package
        self.dtypes, self.ops, self.tables = map(self.names_of, ("DType", "Op", "Attribute"))

    def table(self, name):
        return getattr(importlib.import_module(f"{self.package}.{name}"), name)

    def names_of(self, enumeration):
        """{number: name}"""
        members = vars(self.table(enumeration)).items()
        return {number: name for name, number in members if isinstance(number, int)}


def fields_of(table):
    """{field: number, or list of numbers, or text} of a table; the names are the schema's, in
    CamelCase."""
    names = [name for name, member in vars(type(table)).items() if callable(member) and name != "Init"]
    lists = {name for name in names if f"{name}Length" in names}
    fields = {}
    for name in names:
        if name.startswith("GetRoot") or "BufferHasIdentifier" in name:
            continue
        if any(name in (f"{stem}Length", f"{stem}AsNumpy", f"{stem}IsNone") for stem in lists):
            continue
        if name in lists:
            length = getattr(table, f"{name}Length")()
            fields[name] = [getattr(table, name)(index) for index in range(length)]
        else:
            value = getattr(table, name)()
            fields[name] = value.decode() if isinstance(value, bytes) else value
    return fields


def texts(count, item):
    return [item(index).decode() for index in range(count)]


def operator_of(schema, stored):
    """`table` is None where the schema knows no table of that number."""
    kind = schema.tables.get(stored.AttributeType())
    fields = {}
    if kind not in (None, "NONE"):
        table = schema.table(kind)()
        union = stored.Attribute()
        table.Init(union.Bytes, union.Pos)
        fields = fields_of(table)
    return {
        "op": schema.ops[stored.Op()],
        "table": kind,
        "fields": fields,
        "inputs": texts(stored.InputsLength(), stored.Inputs),
        "outputs": texts(stored.OutputsLength(), stored.Outputs),
    }


def data_of(stored):
    return bytes(stored.DataAsNumpy()).hex() if stored.DataLength() else ""


def dump(package, path):
    schema = Schema(package)
    content = pathlib.Path(path).read_bytes()
    graph = schema.table("TosaGraph").GetRootAs(content, 0)
    assert graph.RegionsLength() == 1 and graph.Regions(0).BlocksLength() == 1
    block = graph.Regions(0).Blocks(0)
    tensors = {}
    for index in range(block.TensorsLength()):
        stored = block.Tensors(index)
        shape = [stored.Shape(axis) for axis in range(stored.ShapeLength())]
        dtype = schema.dtypes[stored.Type()]
        tensors[stored.Name().decode()] = {"dtype": dtype, "shape": shape, "data": data_of(stored)}
    for index in range(block.ShapesLength() if hasattr(block, "ShapesLength") else 0):
        stored = block.Shapes(index)
        shape = [stored.Rank()]
        tensors[stored.Name().decode()] = {"dtype": "SHAPE", "shape": shape, "data": data_of(stored)}
    version = graph.Version()
    return {
        "version": [version._Major(), version._Minor(), version._Patch()],
        "draft": bool(version._Draft()),
        "inputs": texts(block.InputsLength(), block.Inputs),
        "outputs": texts(block.OutputsLength(), block.Outputs),
        "tensors": tensors,
        "operators": [operator_of(schema, block.Operators(i)) for i in range(block.OperatorsLength())],
    }


if __name__ == "__main__":
    for name in sys.argv[2:]:
        print(json.dumps(dump(sys.argv[1], name)))
