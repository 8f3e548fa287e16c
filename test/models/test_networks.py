# SPDX-License-Identifier: Apache-2.0
"""The reference networks: in float, quantised by both quantisers, and as one delegate of each
family of NPUs."""

import numpy as np
import pytest

from ..tester.nets import net_suite
from ..tester.stages import net
from . import spread

CONVOLUTIONAL = ("mlp", "autoencoder", "mv1", "resnet8", "resnet18", "inception", "unet", "audio")
ALL = ("u55", "u65", "u85")

for name in CONVOLUTIONAL:
    net_suite(name, quantizers=("arm",), families=ALL, exact=True)
    # XNNPACK's quantiser leaves biases in float; test_dscnn.py says why they are rounded.
    net_suite(
        name, quantizers=("xnnpack",), families=ALL, kinds=("BI", "pte"), integer_biases=True, exact=True
    )


# XNNPACK's quantiser leaves recurrent layers in float.
for name in ("gru", "lstm"):
    net_suite(name, quantizers=("arm",), families=ALL, exact=True)


@pytest.mark.FP
@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_outputs_depend_on_inputs(workspace, name):
    """Else a wrong lowering would compare well."""
    source = net(name)
    model, _ = source.make()
    assert spread(model, source.shapes) >= 0.2
    program = workspace.program(source, "arm")
    codes = np.stack([program.output_quant[0].codes(sample[0]) for sample in program.outputs])
    assert len(np.unique(codes)) >= min(32, codes.size // 2)
