# SPDX-License-Identifier: Apache-2.0
"""Elements by indices that are inputs of the program: embedding, index_select, gather, x[i]. PyTorch's int64
are int32 in TOSA and converted before the delegate."""

import numpy as np
import pytest
import torch
from torch import nn

from ..common import TARGETS
from ..runtime.on_npu import on_cpu, run_on_npu
from ..tester.native import compile_program, run_program
from ..tester.oracles import reference_model

SIZES = (3, 5, 4)


class Lookup(nn.Module):
    """A sum that is a result too, and some of its elements."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x, *indices):
        y = x + x
        return y, self.function(y, *indices)


# The function, and for each index its sizes and limits.
LOOKUPS = {
    "index_select_first": (lambda x, i: torch.index_select(x, 0, i), [((7,), 0, 3)]),
    "index_select": (lambda x, i: torch.index_select(x, 1, i), [((7,), 0, 5)]),
    "index_select_last": (lambda x, i: torch.index_select(x, -1, i), [((2,), 0, 4)]),
    "embedding": (lambda x, i: nn.functional.embedding(i, x[0]), [((2, 3), 0, 5)]),
    "gather": (lambda x, i: torch.gather(x, 1, i), [((3, 7, 4), 0, 5)]),
    "gather_last": (lambda x, i: torch.gather(x, -1, i), [((2, 3, 5), 0, 4)]),
    "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, 0), [((2, 5, 4), 0, 3)]),
    "index_one_axis": (lambda x, i: x[i], [((2, 3), -3, 3)]),
    "index_inner_axis": (lambda x, i: x[:, i], [((6,), -5, 5)]),
    "index_two_axes": (lambda x, i, j: x[i, j], [((6,), -3, 3), ((2, 6), -5, 5)]),
    "index_last_axes": (lambda x, i, j: x[:, i, j], [((2, 1), -5, 5), ((3,), -4, 4)]),
}


def samples_of(name, dtype, count=6):
    generator = torch.Generator().manual_seed(0)
    _, indices = LOOKUPS[name]
    return [
        (
            torch.randn(SIZES, generator=generator),
            *(torch.randint(low, high, sizes, generator=generator).to(dtype) for sizes, low, high in indices),
        )
        for _ in range(count)
    ]


@pytest.mark.FP
@pytest.mark.parametrize("name", LOOKUPS)
def test_lookup_tosa_MI(tmp_path, name):
    module, samples = Lookup(LOOKUPS[name][0]).eval(), samples_of(name, torch.int64)
    torch.export.save(torch.export.export(module, samples[0]), tmp_path / "x.pt2")
    report = compile_program(tmp_path / "x.pt2", "tosa-fp", tmp_path / "x.tosa")
    inputs, (_, made) = report["io"]["inputs"], report["io"]["outputs"]
    assert {entry["dtype"] for entry in inputs} == {"float32", "int32"}
    for sample in samples:
        arrays = [x.numpy().astype(entry["dtype"]) for entry, x in zip(inputs, sample, strict=True)]
        arrays = {entry["name"]: array for entry, array in zip(inputs, arrays, strict=True)}
        for run in (lambda: run_program(tmp_path / "x.tosa", arrays, tmp_path), lambda: reference_model(tmp_path / "x.tosa", arrays)):
            np.testing.assert_array_equal(run()[made["name"]], module(*sample)[1].numpy())


@pytest.mark.INT
@pytest.mark.U85
@pytest.mark.parametrize("name", LOOKUPS)
def test_lookup_u85_BI(tmp_path, name):
    function = LOOKUPS[name][0]
    samples = samples_of(name, torch.int64)
    made, report = run_on_npu(Lookup(function), samples, TARGETS["u85"], tmp_path)
    assert on_cpu(report) == set() and len(report["delegates"]) == 1
    for (y, found), (_, *indices) in zip(made, samples, strict=True):
        if name == "embedding":  # whose rows have parameters of their own
            assert (found - function(y, *indices)).abs().max() < 0.05
        else:
            assert torch.equal(found, function(y, *indices))


@pytest.mark.INT
@pytest.mark.U55
def test_lookup_stays_on_the_cpu_of_u55(tmp_path):
    function = LOOKUPS["index_two_axes"][0]
    samples = samples_of("index_two_axes", torch.int64)
    made, report = run_on_npu(Lookup(function), samples, TARGETS["u55"], tmp_path)
    assert on_cpu(report) == {"aten.index.Tensor"}
    for (y, found), (_, *indices) in zip(made, samples, strict=True):
        assert torch.equal(found, function(y, *indices))
