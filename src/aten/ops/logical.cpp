// SPDX-License-Identifier: Apache-2.0
#include "aten/elementwise.h"

// Operations on truth values. Numbers count as true when they are not 0. The bitwise forms, which
// PyTorch's & | ^ ~ become, are the same on bool.

namespace tosaic::aten {
namespace {

Value* truth(const Call& n, Builder& b, bool value) {
  return b.scalar_int(DType::kBool, value, n.out().shape.rank());
}

/// The operand as bool, of the result's rank.
Value* truth_of(const Call& n, Builder& b, Value* x) {
  if (x->dtype() != DType::kBool) {
    x = b.call("aten.ne.Scalar", {x}, {DType::kBool, x->shape(), nullptr},
               {{"other", Attr::integer(0)}});
  }
  return b.expand_rank(x, n.out().shape.rank());
}

Value* inverted(const Call& n, Builder& b, Value* x) {
  return b.emit(tosa::select, {x, truth(n, b, false), truth(n, b, true)});
}

Lowered lower_and(const Call& n, Builder& b, Value* x, Value* y) {
  return b.emit(tosa::select, {x, y, truth(n, b, false)});
}
Lowered lower_or(const Call& n, Builder& b, Value* x, Value* y) {
  return b.emit(tosa::select, {x, truth(n, b, true), y});
}
Lowered lower_xor(const Call& n, Builder& b, Value* x, Value* y) {
  return b.emit(tosa::select, {x, inverted(n, b, y), y});
}

Lowered refuse(const Call& n) {
  return reject(Code::kRejectDtype, "{}: {} to {}; only bool results are taken",
                n.schema().full_name, dtype_name(n.in(0)->dtype()), dtype_name(n.out().dtype));
}

using Binary = Lowered (*)(const Call&, Builder&, Value*, Value*);

Lowered lower_binary(const Call& n, Builder& b, Binary op) {
  if (n.out().dtype != DType::kBool) return refuse(n);
  return op(n, b, truth_of(n, b, n.in(0)), truth_of(n, b, n.in(1)));
}

Lowered lower_not(const Call& n, Builder& b) {
  if (n.out().dtype != DType::kBool) return refuse(n);
  return inverted(n, b, truth_of(n, b, n.in(0)));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(logical_and) = {
    .schemas = schemas("aten::logical_and(Tensor self, Tensor other) -> Tensor",
                       "aten::logical_and_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Both of two truth values: SELECT.",
    .lower = [](const Call& n, Builder& b) { return lower_binary(n, b, lower_and); },
    .cpu = "aten::logical_and.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_and) = {
    .schemas = schemas("aten::bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::bitwise_and_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::__and__.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::__iand__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Both of two truth values (bool only): SELECT.",
    .lower = [](const Call& n, Builder& b) { return lower_binary(n, b, lower_and); },
    .cpu =
        "aten::bitwise_and.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(logical_or) = {
    .schemas = schemas("aten::logical_or(Tensor self, Tensor other) -> Tensor",
                       "aten::logical_or_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "One of two truth values or both: SELECT.",
    .lower = [](const Call& n, Builder& b) { return lower_binary(n, b, lower_or); },
    .cpu = "aten::logical_or.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_or) = {
    .schemas = schemas("aten::bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::bitwise_or_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::__or__.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::__ior__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "One of two truth values or both (bool only): SELECT.",
    .lower = [](const Call& n, Builder& b) { return lower_binary(n, b, lower_or); },
    .cpu =
        "aten::bitwise_or.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(logical_xor) = {
    .schemas = schemas("aten::logical_xor(Tensor self, Tensor other) -> Tensor",
                       "aten::logical_xor_(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "One of two truth values and not both: SELECT.",
    .lower = [](const Call& n, Builder& b) { return lower_binary(n, b, lower_xor); },
    .cpu = "aten::logical_xor.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_xor) = {
    .schemas = schemas("aten::bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::bitwise_xor_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::__xor__.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::__ixor__.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "One of two truth values and not both (bool only): SELECT.",
    .lower = [](const Call& n, Builder& b) { return lower_binary(n, b, lower_xor); },
    .cpu =
        "aten::bitwise_xor.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(logical_not) = {
    .schemas = schemas("aten::logical_not(Tensor self) -> Tensor",
                       "aten::logical_not_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "The other truth value: SELECT.",
    .lower = lower_not,
    .cpu = "aten::logical_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_not) = {
    .schemas = schemas("aten::bitwise_not(Tensor self) -> Tensor",
                       "aten::bitwise_not_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "The other truth value (bool only): SELECT.",
    .lower = lower_not,
    .cpu = "aten::bitwise_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};
