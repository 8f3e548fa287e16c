// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"

// Elements of one number around a tensor: PAD, after a SLICE where the padding is negative. The
// number is quantised with the parameters that input and output share.

namespace tosaic::aten {
namespace {

Lowered lower_constant_pad(const Call& n, Builder& b) {
  const int rank = n.in(0)->shape().rank();
  // Pairs before and after, from the last axis to the first.
  const std::vector<int64_t> pad = n.ints("pad");
  if (pad.size() % 2 != 0 || pad.size() > 2 * static_cast<size_t>(rank)) {
    return reject(Code::kRejectAttribute, "{}: {} paddings for {} axes", n.schema().full_name,
                  pad.size(), rank);
  }
  Value* x = with_parameters(n, b, n.in(0), n.out());
  std::vector<int64_t> start(static_cast<size_t>(rank), 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  std::vector<int64_t> padding(2 * static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const size_t axis = static_cast<size_t>(rank) - 1 - i;
    const int64_t before = pad[2 * i];
    const int64_t after = pad[2 * i + 1];
    start[axis] = std::max<int64_t>(-before, 0);
    size[axis] -= start[axis] + std::max<int64_t>(-after, 0);
    padding[2 * axis] = std::max<int64_t>(before, 0);
    padding[2 * axis + 1] = std::max<int64_t>(after, 0);
    if (size[axis] <= 0) {
      return reject(Code::kRejectShape, "{}: no elements of the input are left",
                    n.schema().full_name);
    }
  }
  const DType dtype = n.out().dtype;
  const double number = n.f("value");
  Value* value = nullptr;
  if (is_float(dtype)) {
    value = b.scalar_float(dtype, number);
  } else if (n.out().quant != nullptr) {
    value = b.scalar_int(dtype, quantised_value(number, *n.out().quant));
  } else {
    value = b.scalar_int(dtype, static_cast<int64_t>(number));
  }
  Value* y = b.slice(x, start, size);
  if (std::ranges::all_of(padding, [](int64_t p) { return p == 0; })) return y;
  return b.emit(tosa::pad, {y, b.shape_value(padding), value});
}

Lowered lower_pad(const Call& n, Builder& b) {
  if (n.s("mode") != "constant") {
    return reject(Code::kRejectAttribute, "{}: mode {}; constant is taken", n.schema().full_name,
                  n.s("mode"));
  }
  const Attr value = n.has("value") ? n.arg("value") : Attr::integer(0);
  return b.call("aten.constant_pad_nd.default", {n.in(0)}, n.out(),
                {{"pad", n.arg("pad")}, {"value", value}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(constant_pad_nd) = {
    .schemas =
        schemas("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor"),
    .doc = "Elements of one number around a tensor: PAD.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_constant_pad,
    .cpu =
        "aten::constant_pad_nd.out(Tensor self, SymInt[] pad, Scalar value=0, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(pad) = {
    .schemas = schemas("aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", "
                       "float? value=None) -> Tensor"),
    .doc = "constant_pad_nd; the other modes are refused.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_pad,
};
