# SPDX-License-Identifier: Apache-2.0
"""What every test agrees on: where the compiler is, which targets exist, how near is near."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent

SAMPLES = 16  # inputs per accuracy figure: fewer let a wrong lowering pass by luck
FLOAT_TOLERANCE = 1e-4  # of the largest output
MIN_SQNR_DB = 40.0  # of a quantised network against its fake-quantised graph

# The NPUs that tests compile for, by the keyword in a test's name.
TARGETS = {"u55": "ethos-u55-128", "u65": "ethos-u65-256", "u85": "ethos-u85-256"}
# The families whose rows differ: those of U65 are U55's, and networks and partitions are tested on it too.
FAMILIES = ("u55", "u85")

# Markers, so that `-k FP`, `-k INT`, `-k U55` select what names ending in _MI and _BI do not say.
MARKERS = {
    "FP": "float programs lowered to the TOSA FP profile",
    "INT": "quantised programs lowered to the TOSA INT profile",
    "U55": "programs compiled for Ethos-U55",
    "U65": "programs compiled for Ethos-U65",
    "U85": "programs compiled for Ethos-U85",
}


def tosaic_binary():
    """The compiler under test: $TOSAIC_TOOL (which ./dev sets) or $TOSAIC, or what a release
    build leaves."""
    chosen = os.environ.get("TOSAIC_TOOL") or os.environ.get("TOSAIC")
    return pathlib.Path(chosen) if chosen else ROOT / "build" / "release" / "bin" / "tosaic"
