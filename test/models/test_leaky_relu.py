# SPDX-License-Identifier: Apache-2.0
"""Tables with slopes below and above 1 between convolutions."""

from ..tester.nets import net_suite

net_suite("leaky_relu")
