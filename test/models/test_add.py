# SPDX-License-Identifier: Apache-2.0
"""The smallest network: exact in float, every code equal when quantised."""

from ..tester.nets import net_suite

net_suite("add", steps=0)
net_suite("sub", steps=0, quantizers=("arm",))  # XNNPACK's quantiser leaves a subtraction in float
