# SPDX-License-Identifier: Apache-2.0
"""index_put, index_copy, index_add, index_fill and scatter at constant places: broadcast, repeated
and negative indices, masks, in place."""

import torch

from ..tester.codes import CodeCase, code_suite, q8
from ..tester.function import Function
from ..tester.native import compile_program, invoke
from ..tester.stages import Source
from ..tester.suite import Case, op_suite

ONE = ((4, 6),)
FLOAT = {"kinds": ("MI",)}


def set_number(x, rows):
    y = x.clone()
    y[rows] = 0.5
    return y + x


def set_positive(x):
    y = x.clone()
    y[y > 0] = -1
    return y + x


def put_in_place(x, values, rows):
    return (x + 1).index_put_((rows,), values)


def grid(x, values, rows, columns):
    return x.index_put((rows[:, None], columns), values)


op_suite(
    "index_put",
    Function,
    cases={
        "": Case(((4, 6), (2, 6)), (lambda x, v, i: x.index_put((i,), v), [2, -4]), **FLOAT),
        "grid": Case(((4, 6), (2, 3)), (grid, [2, 0], [1, 3, -1]), **FLOAT),
        "axes": Case(
            ((2, 4, 6), (3, 6)),
            (lambda x, v, i, j: x.index_put((i, j), v), [1, 0, 1], [2, 3, 0]),
            **FLOAT,
        ),
        "broadcast": Case(((4, 6), (6,)), (lambda x, v, i: x.index_put((i,), v), [2, 0]), **FLOAT),
        "number": Case(ONE, (set_number, [3, 1]), **FLOAT),
        "mask": Case(ONE, (set_positive,), **FLOAT),
        "rows_of_mask": Case(
            ONE,
            (lambda x, m: x.index_put((m,), x.sum()), [True, False, True, False]),
            **FLOAT,
        ),
        "accumulate": Case(
            ((4, 6), (2, 6)),
            (lambda x, v, i: x.index_put((i,), v, accumulate=True), [2, 0]),
            **FLOAT,
        ),
        "in_place": Case(((4, 6), (2, 6)), (put_in_place, [2, 0]), **FLOAT),
        "many": Case(
            ((40, 3), (30, 3)),
            (lambda x, v, i: x.index_put((i,), v), list(range(39, 9, -1))),
            **FLOAT,
        ),
    },
)
op_suite(
    "index_rows",
    Function,
    cases={
        "copy": Case(((4, 6), (2, 6)), (lambda x, v, i: x.index_copy(0, i, v), [2, 0]), **FLOAT),
        "copy_in_place": Case(
            ((4, 6), (4, 2)), (lambda x, v, i: (x + 1).index_copy_(-1, i, v), [5, 1]), **FLOAT
        ),
        "add": Case(
            ((4, 6), (4, 2)), (lambda x, v, i: x.index_add(1, i, v, alpha=2), [3, 4]), **FLOAT
        ),
        "fill": Case(ONE, (lambda x, i: x.index_fill(1, i, 1.5), [0, 5, 2]), **FLOAT),
        "fill_in_place": Case(ONE, (lambda x, i: (x + 1).index_fill_(0, i, 1.5), [1]), **FLOAT),
    },
)

PLACES = [[0, 2], [1, 3], [5, 4], [0, 1]]
op_suite(
    "scatter",
    Function,
    cases={
        "": Case(((4, 6), (4, 2)), (lambda x, v, i: x.scatter(1, i, v), PLACES), **FLOAT),
        "rows": Case(
            ((4, 6), (4, 6)), (lambda x, v, i: x.scatter(0, i, v), [[3, 0, 1], [2, 1, 0]]), **FLOAT
        ),
        "value": Case(ONE, (lambda x, i: x.scatter(1, i, 2.5), PLACES), **FLOAT),
        "add": Case(((4, 6), (4, 2)), (lambda x, v, i: x.scatter_add(1, i, v), PLACES), **FLOAT),
        "in_place": Case(
            ((4, 6), (4, 2)), (lambda x, v, i: (x + 1).scatter_(1, i, v), PLACES), **FLOAT
        ),
        "value_in_place": Case(
            ONE, (lambda x, i: (x + 1).scatter_(1, i, -1.0), PLACES), **FLOAT
        ),
    },
)

A = q8(0.05, -10)
code_suite(
    "index_put",
    Function,
    {
        "": CodeCase(
            (A, A),
            A,
            ((1, 4, 6), (1, 2, 6)),
            (lambda x, v, i, j: x.index_put((i, j), v[0]), [0, 0], [2, 0]),
            steps=0,
        ),
        "other_scales": CodeCase(
            (A, q8(0.2, 30)),
            q8(0.22, 3),
            ((4, 6), (2, 6)),
            (lambda x, v, i: x.index_put((i,), v), [2, 0]),
        ),
        "mask": CodeCase(  # Ethos-U55 has no SELECT
            (A,),
            A,
            ((1, 4, 6),),
            (lambda x: x.masked_fill(x > 0, -1.0),),
            kinds=("BI", "u85"),
        ),
    },
)
code_suite(
    "scatter",
    Function,
    {
        "": CodeCase(
            (A, A), A, ((4, 6), (4, 2)), (lambda x, v, i: x.scatter(1, i, v), PLACES), steps=0
        ),
        "value": CodeCase((A,), A, ONE, (lambda x, i: x.scatter(1, i, 2.5), PLACES), steps=0),
        "other_scales": CodeCase(
            (A, q8(0.2, 30)),
            q8(0.22, 3),
            ((4, 6), (4, 2)),
            (lambda x, v, i: x.scatter(1, i, v), PLACES),
        ),
    },
)


def test_accumulation_at_a_place_named_twice_is_refused(workspace):
    source = Source(
        "index_put_repeated",
        lambda: Function(lambda x, v, i: x.index_put((i,), v, accumulate=True), [2, 2]),
        ((4, 6), (2, 6)),
    )
    program = workspace.program(source)
    report = invoke("explain", program.path, "--target", "tosa-fp")
    assert "named twice" in report.stdout, report.stdout


def test_the_last_of_repeated_places_counts(workspace):
    """As PyTorch's kernel for the CPU has it."""
    from ..tester.checks import check_float

    source = Source(
        "index_put_last",
        lambda: Function(lambda x, v, i: x.index_put((i,), v), [2, 2, 1]),
        ((4, 6), (3, 6)),
    )
    program = workspace.program(source)
    compile_program(program.path, "tosa-fp", program.path.with_suffix(".tosa"), "--strict")
    check_float(program, workspace.scratch("index_put_last", "fp"))
