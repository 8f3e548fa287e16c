# SPDX-License-Identifier: Apache-2.0
"""A fake-quantised PyTorch graph, computed in float64 and with ties rounded up.

PyTorch computes such a graph in float32, whose sums of some hundred products are off by a few units
in the last place, and rounds ties to even; TOSA sums integers and rounds ties up. On a deep network
the codes that this flips grow to several steps. Without these two differences a lowering that says
what the graph says gives its codes, every one of them.

But for one thing: the scale of a bias is a float32 product, off by 2^-24, while an int32 accumulator
has that product exactly. Where a sum lies nearer to a tie than this, both codes are right. Which sums
do depends on scales that PyTorch's float32 kernels made, and so on the machine.
"""

import numpy as np
import torch


# Of a quantisation step: sums of float64 are off by less than the one, those of float32 scales by less
# than the other.
EXACT_TIE, NEAR_TIE = 2.0**-36, 2.0**-22


class ExactGraph(torch.fx.Interpreter):
    """Runs the graph module of PT2E on float32 inputs. `near_ties`: sums near a tie that are none
    go where they belong (0), all up (1) or all down (-1)."""

    def __init__(self, module, near_ties=0):
        super().__init__(module)
        self.near_ties = near_ties

    def rounded(self, steps):
        codes = torch.floor(steps + 0.5)
        if not self.near_ties:
            return codes
        above = torch.round(steps + 0.5)
        distance = (steps + 0.5 - above).abs()
        is_near = (distance > EXACT_TIE) & (distance < NEAR_TIE)
        return torch.where(is_near, above if self.near_ties > 0 else above - 1, codes)

    def call_function(self, target, args, kwargs):
        name = str(target)
        if name == "quantized_decomposed.quantize_per_tensor.default":
            x, scale, zero_point, low, high, _ = args
            if x.dtype == torch.float32:  # an input: a kernel quantises it as PyTorch does
                codes = torch.round(x * (1.0 / scale)) + zero_point
            else:
                codes = self.rounded(x / scale) + zero_point
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


def exact_outputs(module, inputs, near_ties=0):
    """The outputs of one call as a list of float32 arrays. `near_ties`: see ExactGraph."""
    with torch.no_grad():
        result = ExactGraph(module, near_ties).run(*inputs)
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [tensor.numpy().astype(np.float32) for tensor in results]
