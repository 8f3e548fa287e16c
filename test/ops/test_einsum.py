# SPDX-License-Identifier: Apache-2.0
"""einsum: products of matrices, sums, diagonals, outer products, "...", several operands."""

import torch

from ..tester.function import Function
from ..tester.suite import Case, op_suite

CASES = {
    "bij,bjk->bik": ((2, 3, 4), (2, 4, 5)),
    "bhqd,bhkd->bhqk": ((1, 2, 3, 4), (1, 2, 5, 4)),
    "nctv,vw->nctw": ((1, 2, 3, 4), (4, 4)),
    "nkctv,kvw->nctw": ((2, 3, 2, 3, 4), (3, 4, 4)),
    "i,j->ij": ((3,), (4,)),
    "i,i->": ((5,), (5,)),
    "bij->bji": ((2, 3, 4),),
    "ij->": ((3, 4),),
    "bij->j": ((2, 3, 4),),
    "ii->i": ((4, 4),),
    "iji->j": ((4, 3, 4),),
    "bij,bij->b": ((2, 3, 4), (2, 3, 4)),
    "bij,bij->bij": ((2, 3, 4), (2, 3, 4)),
    "...ij,...jk->...ik": ((2, 3, 4), (2, 4, 5)),
    "...ij,jk": ((2, 3, 4), (4, 5)),
    "ba,cd": ((2, 3), (2, 4)),
    "ij, jk, kl -> il": ((2, 3), (3, 4), (4, 5)),
    "ija,jk->ik": ((2, 3, 4), (3, 5)),
}


def function_of(equation):
    return lambda *operands: torch.einsum(equation, *operands)


op_suite(
    "einsum",
    Function,
    cases={
        str(place): Case(shapes, (function_of(equation),), kinds=("MI",))
        for place, (equation, shapes) in enumerate(CASES.items())
    }
    | {"quantised": Case(CASES["bij,bjk->bik"], (function_of("bij,bjk->bik"),), kinds=("BI",))},
)
