# SPDX-License-Identifier: Apache-2.0
"""A vision transformer: one delegate from every quantiser."""

from ..tester.nets import net_suite

FAMILIES = ("u55", "u65", "u85")

net_suite("vit", quantizers=("arm",), kinds=("BI", "pte"), families=FAMILIES)
