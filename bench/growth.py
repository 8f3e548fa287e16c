# SPDX-License-Identifier: Apache-2.0
"""How `tosaic compile` grows with a program: a vision transformer of DeiT-Tiny's width, ever deeper.

    python -m bench.growth [--depths 12,24,48] [--runs N]

Each PT2E-quantised .pt2 becomes TOSA for `tosa-int`. First the result is checked: by our reference and
tosa_reference_model each code must be that of the quantised graph in float64. Then all depths are
compiled in turn, as whole processes. Growth is the ratio to the depth before it; 2.0 is linear.
"""

import argparse
import functools
import pathlib
import statistics
import tempfile

from test.models.vit import VisionTransformer
from test.tester.checks import check_integer
from test.tester.stages import Source, Workspace

from .compile import peak_memory, run_tool, text

IMAGE = 64  # pixels: 17 tokens. The program is that of larger pictures, its check is shorter


def program_of(workspace, depth):
    factory = functools.partial(VisionTransformer, depth=depth, image=IMAGE)
    source = Source(f"vit/{depth}", factory, ((1, 3, IMAGE, IMAGE),))
    return workspace.program(source, "arm", exact=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--depths", default="12,24,48")
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    depths = [int(depth) for depth in options.depths.split(",")]
    with tempfile.TemporaryDirectory() as directory:
        workspace = Workspace(pathlib.Path(directory))
        output = pathlib.Path(directory) / "model.tosa"
        programs = {depth: program_of(workspace, depth) for depth in depths}
        times = {depth: [] for depth in depths}
        agreements = {
            depth: check_integer(program, workspace.scratch("check", str(depth)), steps=0, samples=4)
            for depth, program in programs.items()
        }
        for _ in range(options.runs):
            for depth, program in programs.items():
                times[depth].append(run_tool(program.path, output))
        print("depth  .pt2, MB  SQNR, dB  tosaic, ms (range)           growth  peak, MB")
        before = None
        for depth, program in programs.items():
            middle = statistics.median(times[depth])
            growth = "" if before is None else f"{middle / before:.2f}"
            before = middle
            size = program.path.stat().st_size / 1e6
            peak = peak_memory(program.path, output)
            sqnr = agreements[depth].sqnr
            print(f"{depth:5} {size:10.1f} {sqnr:9.1f}  {text(times[depth]):<28} {growth:>6} {peak:9.1f}")


if __name__ == "__main__":
    main()
