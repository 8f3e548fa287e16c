# SPDX-License-Identifier: Apache-2.0
"""uint8 inputs, as cameras give them: converted, computed with in float, quantised by our calibration,
and on the CPU what reads them otherwise. Products of narrow integers."""

import numpy as np
import pytest
import torch
from torch import nn

from ..common import TARGETS
from ..runtime.runtime import in_executorch
from ..tester.compare import sqnr_db
from ..tester.function import Function
from ..tester.native import invoke

SHAPE = (1, 8, 8, 3)


class Camera(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return self.conv((x.float() / 255.0).permute(0, 3, 1, 2))


FLOAT = {
    "to_float": lambda x: x.float() * 2 + 1,
    "divided": lambda x: x / 255.0,
    "multiplied": lambda x: x * 0.5,
    "with_itself_as_float": lambda x: x.float() * x,
    "moved": lambda x: x.float().permute(0, 3, 1, 2) / 255.0,
}
OTHERS = {
    "to_int": lambda x: (x.to(torch.int32) - 300).float(),
    "moved_first": lambda x: x.permute(0, 3, 1, 2).float() + 0.5,
    "compared": lambda x: (x > 200).float(),
    "greatest": lambda x: x.argmax(1).float(),
    "cut": lambda x: x.clamp(10, 180).float(),
}
NARROW = {
    "product": lambda x: (x.to(torch.int8) * (x >= 128).to(torch.int8)).float(),
    "multiple": lambda x: (x.to(torch.int8) * 2).float(),
}


def images(count=None):
    generator = torch.Generator().manual_seed(5)
    size = SHAPE if count is None else (count, *SHAPE)
    return torch.randint(0, 256, size, dtype=torch.uint8, generator=generator)


def exported(module, folder):
    """Writes the program and an input; what PyTorch gives."""
    folder.mkdir(exist_ok=True)
    module.eval()
    torch.export.save(torch.export.export(module, (images(),)), folder / "x.pt2")
    np.savez(folder / "in.npz", in0=images().numpy())
    with torch.no_grad():
        return module(images()).numpy()


def compiled(folder, target, *flags):
    """The case of test/standin/run_pte.py for the program in the folder."""
    stem = folder / target
    invoke("compile", folder / "x.pt2", "--target", target, "-o", f"{stem}.pte", "--dump", stem, *flags)
    return {
        "pte": f"{stem}.pte", "standin_dir": str(stem), "inputs": [str(folder / "in.npz")],
        "outputs": [f"{stem}_out.npz"],
    }  # fmt: skip


@pytest.mark.FP
@pytest.mark.parametrize("name", FLOAT)
def test_uint8_tosa_MI(tmp_path, name):
    expected = exported(Function(FLOAT[name]), tmp_path)
    invoke("compile", tmp_path / "x.pt2", "--target", "tosa-fp", "-o", tmp_path / "x.tosa")
    np.savez(tmp_path / "bits.npz", x=images().numpy().view(np.int8))
    invoke("run", tmp_path / "x.tosa", "--input", tmp_path / "bits.npz", "-o", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as arrays:
        (made,) = arrays.values()
    np.testing.assert_allclose(made, expected, rtol=1e-6)


PROGRAMS = FLOAT | OTHERS | NARROW
PLACES = ("cpu", TARGETS["u55"], TARGETS["u85"])


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """{(program, target): error, array made, array expected} of ExecuTorch's runtime."""
    root, cases, expected = tmp_path_factory.mktemp("unsigned"), {}, {}
    for name, function in PROGRAMS.items():
        expected[name] = exported(Function(function), root / name)
        for target in PLACES:
            cases[name, target] = compiled(root / name, target)
    torch.manual_seed(0)
    expected["camera"] = exported(Camera(), root / "camera")
    np.savez(root / "samples.npz", x=images(16).numpy())
    for target in PLACES[1:]:
        cases["camera", target] = compiled(root / "camera", target, "--calibrate", root / "samples.npz")
        assert (root / "camera" / target / "part0.tosa").exists()
    found = {}
    for key, error in zip(cases, in_executorch(list(cases.values())), strict=True):
        made = None if error else np.load(cases[key]["outputs"][0])["out0"]
        found[key] = error, made, expected[key[0]]
    return found


@pytest.mark.parametrize("target", PLACES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_uint8_in_executorch(results, name, target):
    error, made, expected = results[name, target]
    assert error is None, error
    np.testing.assert_allclose(made, expected, rtol=1e-6)


@pytest.mark.INT
@pytest.mark.parametrize("target", PLACES[1:])
def test_camera_is_calibrated(results, target):
    error, made, expected = results["camera", target]
    assert error is None, error
    assert sqnr_db(made, expected) > 35
