// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"

// Parts of a tensor along one axis: SLICE, and RESHAPE where the axis goes away. Sizes are those
// that the program states for the results.

namespace tosaic::aten {
namespace {

Lowered no_axis(const Call& n, int64_t axis) {
  return reject(Code::kRejectAttribute, "{}: there is no axis {} in {}", n.schema().full_name, axis,
                to_string(n.in(0)->shape()));
}

/// Elements [first, first + count) of `x` along `axis`, with the type of a result.
Value* part(const Call& n, Builder& b, int64_t axis, int64_t first, int64_t count,
            const TensorType& type) {
  Value* x = n.in(0);
  std::vector<int64_t> start(static_cast<size_t>(x->shape().rank()), 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  start[static_cast<size_t>(axis)] = first;
  size[static_cast<size_t>(axis)] = count;
  if (x->is_constant()) x = with_parameters(n, b, x, type);
  Value* y = b.slice(x, start, size);
  if (x->quant() != type.quant) {  // on what is left, not on what is dropped
    if (y != x) y->set_type({y->dtype(), y->shape(), x->quant()});
    y = with_parameters(n, b, y, type);
  }
  return b.reshape(y, type.shape);
}

/// Elements first, first + step, … : the axis cut into blocks of `step` elements, of which each
/// gives its first. The last block is filled up where the axis ends.
Lowered every_step(const Call& n, Builder& b, int64_t axis, int64_t first, int64_t count) {
  Value* x = n.in(0);
  if (x->is_constant()) x = with_parameters(n, b, x, n.out());
  const Shape& s = x->shape();
  const int64_t step = n.i("step");
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i)
    outer *= s[i];
  const int64_t size = s[static_cast<int>(axis)];
  const int64_t inner = s.num_elements() / (outer * size);
  const Quant* quant = x->quant();
  Value* y = b.reshape(x, {outer, size, inner});
  const int64_t missing = std::max<int64_t>(first + count * step - size, 0);
  if (missing > 0) {
    const std::vector<int64_t> padding = {0, 0, 0, missing, 0, 0};
    y = b.emit(tosa::pad, {y, b.shape_value(padding), b.zero_point(x->dtype(), 0)});
  }
  y = b.slice(y, std::vector<int64_t>{0, first, 0},
              std::vector<int64_t>{outer, count * step, inner});
  y = b.reshape(y, {outer * count, step, inner});
  y = b.slice(y, std::vector<int64_t>{0, 0, 0}, std::vector<int64_t>{outer * count, 1, inner});
  y = b.reshape(y, n.out().shape);
  if (quant != n.out().quant) {
    y->set_type({y->dtype(), y->shape(), quant});
    y = with_parameters(n, b, y, n.out());
  }
  return y;
}

/// PyTorch's bound of a slice: negative ones count from the end, all are limited to the axis.
int64_t bound(const Call& n, std::string_view name, int64_t missing, int64_t size) {
  int64_t value = n.has(name) ? n.i(name) : missing;
  if (value < 0) value += size;
  return std::clamp<int64_t>(value, 0, size);
}

Lowered lower_slice(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  const Shape& shape = n.in(0)->shape();
  if (shape.rank() == 0 || !normalise_axis(axis, shape.rank())) return no_axis(n, axis);
  const int64_t step = n.i("step");
  if (step < 1) {
    return reject(Code::kRejectAttribute, "{}: step {} is below 1", n.schema().full_name, step);
  }
  const int64_t size = shape[static_cast<int>(axis)];
  const int64_t first = bound(n, "start", 0, size);
  const int64_t extent = bound(n, "end", size, size) - first;
  if (extent <= 0) {
    return reject(Code::kRejectShape, "{}: the result has no elements", n.schema().full_name);
  }
  if (extent <= step) return part(n, b, axis, first, 1, n.out());
  if (step > 1) return every_step(n, b, axis, first, (extent + step - 1) / step);
  return part(n, b, axis, first, extent, n.out());
}

Lowered lower_narrow(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  const Shape& shape = n.in(0)->shape();
  if (shape.rank() == 0 || !normalise_axis(axis, shape.rank())) return no_axis(n, axis);
  const int64_t size = shape[static_cast<int>(axis)];
  int64_t first = n.i("start");
  if (first < 0) first += size;
  const int64_t count = n.i("length");
  if (count <= 0) {
    return reject(Code::kRejectShape, "{}: the result has no elements", n.schema().full_name);
  }
  if (first < 0 || count > size || first > size - count) {
    return reject(Code::kRejectAttribute, "{}: {} elements from {} on, of {}", n.schema().full_name,
                  count, n.i("start"), size);
  }
  if (b.mode() == Builder::Mode::kLower) return part(n, b, axis, first, count, n.out());
  return b.call("aten.slice.Tensor", {n.in(0)}, n.out(),
                {{"dim", Attr::integer(axis)},
                 {"start", Attr::integer(first)},
                 {"end", Attr::integer(first + count)}});
}

Lowered lower_select(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  const Shape& shape = n.in(0)->shape();
  if (shape.rank() == 0 || !normalise_axis(axis, shape.rank())) return no_axis(n, axis);
  int64_t index = n.i("index");
  if (index < 0) index += shape[static_cast<int>(axis)];
  return part(n, b, axis, index, 1, n.out());
}

/// Results one after another along the axis; unbind's have lost it, which RESHAPE sees to.
Lowered lower_parts(const Call& n, Builder& b, int64_t axis, bool keeps_axis) {
  const Shape& shape = n.in(0)->shape();
  if (shape.rank() == 0 || !normalise_axis(axis, shape.rank())) return no_axis(n, axis);
  std::vector<Value*> values;
  int64_t first = 0;
  for (const TensorType& type : n.results()) {
    const int64_t count = keeps_axis ? type.shape[static_cast<int>(axis)] : 1;
    if (count <= 0) {
      return reject(Code::kRejectShape, "{}: a result has no elements", n.schema().full_name);
    }
    if (b.mode() == Builder::Mode::kLower) {
      values.push_back(part(n, b, axis, first, count, type));
    } else if (keeps_axis) {
      values.push_back(b.call("aten.slice.Tensor", {n.in(0)}, type,
                              {{"dim", Attr::integer(axis)},
                               {"start", Attr::integer(first)},
                               {"end", Attr::integer(first + count)}}));
    } else {
      values.push_back(b.call("aten.select.int", {n.in(0)}, type,
                              {{"dim", Attr::integer(axis)}, {"index", Attr::integer(first)}}));
    }
    first += count;
  }
  return values;
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(slice) = {
    .schemas = schemas("aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, "
                       "SymInt? end=None, SymInt step=1) -> Tensor(a)",
                       "aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, "
                       "SymInt? end=None, SymInt step=1) -> Tensor"),
    .doc = "A range of an axis: SLICE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_slice,
    .cpu =
        "aten::slice_copy.Tensor_out(Tensor self, int dim=0, SymInt? start=None, "
        "SymInt? end=None, SymInt step=1, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(narrow) = {
    .schemas = schemas("aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> "
                       "Tensor(a)",
                       "aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> "
                       "Tensor"),
    .doc = "A range of an axis: SLICE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_narrow,
};

TOSAIC_ATEN_OP(select) = {
    .schemas = schemas("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
                       "aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor"),
    .doc = "One index of an axis, which goes away: SLICE and RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_select,
    .cpu =
        "aten::select_copy.int_out(Tensor self, int dim, SymInt index, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(split) = {
    .schemas = schemas(
        "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
        "aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
        "aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> "
        "Tensor(a)[]",
        "aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
        "aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> "
        "Tensor(a)[]",
        "aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> "
        "Tensor(a)[]",
        "aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
        "aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
        "aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
        "aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
        "aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]"),
    .doc = "An axis cut into parts: one SLICE per result.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_parts(n, b, n.i("dim"), true); },
};

TOSAIC_ATEN_OP(unbind) = {
    .schemas = schemas("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
                       "aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]"),
    .doc = "Each index of an axis, which goes away: SLICE and RESHAPE per result.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_parts(n, b, n.i("dim"), false); },
};

TOSAIC_ATEN_OP(hsplit) = {
    .schemas = schemas("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
                       "aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"),
    .doc = "The second axis, or a vector, cut into parts: one SLICE per result.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          return lower_parts(n, b, n.in(0)->shape().rank() > 1 ? 1 : 0, true);
        },
};

TOSAIC_ATEN_OP(vsplit) = {
    .schemas = schemas("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
                       "aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"),
    .doc = "The first axis cut into parts: one SLICE per result.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_parts(n, b, 0, true); },
};

TOSAIC_ATEN_OP(dsplit) = {
    .schemas = schemas("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
                       "aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]"),
    .doc = "The third axis cut into parts: one SLICE per result.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_parts(n, b, 2, true); },
};
