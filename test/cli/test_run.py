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


def run_pt2(program, folder, arrays, *flags):
    """The outputs of `tosaic run` of a .pt2, by position."""
    np.savez(folder / "in.npz", *arrays)
    result = start("run", program, "--input=in.npz", "-o", "out.npz", *flags, folder=folder)
    assert result.returncode == 0, result.stderr
    with np.load(folder / "out.npz") as outputs:
        return [outputs[name] for name in outputs.files]


def test_a_float_pt2_runs(workspace, folder):
    expected = workspace.program(net("two_outputs"))
    outputs = run_pt2(expected.path, folder, expected.inputs[0])
    for output, wanted in zip(outputs, expected.outputs[0], strict=True):
        np.testing.assert_allclose(output, wanted, atol=1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("target", ("tosa-int", "ethos-u55-128", "ethos-u85-256"))
def test_a_quantised_pt2_takes_and_gives_floats(workspace, folder, target):
    expected = workspace.program(net("dscnn"), "arm")
    (output,) = run_pt2(expected.path, folder, expected.inputs[0], f"--target={target}")
    assert output.dtype == np.float32
    params = expected.output_quant[0]
    wanted = params.codes(expected.expected(0, 0, params.codes(output)))
    np.testing.assert_array_equal(params.codes(output), wanted)
    codes = [expected.input_quant[0].codes(expected.inputs[0][0])]
    (output,) = run_pt2(expected.path, folder, codes, f"--target={target}", "--io-dtype=int8")
    np.testing.assert_array_equal(output, wanted)


class Place(torch.nn.Module):
    def forward(self, x):
        return x.argmax(1)


def test_outputs_have_the_dtypes_of_the_program(folder, tmp_path):
    x = torch.from_numpy(two(2, 9)[0])
    torch.export.save(torch.export.export(Place(), (x,)), tmp_path / "p.pt2")
    (output,) = run_pt2(tmp_path / "p.pt2", folder, [x.numpy()])
    assert output.dtype == np.int64
    np.testing.assert_array_equal(output, x.argmax(1).numpy())


def test_flags_of_a_pt2_mean_nothing_for_a_tosa(sub, program, folder):
    np.savez(folder / "in.npz", a=A, b=B)
    for flag in ("--target=tosa-fp", "--calibrate=in.npz", "--shape=a=1", "--io-dtype=int8", "--model-name=m"):
        text = fails("run", sub, "--input=in.npz", flag, code="E0104", folder=folder)
        assert flag.split("=")[0] in text and "TOSA already" in text
    text = fails("run", program("sub", "float"), "--input=in.npz", "--target=cpu", code="E0104", folder=folder)
    assert "tosa-int" in text
    (folder / "x.pte").write_bytes(b"")
    assert ".pt2" in fails("run", "x.pte", "--input=in.npz", code="E0103", folder=folder)
