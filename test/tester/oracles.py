# SPDX-License-Identifier: Apache-2.0
"""Others' programs that say what is right: tosa_reference_model, Vela, ExecuTorch's .pte reader."""

import json
import pathlib
import subprocess
import sys

import numpy as np

from ..tosautil import TosaFile

VELA_TIMEOUT_S = 60
# Accelerator, MACs, cores, system configuration and memory mode of Vela's own vela.ini.
VELA_TARGETS = {
    "ethos-u55-128": ("EthosU55", 128, 1, "Ethos_U55_High_End_Embedded", "Shared_Sram"),
    "ethos-u65-256": ("EthosU65", 256, 1, "Ethos_U65_High_End", "Dedicated_Sram_384KB"),
    "ethos-u85-256": ("EthosU85", 256, 1, "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"),
}
VELA_SCRIPT = """
import json, pathlib, sys
import ethosu
from ethosu import regor
path, arch, macs, cores, system, memory = sys.argv[1:]
ini = (pathlib.Path(list(ethosu.__path__)[0]) / "config_files" / "Arm" / "vela.ini").read_text()
config = f"[architecture]\\nmacs={macs}\\ncores={cores}\\n[vela]\\nsystem_config_name={system}\\n"
config += f"memory_mode_name={memory}\\n"
options = "[compiler]\\noutput_format=Raw\\ncop_format=COP1\\nperf_report=true\\n"
options += "[scheduler]\\noptimize=Performance\\n"
model = regor.compile(arch, pathlib.Path(path).read_bytes(), "TOSA", config + ini, options=options)
report = model.perf_report
print(json.dumps({
    "command_stream_bytes": len(model.command_stream),
    "npu_ops": report.npuOps,
    "cpu_ops": report.cpuOps,
    "cycles": report.totalCycles,
}))
"""


def reference_model(path, inputs):
    """Runs a .tosa file in tosa_reference_model on {input name: array}; returns {output name:
    array}.

    The model must be valid and the run predictable (no overflow, no table slope out of range).
    """
    import tosa_reference_model

    file = TosaFile(path)
    arrays = [np.ascontiguousarray(inputs[value.name], value.numpy_dtype) for value in file.inputs]
    outputs, status = tosa_reference_model.run(pathlib.Path(path).read_bytes(), arrays)
    assert (
        status == tosa_reference_model.GraphStatus.TOSA_VALID
    ), f"{path}: reference model says {status}"
    return {
        value.name: np.asarray(array, value.numpy_dtype).reshape(value.shape)
        for value, array in zip(file.outputs, outputs, strict=True)
    }


def vela(path, target, timeout=VELA_TIMEOUT_S):
    """Compiles a .tosa file with Vela in a child process; returns sizes, operator counts and
    cycles as a dict."""
    arguments = [str(argument) for argument in VELA_TARGETS[target]]
    command = [sys.executable, "-c", VELA_SCRIPT, str(path), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, f"Vela refuses {path} for {target}:\n{result.stderr[-2000:]}"
    return json.loads(result.stdout.splitlines()[-1])
