// SPDX-License-Identifier: Apache-2.0
#include "numeric/table.h"
#include "aten/builder.h"

namespace tosaic::aten {

namespace {

numeric::AffineParams affine(const Quant& quant) {
  return {.scale = quant.scale(),
          .zero_point = quant.zero_point(),
          .qmin = static_cast<int32_t>(quant.qmin),
          .qmax = static_cast<int32_t>(quant.qmax)};
}

Value* table_i8(Builder& b, Value* x, const numeric::Int8Table& table) {
  const std::vector<int64_t> values(table.begin(), table.end());
  Value* entries =
      b.constant_ints(DType::kI8, {static_cast<int64_t>(numeric::kInt8TableSize)}, values);
  return b.emit(tosa::table, {x, entries});
}

/// TABLE on int16 gives an int32 with 7 fraction bits, which a RESCALE takes off.
Value* table_i16(Builder& b, Value* x, const numeric::Int16Table& table) {
  const std::vector<int64_t> values(table.begin(), table.end());
  Value* entries =
      b.constant_ints(DType::kI16, {static_cast<int64_t>(numeric::kInt16TableSize)}, values);
  Value* wide = b.emit(tosa::table, {x, entries});
  return b.rescale(wide, DType::kI16, 1.0 / (1 << numeric::kInt16TableFractionBits), 0, 0);
}

}  // namespace

Lowered lower_table(const Call& call, Builder& b, double (*function)(double, const Call&)) {
  Value* x = call.in(0);
  const Quant* in = x->quant();
  const Quant* out = call.out().quant;
  if (in == nullptr || out == nullptr || !in->per_tensor() || !out->per_tensor()) {
    return reject(Code::kRejectQuantParams,
                  "{}: a table needs input and output quantised per tensor",
                  call.schema().full_name);
  }
  if (x->dtype() != call.out().dtype) {
    return reject(Code::kRejectDtype, "{}: input is {}, output {}; a table needs equal types",
                  call.schema().full_name, dtype_name(x->dtype()), dtype_name(call.out().dtype));
  }
  const auto real = [&](double v) { return function(v, call); };
  if (x->dtype() == DType::kI8) {
    return table_i8(b, x, numeric::make_int8_table(real, affine(*in), affine(*out)));
  }
  if (x->dtype() != DType::kI16) {
    return reject(Code::kRejectDtype, "{}: no table for {}", call.schema().full_name,
                  dtype_name(x->dtype()));
  }
  const numeric::Int16Table table = numeric::make_int16_table(real, affine(*in), affine(*out));
  if (!numeric::all_slopes_fit(table)) {
    return reject(Code::kRejectQuantParams, "{}: the function is too steep for a 16-bit table",
                  call.schema().full_name);
  }
  return table_i16(b, x, table);
}

}  // namespace tosaic::aten
