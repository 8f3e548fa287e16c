// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"
#include "aten/calls.h"

// Conversion to another dtype: nothing when it is the same, else CAST, from bool to float SELECT.
// Constants of int64 and float64, which TOSA lacks, are converted here. From float to int32 the
// fraction is cut off before, as CAST rounds; other integers are refused.

namespace tosaic::aten {
namespace {

/// A constant from or to a dtype of 64 bits, which no CAST takes, as PyTorch converts it: integers
/// to others by their low bits, float64 to smaller floats through float32. nullptr: it is none.
Value* converted_constant(const Call& n, Builder& b) {
  const Value& x = *n.in(0);
  const DType from = x.dtype();
  const DType to = held_as(n.out()).dtype;
  const bool is_wide = from == DType::kI64 || from == DType::kF64 || to == DType::kF64;
  if (!x.is_constant() || !is_wide) return nullptr;
  if (!is_float(from)) {
    if (to != DType::kF64 && is_float(to)) return nullptr;  // a cast of its own
    std::vector<int64_t> values = int_values(*x.constant());
    if (to == DType::kBool) {
      for (int64_t& v : values)
        v = v != 0;
    }
    return b.constant(b.module().constant_ints(to, x.shape(), values));
  }
  std::vector<double> values = float_values(*x.constant());
  if (is_float(to)) {
    for (double& v : values)
      v = to == DType::kF64 ? v : static_cast<float>(v);
    return b.constant_floats(to, x.shape(), values);
  }
  if (to != n.out().dtype) return nullptr;  // unsigned
  std::vector<int64_t> integers;
  for (double v : values) {
    const auto integer = whole(v, to);
    if (!integer) return nullptr;
    integers.push_back(*integer);
  }
  return b.constant(b.module().constant_ints(to, x.shape(), integers));
}

Lowered lower_to(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const DType from = x->dtype();
  const DType to = n.out().dtype;
  if (n.any_quantised()) return with_parameters(n, b, x, n.out());
  if (from == to) return x;
  if (Value* constant = converted_constant(n, b)) return constant;
  if (is_float(from) && to == DType::kI32) {  // PyTorch truncates and CAST rounds
    return b.cast(b.call("aten.trunc.default", {x}, x->type()), to);
  }
  if (is_float(from) && !is_float(to)) {
    return reject(Code::kRejectDtype, "{}: {} to {}; i32 is taken", n.schema().full_name,
                  dtype_name(from), dtype_name(to));
  }
  if (from == DType::kBool && is_float(to)) {  // of which TOSA has no CAST
    const int rank = x->shape().rank();
    return b.emit(tosa::select, {x, b.scalar_float(to, 1, rank), b.scalar_float(to, 0, rank)});
  }
  return b.cast(x, to);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(to) = {
    .schemas = schemas(
        "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, "
        "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
        "MemoryFormat? memory_format=None) -> Tensor(a)",
        "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, "
        "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
        "MemoryFormat? memory_format=None) -> Tensor",
        "dim_order_ops::_to_dim_order_copy(Tensor self, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
        "bool non_blocking=False, int[]? dim_order=None) -> Tensor"),
    .doc = "Another dtype: CAST; the operand itself when it has that dtype.",
    .traits = Trait::kNoOp,
    .quant = {same({0, out(0)})},
    .lower = lower_to,
    .cpu =
        "aten::_to_copy.out(Tensor self, *, bool non_blocking=False, "
        "MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(type_as) = {
    .schemas = schemas("aten::type_as(Tensor self, Tensor other) -> Tensor"),
    .doc = "The dtype of another tensor: to.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return call_to(b, n.in(0), n.out().dtype);
    },
};
