# SPDX-License-Identifier: Apache-2.0
"""Runs .pte files in ExecuTorch's own runtime, with the stand-in for the NPU.

    python -m test.standin.run_pte PATH/libtosaic_standin.so < cases.json

On stdin is a JSON list of cases, on stdout one result a line in the same order, so that one process,
whose imports take seconds, serves many programs, and an abort in the runtime takes no results along.
A case:
    {"pte": FILE, "standin_dir": DIR, "inputs": [NPZ, ...], "outputs": [NPZ, ...],
     "channels_last": [BOOL, ...]}
Each .npz of "inputs" holds the inputs of one inference in the program's order; its outputs are
written to the .npz at the same place of "outputs" as out0, out1, .... "channels_last", which may be
absent, says for each input whether its memory is NHWC. A result is {"ok": true} or
{"ok": false, "error": TEXT}.
"""
import ctypes
import json
import os
import sys

import numpy as np


def load_runtime(plugin):
    """Returns ExecuTorch's Runtime with the quantised kernels and the stand-in backend in it."""
    import executorch.kernels.quantized  # noqa: F401  (registers the kernels)
    from executorch.runtime import Runtime

    ctypes.CDLL(plugin)
    runtime = Runtime.get()
    if "EthosUBackend" not in runtime.backend_registry.registered_backend_names:
        raise RuntimeError(f"{plugin} registered no EthosUBackend")
    return runtime


def run_case(runtime, case):
    """Runs one case; raises on any error."""
    import torch

    os.environ["TOSAIC_STANDIN_DIR"] = case.get("standin_dir", ".")
    method = runtime.load_program(case["pte"]).load_method("forward")
    if method is None:
        raise RuntimeError("the program has no method forward")
    for source, target in zip(case["inputs"], case["outputs"], strict=True):
        with np.load(source) as arrays:
            inputs = [torch.from_numpy(np.ascontiguousarray(arrays[name])) for name in arrays.files]
        for index, is_nhwc in enumerate(case.get("channels_last", [])):
            if is_nhwc:
                inputs[index] = inputs[index].contiguous(memory_format=torch.channels_last)
        outputs = [np.asarray(value) for value in method.execute(inputs)]
        np.savez(target, **{f"out{i}": value for i, value in enumerate(outputs)})


def main():
    plugin = sys.argv[1]
    cases = json.load(sys.stdin)
    results_channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # libraries print to stdout
    runtime = load_runtime(plugin)
    for case in cases:
        try:
            run_case(runtime, case)
            result = {"ok": True}
        except Exception as e:  # the next case shall run
            result = {"ok": False, "error": f"{type(e).__name__}: {e}"}
        print(json.dumps(result), file=results_channel, flush=True)


if __name__ == "__main__":
    main()
