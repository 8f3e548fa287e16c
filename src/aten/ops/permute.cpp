// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "aten/arithmetic.h"

// Axes in another order: TRANSPOSE, or RESHAPE when only axes of size 1 change their place.

namespace tosaic::aten {
namespace {

/// The elements keep their order: the axes longer than 1 do.
bool keeps_order(const Shape& shape, std::span<const int64_t> perm) {
  int64_t last = -1;
  for (int64_t axis : perm) {
    if (shape[static_cast<int>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

Lowered lower_permutation(const Call& n, Builder& b, std::span<const int64_t> perm) {
  Value* x = with_parameters(n, b, n.in(0), n.out());
  if (keeps_order(n.in(0)->shape(), perm)) return b.reshape(x, n.out().shape);
  return b.transpose(x, perm);
}

Lowered no_axis(const Call& n, int64_t axis) {
  return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
}

Lowered lower_permute(const Call& n, Builder& b) {
  std::vector<int64_t> perm = n.ints("dims");
  for (int64_t& axis : perm) {
    if (!normalise_axis(axis, n.out().shape.rank())) return no_axis(n, axis);
  }
  return lower_permutation(n, b, perm);
}

Lowered lower_swap(const Call& n, Builder& b, int64_t axis0, int64_t axis1) {
  const int rank = n.out().shape.rank();
  if (rank == 0) return with_parameters(n, b, n.in(0), n.out());
  if (!normalise_axis(axis0, rank)) return no_axis(n, axis0);
  if (!normalise_axis(axis1, rank)) return no_axis(n, axis1);
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(axis0)], perm[static_cast<size_t>(axis1)]);
  return lower_permutation(n, b, perm);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(permute) = {
    .schemas = schemas("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)",
                       "aten::permute_copy(Tensor self, int[] dims) -> Tensor"),
    .doc = "Axes in another order: TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_permute,
    .cpu = "aten::permute_copy.out(Tensor self, int[] dims, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(transpose) = {
    .schemas = schemas("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
                       "aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor"),
    .doc = "Two axes exchanged: TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_swap(n, b, n.i("dim0"), n.i("dim1")); },
    .cpu =
        "aten::transpose_copy.int_out(Tensor self, int dim0, int dim1, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(t) = {
    .schemas = schemas("aten::t(Tensor(a) self) -> Tensor(a)",
                       "aten::t_copy(Tensor self) -> Tensor"),
    .doc = "The transposed matrix: TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          return n.out().shape.rank() < 2 ? Lowered(with_parameters(n, b, n.in(0), n.out()))
                                          : lower_swap(n, b, 0, 1);
        },
    .cpu = "aten::t_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};
