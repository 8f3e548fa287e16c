# SPDX-License-Identifier: Apache-2.0
"""The stage chain of the tests: export, quantise, compile with the native tool, run, compare with
others' programs."""
