# SPDX-License-Identifier: Apache-2.0
"""A damaged .pt2 gives an error and leaves nothing behind; it never crashes the tool (run it
under ASan and UBSan too)."""

import random

import pytest

from ..tester.native import invoke
from ..tester.stages import net

SOURCE = net("dscnn")
TRUNCATIONS, FLIPS = 60, 200


def compile_damaged(scratch, data):
    """Compiles `data` as a .pt2 to TOSA; returns the result and what is in the output's folder
    afterwards."""
    damaged, folder = scratch / "damaged.pt2", scratch / "out"
    folder.mkdir(exist_ok=True)
    damaged.write_bytes(data)
    for left in folder.iterdir():
        left.unlink()
    result = invoke(
        "compile", damaged, "--target", "tosa-int", "-o", folder / "model.tosa", check=False
    )
    return result, sorted(path.name for path in folder.iterdir())


@pytest.mark.INT
def test_truncated_archive_is_an_error(workspace):
    data = workspace.program(SOURCE, "arm").path.read_bytes()
    scratch = workspace.scratch(SOURCE.key, "truncated")
    for index in range(TRUNCATIONS):
        result, left = compile_damaged(scratch, data[: len(data) * index // TRUNCATIONS])
        assert (
            0 < result.returncode < 126
        ), f"truncation {index}: {result.returncode}\n{result.stderr}"
        assert "error" in result.stderr, f"truncation {index}: {result.stderr}"
        assert not left


@pytest.mark.INT
def test_flipped_bit_is_an_error_or_harmless(workspace):
    """A bit in padding or in a name that nothing reads changes nothing; then the result must be
    complete."""
    data = workspace.program(SOURCE, "arm").path.read_bytes()
    scratch = workspace.scratch(SOURCE.key, "flipped")
    positions = random.Random(7)
    for index in range(FLIPS):
        position = positions.randrange(len(data) * 8)
        flipped = bytearray(data)
        flipped[position // 8] ^= 1 << position % 8
        result, left = compile_damaged(scratch, bytes(flipped))
        assert 0 <= result.returncode < 126, f"bit {position}: {result.returncode}\n{result.stderr}"
        assert (
            result.returncode == 0 or "error" in result.stderr
        ), f"bit {position}: {result.stderr}"
        assert left == ([] if result.returncode else ["model.tosa"]), f"bit {position}: {left}"
