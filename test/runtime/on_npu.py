# SPDX-License-Identifier: Apache-2.0
"""A float program, calibrated, compiled for an NPU and run in ExecuTorch's runtime, where the stand-in
computes what the NPU would."""

import numpy as np
import torch

from ..tester.native import compile_program
from .runtime import in_executorch


def run_on_npu(module, samples, target, folder, *more):
    """Outputs of each sample, a tuple of tensors, and the report. `more`: flags of the tool."""
    program = torch.export.export(module.eval(), samples[0])
    torch.export.save(program, folder / "x.pt2")
    names = program.graph_signature.user_inputs
    arrays = {name: np.stack([s[i].numpy() for s in samples]) for i, name in enumerate(names)}
    np.savez(folder / "samples.npz", **arrays)
    flags = ("--calibrate", folder / "samples.npz", "--dump", folder / "dump")
    report = compile_program(folder / "x.pt2", target, folder / "x.pte", *flags, *more)
    count = range(len(samples))
    for number in count:
        np.savez(folder / f"in{number}.npz", **{f"in{i}": x.numpy() for i, x in enumerate(samples[number])})
    case = {
        "pte": str(folder / "x.pte"), "standin_dir": str(folder / "dump"),
        "inputs": [str(folder / f"in{number}.npz") for number in count],
        "outputs": [str(folder / f"out{number}.npz") for number in count],
    }  # fmt: skip
    (error,) = in_executorch([case])
    assert error is None, error
    outputs = []
    for number in count:
        with np.load(folder / f"out{number}.npz") as made:
            outputs.append(tuple(torch.from_numpy(made[f"out{i}"]) for i in range(len(made.files))))
    return outputs, report


def on_cpu(report):
    """Names of the operators that stay on the CPU, those at borders left out."""
    nodes = [node["op"] for node in report["nodes"] if node["device"] == "cpu"]
    return {name for name in nodes if not name.startswith("quantized_decomposed.")}
