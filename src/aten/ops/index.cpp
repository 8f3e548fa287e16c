// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"
#include "aten/calls.h"

// Elements by index. Indices that are constants become slices; others are 64-bit integers in
// PyTorch, which TOSA 1.0 lacks, and stay with ExecuTorch's kernels.

namespace tosaic::aten {
namespace {

constexpr size_t kMaxIndices = 1024;

std::optional<Reject> read_indices(const Call& n, const Value& index, int64_t size,
                                   std::vector<int64_t>& indices) {
  const std::string& name = n.schema().full_name;
  if (!index.is_constant() || !is_integer(index.dtype()) || index.shape().rank() > 1) {
    return reject(Code::kRejectNotConstant,
                  "{}: indices of type {} must be a constant list; TOSA has no 64-bit integers",
                  name, to_string(index.type()));
  }
  if (static_cast<size_t>(index.shape().num_elements()) > kMaxIndices) {
    return reject(Code::kRejectShape, "{}: {} indices; up to {} are taken", name,
                  index.shape().num_elements(), kMaxIndices);
  }
  indices = int_values(*index.constant());
  for (int64_t& i : indices) {
    if (i < 0) i += size;
    if (i < 0 || i >= size) {
      return reject(Code::kRejectAttribute, "{}: index {} of an axis of {}", name, i, size);
    }
  }
  if (indices.empty()) return reject(Code::kRejectShape, "{}: there are no indices", name);
  return std::nullopt;
}

Lowered take(const Call& n, Builder& b, int64_t axis, const Value& index) {
  Value* x = n.in(0);
  if (!normalise_axis(axis, x->shape().rank())) {
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  std::vector<int64_t> indices;
  if (auto r = read_indices(n, index, x->shape()[static_cast<int>(axis)], indices)) return *r;
  return call_view(b, call_take(b, x, static_cast<int>(axis), indices), n.out());
}

/// One list of indices for one axis; the others are taken whole.
Lowered lower_index(const Call& n, Builder& b) {
  const auto lists = n.tensors("indices");
  int64_t axis = -1;
  for (size_t i = 0; i < lists.size(); ++i) {
    if (lists[i] == nullptr) continue;
    if (axis >= 0) {
      return reject(Code::kRejectAttribute, "{}: indices for several axes", n.schema().full_name);
    }
    axis = static_cast<int64_t>(i);
  }
  if (axis < 0) return reject(Code::kRejectAttribute, "{}: no indices", n.schema().full_name);
  return take(n, b, axis, *lists[static_cast<size_t>(axis)]);
}

/// Places as [1,count]. TOSA FP moves no integers; a float holds places below 2^24.
Value* in_one_row(Builder& b, Value* indices) {
  const Shape row{1, indices->shape().num_elements()};
  if (indices->shape() == row || indices->is_constant() || b.has(Feature::kInt)) {
    return b.reshape(indices, row);
  }
  return b.cast(b.reshape(b.cast(indices, DType::kF32), row), DType::kI32);
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
  Value* rows = b.emit(tosa::gather, {table, in_one_row(b, b.cast(indices, DType::kI32))});
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

TOSAIC_ATEN_OP(index_select) = {
    .schemas = schemas("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor"),
    .doc =
        "Elements of an axis by a list of indices: SLICEs and CONCAT when the list is a constant.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return take(n, b, n.i("dim"), *n.tensor("index")); },
    .cpu =
        "aten::index_select.out(Tensor self, int dim, Tensor index, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(index) = {
    .schemas = schemas("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"),
    .doc =
        "Elements of an axis by a list of indices: SLICEs and CONCAT when the list is a constant.",
    .quant = {same({0, out(0)})},
    .lower = lower_index,
    .cpu =
        "aten::index.Tensor_out(Tensor self, Tensor?[] indices, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(embedding) = {
    .schemas = schemas("aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
                       "bool scale_grad_by_freq=False, bool sparse=False) -> Tensor"),
    .doc = "Rows of a table by token: GATHER by int32; 64-bit tokens stay on the CPU.",
    .quant = {own(0), own(out(0))},
    .lower = lower_embedding,
    .cpu =
        "aten::embedding.out(Tensor weight, Tensor indices, SymInt padding_idx=-1, "
        "bool scale_grad_by_freq=False, bool sparse=False, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(gather) = {
    .schemas = schemas("aten::gather(Tensor self, int dim, Tensor index, *, "
                       "bool sparse_grad=False) -> Tensor"),
    .doc = "Elements by an index each; on the CPU, since TOSA has no 64-bit integers.",
    .quant = {same({0, out(0)})},
    .cpu =
        "aten::gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, "
        "Tensor(a!) out) -> Tensor(a!)",
};
