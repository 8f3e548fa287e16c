// SPDX-License-Identifier: Apache-2.0
#include "aten/calls.h"

// Elements several times in a row, and axes turned around their ends.

namespace tosaic::aten {
namespace {

/// Each element several times in a row: [outer, n, inner] -> [outer, n, times, inner].
Lowered lower_repeat_interleave(const Call& n, Builder& b) {
  const int64_t times = n.i("repeats");
  const Shape& s = n.in(0)->shape();
  int64_t axis = n.has("dim") ? n.i("dim") : 0;
  const bool flat = !n.has("dim") || s.rank() == 0;
  if (times < 1 || s.num_elements() == 0 || (!flat && !normalise_axis(axis, s.rank()))) {
    return reject(Code::kRejectAttribute, "{}: {} repeats along axis {} of {}",
                  n.schema().full_name, times, axis, to_string(s));
  }
  int64_t outer = 1;
  for (int i = 0; i < axis && !flat; ++i)
    outer *= s[i];
  const int64_t size = flat ? s.num_elements() : s[static_cast<int>(axis)];
  const int64_t inner = s.num_elements() / (outer * size);
  Value* x = call_view(b, n.in(0), {outer * size, 1, inner});
  const int64_t sizes[] = {outer * size, times, inner};
  Value* y = b.call("aten.expand.default", {x}, {x->dtype(), Shape(sizes), x->quant()},
                    {{"size", Attr::ints(sizes)}});
  return call_view(b, y, n.out());
}

/// The last `shift` elements of an axis come first.
Value* roll_axis(Builder& b, Value* x, int axis, int64_t shift) {
  const int64_t size = x->shape()[axis];
  if (size == 0) return x;
  shift = ((shift % size) + size) % size;
  if (shift == 0) return x;
  Value* parts[] = {call_slice(b, x, axis, size - shift, shift),
                    call_slice(b, x, axis, 0, size - shift)};
  return call_cat(b, parts, axis, x->type());
}

Lowered lower_roll(const Call& n, Builder& b) {
  const auto dims = n.ints("dims");
  const auto shifts = n.ints("shifts", std::max<size_t>(dims.size(), 1));
  if (shifts.size() != std::max<size_t>(dims.size(), 1)) {
    return reject(Code::kRejectAttribute, "{}: {} shifts for {} axes", n.schema().full_name,
                  shifts.size(), dims.size());
  }
  if (dims.empty()) {
    Value* x = call_view(b, n.in(0), Shape{n.in(0)->shape().num_elements()});
    return call_view(b, roll_axis(b, x, 0, shifts[0]), n.out());
  }
  Value* x = n.in(0);
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t axis = dims[i];
    if (!normalise_axis(axis, x->shape().rank())) {
      return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
    }
    x = roll_axis(b, x, static_cast<int>(axis), shifts[i]);
  }
  // Nothing may have moved.
  return call_view(b, x, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(repeat_interleave) = {
    .schemas = schemas("aten::repeat_interleave.self_int(Tensor self, SymInt repeats, "
                       "int? dim=None, *, SymInt? output_size=None) -> Tensor"),
    .doc = "Each element several times in a row: RESHAPE and TILE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_repeat_interleave,
};

TOSAIC_ATEN_OP(roll) = {
    .schemas = schemas("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor"),
    .doc = "Axes turned around their ends: two SLICEs and a CONCAT each.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_roll,
    .cpu =
        "aten::roll.out(Tensor self, SymInt[1] shifts, int[1] dims=[], *, Tensor(a!) out) -> "
        "Tensor(a!)",
    .cpu_takes = [](const Call& n) { return !n.ints("dims").empty(); },
};
