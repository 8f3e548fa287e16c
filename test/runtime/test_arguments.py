# SPDX-License-Identifier: Apache-2.0
"""What a partition is called with is what its payload takes, also where it reads an operand for its
shape only, or nothing of an operand at all: Vela drops inputs that nothing reads."""

import pytest
import torch
from torch.nn.functional import normalize, relu

from ..common import TARGETS
from .on_npu import on_cpu, run_on_npu


class OnlyShape(torch.nn.Module):
    """atan2 cuts the program in two; its result then gives a part nothing but its shape."""

    def __init__(self, use):
        super().__init__()
        self.use = use

    def forward(self, x, y):
        angle = torch.atan2(y, relu(y) + 1)
        return angle, self.use(relu(x), angle)


class Function(torch.nn.Module):
    def __init__(self, compute):
        super().__init__()
        self.compute = compute

    def forward(self, x, y):
        return self.compute(x, y)


class Embedding(torch.nn.Module):
    """A division whose divisor is computed on the CPU, in 16 bits on some targets."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 12)

    def forward(self, x, y):
        return normalize(self.linear(x), dim=1) + relu(y[:, :1])


MODULES = {
    "expand_as": OnlyShape(lambda x, shape: relu(x[:, :, :1].expand_as(shape))),
    "reshape_as": OnlyShape(lambda x, shape: relu(x.reshape_as(shape) * 2)),
    "ones_like": OnlyShape(lambda x, shape: x + torch.ones_like(shape)),
    "constant_part": OnlyShape(lambda _, shape: relu(torch.full_like(shape, 0.75))),
    "type_as": OnlyShape(lambda x, shape: x.type_as(shape) * 0.5),
    "times_zero": OnlyShape(lambda x, shape: x + shape * 0),
    "unused_input": Function(lambda x, _: relu(x)),
    "shape_of_input": Function(lambda x, y: relu(x) + torch.zeros_like(y)),
    "part_for_shape": Function(lambda x, y: x.expand_as(torch.atan2(y, relu(y) + 1)) * 2),
    "normalize": Embedding(),
}


@pytest.mark.INT
@pytest.mark.parametrize("family, precision", [("u55", "int16x8"), ("u85", "int8")])
@pytest.mark.parametrize("name", MODULES)
def test_partitions_get_what_they_read(name, family, precision, tmp_path):
    torch.manual_seed(0)
    module = MODULES[name].eval()
    shape = (2, 8) if name == "normalize" else (2, 3, 8)
    samples = [(torch.randn(shape), torch.randn(shape)) for _ in range(4)]
    outputs, report = run_on_npu(module, samples, TARGETS[family], tmp_path, "--precision", precision)
    assert [entry["name"] for entry in report["io"]["inputs"]] == ["x", "y"]
    assert on_cpu(report) or name not in ("expand_as", "ones_like", "constant_part")
    for sample, made in zip(samples, outputs, strict=True):
        with torch.no_grad():
            wanted = module(*sample)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        for array, exact in zip(made, wanted, strict=True):
            assert (array - exact).abs().max() <= 0.05 * exact.abs().max()
