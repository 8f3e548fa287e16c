# SPDX-License-Identifier: Apache-2.0
"""A stride-4 convolution: Ethos-U55 cannot run it, so ExecuTorch's kernel does, between two NPU
partitions."""

import inspect

import pytest

from ..tester.checks import check_ethosu, check_float, check_integer
from ..tester.native import invoke
from ..tester.stages import net
from . import small

SOURCE = net("three_parts")


@pytest.mark.FP
def test_three_parts_tosa_MI(workspace):
    check_float(workspace.program(SOURCE), workspace.scratch(SOURCE.key, "fp"))


@pytest.mark.INT
@pytest.mark.parametrize("quantizer", ("arm", "xnnpack"))
def test_three_parts_tosa_BI(workspace, quantizer):
    agreement = check_integer(
        workspace.program(SOURCE, quantizer),
        workspace.scratch(SOURCE.key, f"int_{quantizer}"),
        None,
    )
    assert agreement.sqnr >= 40


@pytest.mark.INT
@pytest.mark.U55
@pytest.mark.parametrize("quantizer", ("arm", "xnnpack"))
def test_three_parts_u55_BI(workspace, quantizer):
    scratch = workspace.scratch(SOURCE.key, f"u55_{quantizer}")
    program = workspace.program(SOURCE, quantizer)
    agreement = check_ethosu(
        program,
        scratch,
        "ethos-u55-128",
        delegates=2,
        kernels={"aten::convolution.out"},
        steps=None,
    )
    assert agreement.sqnr >= 40


@pytest.mark.INT
@pytest.mark.U85
@pytest.mark.parametrize("quantizer", ("arm", "xnnpack"))
def test_three_parts_u85_BI_is_one_delegate(workspace, quantizer):
    scratch = workspace.scratch(SOURCE.key, f"u85_{quantizer}")
    agreement = check_ethosu(
        workspace.program(SOURCE, quantizer), scratch, "ethos-u85-256", steps=None
    )
    assert agreement.sqnr >= 40


def line_of_strided():
    """file:line of the call of the strided convolution in the model's source."""
    lines, first = inspect.getsourcelines(small.ThreePartitions)
    offset = next(index for index, line in enumerate(lines) if "self.strided(" in line)
    return f"small.py:{first + offset}"


@pytest.mark.U55
def test_three_parts_explain_names_rule_limit_and_line(workspace):
    text = invoke(
        "explain", workspace.program(SOURCE, "arm").path, "--target", "ethos-u55-128"
    ).stdout
    reason = next((line for line in text.splitlines() if "stride" in line.lower()), None)
    assert reason, f"no line names the stride:\n{text}"
    assert "4" in reason and "3" in reason, f"value and limit are missing: {reason}"
    assert line_of_strided() in text, f"the PyTorch line {line_of_strided()} is missing:\n{text}"


@pytest.mark.U55
def test_three_parts_strict_is_an_error(workspace):
    scratch = workspace.scratch(SOURCE.key, "strict")
    program, output = workspace.program(SOURCE, "arm").path, scratch / "model.pte"
    result = invoke(
        "compile", program, "--target", "ethos-u55-128", "-o", output, "--strict", check=False
    )
    assert result.returncode > 0 and "stride" in result.stderr.lower(), result.stderr
    assert not list(scratch.iterdir())
