# SPDX-License-Identifier: Apache-2.0
"""Each row of the operator tables says of its operators what PyTorch says, and names kernels that
ExecuTorch has, in their own words."""

import functools
import json
import subprocess
import sys

import pytest
import torch

from ..tester.native import invoke

# Overloads that exist only once a library is imported.
import torchao  # noqa: F401  isort: skip
from executorch.exir.passes import dim_order_ops_registry  # noqa: F401  isort: skip
from torch.ao.quantization.fx import _decomposed  # noqa: F401  isort: skip

# The reader's stand-in for operators without a row, and what has no counterpart in PyTorch.
OURS = ("unknown", "requantize", "from_unsigned", "to_unsigned", "widen_unsigned")


@functools.cache
def rows():
    return json.loads(invoke("ops", "--json").stdout)["ops"]


def schemas():
    """(row's name, schema) of all overloads."""
    return [
        (row["name"], schema)
        for row in rows()
        for schema in row["schemas"]
        if row["name"] not in OURS
    ]


def kernels():
    return [(row["name"], row["cpu"]) for row in rows() if row["cpu"]]


def overload(name):
    """The torch operator "aten.add.Tensor", or None."""
    namespace, packet, which = name.split(".")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), packet), which)
    except AttributeError:
        return None


def described(argument):
    """What must be equal of a kernel's argument."""
    kind = str(argument.real_type)
    return argument.name, kind, argument.N, argument.kwarg_only, argument.is_out


# Torch's type of an argument -> our kind.
KINDS = {
    "Tensor": "tensor", "Optional[Tensor]": "tensor?", "List[Tensor]": "tensor[]",
    "List[Optional[Tensor]]": "tensor?[]", "int": "int", "SymInt": "int", "float": "float",
    "bool": "bool", "number": "scalar", "str": "string", "ScalarType": "dtype",
    "List[int]": "int[]", "List[SymInt]": "int[]", "List[float]": "float[]", "List[bool]": "bool[]",
    "Layout": "other", "Device": "other", "MemoryFormat": "other", "Generator": "other",
}  # fmt: skip


def kind_of(argument):
    """Our kind of a torch argument, and whether None is allowed."""
    text = str(argument.real_type)
    if text in KINDS:
        return KINDS[text], text == "Optional[Tensor]"
    assert text.startswith("Optional["), text
    return KINDS[text.removeprefix("Optional[").removesuffix("]")], True


def default_of(value, length):
    """A default as parsed_default gives ours; one number stands for a whole list of that length."""
    if isinstance(value, (list, tuple)):
        return [default_of(item, None) for item in value]
    value = float(value) if isinstance(value, (int, float)) else value
    return value if length is None else [value] * length


def parsed_default(text):
    """Numbers, lists of numbers and words of text IR."""
    if text in ("true", "false"):
        return float(text == "true")
    if text.startswith("["):
        return [parsed_default(item) for item in text.strip("[]").split(",") if item.strip()]
    text = text.strip()
    try:
        return float(text)
    except ValueError:
        return text.strip('"')


def assert_parsed(schema, theirs):
    """Our parser's reading of a schema is torch's."""
    assert schema["returns"] == len(theirs.returns)
    for ours, argument in zip(schema["args"], theirs.arguments, strict=True):
        where = f"{schema['name']}: {argument.name}"
        kind, optional = kind_of(argument)
        assert ours["name"] == argument.name, where
        assert ours["keyword_only"] == argument.kwarg_only, where
        assert ours["out"] == argument.is_out, where
        assert ours["kind"] == kind, where
        if kind != "other":
            assert ours["optional"] == optional, where
        if argument.default_value is not None and kind != "other":
            length = argument.N if kind.endswith("[]") else None
            assert parsed_default(ours["default"]) == default_of(
                argument.default_value, length
            ), where


def test_no_overload_is_served_twice():
    names = [schema["name"] for _, schema in schemas()]
    assert len(names) == len(set(names))


def test_schemas_are_those_of_torch():
    assert len(schemas()) > 20
    wrong = []
    for row, schema in schemas():
        theirs = overload(schema["name"])
        if theirs is None:
            wrong.append(f"{row}: torch has no {schema['name']}")
            continue
        if str(torch._C.parse_schema(schema["text"])) != str(theirs._schema):
            wrong.append(f"{row}: {schema['text']}\n  torch: {theirs._schema}")
    assert not wrong, "\n".join(wrong)


def test_the_tool_reads_its_schemas_as_torch_does():
    for _, schema in schemas():
        assert_parsed(schema, torch._C.parse_schema(schema["text"]))
    for _, schema in kernels():
        assert_parsed(schema, torch._C.parse_schema(schema["text"]))


@pytest.fixture(scope="module")
def executorch_kernels():
    """Names of all kernels in ExecuTorch's libraries. A process of its own: registering them is for
    good."""
    script = (
        "import executorch.kernels.quantized, json\n"
        "from executorch.runtime import Runtime\n"
        "print(json.dumps(sorted(Runtime.get().operator_registry.operator_names)))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stdout.splitlines()[-1]))


def test_cpu_kernels_are_in_executorchs_libraries(executorch_kernels):
    assert len(kernels()) > 20 and len(executorch_kernels) > 100
    names = {row: schema["text"].partition("(")[0] for row, schema in kernels()}
    missing = {row: name for row, name in names.items() if name not in executorch_kernels}
    assert not missing, missing


def functional(text):
    """Torch's functional overload of an out-variant that torch does not declare: X.out belongs to
    X.default, X.Tensor_out to X.tensor or X.Tensor."""
    stem, which = text.partition("(")[0].replace("::", ".").rsplit(".", 1)
    word = which.removesuffix("out").strip("_") or "default"
    return overload(f"{stem}.{word}") or overload(f"{stem}.{word.lower()}")


def test_cpu_schemas_are_those_of_the_kernels():
    """Names, order and types. Defaults are for arguments that the row's operators lack (relu6 is
    hardtanh from 0 to 6); those of others are torch's."""
    import executorch.exir  # noqa: F401  (declares quantized_decomposed's out-variants)

    wrong = []
    own = {row["name"]: {a["name"] for s in row["schemas"] for a in s["args"]} for row in rows()}
    for row, schema in kernels():
        written = torch._C.parse_schema(schema["text"])
        theirs = overload(schema["name"])
        if theirs is not None:
            expected = [a for a in theirs._schema.arguments]
        else:
            base = functional(schema["text"])
            if base is None:
                wrong.append(f"{row}: nobody has {schema['name']}")
                continue
            expected = [a for a in base._schema.arguments]
        ours = [a for a in written.arguments if theirs is not None or not a.is_out]
        if [described(a) for a in ours] != [described(a) for a in expected]:
            wrong.append(f"{row}: {schema['text']}\n  expected {[described(a) for a in expected]}")
        for a, b in zip(ours, expected):
            same = a.has_default_value() and a.default_value == b.default_value
            if a.name in own[row] and b.has_default_value() and not same:
                wrong.append(f"{row}: default of {a.name} is not {b.default_value}")
        if not any(a.is_out for a in written.arguments):
            wrong.append(f"{row}: {schema['name']} is no out-variant")
    assert not wrong, "\n".join(wrong)


def test_each_row_is_described_and_does_something():
    for row in rows():
        assert row["doc"] and row["schemas"], row["name"]


def test_the_readable_list_names_all_overloads():
    text = invoke("ops").stdout
    for row in rows():
        assert f"\n{row['name']}: {row['doc']}\n" in f"\n{text}"
        for schema in row["schemas"]:
            assert f"\n  {schema['name']}\n" in text
