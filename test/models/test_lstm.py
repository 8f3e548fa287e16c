# SPDX-License-Identifier: Apache-2.0
"""LSTM classifiers of one and two layers, in float."""

from ..tester.nets import net_suite

net_suite("lstm2", kinds=("MI",))
