// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "aten/arithmetic.h"

// Operators that relabel or move elements and compute nothing. Quantised values keep their
// parameters; a program that gives the result others gets a RESCALE.

namespace tosaic::aten {
namespace {

/// The result under the program's parameters.
Lowered finish(const Call& n, Builder& b, Value* y) {
  const Quant* in = n.in(0)->quant();
  const Quant* out = n.out().quant;
  if (in == nullptr && out == nullptr) return y;
  if (in == nullptr || out == nullptr) {
    return reject(Code::kRejectNotQuantised, "{}: only one of input and output is quantised",
                  n.schema().full_name);
  }
  if (in == out || y->dtype() == DType::kUnknown) return y;
  const double scale = in->scale() / out->scale();
  y = b.rescale(y, n.out().dtype, scale, in->zero_point(), out->zero_point());
  return clamp_to_range(b, y, n.out());
}

/// The result has the operand's elements in the same order.
Lowered lower_reshape(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kRecord) {
    return b.call("aten.view.default", {n.in(0)}, n.out(),
                  {{"size", Attr::ints(n.out().shape.sizes())}});
  }
  return finish(n, b, b.reshape(n.in(0), n.out().shape));
}

Lowered lower_permutation(const Call& n, Builder& b, std::span<const int64_t> perm) {
  if (b.mode() == Builder::Mode::kRecord) {
    return b.call("aten.permute.default", {n.in(0)}, n.out(), {{"dims", Attr::ints(perm)}});
  }
  return finish(n, b, b.transpose(n.in(0), perm));
}

Lowered bad_axis(const Call& n, int64_t axis) {
  return reject(Code::kRejectAttribute, "{}: axis {} is out of range for {}",
                n.schema().full_name, axis, to_string(n.in(0)->shape()));
}

Lowered lower_permute(const Call& n, Builder& b) {
  std::vector<int64_t> perm = n.ints("dims");
  for (int64_t& axis : perm) {
    if (!normalise_axis(axis, n.in(0)->shape().rank())) return bad_axis(n, axis);
  }
  return lower_permutation(n, b, perm);
}

Lowered lower_swap(const Call& n, Builder& b, int64_t a, int64_t c) {
  const int rank = n.in(0)->shape().rank();
  if (!normalise_axis(a, rank)) return bad_axis(n, a);
  if (!normalise_axis(c, rank)) return bad_axis(n, c);
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (rank > 0) std::swap(perm[static_cast<size_t>(a)], perm[static_cast<size_t>(c)]);
  return lower_permutation(n, b, perm);
}

/// Elements [first, first + count) along an axis.
Value* part(Builder& b, Value* x, int64_t axis, int64_t first, int64_t count) {
  std::vector<int64_t> start(static_cast<size_t>(x->shape().rank()), 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  start[static_cast<size_t>(axis)] = first;
  size[static_cast<size_t>(axis)] = count;
  return b.slice(x, start, size);
}

Lowered lower_slice(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  const Shape& s = n.in(0)->shape();
  if (!normalise_axis(axis, s.rank())) return bad_axis(n, axis);
  if (n.i("step") != 1) {
    return reject(Code::kRejectAttribute, "{}: step {}; 1 is taken", n.schema().full_name,
                  n.i("step"));
  }
  const int64_t size = s[static_cast<int>(axis)];
  const auto bound = [&](std::string_view name, int64_t absent) {
    int64_t i = n.has(name) ? n.i(name) : absent;
    if (i < 0) i += size;
    return std::clamp<int64_t>(i, 0, size);
  };
  const int64_t start = bound("start", 0);
  const int64_t end = bound("end", size);
  if (end <= start) {
    return reject(Code::kRejectShape, "{}: the result has no elements", n.schema().full_name);
  }
  return finish(n, b, part(b, n.in(0), axis, start, end - start));
}

Lowered lower_select(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  const Shape& s = n.in(0)->shape();
  if (!normalise_axis(axis, s.rank())) return bad_axis(n, axis);
  int64_t index = n.i("index");
  if (index < 0) index += s[static_cast<int>(axis)];
  if (index < 0 || index >= s[static_cast<int>(axis)]) return bad_axis(n, index);
  Value* y = part(b, n.in(0), axis, index, 1);
  return finish(n, b, b.reshape(y, n.out().shape));
}

/// Several results: consecutive pieces along an axis, of the sizes that the program states.
Lowered lower_pieces(const Call& n, Builder& b, bool drop_axis) {
  int64_t axis = n.i("dim");
  if (!normalise_axis(axis, n.in(0)->shape().rank())) return bad_axis(n, axis);
  std::vector<Value*> values;
  int64_t first = 0;
  for (const TensorType& type : n.results()) {
    const int64_t count = drop_axis ? 1 : type.shape[static_cast<int>(axis)];
    Value* y = b.reshape(part(b, n.in(0), axis, first, count), type.shape);
    if (type.quant != n.in(0)->quant()) {
      return reject(Code::kRejectQuantParams, "{}: results must have the input's parameters",
                    n.schema().full_name);
    }
    values.push_back(y);
    first += count;
  }
  return values;
}

Lowered lower_expand(const Call& n, Builder& b) {
  Value* x = b.expand_rank(n.in(0), n.out().shape.rank());
  std::vector<int64_t> multiples;
  bool repeats = false;
  for (int axis = 0; axis < n.out().shape.rank(); ++axis) {
    const bool grows = x->shape().rank() > axis && x->shape()[axis] != n.out().shape[axis];
    multiples.push_back(grows ? n.out().shape[axis] : 1);
    repeats = repeats || grows;
  }
  if (repeats) x = b.emit(tosa::tile, {x, b.shape_value(multiples)});
  return finish(n, b, x);
}

Lowered lower_identity(const Call& n, Builder& b) { return finish(n, b, n.in(0)); }

Lowered lower_to(const Call& n, Builder& b) {
  if (n.in(0)->dtype() == n.out().dtype) return finish(n, b, n.in(0));
  return b.cast(n.in(0), n.out().dtype);
}

Lowered lower_dropout(const Call& n, Builder& b) {
  if (n.b("train")) {
    return reject(Code::kRejectAttribute, "{}: the program was exported in training mode",
                  n.schema().full_name);
  }
  return finish(n, b, n.in(0));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(view) = {
    .schemas = schemas("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
                       "aten::view_copy(Tensor self, SymInt[] size) -> Tensor",
                       "aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor"),
    .doc = "The same elements under other sizes: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_reshape,
    .cpu = "aten::view_copy.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(reshape) = {
    .schemas = schemas(
        "aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
        "aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
        "aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
        "aten::unsqueeze_copy(Tensor self, int dim) -> Tensor",
        "aten::squeeze(Tensor(a) self) -> Tensor(a)",
        "aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
        "aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
        "aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor"),
    .doc = "The same elements under other sizes, which the result type states: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_reshape,
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
    .schemas = schemas(
        "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
        "aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor"),
    .doc = "Two axes exchanged: TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_swap(n, b, n.i("dim0"), n.i("dim1")); },
    .cpu = "aten::transpose_copy.int_out(Tensor self, int dim0, int dim1, *, Tensor(a!) out) -> "
           "Tensor(a!)",
};

TOSAIC_ATEN_OP(t) = {
    .schemas = schemas("aten::t(Tensor(a) self) -> Tensor(a)", "aten::t_copy(Tensor self) -> Tensor"),
    .doc = "Transpose of a matrix.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) {
      return lower_swap(n, b, 0, n.in(0)->shape().rank() < 2 ? 0 : 1);
    },
    .cpu = "aten::t_copy.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(slice) = {
    .schemas = schemas(
        "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, "
        "SymInt step=1) -> Tensor(a)",
        "aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, "
        "SymInt step=1) -> Tensor"),
    .doc = "Part of an axis: SLICE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_slice,
    .cpu = "aten::slice_copy.Tensor_out(Tensor self, int dim=0, SymInt? start=None, "
           "SymInt? end=None, SymInt step=1, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(select) = {
    .schemas = schemas("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
                       "aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor"),
    .doc = "One index of an axis, which disappears: SLICE and RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_select,
    .cpu = "aten::select_copy.int_out(Tensor self, int dim, SymInt index, *, Tensor(a!) out) -> "
           "Tensor(a!)",
};

TOSAIC_ATEN_OP(split) = {
    .schemas = schemas(
        "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
        "aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> "
        "Tensor(a)[]",
        "aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
        "aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
        "aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]"),
    .doc = "Consecutive pieces of an axis: SLICE each.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_pieces(n, b, false); },
};

TOSAIC_ATEN_OP(unbind) = {
    .schemas = schemas("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
                       "aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]"),
    .doc = "Every index of an axis, which disappears: SLICE and RESHAPE each.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_pieces(n, b, true); },
};

TOSAIC_ATEN_OP(expand) = {
    .schemas = schemas(
        "aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
        "aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor"),
    .doc = "Axes of size 1 repeated: TILE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_expand,
    .cpu = "aten::expand_copy.out(Tensor self, SymInt[] size, *, bool implicit=False, "
           "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(clone) = {
    .schemas = schemas(
        "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
        "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> "
        "Tensor(a)",
        "aten::alias(Tensor(a) self) -> Tensor(a)", "aten::alias_copy(Tensor self) -> Tensor",
        "aten::detach(Tensor(a) self) -> Tensor(a)",
        "aten::detach_(Tensor(a!) self) -> Tensor(a!)",
        "aten::detach_copy(Tensor self) -> Tensor", "aten::lift_fresh_copy(Tensor self) -> Tensor"),
    .doc = "The same tensor: nothing is computed.",
    .traits = Trait::kNoOp,
    .quant = {same({0, out(0)})},
    .lower = lower_identity,
    .cpu = "aten::clone.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> "
           "Tensor(a!)",
};

TOSAIC_ATEN_OP(to) = {
    .schemas = schemas(
        "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, "
        "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
        "MemoryFormat? memory_format=None) -> Tensor(a)"),
    .doc = "Another dtype: CAST; nothing when it is the same.",
    .traits = Trait::kNoOp,
    .quant = {same({0, out(0)})},
    .lower = lower_to,
};

TOSAIC_ATEN_OP(dropout) = {
    .schemas = schemas("aten::dropout(Tensor input, float p, bool train) -> Tensor",
                       "aten::dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)"),
    .doc = "Nothing in inference.",
    .traits = Trait::kNoOp,
    .quant = {same({0, out(0)})},
    .lower = lower_dropout,
};
