# SPDX-License-Identifier: Apache-2.0
"""DS-CNN, as `bench` measures it: with Arm's quantiser every output code equals the
fake-quantised graph's, which ExecuTorch's own TOSA of the same file reaches too."""

from ..tester.checks import check_integer
from ..tester.nets import net_suite
from ..tester.stages import net

net_suite("dscnn", quantizers=("arm",))
# XNNPACK's quantiser leaves biases in float, and an int32 accumulator holds multiples of its step.
# Against its graph as it is, that rounding alone costs all but 35.6 dB (docs/STATUS.md); with biases
# rounded so, PyTorch must give every code that we give.
net_suite("dscnn", quantizers=("xnnpack",), kinds=("BI", "pte"), steps=0, integer_biases=True)


def test_dscnn_every_code_equals_INT(workspace):
    source = net("dscnn")
    scratch = workspace.scratch(source.key, "codes")
    agreement = check_integer(workspace.program(source, "arm"), scratch, steps=0)
    assert agreement.steps.total == 16 * 12
