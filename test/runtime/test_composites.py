# SPDX-License-Identifier: Apache-2.0
"""Composites in float on ExecuTorch's kernels, as calls of others where there is none for the whole."""

import numpy as np
import pytest
import torch

from ..models import NETS
from ..ops.test_attention import Attention, SelfAttention
from ..ops.test_matmul import Addmm, Baddbmm, Matmul
from ..ops.test_norm import GroupNorm, InstanceNorm, LayerNorm, RmsNorm
from ..ops.test_softmax import LogSoftmax, SafeSoftmax, Softmax
from ..ops.test_variance import Std, Var
from ..ops.test_where import Triangle
from ..tester.compare import relative_error
from ..tester.native import invoke
from .runtime import in_executorch

HEADS, GROUPED = ((2, 2, 6, 8), (2, 2, 7, 8), (2, 2, 7, 8)), ((2, 6, 6, 8), (2, 2, 7, 8), (2, 2, 7, 8))
ROWS, IMAGE = ((2, 5, 8),), ((2, 4, 5, 6),)
# Factory and shapes of the inputs.
MODULES = {
    "attention": (Attention, HEADS),
    "attention_hidden_row": (lambda: Attention("hidden_row"), HEADS),
    "attention_bool": (lambda: Attention("bool"), HEADS),
    "attention_causal": (lambda: Attention(is_causal=True), HEADS),
    "attention_grouped": (lambda: Attention(enable_gqa=True), GROUPED),
    "multihead_with_weights": (SelfAttention, ((1, 6, 16),)),
    "layer_norm": (lambda: LayerNorm(8), ROWS),
    "layer_norm_two_axes": (lambda: LayerNorm((5, 8)), ROWS),
    "rms_norm": (lambda: RmsNorm(8), ROWS),
    "group_norm": (lambda: GroupNorm(2, 4), IMAGE),
    "instance_norm": (lambda: InstanceNorm(4, affine=True), IMAGE),
    "instance_norm_stored": (lambda: InstanceNorm(4, track_running_stats=True), IMAGE),
    "softmax": (Softmax, ROWS),
    "log_softmax": (LogSoftmax, ROWS),
    "safe_softmax": (SafeSoftmax, ((2, 4, 6),)),
    "var": (lambda: Var((1,)), IMAGE),
    "var_of_all": (Var, IMAGE),
    "std": (lambda: Std((2, 3), unbiased=False), IMAGE),
    "matmul": (Matmul, ((2, 1, 4, 6), (1, 3, 6, 5))),
    "matmul_vector": (Matmul, ((2, 4, 6), (6,))),
    "baddbmm": (lambda: Baddbmm(2, 0.5), ((3, 4, 5), (3, 4, 6), (3, 6, 5))),
    "addmm": (lambda: Addmm(-0.5, 2), ((4, 5), (4, 6), (6, 5))),
    "triu": (lambda: Triangle("triu", 1), ROWS),
    "encoder": (NETS["encoder"].factory, NETS["encoder"].shapes),
}


def prepare(name, folder):
    """Compiles a module for the CPU; returns the case for the runtime and what it must give."""
    factory, shapes = MODULES[name]
    torch.manual_seed(0)
    module = factory().eval()
    inputs = tuple(torch.randn(shape) for shape in shapes)
    torch.export.save(torch.export.export(module, inputs), folder / f"{name}.pt2")
    invoke("compile", folder / f"{name}.pt2", "--target", "cpu", "-o", folder / f"{name}.pte")
    np.savez(folder / f"{name}_in.npz", **{f"in{i}": x.numpy() for i, x in enumerate(inputs)})
    case = {
        "pte": str(folder / f"{name}.pte"),
        "inputs": [str(folder / f"{name}_in.npz")],
        "outputs": [str(folder / f"{name}_out.npz")],
    }
    with torch.no_grad():
        return case, module(*inputs).numpy()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By name: the error or None, the array made, the array expected."""
    folder = tmp_path_factory.mktemp("composites")
    prepared = {name: prepare(name, folder) for name in MODULES}
    errors = in_executorch([case for case, _ in prepared.values()])
    found = {}
    for (name, (case, expected)), error in zip(prepared.items(), errors, strict=True):
        made = None if error else np.load(case["outputs"][0])["out0"]
        found[name] = (error, made, expected)
    return found


@pytest.mark.FP
@pytest.mark.parametrize("name", MODULES)
def test_kernels_give_what_pytorch_gives(results, name):
    error, made, expected = results[name]
    assert error is None, error
    assert relative_error(made, expected) < 1e-5
