# SPDX-License-Identifier: Apache-2.0
"""`code_suite` tests an operator on quantised values under parameters of the test's own choice: a
quantiser picks those that calibration gives, and breaks many operators into others first.

The program is dequantize(quantize(f(dequantize(quantize(x)), …))), the expected result PyTorch's.
"""

import dataclasses
import sys
from typing import Callable

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantize_per_tensor
from torch import nn

from ..common import FAMILIES, TARGETS
from .stages import Program, QuantParams, flat_outputs
from .suite import mark

CODE_SEED = 8
RANDOM_SAMPLES = 4


def q8(scale, zero_point=0, low=-128, high=127):
    """Parameters of an int8 value."""
    return QuantParams(scale, zero_point, low, high, torch.int8)


def q16(scale):
    """Parameters of an int16 value."""
    return QuantParams(scale, 0, -32768, 32767, torch.int16)


@dataclasses.dataclass(frozen=True)
class CodeCase:
    """`inputs`: QuantParams of each input, `output`: of the result. `shapes`: of the inputs, which
    get random codes; None gives a single input each of its codes once. `args`: for the factory.
    `kinds`: of BI and the NPU families. `steps`: as for op_suite."""

    inputs: tuple
    output: QuantParams
    shapes: tuple | None = None
    args: tuple = ()
    kinds: tuple = ("BI", *FAMILIES)
    steps: int = 1


class Quantised(nn.Module):
    """A function between quantize and dequantize nodes."""

    def __init__(self, function, inputs, output):
        super().__init__()
        self.function, self.inputs, self.output = function, inputs, output

    def forward(self, *values):
        values = [fake_quantise(value, params) for value, params in zip(values, self.inputs)]
        return fake_quantise(self.function(*values), self.output)


def fake_quantise(value, params):
    """quantize, then dequantize."""
    domain = (params.scale, params.zero_point, params.low, params.high, params.dtype)
    operators = torch.ops.quantized_decomposed
    codes = operators.quantize_per_tensor.default(value, *domain)
    return operators.dequantize_per_tensor.default(codes, *domain)


def all_codes(params):
    """Samples of shape [1, n] that hold each code once, as floats."""
    codes = np.arange(params.low, params.high + 1, dtype=np.int64)
    return [[params.values(part)] for part in codes.reshape(-1, 1, min(codes.size, 1 << 14))]


def random_codes(case):
    """Samples with codes from the whole range, as floats."""
    generator = np.random.default_rng(CODE_SEED)
    return [
        [
            params.values(generator.integers(params.low, params.high, shape, endpoint=True))
            for params, shape in zip(case.inputs, case.shapes, strict=True)
        ]
        for _ in range(RANDOM_SAMPLES)
    ]


def export(case, factory, path):
    """The program of a case, on disk, with what it must compute."""
    samples = all_codes(case.inputs[0]) if case.shapes is None else random_codes(case)
    tensors = [[torch.from_numpy(array) for array in sample] for sample in samples]
    torch.manual_seed(CODE_SEED)
    module = Quantised(factory(*case.args), case.inputs, case.output).eval()
    exported = torch.export.export(module, tuple(tensors[0]))
    torch.export.save(exported, path)
    return Program(
        path,
        list(exported.graph_signature.user_inputs),
        list(case.inputs),
        [case.output],
        inputs=samples,
        outputs=[flat_outputs(module, sample) for sample in tensors],
    )


def code_suite(name: str, factory: Callable, cases: dict):
    """Defines test_NAME[_case]_codes_tosa_BI, _codes_u55_BI, … in the calling module. `factory`
    makes the function (a module, or any callable) of a case."""
    namespace = sys._getframe(1).f_globals
    for label, case in cases.items():
        stem = f"{name}_{label}_codes" if label else f"{name}_codes"
        for kind in case.kinds:
            target = TARGETS.get(kind)
            test_name = f"test_{stem}_{kind}_BI" if target else f"test_{stem}_tosa_BI"
            if test_name in namespace:
                raise ValueError(f"two tests are called {test_name}")
            markers = ("INT", kind.upper()) if target else ("INT",)
            namespace[test_name] = mark(code_test(stem, factory, case, target), *markers)


def code_test(stem, factory, case, target):
    def test(workspace):
        from .checks import check_ethosu, check_integer

        scratch = workspace.scratch("codes", stem, target or "tosa-int")
        program = export(case, factory, scratch / "program.pt2")
        samples = len(program.inputs)
        if target:
            check_ethosu(program, scratch, target, steps=case.steps, samples=samples)
        else:
            check_integer(program, scratch, steps=case.steps, samples=samples)

    return test
