# SPDX-License-Identifier: Apache-2.0
"""Outputs of a program that nothing computes: constants of every dtype, buffers, views of them, one of
them twice, inputs. In ExecuTorch's runtime they are PyTorch's; in a .tosa they are what TOSA holds of
them, or one error names the output."""

import numpy as np
import pytest
import torch

from ..common import TARGETS
from ..tester.native import ToolError, compile_program, invoke
from ..tester.oracles import reference_model
from .runtime import in_executorch

PTE_TARGETS = ("cpu", TARGETS["u55"], TARGETS["u85"])
TOSA_TARGETS = ("tosa-fp", "tosa-int")
DTYPES = (
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32,
    torch.float64,
)  # fmt: skip


class Outputs(torch.nn.Module):
    """What `give` makes of the module, the input and a place, beside a value that is computed."""

    def __init__(self, give):
        super().__init__()
        self.give = give
        self.register_buffer("real", torch.tensor([[1.5, -2.0], [3.0, 4.0]]))
        self.register_buffer("places", torch.tensor([[3, -1], [2**31 - 1, -(2**31)]]))
        self.register_buffer("wide", torch.tensor([1, 2**40]))
        self.register_buffer("codes", torch.tensor([0, 127, 200], dtype=torch.uint8))

    def forward(self, x, i):
        return (torch.relu(x), *self.give(self, x, i))


def twice(value):
    return value, value


def of_dtype(dtype):
    return lambda m, x, i: (torch.arange(4).to(dtype),)


GIVEN = {
    **{str(dtype).removeprefix("torch."): of_dtype(dtype) for dtype in DTYPES},
    "arange": lambda m, x, i: (torch.arange(4),),
    "scalar": lambda m, x, i: (torch.tensor(7),),
    "wide": lambda m, x, i: (torch.full((2,), 2**40),),
    "truth": lambda m, x, i: (torch.arange(4) > 1,),
    "buffer": lambda m, x, i: (m.real,),
    "places": lambda m, x, i: (m.places,),
    "wide_buffer": lambda m, x, i: (m.wide,),
    "codes": lambda m, x, i: (m.codes,),
    "twice": lambda m, x, i: twice(m.real),
    "places_twice": lambda m, x, i: twice(torch.arange(4)),
    "view": lambda m, x, i: (m.real.reshape(4), m.real.T),
    "view_of_places": lambda m, x, i: (m.places.T, m.places[1], m.places.detach()),
    "used_too": lambda m, x, i: (m.real, m.real.sum() + x),
    "places_used_too": lambda m, x, i: (m.places, x + m.places),
    "input": lambda m, x, i: (i,),
    "float_input": lambda m, x, i: (x,),
    "input_twice": lambda m, x, i: twice(i),
    "view_of_input": lambda m, x, i: (x.reshape(4),),
}  # fmt: skip
# What Tosaic's own quantisation leaves in float, which a .tosa of integers has no place for.
LEFT_FLOAT = {("places_used_too", "tosa-int"), ("view_of_input", "tosa-int")}
X, I = torch.randn(16, 2, 2), torch.tensor([[1, 2], [3, 4]])


def compiled(name, target, folder, suffix):
    program = torch.export.export(Outputs(GIVEN[name]), (X[0], I))
    torch.export.save(program, folder / f"{name}.pt2")
    flags = []
    if target not in ("cpu", "tosa-fp"):
        np.savez(folder / "samples.npz", x=X.numpy(), i=np.stack([I.numpy()] * len(X)))
        flags = ["--calibrate", folder / "samples.npz", "--dump", folder / f"{name}_dump"]
    return compile_program(folder / f"{name}.pt2", target, folder / f"{name}.{suffix}", *flags)


def expected(name):
    with torch.no_grad():
        return [value.numpy() for value in Outputs(GIVEN[name])(X[0], I)]


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """By target and name: an error or None, and the file of the outputs. All in one process."""
    cases = []
    for target in PTE_TARGETS:
        folder = tmp_path_factory.mktemp(target)
        np.savez(folder / "in.npz", in0=X[0].numpy(), in1=I.numpy())
        for name in GIVEN:
            compiled(name, target, folder, "pte")
            case = {"inputs": [str(folder / "in.npz")], "outputs": [str(folder / f"{name}.npz")]}
            case |= {"pte": str(folder / f"{name}.pte"), "standin_dir": str(folder / f"{name}_dump")}
            cases.append(case)
    keys = [(target, name) for target in PTE_TARGETS for name in GIVEN]
    files = [case["outputs"][0] for case in cases]
    return dict(zip(keys, zip(in_executorch(cases), files, strict=True), strict=True))


