# SPDX-License-Identifier: Apache-2.0
"""Each row with `.cpu`, compiled with `--target cpu` and run in ExecuTorch's runtime, against
PyTorch. Its kernel's name, the order of its arguments and their defaults are all seen there."""

import functools
import json

import numpy as np
import pytest
import torch

from ..tester.compare import relative_error
from ..tester.native import invoke
from .cpu_cases import CASES
from .runtime import in_executorch

# Of constants alone, or a copy of what need not be copied: done when compiling.
NO_KERNEL = {"arange", "arange_start", "clone", "full", "ones", "scalar_tensor", "zeros"}
TOLERANCE = 1e-5  # of the largest expected magnitude: kernels sum in another order than PyTorch


@functools.cache
def rows():
    """{row: {"kernel": name, "operators": overloads}} of those with `.cpu`."""
    found = json.loads(invoke("ops", "--json").stdout)["ops"]
    return {
        row["name"]: {
            "kernel": row["cpu"]["text"].partition("(")[0],
            "operators": {schema["name"] for schema in row["schemas"]},
        }
        for row in found
        if row["cpu"]
    }


def prepare(name, call, folder):
    """Exports and compiles one call; returns the case for the runtime and what it must give."""
    folder.mkdir()
    module, inputs = call.module()
    program = torch.export.export(module, inputs)
    torch.export.save(program, folder / "x.pt2")
    invoke("compile", folder / "x.pt2", "--target", "cpu", "-o", folder / "x.pte")
    np.savez(folder / "in.npz", **{f"in{i}": x.numpy() for i, x in enumerate(inputs)})
    report = json.loads(invoke("inspect", folder / "x.pte", "--json").stdout)
    kernels = report["methods"][0]["kernels"]
    assert kernels == ([] if name in NO_KERNEL else [rows()[name]["kernel"]])
    with torch.no_grad():
        expected = module(*inputs)
    case = {
        "pte": str(folder / "x.pte"),
        "inputs": [str(folder / "in.npz")],
        "outputs": [str(folder / "out.npz")],
    }
    return case, expected if isinstance(expected, tuple) else (expected,)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By row and number of the call: what went wrong, or the arrays made and expected."""
    folder, prepared, found = tmp_path_factory.mktemp("rows"), {}, {}
    for name in CASES:
        for index, call in enumerate(CASES[name]):
            try:
                prepared[name, index] = prepare(name, call, folder / f"{name}_{index}")
            except Exception as error:  # noqa: BLE001 (of PyTorch or of the tool: that case's failure)
                found[name, index] = f"{type(error).__name__}: {error}", None, None
    errors = in_executorch([case for case, _ in prepared.values()])
    for (key, (case, expected)), error in zip(prepared.items(), errors, strict=True):
        arrays = []
        if error is None:
            with np.load(case["outputs"][0]) as made:
                arrays = [made[f"out{index}"] for index in range(len(made.files))]
        found[key] = error, arrays, expected
    return found


HOW = """test/runtime/cpu_cases.py has no call of these rows with .cpu: {}
  A call names an overload of the row and its arguments, inputs of the program as normal(SHAPE),
  between(LOW, HIGH, *SHAPE), integers(...), booleans(...) or tensor(VALUES):
    "{}": [call("{}", normal(2, 3, 4))],"""


def test_each_row_has_a_call():
    missing = sorted(rows().keys() - CASES.keys())
    if missing:
        operator = min(rows()[missing[0]]["operators"]).removeprefix("aten.")
        pytest.fail(HOW.format(", ".join(missing), missing[0], operator), pytrace=False)
    assert not CASES.keys() - rows().keys(), "calls of what is no row with .cpu"
    for name, calls in CASES.items():
        for call in calls:
            assert str(call.overload) in rows()[name]["operators"], f"{call.operator} is not of {name}"


@pytest.mark.FP
@pytest.mark.parametrize(
    ("name", "index"), [(name, i) for name in sorted(CASES) for i in range(len(CASES[name]))]
)
def test_kernel_gives_what_pytorch_gives(results, name, index):
    error, made, expected = results[name, index]
    assert error is None, error
    for array, wanted in zip(made, expected, strict=True):
        wanted = wanted.numpy()
        assert array.dtype == wanted.dtype and array.shape == wanted.shape
        if wanted.dtype.kind == "f":
            assert relative_error(array, wanted) <= TOLERANCE
        else:
            np.testing.assert_array_equal(array, wanted)
