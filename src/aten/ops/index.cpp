// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "aten/arithmetic.h"
#include "aten/calls.h"
#include "aten/gathers.h"
#include "aten/indices.h"

// Elements by index. Indices that are constants become slices, others GATHER; 64-bit ones, which
// TOSA 1.0 lacks, are int32 in it.

namespace tosaic::aten {
namespace {

Lowered take(const Call& n, Builder& b, int64_t axis, Value& index) {
  Value* x = n.in(0);
  if (!normalise_axis(axis, x->shape().rank())) {
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  if (!index.is_constant()) return gather_axis(n, b, x, static_cast<int>(axis), &index);
  std::vector<int64_t> indices;
  if (auto r = read_indices(n, index, x->shape()[static_cast<int>(axis)], indices)) return *r;
  return call_view(b, call_take_any(b, x, static_cast<int>(axis), indices), n.out());
}

/// x[:, i, j]: what the lists are broadcast to stands in the result where the axes stood.
Lowered lower_index(const Call& n, Builder& b) {
  const auto lists = n.tensors("indices");
  if (!std::ranges::all_of(lists,
                           [](const Value* v) { return v == nullptr || v->is_constant(); })) {
    return gather_axes(n, b, lists);
  }
  Places places;
  if (auto r = read_places(n, lists, n.in(0)->shape(), places)) return *r;
  Value* x = call_view(b, n.in(0), places.merged);
  return call_view(b, call_take_any(b, x, places.first_axis, places.list), n.out());
}

Lowered lower_gather(const Call& n, Builder& b) {
  Value* x = n.in(0);
  if (!n.tensor("index")->is_constant()) {
    return gather_elements(n, b, n.i("dim"), n.tensor("index"));
  }
  Places places;
  if (auto r = read_flat_places(n, n.i("dim"), *n.tensor("index"), x->shape(), places)) return *r;
  x = call_view(b, x, places.merged);
  return call_view(b, call_take_any(b, x, 0, places.list), n.out());
}

Value* expanded(Builder& b, Value* x, const std::vector<int64_t>& sizes) {
  TensorType type = x->type();
  type.shape = Shape(sizes);
  if (type.shape == x->shape()) return x;
  return b.call("aten.expand.default", {x}, type, {{"size", Attr::ints(sizes)}});
}

/// gather along an axis; the other ones broadcast. Without an axis, of all elements in a row.
Lowered call_gather(const Call& n, Builder& b) {
  Value* x = n.in(0);
  Value* index = n.tensor("indices");
  if (!n.has("dim")) {
    x = call_view(b, x, {x->shape().num_elements()});
    index = call_view(b, index, {index->shape().num_elements()});
  }
  int64_t axis = n.has("dim") ? n.i("dim") : 0;
  std::vector<int64_t> from(x->shape().begin(), x->shape().end());
  std::vector<int64_t> to(index->shape().begin(), index->shape().end());
  bool fits = from.size() == to.size() && normalise_axis(axis, x->shape().rank());
  for (size_t i = 0; fits && i < from.size(); ++i) {
    if (i == static_cast<size_t>(axis)) continue;
    fits = from[i] == to[i] || from[i] == 1 || to[i] == 1;
    from[i] = to[i] = std::max(from[i], to[i]);
  }
  if (!fits) {
    return reject(Code::kRejectShape, "{}: indices of sizes {} for {}", n.schema().full_name,
                  to_string(index->shape()), to_string(x->shape()));
  }
  return b.call("aten.gather.default", {expanded(b, x, from), expanded(b, index, to)}, n.out(),
                {{"dim", Attr::integer(axis)}});
}

/// Rows of a table, by GATHER.
Lowered lower_embedding(const Call& n, Builder& b) {
  Value* weight = n.tensor("weight");
  Value* indices = n.tensor("indices");
  const Shape& s = weight->shape();
  if (indices->dtype() != DType::kI32 && !indices->is_constant()) {
    return reject(Code::kRejectDtype, "{}: indices are {}; i32 is taken", n.schema().full_name,
                  dtype_name(indices->dtype()));
  }
  if (s.rank() != 2 || s[0] > (1 << 24) || indices->shape().num_elements() == 0) {
    return reject(Code::kRejectShape, "{}: a table of sizes {}", n.schema().full_name,
                  to_string(s));
  }
  Value* table = b.reshape(weight, {1, s[0], s[1]});
  const Shape row{1, indices->shape().num_elements()};
  Value* rows = b.emit(tosa::gather, {table, reshape_places(b, b.cast(indices, DType::kI32), row)});
  rows = b.reshape(rows, n.out().shape);
  if (weight->quant() == nullptr && n.out().quant == nullptr) return rows;
  if (auto r = check_activation(n, weight->type(), "the table")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const Quant& from = *weight->quant();
  const Quant& to = *n.out().quant;
  if (weight->dtype() != n.out().dtype || from.scale() != to.scale() ||
      from.zero_point() != to.zero_point()) {
    rows = b.rescale(rows, n.out().dtype, from.scale() / to.scale(), from.zero_point(),
                     to.zero_point());
  }
  return clamp_to_range(b, rows, n.out());
}

/// REVERSE, or where the target has none along this axis, element after element.
Lowered lower_flip(const Call& n, Builder& b) {
  constexpr int64_t kMaxElements = 64;
  Value* x = with_parameters(n, b, n.in(0), n.out());
  for (int64_t axis : n.ints("dims")) {
    const int rank = x->shape().rank();
    if (!normalise_axis(axis, rank)) {
      return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
    }
    const auto a = static_cast<int>(axis);
    const int64_t size = x->shape()[a];
    if (size == 1) continue;
    const tosa::AxisAttrs attrs{a};
    const AttrList list = tosa::write_attrs(attrs, b.module().arena());
    Value* operands[] = {x};
    if (size > kMaxElements || b.legal(tosa::reverse, operands, list)) {
      x = b.emit(tosa::reverse, {x}, attrs);
      continue;
    }
    std::vector<int64_t> indices;
    for (int64_t i = size; i-- > 0;)
      indices.push_back(i);
    x = call_take(b, x, a, indices);
  }
  return x;
}

Value* call_flip(Builder& b, Value* x, std::initializer_list<int64_t> dims) {
  return b.call("aten.flip.default", {x}, x->type(),
                {{"dims", Attr::ints(std::span(dims.begin(), dims.size()))}});
}

/// Quarter turns from the first axis of `dims` to the second.
Lowered lower_rot90(const Call& n, Builder& b) {
  Value* x = n.in(0);
  std::vector<int64_t> dims = n.ints("dims");
  const int rank = x->shape().rank();
  if (dims.size() != 2 || !normalise_axis(dims[0], rank) || !normalise_axis(dims[1], rank)) {
    return reject(Code::kRejectAttribute, "{}: dims must be two axes", n.schema().full_name);
  }
  const int64_t turns = ((n.i("k") % 4) + 4) % 4;
  if (turns == 0) return x;
  if (turns == 2) return call_flip(b, x, {dims[0], dims[1]});
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[static_cast<size_t>(dims[0])], perm[static_cast<size_t>(dims[1])]);
  return call_flip(b, call_permute(b, x, perm), {turns == 1 ? dims[0] : dims[1]});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(flip) = {
    .schemas = schemas("aten::flip(Tensor self, int[] dims) -> Tensor"),
    .doc = "Axes in the opposite direction: REVERSE, or SLICEs and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_flip,
    .cpu = "aten::flip.out(Tensor self, int[] dims, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(fliplr) = {
    .schemas = schemas("aten::fliplr(Tensor self) -> Tensor"),
    .doc = "The second axis in the opposite direction: flip.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered { return call_flip(b, n.in(0), {1}); },
};

TOSAIC_ATEN_OP(flipud) = {
    .schemas = schemas("aten::flipud(Tensor self) -> Tensor"),
    .doc = "The first axis in the opposite direction: flip.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered { return call_flip(b, n.in(0), {0}); },
};

TOSAIC_ATEN_OP(rot90) = {
    .schemas = schemas("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor"),
    .doc = "Quarter turns in the plane of two axes: permute and flip.",
    .traits = Trait::kAlias,
    .lower = lower_rot90,
};

TOSAIC_ATEN_OP(index_select) = {
    .schemas = schemas("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor"),
    .doc =
        "Elements by lists of indices: GATHER; SLICEs and CONCAT where they are constant and few.",
    .traits = Trait::kIndices,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return take(n, b, n.i("dim"), *n.tensor("index")); },
    .cpu =
        "aten::index_select.out(Tensor self, int dim, Tensor index, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(index) = {
    .schemas = schemas("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"),
    .doc =
        "Elements by lists of indices: GATHER; SLICEs and CONCAT where they are constant and few.",
    .traits = Trait::kIndices,
    .quant = {same({0, out(0)})},
    .lower = lower_index,
    .cpu =
        "aten::index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(embedding) = {
    .schemas = schemas("aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
                       "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor"),
    .doc = "Rows of a table by token: GATHER.",
    .traits = Trait::kIndices,
    .quant = {own(0), own(out(0))},
    .lower = lower_embedding,
    .cpu =
        "aten::embedding.out(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
        "bool scale_grad_by_freq=False, bool sparse=False, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(gather) = {
    .schemas = schemas("aten::gather(Tensor self, int dim, Tensor index, *, "
                       "bool sparse_grad=False) -> Tensor"),
    .doc =
        "Elements by an index each: GATHER, or SLICEs and CONCAT where they are constant and few.",
    .traits = Trait::kIndices,
    .quant = {same({0, out(0)})},
    .lower = lower_gather,
    .cpu =
        "aten::gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(take_along_dim) = {
    .schemas = schemas("aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> "
                       "Tensor"),
    .doc = "Elements along an axis by an index each: gather.",
    .traits = Trait::kAlias,
    .lower = call_gather,
};
