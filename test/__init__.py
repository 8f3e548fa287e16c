# SPDX-License-Identifier: Apache-2.0
"""Tests that cross layers: operators, models, passes, and the harness they share."""
