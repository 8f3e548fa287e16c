# SPDX-License-Identifier: Apache-2.0
"""Two linear layers around a relu, four rows at once."""

from ..tester.nets import net_suite

net_suite("linear")
