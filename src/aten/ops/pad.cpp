// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"
#include "aten/calls.h"

// Elements of one number around a tensor: PAD, after a SLICE where the padding is negative. The
// number is quantised with the parameters that input and output share.

namespace tosaic::aten {
namespace {

/// What is left where nothing of the input is.
Lowered fill(const Call& n, Builder& b) {
  return b.call("aten.full.default", {}, n.out(),
                {{"size", Attr::ints(n.out().shape.sizes())}, {"fill_value", n.arg("value")}});
}

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
    constexpr int64_t kMost = int64_t{1} << 31;  // TOSA's sizes are below it
    if (std::max(before, after) > kMost || std::min(before, after) < -kMost) {
      return reject(Code::kRejectAttribute, "{}: padding of {} and {}", n.schema().full_name,
                    before, after);
    }
    start[axis] = std::max<int64_t>(-before, 0);
    size[axis] -= start[axis] + std::max<int64_t>(-after, 0);
    padding[2 * axis] = std::max<int64_t>(before, 0);
    padding[2 * axis + 1] = std::max<int64_t>(after, 0);
    if (size[axis] <= 0) return fill(n, b);
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

/// ExecuTorch's kernel pads and cuts nothing off.
bool only_adds(const Call& n) {
  return std::ranges::none_of(n.ints("pad"), [](int64_t p) { return p < 0; });
}

/// Slices, and what is left to add.
Lowered record_pad(const Call& n, Builder& b) {
  std::vector<int64_t> pad = n.ints("pad");
  Value* x = n.in(0);
  const auto rank = static_cast<size_t>(x->shape().rank());
  if (pad.size() % 2 != 0 || pad.size() > 2 * rank) {
    return reject(Code::kRejectAttribute, "{}: {} paddings for {} axes", n.schema().full_name,
                  pad.size(), rank);
  }
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int axis = static_cast<int>(rank - 1 - i);
    // Nothing is left before that much is cut off.
    const auto cut = [&](int64_t p) { return -std::clamp<int64_t>(p, -x->shape()[axis], 0); };
    const int64_t first = cut(pad[2 * i]);
    const int64_t count = x->shape()[axis] - first - cut(pad[2 * i + 1]);
    if (count <= 0) return fill(n, b);
    x = call_slice(b, x, axis, first, count);
    pad[2 * i] = std::max<int64_t>(pad[2 * i], 0);
    pad[2 * i + 1] = std::max<int64_t>(pad[2 * i + 1], 0);
  }
  if (std::ranges::all_of(pad, [](int64_t p) { return p == 0; })) return call_view(b, x, n.out());
  return b.call("aten.constant_pad_nd.default", {x}, n.out(),
                {{"pad", Attr::ints(pad)}, {"value", n.arg("value")}});
}

Lowered lower_or_record_pad(const Call& n, Builder& b) {
  const bool record = b.mode() == Builder::Mode::kRecord && !only_adds(n);
  return record ? record_pad(n, b) : lower_constant_pad(n, b);
}

/// Which element of the axis stands `distance` before its first, or behind its last.
using Border = int64_t (*)(int64_t distance, bool is_before, int64_t size);

int64_t reflected(int64_t distance, bool is_before, int64_t size) {
  return is_before ? distance : size - 1 - distance;
}
int64_t replicated(int64_t, bool is_before, int64_t size) {
  return is_before ? 0 : size - 1;
}
int64_t wrapped(int64_t distance, bool is_before, int64_t size) {
  return is_before ? size - distance : distance - 1;
}

/// Elements of the axis itself around it.
Value* pad_axis(Builder& b, Value* x, int axis, int64_t before, int64_t after, Border border) {
  const int64_t size = x->shape()[axis];
  std::vector<int64_t> sources;
  for (int64_t d = before; d > 0; --d)
    sources.push_back(border(d, true, size));
  for (int64_t i = 0; i < size; ++i)
    sources.push_back(i);
  for (int64_t d = 1; d <= after; ++d)
    sources.push_back(border(d, false, size));
  return call_take(b, x, axis, sources);
}

/// Borders made of the tensor's own elements: SLICEs and a CONCAT per axis.
Lowered lower_border(const Call& n, Builder& b, const std::vector<int64_t>& pad, Border border) {
  constexpr int64_t kMaxPad = 64;  // each element of a reflected border is a slice
  Value* x = n.in(0);
  const int rank = x->shape().rank();
  if (pad.size() % 2 != 0 || pad.size() > 2 * static_cast<size_t>(rank)) {
    return reject(Code::kRejectAttribute, "{}: {} paddings for {} axes", n.schema().full_name,
                  pad.size(), rank);
  }
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    const int axis = rank - 1 - static_cast<int>(i);
    const int64_t size = x->shape()[axis];
    const int64_t limit = std::min(kMaxPad, border == &reflected ? size - 1
                                            : border == &wrapped ? size
                                                                 : kMaxPad);
    for (int64_t p : {pad[2 * i], pad[2 * i + 1]}) {
      if (p < 0 || p > limit || size == 0) {
        return reject(Code::kRejectAttribute, "{}: padding {} of axis {}; 0 to {} are taken",
                      n.schema().full_name, p, axis, limit);
      }
    }
    x = pad_axis(b, x, axis, pad[2 * i], pad[2 * i + 1], border);
  }
  return call_view(b, x, n.out());
}

