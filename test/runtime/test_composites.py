# SPDX-License-Identifier: Apache-2.0
"""Composites in float on ExecuTorch's kernels, as calls of others where there is none for the whole."""

import numpy as np
import pytest
import torch
from torch.nn.functional import affine_grid, grid_sample, one_hot
from torch.nn.utils.parametrizations import weight_norm

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

QUANTIZED = torch.ops.quantized_decomposed


def function(compute, **tensors):
    """Makes a module of a function of its inputs and of constants."""
    return lambda: Function(compute, tensors)


class Function(torch.nn.Module):
    def __init__(self, compute, tensors):
        super().__init__()
        self.compute = compute
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)

    def forward(self, *inputs):
        return self.compute(*inputs, *self.buffers())


def quantized_by_tensors(x, scale, zero_point):
    codes = QUANTIZED.quantize_per_tensor.tensor(x, scale, zero_point, -128, 127, torch.int8)
    return QUANTIZED.dequantize_per_tensor.tensor(codes, scale, zero_point, -128, 127, torch.int8)


HEADS, GROUPED = ((2, 2, 6, 8), (2, 2, 7, 8), (2, 2, 7, 8)), ((2, 6, 6, 8), (2, 2, 7, 8), (2, 2, 7, 8))
ROWS, IMAGE, VOLUME = ((2, 5, 8),), ((2, 4, 5, 6),), ((2, 4, 6, 5, 7),)
BORDERS = torch.tensor([-1.0, 0, 1])
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
    "floor_divide_by_number": (function(lambda x: torch.floor_divide(x, 0.7)), ROWS),
    "floor_divide_of_integers": (function(lambda x: torch.floor_divide((x * 9).int(), -4)), ROWS),
    "remainder_of_integers": (
        function(lambda x, y: torch.remainder((x * 9).int(), (y * 9).int().abs() + 1)),
        (*ROWS, *ROWS),
    ),
    "remainder_by_number": (function(lambda x: (x * 9).long() % -4), ROWS),
    "integers_and_float": (function(lambda x: (x * 9).int() + 0.5), ROWS),
    "cat_of_dtypes": (function(lambda x: torch.cat([(x * 9).int(), x, x > 0])), ROWS),
    "stack_of_dtypes": (function(lambda x: torch.stack([(x * 9).int(), x])), ROWS),
    "fmax": (function(lambda x, y: torch.fmax(x.log(), y)), (*ROWS, *ROWS)),
    "fmin": (function(lambda x, y: torch.fmin(x, y.log())), (*ROWS, *ROWS)),
    "all": (function(lambda x: torch.where((x > -1).all(1, True), x, -x)), ROWS),
    "all_axes": (function(lambda x: torch.where((x > -3).all(), x, -x)), ROWS),
    "rms_norm_with_root": (function(lambda x: torch.add(*torch._fused_rms_norm(x, [8], None, 1e-5))), ROWS),
    "conv3d": (lambda: torch.nn.Conv3d(4, 6, 3, stride=(2, 1, 2), padding=1), VOLUME),
    "conv3d_dilated": (lambda: torch.nn.Conv3d(4, 6, (2, 3, 1), dilation=(2, 1, 1), groups=2, bias=False), VOLUME),
    "conv3d_same": (lambda: torch.nn.Conv3d(4, 2, (2, 3, 4), padding="same"), VOLUME),
    "conv3d_left_over": (lambda: torch.nn.Conv3d(4, 2, (2, 3, 2), stride=(2, 3, 9), padding=(0, 1, 1)), VOLUME),
    "conv3d_batchless": (lambda: torch.nn.Conv3d(4, 2, 3), ((4, 5, 6, 7),)),
    "conv1d_batchless": (lambda: torch.nn.Conv1d(4, 6, 3), ((4, 9),)),
    "conv2d_batchless": (lambda: torch.nn.Conv2d(4, 6, 3), ((4, 5, 6),)),
    "conv_transpose2d_batchless": (lambda: torch.nn.ConvTranspose2d(4, 6, 3, stride=2), ((4, 5, 6),)),
    "conv_transpose2d_dilated": (lambda: torch.nn.ConvTranspose2d(4, 6, 3, dilation=2), IMAGE),
    "linear_of_a_vector": (lambda: torch.nn.Linear(8, 5), ((8,),)),
    "cumprod": (function(lambda x: torch.cumprod(x, 1)), IMAGE),
    "pad_that_cuts": (function(lambda x: torch.nn.functional.pad(x, (-1, 2, 1, -2))), IMAGE),
    "pad_that_only_cuts": (function(lambda x: torch.nn.functional.pad(x, (-1, -1))), IMAGE),
    "pad_that_cuts_all": (function(lambda x: torch.nn.functional.pad(x, (-6, 2), value=3) + x[..., :2]), IMAGE),
    "roll_of_all": (function(lambda x: torch.roll(x, 3)), IMAGE),
    "upsample_row": (lambda: torch.nn.Upsample(scale_factor=1.5), ((2, 3, 7),)),
    "upsample_row_to_size": (lambda: torch.nn.Upsample(size=11), ((2, 3, 7),)),
    "upsample_nearest_exact": (lambda: torch.nn.Upsample(scale_factor=1.5, mode="nearest-exact"), IMAGE),
    "upsample_row_nearest_exact": (lambda: torch.nn.Upsample(size=5, mode="nearest-exact"), ((2, 3, 7),)),
    "parameters_in_tensors": (
        function(quantized_by_tensors, scale=torch.tensor(0.03), zero_point=torch.tensor(5)), ROWS
    ),
    "sort": (function(lambda x: torch.sort(x, 1, descending=True)[0]), ROWS),
    "sort_places": (function(lambda x: torch.argsort(x, -1).float()), ROWS),
    "msort": (function(torch.msort), ROWS),
    "kthvalue": (function(lambda x: torch.kthvalue(x, 2, 1)[0]), ROWS),
    "kthvalue_place": (function(lambda x: torch.kthvalue(x, 3, keepdim=True)[1].float()), ROWS),
    "median": (function(lambda x: torch.median(x, -1)[0]), ROWS),
    "topk_of_an_axis": (function(lambda x: torch.topk(x, 3, 1, largest=False)[0]), ROWS),
    "one_hot": (function(lambda x: one_hot(x.argmax(-1), 8).float()), ROWS),
    "bucketize": (function(lambda x, at: torch.bucketize(x, at).float(), at=BORDERS), ROWS),
    "searchsorted": (
        function(lambda x, at: torch.searchsorted(at, x.round(), right=True).float(), at=BORDERS), ROWS
    ),
    "bits": (function(lambda x: (((x * 9).int() & 6) << 3 | ((x * 90).int() >> 2) ^ 5).float()), ROWS),
    "sinc": (function(lambda x: torch.sinc(x.round()) + torch.sinc(x)), ROWS),
    "exp2_of_integers": (function(lambda x: torch.exp2(x.round().int())), ROWS),
    "var_of_a_number": (function(lambda x: torch.var(x.sum(), correction=0) + x), ROWS),
    "logaddexp": (function(torch.logaddexp), (*ROWS, *ROWS)),
    "nan_to_num": (function(lambda x: torch.nan_to_num((x - 1).log(), 0.5, neginf=-9)), ROWS),
    "weight_norm": (lambda: weight_norm(torch.nn.Conv2d(4, 6, 3)), IMAGE),
    "tensordot": (function(lambda x, y: torch.tensordot(x, y, ([1, 2], [1, 2]))), (*ROWS, *ROWS)),
    "bicubic": (lambda: torch.nn.Upsample(scale_factor=1.5, mode="bicubic"), IMAGE),
    "trilinear": (lambda: torch.nn.Upsample(size=(3, 9, 8), mode="trilinear"), VOLUME),
    "sampled_grid": (
        function(lambda x: grid_sample(x, affine_grid(x[:, 0, :2, :3], x.shape, False), align_corners=False)), IMAGE
    ),
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
