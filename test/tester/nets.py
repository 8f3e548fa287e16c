# SPDX-License-Identifier: Apache-2.0
"""`net_suite` makes the tests of one reference network, for both quantisers."""

import sys

from ..common import FAMILIES, MIN_SQNR_DB, TARGETS
from .stages import net
from .suite import mark, suffix

QUANTIZERS = ("arm", "xnnpack")


def net_suite(
    name,
    *,
    min_sqnr=MIN_SQNR_DB,
    steps=None,
    families=FAMILIES,
    quantizers=QUANTIZERS,
    kinds=("MI", "BI", "pte"),
    integer_biases=False,
    exact=False,
):
    """Defines test_NAME_tosa_MI, test_NAME_tosa_BI[_xnnpack] and test_NAME_u55_BI[_xnnpack] … in
    the calling module.

    A quantised network must reach `min_sqnr` dB against its fake-quantised graph over all samples
    and, with `steps`, be within as many quantisation steps of it. On the NPU it is one delegate.
    `integer_biases`: see Workspace.program. `exact`: every code must be that of the graph in float64
    with ties rounded up (exact.py says why).
    """
    namespace = sys._getframe(1).f_globals
    steps = 0 if exact else steps
    judge = {"integer_biases": integer_biases, "exact": exact}
    if "MI" in kinds:
        namespace[f"test_{name}_tosa_MI"] = mark(float_test(name), "FP")
    for quantizer in quantizers:
        if "BI" in kinds:
            test = integer_test(name, quantizer, min_sqnr, steps, judge)
            namespace[f"test_{name}_tosa_BI{suffix(quantizer)}"] = mark(test, "INT")
        if "pte" in kinds:
            for family in families:
                goal = (min_sqnr, steps, judge)
                test = ethosu_test(name, quantizer, TARGETS[family], *goal)
                namespace[f"test_{name}_{family}_BI{suffix(quantizer)}"] = mark(
                    test, "INT", family.upper()
                )


def float_test(name):
    def test(workspace):
        from .checks import check_float

        source = net(name)
        check_float(workspace.program(source), workspace.scratch(source.key, "fp"))

    return test


def integer_test(name, quantizer, min_sqnr, steps, judge):
    def test(workspace):
        from .checks import check_integer

        source = net(name)
        scratch = workspace.scratch(source.key, f"int_{quantizer}")
        program = workspace.program(source, quantizer, **judge)
        agreement = check_integer(program, scratch, steps)
        assert agreement.sqnr >= min_sqnr, f"SQNR {agreement.sqnr:.1f} dB, {agreement.steps}"

    return test


def ethosu_test(name, quantizer, target, min_sqnr, steps, judge):
    def test(workspace):
        from .checks import check_ethosu

        source = net(name)
        scratch = workspace.scratch(source.key, f"{target}_{quantizer}")
        program = workspace.program(source, quantizer, **judge)
        agreement = check_ethosu(program, scratch, target, steps=steps)
        assert agreement.sqnr >= min_sqnr, f"SQNR {agreement.sqnr:.1f} dB, {agreement.steps}"

    return test
