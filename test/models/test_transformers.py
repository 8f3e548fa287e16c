# SPDX-License-Identifier: Apache-2.0
"""Transformers: one delegate from every quantiser, masks included."""

from ..tester.nets import net_suite

FAMILIES = ("u55", "u65", "u85")

net_suite("vit", families=FAMILIES, quantizers=("arm",))
net_suite("encoder", families=FAMILIES, quantizers=("arm",))
# An int32 accumulator holds multiples of scale(input) * scale(weight), which XNNPACK's float biases are
# not.
net_suite("vit", families=FAMILIES, quantizers=("xnnpack",), kinds=("BI", "pte"), integer_biases=True)
net_suite("encoder", families=FAMILIES, quantizers=("xnnpack",), kinds=("BI", "pte"), integer_biases=True)
