# SPDX-License-Identifier: Apache-2.0
"""The exported files of the reference networks are what their readers expect."""

import subprocess
import sys

import numpy as np
import pytest

from ..common import ROOT
from . import NETS, make, spread

# `add` and its like have no weights to condition; what they answer is their input.
CONDITIONED = ("dscnn", "cat", "leaky_relu", "lstm", "lstm2", "three_parts")


@pytest.mark.parametrize("name", CONDITIONED)
def test_outputs_depend_on_inputs(name):
    assert spread(make(name)[0], NETS[name].shapes) > 0.1


def test_float_export_needs_torch_alone_and_writes_documented_keys(tmp_path):
    """A float export does not pay for importing executorch (8 s)."""
    script = (
        "import runpy, sys\n"
        f"sys.argv = ['export', 'sub', {str(tmp_path)!r}]\n"
        "runpy.run_module('test.models.export', run_name='__main__')\n"
        "assert not {'executorch', 'torchao'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "sub.pt2",
        "sub_cal.npz",
        "sub_test.npz",
    ]
    with np.load(tmp_path / "sub_test.npz") as arrays:
        assert sorted(arrays.files) == ["a", "b", "out_0"]
        assert arrays["a"].shape == (16, 1, 4, 8, 8)
        np.testing.assert_array_equal(arrays["out_0"], arrays["a"] - arrays["b"])
