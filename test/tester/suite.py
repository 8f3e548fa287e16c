# SPDX-License-Identifier: Apache-2.0
"""`op_suite` makes the tests of one operator: a row of cases times the kinds of test that apply."""

import dataclasses
import functools
import sys
from typing import Callable

import pytest

from ..common import FAMILIES, FLOAT_TOLERANCE, TARGETS
from .stages import Source

KINDS = ("MI", "core", "BI", "u55", "u65", "u85")
DEFAULT_KINDS = ("MI", "BI", *FAMILIES)


@dataclasses.dataclass(frozen=True)
class Case:
    """One instance of a module.

    `shapes`: of its float inputs. `args`, `options`: for the factory. `kinds`: those of KINDS
    that apply; "core" is "MI" of the program after `run_decompositions()`, in core ATen. `steps`: by how many quantisation steps the result may differ from PyTorch's
    quantised graph. `quantizers`: "arm" and "xnnpack".
    """

    shapes: tuple
    args: tuple = ()
    options: dict = dataclasses.field(default_factory=dict)
    kinds: tuple = DEFAULT_KINDS
    steps: int = 1
    tolerance: float = FLOAT_TOLERANCE
    quantizers: tuple = ("arm",)

    def core(self):
        """The same case with the program in core ATen as well."""
        return dataclasses.replace(self, kinds=("core", *self.kinds))

    def without(self, *kinds):
        """The same case without some kinds, such as a limit of Ethos-U55 that it exceeds."""
        return dataclasses.replace(
            self, kinds=tuple(kind for kind in self.kinds if kind not in kinds)
        )


def op_suite(name: str, factory: Callable, cases: dict):
    """Defines the tests of an operator in the calling module.

        op_suite("max_pool2d", nn.MaxPool2d, cases={"": Case(((1, 4, 8, 8),), (2,)), "stride1": …})

    gives test_max_pool2d_tosa_MI (float: TOSA FP against eager PyTorch), _tosa_BI (quantised:
    bit-exact with tosa_reference_model and within `steps` of PyTorch's quantised graph), _u55_BI,
    _u65_BI, _u85_BI (through Vela), and test_max_pool2d_stride1_… likewise. Quantisers other than
    Arm's add their name: _tosa_BI_xnnpack.
    """
    namespace = sys._getframe(1).f_globals
    for label, case in cases.items():
        stem = f"{name}_{label}" if label else name
        module = namespace["__name__"].rpartition(".")[2].removeprefix("test_")
        source = Source(
            f"{module}/{stem}", functools.partial(factory, *case.args, **case.options), case.shapes
        )
        for test_name, function in tests_of(stem, source, case):
            if test_name in namespace:
                raise ValueError(f"two tests are called {test_name}")
            namespace[test_name] = function


def tests_of(stem, source, case):
    """Yields (name, test function) for each kind and quantiser of a case."""
    for kind in case.kinds:
        if kind == "MI":
            yield f"test_{stem}_tosa_MI", mark(float_test(source, case), "FP")
        elif kind == "core":
            yield f"test_{stem}_core_tosa_MI", mark(float_test(source, case, core=True), "FP")
        elif kind == "BI":
            for quantizer in case.quantizers:
                yield f"test_{stem}_tosa_BI{suffix(quantizer)}", mark(
                    integer_test(source, case, quantizer), "INT"
                )
        elif kind in FAMILIES:
            for quantizer in case.quantizers:
                test = ethosu_test(source, case, quantizer, TARGETS[kind])
                yield f"test_{stem}_{kind}_BI{suffix(quantizer)}", mark(test, "INT", kind.upper())


def suffix(quantizer):
    return "" if quantizer == "arm" else f"_{quantizer}"


def mark(function, *names):
    for name in names:
        function = getattr(pytest.mark, name)(function)
    return function


def float_test(source, case, core=False):
    def test(workspace):
        from .checks import check_float

        scratch = workspace.scratch(source.key, "core" if core else "fp")
        check_float(workspace.program(source, core=core), scratch, case.tolerance)

    return test


def integer_test(source, case, quantizer):
    def test(workspace):
        from .checks import check_integer

        scratch = workspace.scratch(source.key, f"int_{quantizer}")
        check_integer(workspace.program(source, quantizer), scratch, case.steps)

    return test


def ethosu_test(source, case, quantizer, target):
    def test(workspace):
        from .checks import check_ethosu

        scratch = workspace.scratch(source.key, f"{target}_{quantizer}")
        check_ethosu(workspace.program(source, quantizer), scratch, target, steps=case.steps)

    return test
