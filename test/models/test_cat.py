# SPDX-License-Identifier: Apache-2.0
"""Branches of different sign share one set of parameters through a concatenation. ExecuTorch's
own TOSA drops the fused relu here and reaches 3 dB with Arm's quantiser."""

from ..tester.nets import net_suite

net_suite("cat")
