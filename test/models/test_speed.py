# SPDX-License-Identifier: Apache-2.0
"""The whole process from .pt2 to .tosa, release build: the best of ten runs, since the machine
may be busy."""

import time

from ..common import tosaic_binary
from ..tester.native import invoke
from ..tester.stages import net

LIMITS_MS = {"add": 10, "dscnn": 30}


def best_ms(program, output, runs=10):
    """The shortest wall time of a compilation to TOSA, in milliseconds."""
    best = float("inf")
    for _ in range(runs):
        start = time.perf_counter()
        invoke("compile", program, "--target", "tosa-int", "-o", output)
        best = min(best, (time.perf_counter() - start) * 1e3)
    return best


def speed_test(name):
    def test(workspace):
        source = net(name)
        output = workspace.scratch(source.key, "speed") / "model.tosa"
        took = best_ms(workspace.program(source, "arm").path, output)
        assert took <= LIMITS_MS[name], f"{name}: {took:.1f} ms, allowed {LIMITS_MS[name]}"

    return test


if "dev" not in tosaic_binary().parts:  # a sanitised build is an order slower
    for net_name in LIMITS_MS:
        globals()[f"test_{net_name}_compiles_to_tosa_in_time"] = speed_test(net_name)