@pytest.mark.FP
@pytest.mark.INT
@pytest.mark.parametrize("target", PTE_TARGETS)
@pytest.mark.parametrize("name", GIVEN)
def test_outputs_of_a_pte_are_those_of_pytorch(results, name, target):
    error, path = results[target, name]
    assert error is None, error
    exact = expected(name)
    with np.load(path) as made:
        assert len(made.files) == len(exact)
        for i, wanted in enumerate(exact):
            given = made[f"out{i}"]
            assert given.dtype == wanted.dtype
            assert given.shape == wanted.shape
            if i == 0 or name.endswith("used_too"):  # computed, in steps on a NPU
                assert np.allclose(given, wanted, rtol=1e-6, atol=0 if target == "cpu" else 0.05 * np.abs(wanted).max())
            else:
                assert np.array_equal(given, wanted)


# What a .tosa has in place of other dtypes: the same numbers, or the same bits.
HELD_AS = {np.dtype("int64"): np.int32, np.dtype("uint8"): np.int8}
REFUSED = {
    ("float64", "tosa-fp"): 'output 1 ("to") is a constant of float64, which TOSA FP lacks',
    ("float64", "tosa-int"): 'output 1 ("to") is a constant of float64, which TOSA INT lacks',
    ("float16", "tosa-int"): 'output 1 ("to") is a constant of float16, which TOSA INT lacks',
    ("float32", "tosa-int"): 'output 1 ("to") is a constant of float32, which TOSA INT lacks',
    ("wide", "tosa-fp"): 'output 1 ("full") is a constant of int64 and holds 1099511627776',
    ("wide", "tosa-int"): 'output 1 ("full") is a constant of int64 and holds 1099511627776',
    ("wide_buffer", "tosa-fp"): 'output 1 ("b_wide") is a constant of int64 and holds 1099511627776',
    ("wide_buffer", "tosa-int"): 'output 1 ("b_wide") is a constant of int64 and holds 1099511627776',
    ("buffer", "tosa-int"): 'output 1 ("b_real") is a constant of float32, which TOSA INT lacks',
    ("twice", "tosa-int"): 'output 1 ("b_real") is a constant of float32, which TOSA INT lacks',
    ("view", "tosa-int"): 'output 1 ("reshape") is a constant of float32, which TOSA INT lacks',
    ("used_too", "tosa-int"): 'output 1 ("b_real") is a constant of float32, which TOSA INT lacks',
}  # fmt: skip


@pytest.mark.FP
@pytest.mark.INT
@pytest.mark.parametrize(
    "name, target", [(n, t) for n in GIVEN for t in TOSA_TARGETS if (n, t) not in LEFT_FLOAT]
)
def test_outputs_of_a_tosa_are_what_it_holds(name, target, tmp_path):
    if (name, target) in REFUSED:
        with pytest.raises(ToolError) as failure:
            compiled(name, target, tmp_path, "tosa")
        said = failure.value.stderr
        assert said.count("error[") == 1
        assert f"error[E0313]: {REFUSED[name, target]}" in said
        assert "hint: leave it out of what the program returns" in said
        if "b_" not in said:  # a buffer stands at no line
            assert "test_constant_outputs.py:" in said
        assert not (tmp_path / f"{name}.tosa").exists()
        return
    report = compiled(name, target, tmp_path, "tosa")
    codes = [x for x in report["io"]["inputs"] if x["name"] == "x"][0]
    x = X[0].numpy()
    if target == "tosa-int":
        x = np.clip(np.rint(x / codes["scale"]) + codes["zero_point"], -128, 127).astype(np.int8)
    exact = expected(name)
    given = {"x": x, "i": I.numpy().astype(np.int32)}
    outputs = list(reference_model(tmp_path / f"{name}.tosa", given).values())
    assert len(outputs) == len(exact) == len(report["io"]["outputs"])
    for made, wanted in zip(outputs[1:], exact[1:], strict=True):
        if target == "tosa-int" and wanted.dtype == np.float32:
            continue  # computed, or the input, as codes
        held = wanted.astype(HELD_AS.get(wanted.dtype, wanted.dtype))
        assert made.dtype == held.dtype
        if name.endswith("used_too"):
            assert np.allclose(made, held)
        else:
            assert np.array_equal(made, held)


@pytest.mark.FP
def test_explain_warns_of_an_output_that_no_tosa_holds(tmp_path):
    torch.export.save(torch.export.export(Outputs(GIVEN["wide"]), (X[0], I)), tmp_path / "x.pt2")
    said = invoke("explain", tmp_path / "x.pt2", "--target", "tosa-fp").stderr
    assert 'warning[E0313]: output 1 ("full")' in said
    assert "E0313" not in invoke("explain", tmp_path / "x.pt2", "--target", "cpu").stderr