Lowered lower_pad(const Call& n, Builder& b) {
  const std::string_view mode = n.s("mode");
  if (mode == "reflect") return lower_border(n, b, n.ints("pad"), reflected);
  if (mode == "replicate") return lower_border(n, b, n.ints("pad"), replicated);
  if (mode == "circular") return lower_border(n, b, n.ints("pad"), wrapped);
  if (mode != "constant") {
    return reject(Code::kRejectAttribute,
                  "{}: mode {}; constant, reflect, replicate and circular "
                  "are taken",
                  n.schema().full_name, mode);
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
    .lower = lower_or_record_pad,
    .cpu =
        "aten::constant_pad_nd.out(Tensor self, SymInt[] pad, Scalar value=0, *, "
        "Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = only_adds,
};

TOSAIC_ATEN_OP(pad) = {
    .schemas = schemas("aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", "
                       "float? value=None) -> Tensor"),
    .doc = "constant_pad_nd, or a border of the tensor's own elements: SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_pad,
};

TOSAIC_ATEN_OP(reflection_pad1d) = {
    .schemas = schemas("aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor"),
    .doc = "A border of mirrored elements: SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return lower_border(n, b, n.ints("padding"), reflected); },
    .cpu =
        "aten::reflection_pad1d.out(Tensor self, SymInt[2] padding, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(reflection_pad2d) = {
    .schemas = schemas("aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor"),
    .doc = "A border of mirrored elements: SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return lower_border(n, b, n.ints("padding"), reflected); },
    .cpu =
        "aten::reflection_pad2d.out(Tensor self, SymInt[4] padding, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(reflection_pad3d) = {
    .schemas = schemas("aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor"),
    .doc = "A border of mirrored elements: SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return lower_border(n, b, n.ints("padding"), reflected); },
    .cpu =
        "aten::reflection_pad3d.out(Tensor self, SymInt[6] padding, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(replication_pad1d) = {
    .schemas = schemas("aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor"),
    .doc = "A border of repeated elements: SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return lower_border(n, b, n.ints("padding"), replicated); },
    .cpu =
        "aten::replication_pad1d.out(Tensor self, SymInt[2] padding, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(replication_pad2d) = {
    .schemas = schemas("aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor"),
    .doc = "A border of repeated elements: SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return lower_border(n, b, n.ints("padding"), replicated); },
    .cpu =
        "aten::replication_pad2d.out(Tensor self, SymInt[4] padding, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(replication_pad3d) = {
    .schemas = schemas("aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor"),
    .doc = "A border of repeated elements: SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return lower_border(n, b, n.ints("padding"), replicated); },
    .cpu =
        "aten::replication_pad3d.out(Tensor self, SymInt[6] padding, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};
