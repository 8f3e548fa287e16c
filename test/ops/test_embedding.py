# SPDX-License-Identifier: Apache-2.0
"""embedding: of a program's int32 tokens, and of constant places, which are known when compiling."""

import numpy as np
import pytest
import torch
from torch import nn

from ..quant.calibration import Quantised
from ..tester.compare import relative_error
from ..tester.native import compile_program, run_program
from ..tester.oracles import reference_model, vela
from ..tester.suite import Case, op_suite

WORDS, WIDTH, STEPS = 20, 8, 6


class Places(nn.Module):
    """A sequence plus an embedding of its places."""

    def __init__(self):
        super().__init__()
        self.places = nn.Embedding(STEPS, WIDTH)

    def forward(self, x):
        return x + self.places(torch.arange(STEPS))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.last = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, 4)

    def forward(self, tokens):
        return self.last(self.words(tokens))


op_suite("embedding_places", Places, cases={"": Case(((2, STEPS, WIDTH),))})


@pytest.fixture
def tokens(tmp_path):
    """A module, its program and 16 samples of tokens."""
    torch.manual_seed(0)
    module = Tokens().eval()
    samples = torch.randint(0, WORDS, (16, 2, STEPS), dtype=torch.int32)
    torch.export.save(torch.export.export(module, (samples[0],)), tmp_path / "tokens.pt2")
    return module, tmp_path / "tokens.pt2", samples


@pytest.mark.FP
def test_embedding_tokens_tosa_MI(tokens, tmp_path):
    module, program, samples = tokens
    tosa = tmp_path / "x.tosa"
    report = compile_program(program, "tosa-fp", tosa)
    (given,), (made,) = ([entry["name"] for entry in report["io"][side]] for side in ("inputs", "outputs"))
    for sample in samples:
        arrays = {given: sample.numpy()}
        expected = module(sample).detach().numpy()
        for outputs in (run_program(tosa, arrays, tmp_path), reference_model(tosa, arrays)):
            assert relative_error(outputs[made], expected) < 1e-5


@pytest.mark.INT
def test_embedding_tokens_tosa_BI(tokens, tmp_path):
    module, program, samples = tokens
    made = Quantised(program, tmp_path / "made", tokens=samples.numpy())
    step = made.outputs[0]["scale"]
    for sample in samples:
        (codes,) = run_program(made.path, {made.inputs[0]["name"]: sample.numpy()}, tmp_path).values()
        values = (codes.astype(np.float64) - made.outputs[0]["zero_point"]) * step
        assert np.abs(values - module(sample).detach().numpy()).max() <= 3 * step


@pytest.mark.INT
@pytest.mark.U85
def test_embedding_tokens_u85_BI(tokens, tmp_path):
    _, program, samples = tokens
    np.savez(tmp_path / "s.npz", tokens=samples.numpy())
    flags = ("--calibrate", tmp_path / "s.npz", "--dump", tmp_path / "dump")
    report = compile_program(program, "ethos-u85-256", tmp_path / "x.pte", *flags)
    assert len(report["delegates"]) == 1
    assert {node["op"] for node in report["nodes"] if node["device"] == "cpu"} == {
        "quantized_decomposed.dequantize_per_tensor.default"
    }
    vela(tmp_path / "dump" / "part0.tosa", "ethos-u85-256")
