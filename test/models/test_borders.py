# SPDX-License-Identifier: Apache-2.0
"""How a program's inputs and outputs meet its partitions: several outputs, one passed through,
one given twice. (Inputs in the wrong order show in the network `sub`.)"""

from ..tester.nets import net_suite

net_suite("two_outputs")
net_suite("output_twice")
# XNNPACK's quantiser returns the float input itself, which is no quantised output.
net_suite("input_is_output", steps=0, quantizers=("arm",), kinds=("MI", "pte"))
