# SPDX-License-Identifier: Apache-2.0
"""An LSTM classifier of two layers, in float; that of one layer is in test_networks.py."""

from ..tester.nets import net_suite

net_suite("lstm2", kinds=("MI",))
