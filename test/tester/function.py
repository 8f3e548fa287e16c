# SPDX-License-Identifier: Apache-2.0
"""A module of one expression, for operators that need no module of their own."""

import torch
from torch import nn


class Function(nn.Module):
    """`function` of the inputs and then of `constants`, lists of numbers that become buffers."""

    def __init__(self, function, *constants):
        super().__init__()
        self.function = function
        for place, constant in enumerate(constants):
            self.register_buffer(f"constant_{place}", torch.tensor(constant))

    def forward(self, *inputs):
        result = self.function(*inputs, *self.buffers())
        return tuple(result) if isinstance(result, (tuple, list)) else result
