# SPDX-License-Identifier: Apache-2.0
"""Functions of 16 bits that are steep on a small part of their range: one int16 TABLE, whose straight
lines stand on 128 codes each, is hundreds of steps off them."""

import pytest
import torch

from ..common import TARGETS
from .on_npu import on_cpu, run_on_npu


class Steep(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(torch.relu(x + 1) - 1)


# The function, the greatest input, and what of the greatest result may be lost.
CASES = {
    "exp": (lambda x: torch.exp(-x - 1), 250, 5e-3),  # half a step of the input is 0.004
    "sin": (torch.sin, 60, 5e-3),
    "tanh": (torch.tanh, 900, 2e-2),  # half a step of the input is 0.014
    "sigmoid": (lambda x: torch.sigmoid(x - 100), 400, 5e-3),
}


@pytest.mark.INT
@pytest.mark.parametrize("name", CASES)
def test_steep_functions_are_right_where_they_are_steep(name, tmp_path):
    function, greatest, allowed = CASES[name]
    module = Steep(function)
    generator = torch.Generator().manual_seed(0)
    small = torch.rand((8, 1, 64), generator=generator) * 6 - 1
    wide = torch.rand((8, 1, 64), generator=generator) * (greatest + 1) - 1
    wide[0, 0, 0], wide[0, 0, 1] = -1, greatest
    samples = [(x,) for x in torch.cat([wide, small])]
    outputs, report = run_on_npu(module, samples, TARGETS["u85"], tmp_path, "--precision", "int16x8")
    assert not on_cpu(report)
    made = torch.stack([y for (y,) in outputs])
    exact = torch.stack([module(*sample) for sample in samples])
    assert (made - exact).abs().max() <= allowed * exact.abs().max()
