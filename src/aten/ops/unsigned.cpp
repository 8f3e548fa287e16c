// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Tosaic's own: unsigned integers at the borders of a program, which go to and from signed ones of
// the same real values, or to floats. A TOSA tensor has no unsigned type: u8 is held as i8 with the
// same bits (tosa_border_type), and RESCALE says that its input or output is unsigned.

namespace tosaic::aten {
namespace {

int64_t offset_of(DType dtype) {
  return -integer_min(dtype);
}

Lowered convert(const Call&, Builder& b, Value* x, bool from_unsigned) {
  const DType dtype = x->dtype();
  if (dtype != DType::kI8 && dtype != DType::kI16) {
    return reject(Code::kRejectDtype, "a border of {}; u8 and u16 are taken", dtype_name(dtype));
  }
  // The offset is stored in the tensor's own type, whose bits RESCALE reads as unsigned.
  const int64_t unsigned_zero = -offset_of(dtype);
  Value* in_zp = b.zero_point(dtype, from_unsigned ? unsigned_zero : 0);
  Value* out_zp = b.zero_point(dtype, from_unsigned ? 0 : unsigned_zero);
  const tosa::RescaleAttrs attrs{.scale32 = true,
                                 .rounding_mode = tosa::RoundingMode::kSingle,
                                 .per_channel = false,
                                 .input_unsigned = from_unsigned,
                                 .output_unsigned = !from_unsigned};
  // A factor of 1.
  Value* multiplier = b.constant_ints(DType::kI32, Shape{1}, std::vector<int64_t>{1 << 30});
  Value* shift = b.constant_ints(DType::kI8, Shape{1}, std::vector<int64_t>{30});
  return b.emit(tosa::rescale, {x, multiplier, shift, in_zp, out_zp}, attrs);
}

/// The bits are those of a signed integer: what is below 0 stands for itself plus 2^bits.
Lowered widen(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const DType dtype = n.out().dtype;
  const int rank = n.out().shape.rank();
  if (b.mode() == Builder::Mode::kRecord) {
    return b.call("aten.to.dtype", {x}, n.out(), {{"dtype", Attr::dtype(dtype)}});
  }
  if ((x->dtype() != DType::kI8 && x->dtype() != DType::kI16) ||
      (!is_float(dtype) && dtype != DType::kI32)) {
    return reject(Code::kRejectDtype, "{}: {} to {}; u8 and u16 to floats and int32 are taken",
                  n.schema().full_name, dtype_name(x->dtype()), dtype_name(dtype));
  }
  const int64_t range = 2 * offset_of(x->dtype());
  const auto number = [&](int64_t value) {
    return is_float(dtype) ? b.scalar_float(dtype, static_cast<double>(value), rank)
                           : b.scalar_int(dtype, value, rank);
  };
  Value* y = b.cast(x, dtype);
  Value* is_negative = b.emit(tosa::greater, {number(0), y});
  return b.emit(tosa::select, {is_negative, b.emit(tosa::add, {y, number(range)}), y});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(from_unsigned) = {
    .schemas = schemas("tosaic::from_unsigned(Tensor self) -> Tensor"),
    .doc = "An unsigned quantised value as the signed one of equal real value: RESCALE.",
    .lower = [](const Call& n, Builder& b) { return convert(n, b, n.in(0), true); },
};

TOSAIC_ATEN_OP(to_unsigned) = {
    .schemas = schemas("tosaic::to_unsigned(Tensor self) -> Tensor"),
    .doc = "A signed quantised value as the unsigned one of equal real value: RESCALE.",
    .lower = [](const Call& n, Builder& b) { return convert(n, b, n.in(0), false); },
};

TOSAIC_ATEN_OP(widen_unsigned) = {
    .schemas = schemas("tosaic::widen_unsigned(Tensor self) -> Tensor"),
    .doc = "An unsigned integer as a float or int32: CAST, and 2^bits more where that is below 0.",
    .lower = widen,
};
