# SPDX-License-Identifier: Apache-2.0
"""sigmoid: SIGMOID in float, and a table on quantised values whose codes are known."""

import numpy as np
from torch import nn

from ..tester.codes import CodeCase, code_suite, export, q8, q16
from ..tester.native import compile_program, run_program
from ..tester.oracles import reference_model
from ..tester.suite import Case, op_suite
from ..tosautil import TosaFile

op_suite(
    "sigmoid",
    nn.Sigmoid,
    cases={
        "": Case(((1, 4, 6, 6),)),
        "rank1": Case(((20,),)),
        "rank3": Case(((2, 3, 20),), quantizers=("arm",)),
    },
)
code_suite(
    "sigmoid",
    nn.Sigmoid,
    {
        "": CodeCase((q8(0.05, -10),), q8(1 / 256, -128), steps=0),
        "saturated": CodeCase((q8(0.5, 3),), q8(1 / 512, 0), steps=0),
        "int16": CodeCase((q16(8 / 32768),), q16(1 / 32768), steps=2),
    },
)


def outputs_of(case, codes, scratch):
    """What the compiler's .tosa gives for input codes, which tosa_reference_model confirms."""
    program = export(case, nn.Sigmoid, scratch / "program.pt2")
    tosa = scratch / "program.tosa"
    compile_program(program.path, "tosa-int", tosa)
    (given,), (result,) = TosaFile(tosa).inputs, TosaFile(tosa).outputs
    array = np.full(given.shape, codes[0], given.numpy_dtype)
    array.flat[: len(codes)] = codes
    outputs = run_program(tosa, {given.name: array}, scratch)[result.name]
    np.testing.assert_array_equal(
        outputs, reference_model(tosa, {given.name: array})[result.name]
    )
    return outputs.flat[: len(codes)].tolist()


def test_sigmoid_int8_has_the_exact_codes(workspace):
    case = CodeCase((q8(1 / 16, 0, low=-127),), q8(1 / 256, -128))
    codes = [-127, -64, -16, -1, 0, 1, 16, 64, 127]
    expected = [-128, -123, -59, -4, 0, 4, 59, 123, 127]
    assert outputs_of(case, codes, workspace.scratch("sigmoid", "int8_codes")) == expected


def test_sigmoid_int16_has_the_codes_within_a_step(workspace):
    case = CodeCase((q16(8 / 32768),), q16(1 / 4096))
    codes = [-32768, -4096, 0, 4096, 32767]
    expected = [1, 1102, 2048, 2994, 4095]
    outputs = outputs_of(case, codes, workspace.scratch("sigmoid", "int16_codes"))
    assert np.abs(np.array(outputs) - expected).max() <= 1


def test_sigmoid_table_has_256_entries(workspace):
    """One for each code of an int8."""
    scratch = workspace.scratch("sigmoid", "entries")
    program = export(CodeCase((q8(0.1),), q8(1 / 256, -128)), nn.Sigmoid, scratch / "program.pt2")
    compile_program(program.path, "tosa-int", scratch / "program.tir")
    text = (scratch / "program.tir").read_text()
    assert "i8[256]" in text and text.count("tosa.table(") == 1, text
