// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/elementwise.h"

// Operations on truth values. Numbers count as true when they are not 0. The bitwise forms, which
// PyTorch's & | ^ ~ become, are the same on bool, and on integers work on each bit.

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

Lowered refuse(const Call& n, std::string_view taken = "bool results are") {
  return reject(Code::kRejectDtype, "{}: {} to {}; only {} taken", n.schema().full_name,
                dtype_name(n.in(0)->dtype()), dtype_name(n.out().dtype), taken);
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

// ---- Bits of integers -------------------------------------------------------------------------

/// Operands and result are one integer type that is no code of a real value.
bool are_plain_integers(const Call& n) {
  const DType dtype = n.out().dtype;
  if (n.any_quantised()) return false;
  if (dtype != DType::kI8 && dtype != DType::kI16 && dtype != DType::kI32) return false;
  return std::ranges::all_of(n.operands(), [&](const Value* x) { return x->dtype() == dtype; });
}

Value* operand_of_bits(const Call& n, Builder& b, size_t i) {
  return b.expand_rank(n.in(i), n.out().shape.rank());
}

/// The other operand where it is a number.
Value* other_number(const Call& n, Builder& b) {
  return b.scalar_int(n.out().dtype, n.i("other"), n.out().shape.rank());
}

Lowered lower_bits(const Call& n, Builder& b, const OpDef& op, Binary on_bool) {
  if (n.out().dtype == DType::kBool) return lower_binary(n, b, on_bool);
  if (!are_plain_integers(n)) return refuse(n, "bool and integers of one type are");
  return b.emit(op, {operand_of_bits(n, b, 0), operand_of_bits(n, b, 1)});
}

Lowered lower_bits_of_number(const Call& n, Builder& b, const OpDef& op) {
  if (!are_plain_integers(n)) return refuse(n, "integers of one type are");
  return b.emit(op, {operand_of_bits(n, b, 0), other_number(n, b)});
}

Lowered lower_bits_not(const Call& n, Builder& b) {
  if (n.out().dtype == DType::kBool) return lower_not(n, b);
  if (!are_plain_integers(n)) return refuse(n, "bool and integers are");
  return b.emit(tosa::bitwise_not, {n.in(0)});
}

/// By a number of places within the type; PyTorch gives 0 or the sign beyond, TOSA nothing.
Lowered lower_shift(const Call& n, Builder& b, bool to_left) {
  if (!are_plain_integers(n)) return refuse(n, "integers of one type are");
  const int64_t bits = 8 * static_cast<int64_t>(element_bytes(n.out().dtype));
  if (n.i("other") < 0 || n.i("other") >= bits) {
    return reject(Code::kRejectAttribute, "{}: by {} places; 0 to {} are taken",
                  n.schema().full_name, n.i("other"), bits - 1);
  }
  Value* x = operand_of_bits(n, b, 0);
  Value* places = other_number(n, b);
  if (to_left) return b.emit(tosa::logical_left_shift, {x, places});
  return b.emit(tosa::arithmetic_right_shift, {x, places}, tosa::ArithmeticRightShiftAttrs{false});
}

Lowered refuse_places(const Call& n, Builder&) {
  return reject(Code::kRejectAttribute,
                "{}: by a number of places that is computed, which may leave the type",
                n.schema().full_name);
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
    .doc = "Both of two truth values, or bits: SELECT, BITWISE_AND.",
    .lower = [](const Call& n,
                Builder& b) { return lower_bits(n, b, tosa::bitwise_and, lower_and); },
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
    .doc = "One of two truth values or both, or of bits: SELECT, BITWISE_OR.",
    .lower = [](const Call& n, Builder& b) { return lower_bits(n, b, tosa::bitwise_or, lower_or); },
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
    .doc = "One of two truth values and not both, or of bits: SELECT, BITWISE_XOR.",
    .lower = [](const Call& n,
                Builder& b) { return lower_bits(n, b, tosa::bitwise_xor, lower_xor); },
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
    .doc = "The other truth value, or bits: SELECT, BITWISE_NOT.",
    .lower = lower_bits_not,
    .cpu = "aten::bitwise_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_and_scalar) = {
    .schemas = schemas("aten::bitwise_and.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::bitwise_and_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::__and__.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::__iand__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Both of a value's bits and a number's: BITWISE_AND.",
    .lower = [](const Call& n,
                Builder& b) { return lower_bits_of_number(n, b, tosa::bitwise_and); },
    .cpu =
        "aten::bitwise_and.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_or_scalar) = {
    .schemas = schemas("aten::bitwise_or.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::bitwise_or_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::__or__.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::__ior__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "One of a value's bits and a number's, or both: BITWISE_OR.",
    .lower = [](const Call& n, Builder& b) { return lower_bits_of_number(n, b, tosa::bitwise_or); },
    .cpu =
        "aten::bitwise_or.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_xor_scalar) = {
    .schemas = schemas("aten::bitwise_xor.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::bitwise_xor_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::__xor__.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::__ixor__.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "One of a value's bits and a number's, and not both: BITWISE_XOR.",
    .lower = [](const Call& n,
                Builder& b) { return lower_bits_of_number(n, b, tosa::bitwise_xor); },
    .cpu =
        "aten::bitwise_xor.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_left_shift) = {
    .schemas = schemas("aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor"),
    .doc = "Bits moved to the left by places that are computed; of no form in TOSA.",
    .lower = refuse_places,
    .cpu =
        "aten::bitwise_left_shift.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_left_shift_scalar) = {
    .schemas =
        schemas("aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
                "aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor"),
    .doc = "Bits moved to the left by a number of places: LOGICAL_LEFT_SHIFT.",
    .lower = [](const Call& n, Builder& b) { return lower_shift(n, b, true); },
    .cpu =
        "aten::bitwise_left_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) "
        "-> Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_right_shift) = {
    .schemas = schemas("aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor"),
    .doc = "Bits moved to the right by places that are computed; of no form in TOSA.",
    .lower = refuse_places,
    .cpu =
        "aten::bitwise_right_shift.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(bitwise_right_shift_scalar) = {
    .schemas =
        schemas("aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor",
                "aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor"),
    .doc = "Bits moved to the right by a number of places: ARITHMETIC_RIGHT_SHIFT.",
    .lower = [](const Call& n, Builder& b) { return lower_shift(n, b, false); },
    .cpu =
        "aten::bitwise_right_shift.Tensor_Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) "
        "-> Tensor(a!)",
};
