// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/calls.h"
#include "aten/indices.h"

// A tensor with other elements at some places, which are constants: one number for all of them by a
// choice with a constant mask, others behind the tensor's own, from which the result is taken.

namespace tosaic::aten {
namespace {

/// `x` under other sizes that it broadcasts to.
Value* call_expand(Builder& b, Value* x, const Shape& shape) {
  if (x->shape() == shape) return x;
  return b.call("aten.expand.default", {x}, {x->dtype(), shape, x->quant()},
                {{"size", Attr::ints(shape.sizes())}});
}

std::optional<Reject> check_dtypes(const Call& n, const Value& values) {
  if (values.dtype() == n.in(0)->dtype()) return std::nullopt;
  return reject(Code::kRejectDtype, "{}: {} among {}", n.schema().full_name,
                dtype_name(values.dtype()), dtype_name(n.in(0)->dtype()));
}

std::optional<Reject> refuse_repeats(const Call& n) {
  return reject(Code::kRejectAttribute, "{}: it accumulates at places that are named twice",
                n.schema().full_name);
}

/// `values`, [.., places, ..], at places of an axis of `x`, or added to what is there.
Lowered put(const Call& n, Builder& b, Value* x, Value* values, int axis, const Places& places,
            bool accumulates) {
  if (accumulates) {
    if (n.any_quantised()) {
      return reject(Code::kRejectQuantParams, "{}: quantised elements are not accumulated",
                    n.schema().full_name);
    }
    if (has_repeats(places.list)) return *refuse_repeats(n);
    Value* there = call_take_any(b, x, axis, places.list);
    values = b.call("aten.add.Tensor", {there, values}, there->type());
  }
  return call_view(b, call_put(b, x, values, axis, places.list, n.out()), n.out());
}

/// A choice by a mask, as x[x > 0] = y. All elements may be looked at only when y is one of them.
Lowered put_by_mask(const Call& n, Builder& b, Value* mask, Value* values) {
  const Shape& s = n.in(0)->shape();
  const int rank = mask->shape().rank();
  std::vector<int64_t> sizes(mask->shape().begin(), mask->shape().end());
  sizes.resize(static_cast<size_t>(std::max(s.rank(), rank)), 1);
  const bool fits = rank <= s.rank() && std::equal(sizes.begin(), sizes.begin() + rank, s.begin());
  if (!fits || values->shape().num_elements() != 1 || n.b("accumulate")) {
    return reject(Code::kRejectShape, "{}: {} at the places of a mask; one number is taken",
                  n.schema().full_name, to_string(values->shape()));
  }
  const std::vector<int64_t> ones(static_cast<size_t>(s.rank()), 1);
  return b.call("aten.where.self",
                {call_view(b, mask, Shape(sizes)), call_view(b, values, Shape(ones)), n.in(0)},
                n.out());
}

Lowered lower_index_put(const Call& n, Builder& b) {
  Value* x = n.in(0);
  Value* values = n.tensor("values");
  const auto lists = n.tensors("indices");
  if (auto r = check_dtypes(n, *values)) return *r;
  if (lists.size() == 1 && lists[0] != nullptr && lists[0]->dtype() == DType::kBool) {
    return put_by_mask(n, b, lists[0], values);
  }
  Places places;
  if (auto r = read_places(n, lists, x->shape(), places)) return *r;
  // The values are [.., lists' sizes, ..], or broadcast to it.
  const int axis = places.first_axis;
  std::vector<int64_t> sizes(places.merged.begin(), places.merged.end());
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, places.shape.begin(), places.shape.end());
  Shape joined;
  if (sizes.size() > kMaxRank || !broadcast(values->shape(), Shape(sizes), joined) ||
      joined != Shape(sizes)) {
    return reject(Code::kRejectShape, "{}: values of sizes {}", n.schema().full_name,
                  to_string(values->shape()));
  }
  Shape flat = places.merged;
  flat[axis] = static_cast<int64_t>(places.list.size());
  values = call_view(b, call_expand(b, values, Shape(sizes)), flat);
  return put(n, b, call_view(b, x, places.merged), values, axis, places, n.b("accumulate"));
}

/// `src` along an axis at the places that an index names.
Lowered lower_index_copy(const Call& n, Builder& b, bool accumulates) {
  Value* x = n.in(0);
  Value* src = n.tensor("source");
  const Value* index = n.tensor("index");
  int64_t axis = n.i("dim");
  if (auto r = check_dtypes(n, *src)) return *r;
  if (x->shape().rank() == 0 || !normalise_axis(axis, x->shape().rank())) {
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  Places places;
  const auto a = static_cast<int>(axis);
  if (auto r = read_indices(n, *index, x->shape()[a], places.list)) return *r;
  Shape wanted = x->shape();
  wanted[a] = static_cast<int64_t>(places.list.size());
  if (src->shape() != wanted) {
    return reject(Code::kRejectShape, "{}: values of sizes {}", n.schema().full_name,
                  to_string(src->shape()));
  }
  if (accumulates && n.f("alpha") != 1) {
    src = b.call("aten.mul.Scalar", {src}, src->type(), {{"other", n.arg("alpha")}});
  }
  return put(n, b, x, src, a, places, accumulates);
}

Lowered lower_scatter(const Call& n, Builder& b, bool accumulates) {
  Value* x = n.in(0);
  Value* src = n.tensor("src");
  const Shape& s = src->shape();
  Places places;
  if (auto r = check_dtypes(n, *src)) return *r;
  if (auto r = read_flat_places(n, n.i("dim"), *n.tensor("index"), x->shape(), places)) return *r;
  bool fits = s.rank() == places.shape.rank();
  for (int axis = 0; fits && axis < s.rank(); ++axis)
    fits = places.shape[axis] <= s[axis];
  if (!fits) {
    return reject(Code::kRejectShape, "{}: values of sizes {}", n.schema().full_name, to_string(s));
  }
  for (int axis = 0; axis < places.shape.rank(); ++axis)
    src = call_slice(b, src, axis, 0, places.shape[axis]);
  const Shape flat{static_cast<int64_t>(places.list.size())};
  return put(n, b, call_view(b, x, places.merged), call_view(b, src, flat), 0, places, accumulates);
}

/// One number at places of the flat tensor.
Lowered fill_places(const Call& n, Builder& b, std::span<const int64_t> places) {
  const Shape& s = n.in(0)->shape();
  std::vector<int64_t> mask(static_cast<size_t>(s.num_elements()), 0);
  for (int64_t place : places)
    mask[static_cast<size_t>(place)] = 1;
  Value* condition = b.constant_ints(DType::kBool, s, mask);
  return b.call("aten.where.ScalarSelf", {condition, n.in(0)}, n.out(), {{"self", n.arg("value")}});
}

Lowered lower_scatter_value(const Call& n, Builder& b) {
  Places places;
  if (auto r = read_flat_places(n, n.i("dim"), *n.tensor("index"), n.in(0)->shape(), places)) {
    return *r;
  }
  return fill_places(n, b, places.list);
}

Lowered lower_index_fill(const Call& n, Builder& b) {
  const Shape& s = n.in(0)->shape();
  int64_t axis = n.i("dim");
  if (s.rank() == 0 || !s.is_static() || !normalise_axis(axis, s.rank())) {
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  const auto a = static_cast<int>(axis);
  std::vector<int64_t> indices;
  if (auto r = read_indices(n, *n.tensor("index"), s[a], indices)) return *r;
  int64_t inner = 1;
  for (int i = a + 1; i < s.rank(); ++i)
    inner *= s[i];
  std::vector<int64_t> places;
  for (int64_t outer = 0; outer < s.num_elements(); outer += inner * s[a]) {
    for (int64_t index : indices) {
      for (int64_t i = 0; i < inner; ++i)
        places.push_back(outer + index * inner + i);
    }
  }
  return fill_places(n, b, places);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(index_put) = {
    .schemas = schemas("aten::index_put(Tensor self, Tensor?[] indices, Tensor values, "
                       "bool accumulate=False) -> Tensor",
                       "aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, "
                       "bool accumulate=False) -> Tensor(a!)"),
    .doc =
        "A tensor with other elements at constant places, or one number at those of a mask: "
        "CONCAT and GATHER or SLICEs, or SELECT.",
    .quant = {same({0, 2, out(0)})},
    .lower = lower_index_put,
    .cpu =
        "aten::index_put.out(Tensor self, Tensor?[] indices, Tensor values, "
        "bool accumulate=False, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(index_copy) = {
    .schemas = schemas(
        "aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
        "aten::index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)"),
    .doc = "A tensor with other rows at constant places of an axis: CONCAT and SLICEs.",
    .quant = {same({0, 3, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_index_copy(n, b, false); },
};

TOSAIC_ATEN_OP(index_add) = {
    .schemas = schemas("aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, "
                       "Scalar alpha=1) -> Tensor",
                       "aten::index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, "
                       "*, Scalar alpha=1) -> Tensor(a!)"),
    .doc = "Rows added at constant places of an axis, each of them once: ADD, CONCAT and SLICEs.",
    .lower = [](const Call& n, Builder& b) { return lower_index_copy(n, b, true); },
};

TOSAIC_ATEN_OP(index_fill) = {
    .schemas = schemas("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, "
                       "Scalar value) -> Tensor",
                       "aten::index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, "
                       "Scalar value) -> Tensor(a!)"),
    .doc = "A tensor with one number at constant places of an axis: where.",
    .quant = {same({0, out(0)})},
    .lower = lower_index_fill,
};

TOSAIC_ATEN_OP(scatter) = {
    .schemas = schemas(
        "aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
        "aten::scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)"),
    .doc = "A tensor with other elements at constant places: CONCAT and GATHER or SLICEs.",
    .quant = {same({0, 3, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_scatter(n, b, false); },
    .cpu =
        "aten::scatter.src_out(Tensor self, int dim, Tensor index, Tensor src, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(scatter_value) = {
    .schemas =
        schemas("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                "aten::scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> "
                "Tensor(a!)"),
    .doc = "A tensor with one number at constant places: where.",
    .quant = {same({0, out(0)})},
    .lower = lower_scatter_value,
    .cpu =
        "aten::scatter.value_out(Tensor self, int dim, Tensor index, Scalar value, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(scatter_add) = {
    .schemas = schemas(
        "aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
        "aten::scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)"),
    .doc = "Elements added at constant places, each of them once: ADD, CONCAT and GATHER.",
    .lower = [](const Call& n, Builder& b) { return lower_scatter(n, b, true); },
    .cpu =
        "aten::scatter_add.out(Tensor self, int dim, Tensor index, Tensor src, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};
