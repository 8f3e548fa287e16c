# SPDX-License-Identifier: Apache-2.0
"""`tosaic run`: samples, names and positions of arrays, and what it says of wrong ones. (That its
numbers are right is what test/ops and test/models are about.)"""

import numpy as np
import pytest
import torch

from ..common import SAMPLES
from ..tester.stages import net
from .failing import fails, start

SHAPE = (1, 4, 8, 8)


@pytest.fixture
def sub(program, folder):
    """x.tosa: a - b in float."""
    flags = ("--target=tosa-fp", "-o", "x.tosa")
    made = start("compile", program("sub", "float"), *flags, folder=folder)
    assert made.returncode == 0, made.stderr
    return folder / "x.tosa"


@pytest.fixture
def run(sub, folder):
    def run(save=np.savez, *positional, **arrays):
        save(folder / "in.npz", *positional, **arrays)
        result = start("run", sub, "--input", "in.npz", "-o", "out.npz", folder=folder)
        assert result.returncode == 0, result.stderr
        with np.load(folder / "out.npz") as outputs:
            (name,) = outputs.files
            return outputs[name]

    return run


def two(*shape, seed=1):
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(shape, np.float32) for _ in "ab"]


def test_one_inference(run):
    a, b = two(*SHAPE)
    np.testing.assert_array_equal(run(a=a, b=b), a - b)
    np.testing.assert_array_equal(run(b=b, a=a), a - b)  # names count, not the order
    np.testing.assert_array_equal(run(np.savez_compressed, a=a, b=b), a - b)


def test_arrays_without_names_count_by_position(run):
    a, b = two(*SHAPE)
    np.testing.assert_array_equal(run(np.savez, a, b), a - b)


def test_fortran_order_is_understood(run):
    a, b = two(*SHAPE)
    np.testing.assert_array_equal(run(a=np.asfortranarray(a), b=b), a - b)


@pytest.mark.parametrize("count", (1, 5, 0))
def test_a_first_axis_more_means_samples(run, count):
    a, b = two(count, *SHAPE)
    outputs = run(a=a, b=b)
    assert outputs.shape == (count, *SHAPE)
    np.testing.assert_array_equal(outputs, a - b)


def test_all_samples_of_a_network_at_once(workspace, folder):
    expected = workspace.program(net("two_outputs"))
    made = start("compile", expected.path, "--target=tosa-fp", "-o", "x.tosa", folder=folder)
    assert made.returncode == 0, made.stderr
    np.savez(folder / "in.npz", *[np.stack(arrays) for arrays in zip(*expected.inputs)])
    result = start("run", "x.tosa", "--input=in.npz", "-o", "out.npz", folder=folder)
    assert result.returncode == 0, result.stderr
    with np.load(folder / "out.npz") as outputs:
        assert len(outputs.files) == 2
        for index, name in enumerate(outputs.files):
            wanted = np.stack([sample[index] for sample in expected.outputs])
            assert outputs[name].shape == wanted.shape and len(wanted) == SAMPLES
            np.testing.assert_allclose(outputs[name], wanted, atol=1e-4 * np.abs(wanted).max())


A, B = two(*SHAPE)


@pytest.mark.parametrize("arrays, words", [
    ({"a": A}, ('"b"', "no array")),
    ({"a": A, "c": B}, ('"b"', "a, c")),
    ({"a": A, "b": B[0]}, ('"b"', "[4,8,8]")),
    ({"a": A, "b": B[..., :4]}, ('"b"', "[1,4,8,4]")),
    ({"a": A.astype(np.float64), "b": B}, ('"a"', "float64", "float32", "astype(numpy.float32)")),
    ({"a": A.astype(np.int8), "b": B}, ('"a"', "int8", "float32")),
    ({"a": np.stack([A, A]), "b": np.stack([B, B, B])}, ("3", "2", "samples")),
    ({"a": np.stack([A, A]), "b": B}, ("samples",)),
])  # fmt: skip
def test_wrong_arrays_are_named(sub, folder, arrays, words):
    np.savez(folder / "in.npz", **arrays)
    text = fails("run", sub, "--input", "in.npz", "-o", "out.npz", code="E0310", folder=folder)
    assert "in.npz" in text
    for word in words:
        assert word in text, text


class Tokens(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(9, 4)

    def forward(self, tok):
        return self.embed(tok)


def test_tokens_may_be_int64(folder, tmp_path):
    tokens = torch.tensor([[1, 8, 0]])
    program = tmp_path / "t.pt2"
    model = Tokens().eval()
    torch.export.save(torch.export.export(model, (tokens,)), program)
    made = start("compile", program, "--target=tosa-fp", "-o", "t.tosa", folder=folder)
    assert made.returncode == 0, made.stderr
    np.savez(folder / "in.npz", tok=tokens.numpy())
    result = start("run", "t.tosa", "--input=in.npz", "-o", "out.npz", folder=folder)
    assert result.returncode == 0, result.stderr
    with np.load(folder / "out.npz") as outputs:
        np.testing.assert_array_equal(outputs[outputs.files[0]], model(tokens).detach().numpy())
    shown = start("run", "t.tosa", "--input=in.npz", folder=folder)
    low, high = model(tokens).min().item(), model(tokens).max().item()
    assert f"float32[1,3,4] from {low:.6g} to {high:.6g}" in shown.stdout
    np.savez(folder / "in.npz", tok=np.array([[1, 2**40, 0]]))
    text = fails("run", "t.tosa", "--input=in.npz", "-o", "o.npz", code="E0310", folder=folder)
    assert "int32[1,3]" in text and "int32 does not hold" in text
    np.savez(folder / "in.npz")
    text = fails("run", "t.tosa", "--input=in.npz", "-o", "o.npz", code="E0310", folder=folder)
    assert "no array at all" in text


def test_wrong_files_are_errors(sub, folder):
    np.savez(folder / "in.npz", a=A, b=B)

    def check(program, inputs, output, code):
        fails("run", program, "--input", inputs, "-o", output, code=code, folder=folder)

    check("missing.tosa", "in.npz", "out.npz", "E0101")
    check("x.tosa", "missing.npz", "out.npz", "E0101")
    check("x.tosa", "x.tosa", "out.npz", "E0103")
    check("in.npz", "in.npz", "out.npz", "E0103")
    check("x.tosa", "in.npz", "missing/out.npz", "E0102")
