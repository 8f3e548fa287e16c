# SPDX-License-Identifier: Apache-2.0
"""Transformers: one delegate from every quantiser, masks included."""

from ..tester.nets import net_suite

EVERY = ("u55", "u65", "u85")

# ExecuTorch's Arm quantiser writes attention and normalisation as int8 primitives.
net_suite("vit", families=EVERY, quantizers=("arm",), exact=True)
net_suite("encoder", families=EVERY, quantizers=("arm",), exact=True)

# XNNPACK's leaves them whole, and biases in float, of which an int32 accumulator holds multiples of
# scale(input) * scale(weight).
WHOLE = {"quantizers": ("xnnpack",), "kinds": ("BI", "pte"), "integer_biases": True}
net_suite("encoder", families=EVERY, **WHOLE)
# One code in a hundred thousand differs; this network, whose quantised graph is 21 dB from its float
# results, makes several steps of it.
net_suite("vit", families=EVERY, min_sqnr=28, **WHOLE)
