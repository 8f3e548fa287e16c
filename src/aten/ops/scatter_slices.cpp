// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "aten/calls.h"

// A tensor with other elements in a part of it, which programs without in-place writes have for
// y[:, 1:3] = x: slices of both, one after another.

namespace tosaic::aten {
namespace {

/// `src` with the dtype and the sizes of `type`.
Value* call_written(Builder& b, Value* src, const TensorType& type) {
  src = call_to(b, src, type.dtype);
  if (src->shape() == type.shape) return src;
  return b.call("aten.expand.default", {src}, {type.dtype, type.shape, src->quant()},
                {{"size", Attr::ints(type.shape.sizes())}});
}

/// Elements first, first + step, … of an axis.
struct Places {
  int axis = 0;
  int64_t first = 0;
  int64_t count = 0;
  int64_t step = 1;
};

/// `x` with `src` at some places of an axis. With an axis for the step - 1 elements of `x` between
/// two places, `src` stands before them.
Value* call_scatter(Builder& b, Value* x, Value* src, const Places& at) {
  const int64_t size = x->shape()[at.axis];
  const int64_t extent = std::min(at.count * at.step, size - at.first);
  Value* range = src;
  if (at.step > 1 && at.count > 1) {
    TensorType whole = x->type();
    whole.shape[at.axis] = at.count * at.step;
    // The last place may have fewer elements behind it: what is repeated there is cut off below.
    Value* padded = call_slice(b, x, at.axis, at.first, extent);
    if (extent < at.count * at.step) {
      Value* parts[] = {padded, call_slice(b, x, at.axis, 0, at.count * at.step - extent)};
      padded = call_cat(b, parts, at.axis, whole);
    }
    std::vector<int64_t> sizes(src->shape().begin(), src->shape().end());
    sizes.insert(sizes.begin() + at.axis + 1, 1);
    Value* placed = call_view(b, src, Shape(sizes));
    sizes[static_cast<size_t>(at.axis) + 1] = at.step;
    TensorType steps = {x->dtype(), Shape(sizes), x->quant()};
    Value* between = call_slice(b, call_view(b, padded, steps.shape), at.axis + 1, 1, at.step - 1);
    Value* parts[] = {placed, between};
    range = call_view(b, call_cat(b, parts, at.axis + 1, steps), whole.shape);
    range = call_slice(b, range, at.axis, 0, extent);
  }
  std::vector<Value*> parts;
  if (at.first > 0) parts.push_back(call_slice(b, x, at.axis, 0, at.first));
  parts.push_back(range);
  const int64_t end = at.first + range->shape()[at.axis];
  if (end < size) parts.push_back(call_slice(b, x, at.axis, end, size - end));
  return call_cat(b, parts, at.axis, x->type());
}

Lowered no_axis(const Call& n, int64_t axis) {
  return reject(Code::kRejectAttribute, "{}: there is no axis {} in {}", n.schema().full_name, axis,
                to_string(n.in(0)->shape()));
}

Lowered lower_slice_scatter(const Call& n, Builder& b) {
  Value* x = n.in(0);
  int64_t axis = n.i("dim");
  if (x->shape().rank() == 0 || !normalise_axis(axis, x->shape().rank())) return no_axis(n, axis);
  const int64_t size = x->shape()[static_cast<int>(axis)];
  const auto bound = [&](std::string_view name, int64_t missing) {
    int64_t value = n.has(name) ? n.i(name) : missing;
    if (value < 0) value += size;
    return std::clamp<int64_t>(value, 0, size);
  };
  Places at{static_cast<int>(axis), bound("start", 0), 0, n.i("step")};
  if (at.step < 1) {
    return reject(Code::kRejectAttribute, "{}: step {} is below 1", n.schema().full_name, at.step);
  }
  const int64_t extent = bound("end", size) - at.first;
  if (extent <= 0) return x;
  at.step = std::min(at.step, extent);
  at.count = (extent + at.step - 1) / at.step;
  TensorType part = x->type();
  part.shape[at.axis] = at.count;
  return call_scatter(b, x, call_written(b, n.in(1), part), at);
}

Lowered lower_select_scatter(const Call& n, Builder& b) {
  Value* x = n.in(0);
  int64_t axis = n.i("dim");
  if (x->shape().rank() == 0 || !normalise_axis(axis, x->shape().rank())) return no_axis(n, axis);
  const int64_t size = x->shape()[static_cast<int>(axis)];
  int64_t index = n.i("index");
  if (index < 0) index += size;
  if (index < 0 || index >= size) {
    return reject(Code::kRejectAttribute, "{}: there is no element {} of {}", n.schema().full_name,
                  index, size);
  }
  std::vector<int64_t> sizes(x->shape().begin(), x->shape().end());
  sizes[static_cast<size_t>(axis)] = 1;
  std::vector<int64_t> selected = sizes;
  selected.erase(selected.begin() + axis);
  Value* src = call_written(b, n.in(1), {x->dtype(), Shape(selected), x->quant()});
  return call_scatter(b, x, call_view(b, src, Shape(sizes)), {static_cast<int>(axis), index, 1, 1});
}

/// The matrices as rows, of whose elements one of every [columns + 1] is on the diagonal.
Lowered lower_diagonal_scatter(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const int rank = x->shape().rank();
  std::array<int64_t, 2> axes{n.i("dim1"), n.i("dim2")};
  if (!normalise_axis(axes[0], rank) || !normalise_axis(axes[1], rank) || axes[0] == axes[1]) {
    return reject(Code::kRejectAttribute, "{}: axes {} and {} of {}", n.schema().full_name,
                  n.i("dim1"), n.i("dim2"), to_string(x->shape()));
  }
  const int64_t rows = x->shape()[static_cast<int>(axes[0])];
  const int64_t columns = x->shape()[static_cast<int>(axes[1])];
  const int64_t offset = n.i("offset");
  const int64_t count =
      std::min(offset < 0 ? rows + offset : rows, offset < 0 ? columns : columns - offset);
  if (count <= 0) return x;
  std::vector<int64_t> perm;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) perm.push_back(axis);
  }
  perm.insert(perm.end(), axes.begin(), axes.end());
  std::vector<int64_t> back(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    back[static_cast<size_t>(perm[i])] = static_cast<int64_t>(i);
  Value* moved = call_permute(b, x, perm);
  const int64_t matrices = x->shape().num_elements() / (rows * columns);
  Value* flat = call_view(b, moved, {matrices, rows * columns});
  Value* src = call_view(b, call_written(b, n.in(1), {x->dtype(), n.in(1)->shape(), x->quant()}),
                         {matrices, count});
  const int64_t first = offset < 0 ? -offset * columns : offset;
  flat = call_scatter(b, flat, src, {1, first, count, columns + 1});
  return call_permute(b, call_view(b, flat, moved->shape()), back);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(diagonal_scatter) = {
    .schemas = schemas("aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, "
                       "int dim2=1) -> Tensor"),
    .doc = "A tensor with other elements on the diagonals of two axes: slice and cat.",
    .traits = Trait::kAlias,
    .lower = lower_diagonal_scatter,
};

TOSAIC_ATEN_OP(slice_scatter) = {
    .schemas = schemas("aten::slice_scatter(Tensor self, Tensor src, int dim=0, "
                       "SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor"),
    .doc = "A tensor with other elements in a range of an axis: slice and cat.",
    .traits = Trait::kAlias,
    .lower = lower_slice_scatter,
};

TOSAIC_ATEN_OP(select_scatter) = {
    .schemas = schemas("aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> "
                       "Tensor"),
    .doc = "A tensor with other elements at one index of an axis: slice and cat.",
    .traits = Trait::kAlias,
    .lower = lower_select_scatter,
};

TOSAIC_ATEN_OP(copy) = {
    .schemas = schemas("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor"),
    .doc = "Another tensor's elements: to and expand.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered { return call_written(b, n.in(1), n.out()); },
};

TOSAIC_ATEN_OP(fill_tensor) = {
    .schemas = schemas("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor",
                       "aten::fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)"),
    .doc = "One number of another tensor everywhere: to and expand.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered { return call_written(b, n.in(1), n.out()); },
};
