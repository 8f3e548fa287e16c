# SPDX-License-Identifier: Apache-2.0
"""DS-CNN, as `bench` measures it: with Arm's quantiser every output code equals the
fake-quantised graph's, which ExecuTorch's own TOSA of the same file reaches too."""

from ..tester.checks import check_integer
from ..tester.nets import net_suite
from ..tester.stages import net

net_suite("dscnn", quantizers=("arm",))
net_suite("dscnn", quantizers=("xnnpack",), min_sqnr=35)


def test_dscnn_every_code_equals_INT_xnnpack(workspace):
    """XNNPACK's quantiser leaves biases in float. Rounding them to the int32 accumulator's steps is
    all that separates TOSA from its graph (35.6 dB): PyTorch with rounded biases gives our codes."""
    source = net("dscnn")
    program = workspace.program(source, "xnnpack", integer_biases=True)
    agreement = check_integer(program, workspace.scratch(source.key, "codes_xnnpack"), steps=0)
    assert agreement.steps.total == 16 * 12


def test_dscnn_every_code_equals_INT(workspace):
    source = net("dscnn")
    scratch = workspace.scratch(source.key, "codes")
    agreement = check_integer(workspace.program(source, "arm"), scratch, steps=0)
    assert agreement.steps.total == 16 * 12
