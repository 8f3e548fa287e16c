# SPDX-License-Identifier: Apache-2.0
"""`--shape`: programs exported with dynamic_shapes, compiled for shapes of the user's choice."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

from ..common import FLOAT_TOLERANCE
from ..tester.compare import relative_error
from ..tester.native import compile_program, run_program
from .failing import fails


class Net(nn.Module):
    """Sizes in views and slices; a second input whose width is twice the first's."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, stride=2, padding=1)
        self.linear = nn.Linear(4, 5)

    def forward(self, x, y):
        z = nn.functional.pad(self.conv(x), (1, 1, 1, 1))
        flat = z[:, :, 1:].reshape(x.shape[0], -1)
        return self.linear(z.flatten(2).transpose(1, 2)), flat * 2, y + 1


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    torch.manual_seed(0)
    model = Net().eval()
    batch, height = Dim("batch", min=1, max=16), Dim("height", min=8, max=64)
    program = torch.export.export(
        model,
        (torch.randn(2, 3, 20, 16), torch.randn(2, 40)),
        dynamic_shapes={"x": {0: batch, 2: height}, "y": {0: batch, 1: 2 * height}},
    )
    path = tmp_path_factory.mktemp("dynamic") / "net.pt2"
    torch.export.save(program, path)
    return model, path


def shapes(*texts):
    return [word for text in texts for word in ("--shape", text)]


@pytest.mark.FP
@pytest.mark.parametrize(("batch", "height"), [(2, 20), (1, 8), (3, 33), (16, 64)])
def test_a_program_of_any_size_equals_pytorch(exported, tmp_path, batch, height):
    model, path = exported
    x, y = torch.randn(batch, 3, height, 16), torch.randn(batch, 2 * height)
    tosa = tmp_path / "net.tosa"
    # The batch follows from either input.
    flags = shapes(f"x={batch},3,{height},16", f"y={batch},{2 * height}")
    report = compile_program(path, "tosa-fp", tosa, *flags)
    names = [entry["name"] for entry in report["io"]["inputs"]]
    results = run_program(tosa, dict(zip(names, (x.numpy(), y.numpy()))), tmp_path)
    with torch.no_grad():
        expected = model(x, y)
    for entry, wanted in zip(report["io"]["outputs"], expected, strict=True):
        actual = results[entry["name"]]
        assert actual.shape == tuple(wanted.shape)
        assert relative_error(actual, wanted.numpy()) <= FLOAT_TOLERANCE


@pytest.mark.FP
def test_one_input_may_decide_the_other(exported, tmp_path):
    _, path = exported
    io = compile_program(path, "tosa-fp", tmp_path / "net.tosa", *shapes("y=5,48"))["io"]
    assert [entry["shape"] for entry in io["inputs"]] == [[5, 3, 24, 16], [5, 48]]


@pytest.mark.FP
@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        ([], "E0306", "axis 0 of input \"x\""),
        (["x=2,3,65,16"], "E0306", "--shape x: axis 2: the size 65 is above 64"),
        (["x=2,3,7,16"], "E0306", "--shape x: axis 2: the size 7 is below 8"),
        (["x=17,3,20,16"], "E0306", "--shape x: axis 0: the size 17 is above 16"),
        (["x=2,3,20,17"], "E0306", "--shape x: axis 3: the size 17 was given, the program has 16"),
        (["x=2,3,20"], "E0306", "3 sizes, the input has 4 axes"),
        (["x=2,3,20,16", "y=3,40"], "E0306", "--shape y: axis 0: the size 3 was given"),
        (["x=2,3,20,16", "y=2,42"], "E0306", "--shape y: axis 1: the size 42 was given"),
        (["y=2,41"], "E0306", "--shape y: axis 1: the size 41 was given"),
        (["z=1"], "E0104", "--shape z: there is no such input; there are x, y"),
        (["x"], "E0104", "the form is INPUT=SIZE"),
        (["x=0"], "E0104", "\"0\" is not a size above 0"),
        (["x=1,-1"], "E0104", "\"-1\" is not a size above 0"),
        (["x=99999999999999999999"], "E0104", "is not a size above 0"),
    ],
)  # fmt: skip
def test_what_does_not_fit_names_input_and_axis(exported, tmp_path, flags, code, message):
    _, path = exported
    arguments = ("compile", path, "--target", "tosa-fp", "-o", "x.tosa", *shapes(*flags))
    assert message in fails(*arguments, code=code, folder=tmp_path)
