# SPDX-License-Identifier: Apache-2.0
"""Inputs and weights that make a randomly initialised network worth comparing.

A deep network with default weights answers nearly the same thing to every input, so that a wrong
lowering still compares well. `structured` gives inputs that differ where a convolution looks,
`condition` sets the batch-norm statistics from such inputs, and `spread` measures whether the
result depends on its input at all.
"""

import math

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm


def structured(shape, count, seed):
    """Returns `count` float tensors of `shape`: per channel a grating with random frequency,
    phase, amplitude, offset and direction, plus noise of a tenth. The same seed always gives the
    same tensors."""
    generator = torch.Generator().manual_seed(seed)
    height, width = shape[-2:] if len(shape) > 2 else (1, shape[-1])
    rows, columns = torch.meshgrid(
        torch.linspace(0, 1, height), torch.linspace(0, 1, width), indexing="ij"
    )
    limits = torch.tensor([12.0, 6.28, 2.0, 2.0])
    samples = []
    for _ in range(count):
        sample = torch.zeros(shape)
        for channel in range(shape[1] if len(shape) > 3 else 1):
            frequency, phase, amplitude, offset = (
                torch.rand(4, generator=generator) * limits
            ).tolist()
            angle = torch.rand(1, generator=generator).item() * math.pi
            along = columns * math.cos(angle) + rows * math.sin(angle)
            wave = amplitude * torch.sin(frequency * along * 6.28 + phase) + offset - 1
            if len(shape) > 3:
                sample[:, channel] = wave
            else:
                sample += wave if len(shape) == 3 else wave.reshape(shape[-1:])
        samples.append(sample + 0.1 * torch.randn(shape, generator=generator))
    return samples


def condition(model, shapes, seed=1):
    """Puts `model` in eval mode after setting its batch-norm statistics from structured inputs of
    `shapes`.

    Two rounds, because the statistics of a layer depend on those of the layers before it."""
    model.eval()
    norms = [module for module in model.modules() if isinstance(module, _BatchNorm)]
    if not norms:
        return model
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # a plain average over all samples
        norm.train()
    with torch.no_grad():
        for _ in range(2):
            for inputs in sample_inputs(shapes, 16, seed):
                model(*inputs)
    return model.eval()


def sample_inputs(shapes, count, seed):
    """Returns `count` tuples of structured inputs, one tensor per shape; inputs of one tuple are
    independent."""
    return list(
        zip(*(structured(shape, count, seed + 100 * index) for index, shape in enumerate(shapes)))
    )


def spread(model, shapes, count=16, seed=2):
    """Returns the deviation between inputs divided by that within one output (near 0: the network
    is blind)."""
    with torch.no_grad():
        outputs = torch.stack(
            [model(*inputs).flatten() for inputs in sample_inputs(shapes, count, seed)]
        )
    return (outputs.std(0).mean() / outputs.std(1).mean()).item()
