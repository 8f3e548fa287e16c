# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of int64 on constants, which TOSA would do in int32: every number is PyTorch's, whether a
kernel of the CPU computes it or nothing is left to compute."""

import numpy as np
import pytest
import torch

from ..common import TARGETS
from ..tester.native import ToolError, compile_program
from .runtime import in_executorch

I64 = torch.int64
BIG = 3_000_000_000  # no int32


def row(*numbers):
    return torch.tensor(numbers, dtype=I64)


# Names that end in _folded leave no node: nothing is lost in int32, or no arithmetic is needed.
CASES = {
    "mul_number": lambda: torch.arange(3) * BIG,
    "mul_wraps_int32": lambda: torch.arange(3) * 70_000 * 70_000,
    "mul_wraps_int64": lambda: row(2**40, -(2**62)) * row(2**40, 2),
    "mul_folded": lambda: torch.arange(3) * 1000,
    "add_number": lambda: torch.arange(3) + BIG,
    "add_overflows_int32": lambda: torch.full((2,), 2**31 - 1) + row(1, -1),
    "add_alpha": lambda: torch.add(torch.arange(3), torch.ones(3, dtype=I64), alpha=BIG),
    "sub_overflows_int32": lambda: row(-(2**31), 5) - row(1, 2),
    "rsub_number": lambda: BIG - torch.arange(3),
    "negative_of_least": lambda: -row(-(2**31), 7),
    "abs_of_least": lambda: row(-(2**31), -7).abs(),
    "shift_left": lambda: torch.ones(2, dtype=I64) << 31,
    "shift_left_far": lambda: torch.ones(2, dtype=I64) << 40,
    "shift_right": lambda: row(2**40, -(2**40)) >> 3,
    "bits_of_number": lambda: row(-1, 5) & 0xFFFFFFFF,
    "or_number": lambda: row(1, 2) | 2**40,
    "power": lambda: row(10, 3) ** 12,
    "square": lambda: torch.square(row(70_000, 3)),
    "cumulative_product": lambda: torch.cumprod(torch.full((10,), 19), 0),
    "cumulative_sum": lambda: torch.cumsum(torch.full((4,), 2**30), 0),
    "sum": lambda: torch.full((4,), 2**30).sum(),
    "sum_of_int32": lambda: torch.full((4,), 2**30, dtype=torch.int32).sum(),
    "clamp_min": lambda: torch.arange(3).clamp(min=2**40),
    "clamp_max": lambda: torch.arange(3).clamp(max=-(2**40)),
    "clamp_folded": lambda: torch.arange(3).clamp(min=1, max=2**40),
    "maximum": lambda: torch.maximum(torch.arange(2), row(2**40, -(2**40))),
    "where": lambda: torch.where(torch.arange(3) > 1, torch.arange(3), torch.full((3,), -(2**63))),
    "where_number": lambda: torch.where(torch.arange(3) > 1, torch.arange(3), 2**63 - 1),
    "masked_fill": lambda: torch.arange(3).masked_fill(torch.arange(3) > 1, -(2**63)),
    "remainder": lambda: row(2**40 + 5, 7) % 1000,
    "floor_divide": lambda: row(2**62 + 1, 7) // (2**60 + 1),
    "equals": lambda: row(2**32, 0) == row(0, 0),
    "less_than_number": lambda: torch.arange(3) < BIG,
    "pad": lambda: torch.nn.functional.pad(torch.arange(3), (1, 1), value=BIG),
    "float_to_int64": lambda: torch.full((3,), 3e9).to(I64),
    "float_to_int64_folded": lambda: torch.full((3,), 2.75).to(I64),
    "to_int32_folded": lambda: row(2**32 + 5, -BIG).to(torch.int32),
    "to_int8_folded": lambda: row(2**32 + 5, -BIG).to(torch.int8),
    "to_uint8_folded": lambda: row(2**32 + 200, -1).to(torch.uint8),
    "to_bool_folded": lambda: row(2**32, 0).to(torch.bool),
    "to_float_folded": lambda: row(2**60 + 2**36 + 1, 16777217).to(torch.float32),
    "to_double_folded": lambda: row(2**53 + 2, 5).to(torch.float64),
    "double_to_float_folded": lambda: torch.tensor([0.1, 1e-3], dtype=torch.float64).float(),
    "double_to_int64_folded": lambda: torch.tensor([2.0**53 + 2, -3.9], dtype=torch.float64).to(I64),
    "double_to_int32_folded": lambda: torch.tensor([2.0**31 - 0.5, -3.9], dtype=torch.float64).int(),
    "float_to_double_folded": lambda: torch.tensor([0.1, 1e-3]).double(),
    "int32_to_double_folded": lambda: torch.tensor([2**31 - 1], dtype=torch.int32).double(),
    "times_float": lambda: row(2**40, 3) * torch.full((2,), 0.5),
    "full_folded": lambda: torch.full((2,), 2**40),
    "full_of_float_folded": lambda: torch.full((2,), 3e9, dtype=I64),
    "full_of_53_bits_folded": lambda: torch.full((2,), 2**53 + 1),
    "full_least_folded": lambda: torch.full((2,), -(2**63)),
    "full_bool_folded": lambda: torch.full((2,), 0.5, dtype=torch.bool),
    "full_uint8_folded": lambda: torch.full((2,), -1, dtype=torch.uint8),
    "full_float_of_int_folded": lambda: torch.full((2,), 2**60 + 2**36 + 1, dtype=torch.float32),
    "scalar_tensor_folded": lambda: torch.scalar_tensor(2**40 + 1, dtype=I64),
    "arange_folded": lambda: torch.arange(2**53 + 1, 2**53 + 5),
    "arange_greatest_folded": lambda: torch.arange(2**63 - 3, 2**63 - 1),
    "arange_steps_folded": lambda: torch.arange(0, -5 * BIG, -BIG),
    "arange_of_floats_folded": lambda: torch.arange(0.5, 5, 1.5, dtype=I64),
    "linspace_folded": lambda: torch.linspace(0, 2**40, 6, dtype=I64),
    "linspace_of_floats_folded": lambda: torch.linspace(0.5, 10.7, 4, dtype=I64),
    "view_folded": lambda: torch.full((2, 3), 2**40).reshape(3, 2).T[1:],
    "new_full_folded": lambda: torch.zeros(2).new_full((2,), 2**40, dtype=I64),
    "full_like_folded": lambda: torch.full_like(torch.arange(3), 2**40),
    "ones_like_folded": lambda: torch.ones_like(torch.arange(3)),
}  # fmt: skip


class Constants(torch.nn.Module):
    def __init__(self, functions):
        super().__init__()
        self.functions = functions

    def forward(self, x):
        return (torch.relu(x), *[function() for function in self.functions])


def compiled(functions, target, folder, *flags, suffix="pte"):
    program = torch.export.export(Constants(functions), (torch.randn(2, 3),))
    torch.export.save(program, folder / "x.pt2")
    return compile_program(folder / "x.pt2", target, folder / f"x.{suffix}", *flags)


@pytest.fixture(scope="module", params=["cpu", TARGETS["u55"]])
def outputs(request, tmp_path_factory):
    """The outputs of one program with all cases by name, and the operators that are left in it."""
    folder = tmp_path_factory.mktemp("constants")
    x = torch.randn(16, 2, 3)
    np.savez(folder / "in.npz", in0=x[0].numpy())
    flags = []
    if request.param != "cpu":
        np.savez(folder / "samples.npz", x=x.numpy())
        flags = ["--calibrate", folder / "samples.npz", "--dump", folder / "dump"]
    compiled(list(CASES.values()), request.param, folder, *flags)
    files = {"inputs": [str(folder / "in.npz")], "outputs": [str(folder / "out.npz")]}
    (error,) = in_executorch([{"pte": str(folder / "x.pte"), "standin_dir": str(folder / "dump"), **files}])
    assert error is None, error
    with np.load(folder / "out.npz") as made:
        return {name: made[f"out{i + 1}"] for i, name in enumerate(CASES)}


@pytest.mark.FP
@pytest.mark.parametrize("name", CASES)
def test_constants_are_those_of_pytorch(outputs, name):
    exact = CASES[name]().numpy()
    made = outputs[name]
    assert made.dtype == exact.dtype
    assert np.array_equal(made, exact), f"{made} for {exact}"


@pytest.mark.FP
@pytest.mark.parametrize("name", CASES)
def test_what_int32_holds_is_folded(name, tmp_path):
    report = compiled([CASES[name]], "cpu", tmp_path)
    left = [node["op"] for node in report["nodes"]]
    assert name.endswith("_folded") == (left == ["aten.relu.default"]), left


REFUSED = {
    "full": lambda: torch.full((2,), 2**40, dtype=torch.int32),
    "full_of_float": lambda: torch.full((2,), 3e9, dtype=torch.int32),
    "full_int8": lambda: torch.full((2,), 300, dtype=torch.int8),
    "infinite": lambda: torch.full((2,), float("inf"), dtype=I64),
    "overflow": lambda: torch.full((2,), 1e39),
}


@pytest.mark.FP
@pytest.mark.parametrize("name", REFUSED)
def test_numbers_that_pytorch_refuses_are_refused(name, tmp_path):
    with pytest.raises(RuntimeError):
        REFUSED[name]()
    with pytest.raises(ToolError, match="holds no"):
        compiled([REFUSED[name]], "tosa-fp", tmp_path, suffix="tosa")
