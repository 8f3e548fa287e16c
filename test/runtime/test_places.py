# SPDX-License-Identifier: Apache-2.0
"""Kernels of the CPU read places as int64: where a program has them in int32, as behind Arm's passes,
they are widened, or taken from before they were narrowed."""

import numpy as np
import pytest
import torch

from ..tester.native import invoke
from .runtime import in_executorch

# Of %x: f32[3,4] and %i: i32[3,4], which holds 0 to 2.
FROM = "aten graph @main(%x: f32[3,4], %i: {dtype}[3,4]) {{\n{lines}  return %y\n}}\n"
CALLS = {
    "gather": (
        "%y: f32[3,4] = aten.gather.default(%x, %p) {dim = 0}",
        lambda x, i: x.gather(0, i),
    ),
    "scatter": (
        "%y: f32[3,4] = aten.scatter.value(%x, %p) {dim = 0, value = 9.0}",
        lambda x, i: x.scatter(0, i, 9.0),
    ),
    "scatter_add": (
        "%y: f32[3,4] = aten.scatter_add.default(%x, %p, %x) {dim = 0}",
        lambda x, i: x.scatter_add(0, i, x),
    ),
    "index": (
        "%y: f32[3,4,4] = aten.index.Tensor(%x, [%p])",
        lambda x, i: x[i],
    ),
    "embedding": (
        "%y: f32[3,4,4] = aten.embedding.default(%x, %p)",
        lambda x, i: x[i],
    ),
    "index_select": (
        "%q: i32[12] = aten.view.default(%p) {size = [12]}\n"
        "  %y: f32[12,4] = aten.index_select.default(%x, %q) {dim = 0}",
        lambda x, i: x[i.reshape(12)],
    ),
}  # fmt: skip
NARROW = "  %p: i32[3,4] = aten._to_copy.default(%i) {dtype = i32}\n"


@pytest.fixture(scope="module", params=["i32", "i64"])
def results(request, tmp_path_factory):
    """By name: an error or None, what was made, what PyTorch makes."""
    folder = tmp_path_factory.mktemp("places")
    torch.manual_seed(0)
    x, i = torch.randn(3, 4), torch.randint(0, 3, (3, 4))
    given = i.int() if request.param == "i32" else i
    np.savez(folder / "in.npz", in0=x.numpy(), in1=given.numpy())
    cases = []
    for name, (line, _) in CALLS.items():
        lines = NARROW + f"  {line}\n" if request.param == "i64" else f"  {line}\n".replace("%p", "%i")
        (folder / f"{name}.tir").write_text(FROM.format(dtype=request.param, lines=lines))
        invoke("compile", folder / f"{name}.tir", "--target", "cpu", "-o", folder / f"{name}.pte")
        files = {"inputs": [str(folder / "in.npz")], "outputs": [str(folder / f"{name}_out.npz")]}
        cases.append({"pte": str(folder / f"{name}.pte"), **files})
    found = {}
    for error, case, (name, (_, compute)) in zip(in_executorch(cases), cases, CALLS.items(), strict=True):
        made = None if error else np.load(case["outputs"][0])["out0"]
        found[name] = (error, made, compute(x, i).numpy())
    return found


@pytest.mark.FP
@pytest.mark.parametrize("name", CALLS)
def test_places_of_32_bits_are_read(results, name):
    error, made, expected = results[name]
    assert error is None, error
    assert np.array_equal(made, expected)
