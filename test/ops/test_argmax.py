# SPDX-License-Identifier: Apache-2.0
"""Where the greatest and the least elements are: argmax, argmin, and the second result of max and min. The
results are int64 as PyTorch's, and of equal elements the first counts."""

import numpy as np
import pytest
import torch
from torch import nn

from ..common import TARGETS
from ..quant.calibration import Quantised
from ..runtime.on_npu import on_cpu, run_on_npu
from ..tester.function import Function
from ..tester.native import compile_program, run_program
from ..tester.oracles import reference_model
from ..tester.suite import Case, op_suite

SHAPE = (2, 4, 5, 6)
FUNCTIONS = {
    "argmax": lambda x: torch.argmax(x, 1),
    "argmax_last": lambda x: torch.argmax(x, -1, keepdim=True),
    "argmax_of_all": torch.argmax,
    "argmax_of_all_keepdim": lambda x: torch.argmax(x, keepdim=True),
    "argmin": lambda x: torch.argmin(x, 2),
    "argmin_of_all": torch.argmin,
    "max_dim": lambda x: torch.max(x, 1)[1],
    "min_dim": lambda x: torch.min(x, -2, keepdim=True).indices,
}
op_suite(
    "place", Function, cases={name: Case((SHAPE,), (f,), kinds=("MI", "core")) for name, f in FUNCTIONS.items()}
)


class Places(nn.Module):
    """A sum that is a result too, and where its elements are."""

    def forward(self, x):
        y = x + x
        greatest, place = torch.max(y, 1)
        return (y, greatest, place, *(function(y) for function in FUNCTIONS.values()))


def coarse(count, *sizes):
    """Samples of few numbers, so that many are equal."""
    generator = torch.Generator().manual_seed(0)
    return [(torch.randint(-3, 4, sizes, generator=generator) * 0.5,) for _ in range(count)]


def expected(y):
    greatest, place = torch.max(y, 1)
    return (greatest, place, *(function(y) for function in FUNCTIONS.values()))


@pytest.mark.FP
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan")])
def test_equal_elements_and_no_numbers(tmp_path, value):
    x = torch.full((3, 5), value)
    x[0, 2:] = 2.0
    torch.export.save(torch.export.export(Function(lambda x: torch.argmax(x, 1)), (x,)), tmp_path / "x.pt2")
    report = compile_program(tmp_path / "x.pt2", "tosa-fp", tmp_path / "x.tosa")
    (given,), (made,) = report["io"]["inputs"], report["io"]["outputs"]
    assert made["dtype"] == "int32"
    arrays = {given["name"]: x.numpy()}
    for outputs in (run_program(tmp_path / "x.tosa", arrays, tmp_path), reference_model(tmp_path / "x.tosa", arrays)):
        np.testing.assert_array_equal(outputs[made["name"]], torch.argmax(x, 1).numpy())


@pytest.mark.INT
@pytest.mark.parametrize("precision", ["int8", "int16x8"])
def test_places_tosa_BI(tmp_path, precision):
    samples = coarse(4, *SHAPE)
    torch.export.save(torch.export.export(Places(), samples[0]), tmp_path / "x.pt2")
    x = np.stack([sample[0].numpy() for sample in samples])
    target = "tosa-int" if precision == "int8" else "TOSA-1.0+INT+int16"
    made = Quantised(tmp_path / "x.pt2", tmp_path / "made", "--precision", precision, target=target, x=x)
    for sample in x:
        codes, *others = map(torch.from_numpy, made.codes(x=sample))
        for found, wanted in zip(others, expected(codes), strict=True):
            assert torch.equal(found.long(), wanted.long())


@pytest.mark.INT
@pytest.mark.parametrize("family", ["u55", "u65", "u85"])
def test_places_on_the_npu(tmp_path, family):
    samples = coarse(4, 1, *SHAPE[1:])
    made, report = run_on_npu(Places(), samples, TARGETS[family], tmp_path)
    assert on_cpu(report) == set() and len(report["delegates"]) == 1
    for y, *others in made:
        for found, wanted in zip(others, expected(y), strict=True):
            assert found.dtype == wanted.dtype and torch.equal(found, wanted)


@pytest.mark.INT
@pytest.mark.U55
def test_many_channels_stay_on_the_cpu_of_u55(tmp_path):
    module = Function(lambda x: torch.argmax(x + x, 1))
    made, report = run_on_npu(module, coarse(2, 2, 200), TARGETS["u55"], tmp_path)
    (node,) = (node for node in report["nodes"] if node["op"] == "aten.argmax.default")
    assert node["device"] == "cpu" and "200 channels" in node["reason"]["message"]
    for (found,), (x,) in zip(made, coarse(2, 2, 200), strict=True):
        assert found.dtype == torch.int64 and torch.equal(found, module(x))
