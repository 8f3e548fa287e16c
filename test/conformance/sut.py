# SPDX-License-Identifier: Apache-2.0
"""`tosaic run` as the system under test of TOSA's own runner, tosa_verif_run_tests."""

import pathlib
import subprocess
import tempfile

import ml_dtypes
import numpy as np
from runner.tosa_test_runner import TosaTestRunner

from test.common import tosaic_binary

Result = TosaTestRunner.TosaGraphResult
TYPES = {"BF16": ml_dtypes.bfloat16, "FP8E4M3": ml_dtypes.float8_e4m3fn, "FP8E5M2": ml_dtypes.float8_e5m2}


def plain(array):
    """As `tosaic run` takes it: types that NumPy lacks as their bits."""
    lacks = array.dtype.kind == "V" or not array.dtype.isbuiltin
    return array.view(f"u{array.dtype.itemsize}") if lacks else array


class TosaSUTRunner(TosaTestRunner):
    def runTestGraph(self):
        folder = pathlib.Path(self.testDirPath)
        desc = self.testDesc
        with tempfile.TemporaryDirectory() as name:
            scratch = pathlib.Path(name)
            arrays = {
                tensor: plain(np.load(folder / file))
                for tensor, file in zip(desc["ifm_name"], desc["ifm_file"])
            }
            np.savez(scratch / "in.npz", **arrays)
            command = [tosaic_binary(), "run", folder / desc["tosa_file"], "--input", scratch / "in.npz", "-o", scratch / "out.npz"]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode:
                return Result.TOSA_ERROR, result.stderr
            tensors = desc["meta"]["compliance"]["tensors"]
            with np.load(scratch / "out.npz") as outputs:
                for tensor, file in zip(desc["ofm_name"], desc["ofm_file"]):
                    dtype = TYPES.get(tensors.get(tensor, {}).get("data_type"))
                    array = outputs[tensor]
                    np.save(folder / file, array.view(dtype) if dtype else array)
            unpredictable = "warning[" in result.stderr
        return (Result.TOSA_UNPREDICTABLE if unpredictable else Result.TOSA_VALID), result.stderr
