// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/arithmetic.h"

// Functions of one value that TOSA has in float; quantised they are tables.

TOSAIC_ATEN_OP(sigmoid) = {
    .schemas = schemas("aten::sigmoid(Tensor self) -> Tensor",
                       "aten::sigmoid_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "1 / (1 + exp(-x)): SIGMOID in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return 1 / (1 + std::exp(-x)); },
    .lower = [](const Call& n, Builder& b) -> Lowered { return b.emit(tosa::sigmoid, {n.in(0)}); },
    .cpu = "aten::sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(tanh) = {
    .schemas = schemas("aten::tanh(Tensor self) -> Tensor",
                       "aten::tanh_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Hyperbolic tangent: TANH in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::tanh(x); },
    .lower = [](const Call& n, Builder& b) -> Lowered { return b.emit(tosa::tanh, {n.in(0)}); },
    .cpu = "aten::tanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};
