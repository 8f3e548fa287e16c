# SPDX-License-Identifier: Apache-2.0
"""Reading .tosa files with the classes that tosa-tools publishes, independent of our own reader."""

from .file import TosaFile, Value

__all__ = ["TosaFile", "Value"]
