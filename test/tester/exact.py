# SPDX-License-Identifier: Apache-2.0
"""A fake-quantised PyTorch graph, computed in float64 and with ties rounded up.

PyTorch computes such a graph in float32, whose sums of some hundred products are off by a few units
in the last place, and rounds ties to even; TOSA sums integers and rounds ties up. On a deep network
the codes that this flips grow to several steps. Without these two differences a lowering that says
what the graph says gives its codes, every one of them.
"""

import numpy as np
import torch


class ExactGraph(torch.fx.Interpreter):
    """Runs the graph module of PT2E on float32 inputs."""

    def call_function(self, target, args, kwargs):
        name = str(target)
        if name == "quantized_decomposed.quantize_per_tensor.default":
            x, scale, zero_point, low, high, _ = args
            if x.dtype == torch.float32:  # an input: a kernel quantises it as PyTorch does
                codes = torch.round(x * (1.0 / scale)) + zero_point
            else:
                codes = torch.floor(x / scale + 0.5) + zero_point
            return torch.clamp(codes.double(), low, high)
        if name == "quantized_decomposed.dequantize_per_tensor.default":
            codes, scale, zero_point = args[:3]
            return (codes.double() - zero_point) * scale
        if name == "quantized_decomposed.dequantize_per_channel.default":
            codes, scales, zero_points, axis = args[:4]
            sizes = [1] * codes.dim()
            sizes[axis] = -1
            zero_points = 0 if zero_points is None else zero_points.double().reshape(sizes)
            return (codes.double() - zero_points) * scales.double().reshape(sizes)
        return super().call_function(target, widened(args), widened(kwargs))


def widened(arguments):
    """The arguments with float64 in place of other floats."""
    return torch.fx.node.map_aggregate(
        arguments,
        lambda a: a.double() if isinstance(a, torch.Tensor) and a.is_floating_point() else a,
    )


def exact_outputs(module, inputs):
    """The outputs of one call as a list of float32 arrays."""
    with torch.no_grad():
        result = ExactGraph(module).run(*inputs)
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [tensor.numpy().astype(np.float32) for tensor in results]
