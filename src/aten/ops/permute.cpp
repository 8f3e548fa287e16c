// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
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

/// Axes in another order as a composite: ExecuTorch has a kernel for permute only.
Lowered call_permutation(const Call& n, Builder& b, std::span<const int64_t> perm) {
  if (b.mode() == Builder::Mode::kLower) return lower_permutation(n, b, perm);
  return b.call("aten.permute.default", {n.in(0)}, n.out(), {{"dims", Attr::ints(perm)}});
}

Lowered lower_swapaxes(const Call& n, Builder& b) {
  const bool is_axes = n.schema().find("axis0") != nullptr;
  int64_t first = n.i(is_axes ? "axis0" : "dim0");
  int64_t second = n.i(is_axes ? "axis1" : "dim1");
  const int rank = n.out().shape.rank();
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (rank > 0) {
    if (!normalise_axis(first, rank)) return no_axis(n, first);
    if (!normalise_axis(second, rank)) return no_axis(n, second);
    std::swap(perm[static_cast<size_t>(first)], perm[static_cast<size_t>(second)]);
  }
  return call_permutation(n, b, perm);
}

/// The axes of `source` stand at `destination`, the others in their order in between.
Lowered lower_movedim(const Call& n, Builder& b) {
  const int rank = n.out().shape.rank();
  std::vector<int64_t> source = n.ints("source");
  std::vector<int64_t> destination = n.ints("destination");
  if (source.size() != destination.size()) {
    return reject(Code::kRejectAttribute, "{}: {} sources for {} destinations",
                  n.schema().full_name, source.size(), destination.size());
  }
  std::vector<int64_t> perm(static_cast<size_t>(rank), -1);
  std::vector<bool> moved(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < source.size(); ++i) {
    if (!normalise_axis(source[i], rank)) return no_axis(n, source[i]);
    if (!normalise_axis(destination[i], rank)) return no_axis(n, destination[i]);
    perm[static_cast<size_t>(destination[i])] = source[i];
    moved[static_cast<size_t>(source[i])] = true;
  }
  int64_t next = 0;
  for (int64_t& axis : perm) {
    if (axis >= 0) continue;
    while (next < rank && moved[static_cast<size_t>(next)])
      ++next;
    if (next == rank) {
      return reject(Code::kRejectAttribute, "{}: an axis is named twice", n.schema().full_name);
    }
    axis = next++;
  }
  return call_permutation(n, b, perm);
}

/// All axes in the opposite order; mT: the last two.
Lowered lower_turned(const Call& n, Builder& b, size_t count) {
  const auto rank = static_cast<size_t>(n.out().shape.rank());
  std::vector<int64_t> perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::reverse(perm.end() - static_cast<std::ptrdiff_t>(std::min(rank, count)), perm.end());
  return call_permutation(n, b, perm);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(swapaxes) = {
    .schemas = schemas("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)",
                       "aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"),
    .doc = "Two axes exchanged: TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_swapaxes,
};

TOSAIC_ATEN_OP(movedim) = {
    .schemas = schemas(
        "aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
        "aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)",
        "aten::moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
        "aten::moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)"),
    .doc = "Axes moved to other places: TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_movedim,
};

TOSAIC_ATEN_OP(mT) = {
    .schemas = schemas("aten::mT(Tensor(a) self) -> Tensor(a)",
                       "aten::mH(Tensor(a) self) -> Tensor(a)",
                       "aten::matrix_H(Tensor(a) self) -> Tensor(a)",
                       "aten::adjoint(Tensor(a) self) -> Tensor(a)"),
    .doc = "The last two axes exchanged: TRANSPOSE. Real numbers are their own conjugates.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_turned(n, b, 2); },
};

TOSAIC_ATEN_OP(numpy_T) = {
    .schemas = schemas("aten::numpy_T(Tensor(a) self) -> Tensor(a)"),
    .doc = "All axes in the opposite order: TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_turned(n, b, kMaxRank); },
};

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
