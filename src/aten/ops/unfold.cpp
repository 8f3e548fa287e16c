// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/calls.h"

// Windows of an axis as a new axis (Tensor.unfold), as the frames of a signal are made.

namespace tosaic::aten {
namespace {

/// One slice per window, or one slice with a step per place in the window: whatever gives fewer.
Lowered lower_unfold(const Call& n, Builder& b) {
  constexpr int64_t kMaxParts = 128;
  Value* x = n.in(0);
  int64_t axis = n.i("dimension");
  const int64_t size = n.i("size");
  const int64_t step = n.i("step");
  const int rank = x->shape().rank();
  if (rank == 0 || !normalise_axis(axis, rank) || size < 1 || step < 1) {
    return reject(Code::kRejectAttribute, "{}: windows of {} with step {} along axis {} of {}",
                  n.schema().full_name, size, step, axis, to_string(x->shape()));
  }
  const auto a = static_cast<int>(axis);
  const int64_t length = x->shape()[a];
  if (size > length) {
    return reject(Code::kRejectAttribute, "{}: windows of {} along an axis of {}",
                  n.schema().full_name, size, length);
  }
  const int64_t count = (length - size) / step + 1;
  if (std::min(size, count) > kMaxParts) {
    return reject(Code::kRejectAttribute, "{}: {} windows of {} elements; {} of either are taken",
                  n.schema().full_name, count, size, kMaxParts);
  }
  std::vector<int64_t> sizes(x->shape().begin(), x->shape().end());
  sizes[static_cast<size_t>(a)] = count;
  sizes.insert(sizes.begin() + a + 1, size);
  TensorType windows{x->dtype(), Shape(sizes), x->quant()};  // [.., count, size, ..]
  if (size == step || count == 1) {
    x = call_view(b, call_slice(b, x, a, 0, count * size), windows);
  } else {
    const bool by_window = count <= size;
    const int along = by_window ? a : a + 1;
    TensorType part = windows;
    part.shape[along] = 1;
    std::vector<Value*> parts;
    for (int64_t i = 0; i < std::min(size, count); ++i) {
      Value* taken =
          by_window ? call_slice(b, x, a, i * step, size) : call_steps(b, x, a, i, count, step);
      parts.push_back(call_view(b, taken, part));
    }
    x = call_cat(b, parts, along, windows);
  }
  std::vector<int64_t> perm;
  for (int64_t i = 0; i <= rank; ++i) {
    if (i != a + 1) perm.push_back(i);
  }
  perm.push_back(a + 1);
  return call_view(b, call_permute(b, x, perm), n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(unfold) = {
    .schemas =
        schemas("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
                "aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor"),
    .doc = "Windows of an axis as a new axis: SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_unfold,
    .cpu =
        "aten::unfold_copy.out(Tensor self, int dimension, int size, int step, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};
