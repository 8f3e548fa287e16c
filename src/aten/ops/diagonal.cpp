// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/calls.h"

// Diagonals of matrices: of the elements in a row one of every [columns + 1].

namespace tosaic::aten {
namespace {

/// The axes of `rank` with `first` and `second` at the end.
std::vector<int64_t> with_last(int rank, int64_t first, int64_t second) {
  std::vector<int64_t> perm;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (axis != first && axis != second) perm.push_back(axis);
  }
  perm.push_back(first);
  perm.push_back(second);
  return perm;
}

Lowered lower_diagonal(const Call& n, Builder& b, int64_t offset, int64_t dim1, int64_t dim2) {
  Value* x = n.in(0);
  const int rank = x->shape().rank();
  if (!normalise_axis(dim1, rank) || !normalise_axis(dim2, rank) || dim1 == dim2) {
    return reject(Code::kRejectAttribute, "{}: axes {} and {} of {}", n.schema().full_name, dim1,
                  dim2, to_string(x->shape()));
  }
  const int64_t rows = x->shape()[static_cast<int>(dim1)];
  const int64_t columns = x->shape()[static_cast<int>(dim2)];
  const int64_t count =
      std::min(offset < 0 ? rows + offset : rows, offset < 0 ? columns : columns - offset);
  if (count <= 0 || x->shape().num_elements() == 0) {
    return reject(Code::kRejectShape, "{}: the result has no elements", n.schema().full_name);
  }
  x = call_permute(b, x, with_last(rank, dim1, dim2));
  x = call_view(b, x, Shape{x->shape().num_elements() / (rows * columns), rows * columns});
  const int64_t first = offset < 0 ? -offset * columns : offset;
  return call_view(b, call_steps(b, x, 1, first, count, columns + 1), n.out());
}

/// [.., count] with other axes of size `size` at `dim1` and `dim2`: each element is followed by as
/// many zeros as lie between two of the diagonal.
Lowered lower_diag_embed(const Call& n, Builder& b, int64_t offset, int64_t dim1, int64_t dim2) {
  Value* x = n.in(0);
  const int rank = n.out().shape.rank();
  if (!normalise_axis(dim1, rank) || !normalise_axis(dim2, rank) || dim1 == dim2 ||
      x->shape().rank() != rank - 1 || x->shape().num_elements() == 0) {
    return reject(Code::kRejectAttribute, "{}: axes {} and {} for {}", n.schema().full_name, dim1,
                  dim2, to_string(x->shape()));
  }
  constexpr int64_t kMostOffset = int64_t{1} << 31;
  if (offset < -kMostOffset || offset > kMostOffset) {
    return reject(Code::kRejectAttribute, "{}: an offset of {}", n.schema().full_name, offset);
  }
  const int64_t count = x->shape()[rank - 2];
  const int64_t size = count + std::abs(offset);
  const int64_t lead = x->shape().num_elements() / count;
  const auto padded = [&](Value* v, int64_t before, int64_t after) {
    TensorType type = v->type();
    const int last = type.shape.rank() - 1;
    type.shape[last] += before + after;
    const int64_t pad[] = {before, after};
    return b.call("aten.constant_pad_nd.default", {v}, type, {{"pad", Attr::ints(pad)}});
  };
  x = padded(call_view(b, x, Shape{lead, count, 1}), 0, size);
  x = call_view(b, x, Shape{lead, count * (size + 1)});
  const int64_t before = offset < 0 ? -offset * size : offset;
  const int64_t after = size * size - before - count * (size + 1);
  x = padded(x, before, std::max<int64_t>(after, 0));
  x = call_slice(b, x, 1, 0, size * size);
  // The two axes are the last ones so far.
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  const std::vector<int64_t> order = with_last(rank, dim1, dim2);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < order.size(); ++i) {
    perm[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    sizes.push_back(n.out().shape[static_cast<int>(order[i])]);
  }
  return call_view(b, call_permute(b, call_view(b, x, Shape(sizes)), perm), n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(diagonal) = {
    .schemas =
        schemas("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
                "aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor"),
    .doc = "The diagonal of two axes: slices with a step.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          return lower_diagonal(n, b, n.i("offset"), n.i("dim1"), n.i("dim2"));
        },
    .cpu =
        "aten::diagonal_copy.out(Tensor self, int offset=0, int dim1=0, int dim2=1, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(diag) = {
    .schemas = schemas("aten::diag(Tensor self, int diagonal=0) -> Tensor"),
    .doc = "The diagonal of a matrix, or a matrix with a vector as its diagonal.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          return n.in(0)->shape().rank() == 1 ? lower_diag_embed(n, b, n.i("diagonal"), 0, 1)
                                              : lower_diagonal(n, b, n.i("diagonal"), 0, 1);
        },
};

TOSAIC_ATEN_OP(diag_embed) = {
    .schemas = schemas("aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> "
                       "Tensor"),
    .doc = "Vectors as diagonals of matrices of zeros: pad and reshape.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          return lower_diag_embed(n, b, n.i("offset"), n.i("dim1"), n.i("dim2"));
        },
};
