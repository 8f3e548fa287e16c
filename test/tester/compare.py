# SPDX-License-Identifier: Apache-2.0
"""How near two results are."""

import dataclasses

import numpy as np


def relative_error(actual, expected):
    """The largest difference, as a fraction of the largest expected magnitude (absolute if all
    are zero)."""
    actual, expected = np.asarray(actual, np.float64), np.asarray(expected, np.float64)
    if not expected.size:
        return 0.0
    largest = np.abs(expected).max()
    return float(np.abs(actual - expected).max() / (largest or 1.0))


def sqnr_db(actual, expected):
    """Signal over quantisation noise in dB, over all elements of all arrays given; infinite if
    equal."""
    signal = noise = 0.0
    for got, want in zip(actual, expected, strict=True):
        got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
        signal += np.square(want).sum()
        noise += np.square(want - got).sum()
    if noise == 0:
        return np.inf
    return float(10 * np.log10(signal / noise)) if signal else -np.inf


@dataclasses.dataclass
class Steps:
    """Differences of output codes: `differing` of `total` codes, the largest by `worst`
    quantisation steps."""

    total: int = 0
    differing: int = 0
    worst: int = 0

    def add(self, actual, expected):
        difference = np.abs(np.asarray(actual, np.int64) - np.asarray(expected, np.int64))
        self.total += difference.size
        self.differing += int(np.count_nonzero(difference))
        self.worst = max(self.worst, int(difference.max(initial=0)))

    def __str__(self):
        return f"{self.differing} of {self.total} codes differ, by at most {self.worst} steps"


def assert_same_bits(actual, expected, what):
    """Fails with the first differing element unless dtype, shape and every bit are equal."""
    assert (
        actual.dtype == expected.dtype
    ), f"{what}: dtype {actual.dtype}, expected {expected.dtype}"
    assert (
        actual.shape == expected.shape
    ), f"{what}: shape {actual.shape}, expected {expected.shape}"
    unequal = np.argwhere(actual != expected)
    if len(unequal):
        where = tuple(int(index) for index in unequal[0])
        raise AssertionError(
            f"{what}: {len(unequal)} of {actual.size} elements differ, first at {where}: "
            f"{actual[where]}, expected {expected[where]}"
        )
