// SPDX-License-Identifier: Apache-2.0
#include "aten/gathers.h"

#include <algorithm>

#include "aten/arithmetic.h"

namespace tosaic::aten {
namespace {

/// Arithmetic on places: in int32, or for TOSA FP, which has none, in float32.
class PlaceMath {
 public:
  explicit PlaceMath(Builder& b)
      : b_(b), dtype_(b.has(Feature::kInt) ? DType::kI32 : DType::kF32) {}

  Value* load(Value* index, int rank) {
    return b_.expand_rank(b_.cast(b_.cast(index, DType::kI32), dtype_), rank);
  }
  Value* number(int64_t value, int rank) {
    return dtype_ == DType::kI32 ? b_.scalar_int(dtype_, value, rank)
                                 : b_.scalar_float(dtype_, static_cast<double>(value), rank);
  }
  Value* numbers(const Shape& shape, std::span<const int64_t> values) {
    if (dtype_ == DType::kI32) return b_.constant_ints(dtype_, shape, values);
    const std::vector<double> reals(values.begin(), values.end());
    return b_.constant_floats(dtype_, shape, reals);
  }
  Value* add(Value* x, Value* y) { return b_.emit(tosa::add, {x, y}); }
  Value* times(Value* x, int64_t factor) {
    return factor == 1 ? x : b_.mul(x, number(factor, x->shape().rank()));
  }
  /// Counted from the end where it is below 0.
  Value* wrapped(Value* x, int64_t size) {
    const int rank = x->shape().rank();
    Value* is_negative = b_.emit(tosa::greater, {number(0, rank), x});
    return b_.emit(tosa::select, {is_negative, add(x, number(size, rank)), x});
  }
  /// As int32 [1,count].
  Value* row(Value* x) {
    return b_.cast(b_.reshape(x, {1, x->shape().num_elements()}), DType::kI32);
  }

 private:
  Builder& b_;
  DType dtype_;
};

std::optional<Reject> check(const Call& n, const Value& x, const Value& index) {
  constexpr int64_t kMostPlaces = int64_t{1} << 24;
  if (!is_integer(index.dtype())) {
    return reject(Code::kRejectDtype, "{}: indices of type {}", n.schema().full_name,
                  to_string(index.type()));
  }
  const int64_t most = std::max(x.shape().num_elements(), n.out().shape.num_elements());
  if (index.shape().num_elements() > 0 && most > 0 && most <= kMostPlaces) return std::nullopt;
  return reject(Code::kRejectShape, "{}: {} of {}", n.schema().full_name, to_string(n.out()),
                to_string(x.type()));
}

/// Rows `places` of each of [outer, size, inner].
Value* gather_rows(Builder& b, Value* x, const Shape& split, Value* places) {
  places = b.reshape(places, {1, places->shape().num_elements()});
  if (split[0] > 1) {
    const std::vector<int64_t> times = {split[0], 1};
    places = b.emit(tosa::tile, {places, b.shape_value(times)});
  }
  return b.emit(tosa::gather, {b.reshape(x, split), b.cast(places, DType::kI32)});
}

/// [outer, size, inner] of `count` axes from `axis` on.
Shape split_at(const Shape& s, int axis, int count) {
  Shape split{1, 1, 1};
  for (int i = 0; i < s.rank(); ++i)
    split[i < axis ? 0 : i < axis + count ? 1 : 2] *= s[i];
  return split;
}

}  // namespace

Value* reshape_places(Builder& b, Value* places, const Shape& shape) {
  if (places->shape() == shape || places->is_constant() || b.has(Feature::kInt)) {
    return b.reshape(places, shape);
  }
  return b.cast(b.reshape(b.cast(places, DType::kF32), shape), DType::kI32);
}

Lowered gather_axis(const Call& n, Builder& b, Value* x, int axis, Value* index) {
  if (auto r = check(n, *x, *index)) return *r;
  PlaceMath m(b);
  Value* places = m.load(index, std::max(index->shape().rank(), 1));
  x = with_parameters(n, b, x, n.out());
  return b.reshape(gather_rows(b, x, split_at(x->shape(), axis, 1), places), n.out().shape);
}

Lowered gather_axes(const Call& n, Builder& b, std::span<Value* const> lists) {
  Value* x = with_parameters(n, b, n.in(0), n.out());
  const Shape& s = x->shape();
  int first = -1;
  int count = 0;
  int rank = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    if (lists[i] == nullptr) continue;
    if (first < 0) first = static_cast<int>(i);
    if (static_cast<int>(i) != first + count++ || static_cast<int>(i) >= s.rank()) {
      return reject(Code::kRejectAttribute, "{}: indices for axes that are not neighbours",
                    n.schema().full_name);
    }
    if (auto r = check(n, *x, *lists[i])) return *r;
    rank = std::max(rank, lists[i]->shape().rank());
  }
  if (count == 0) return reject(Code::kRejectAttribute, "{}: no indices", n.schema().full_name);
  PlaceMath m(b);
  Value* place = nullptr;
  for (int axis = first; axis < first + count; ++axis) {
    Value* own = m.wrapped(m.load(lists[static_cast<size_t>(axis)], std::max(rank, 1)), s[axis]);
    place = place == nullptr ? own : m.add(m.times(place, s[axis]), own);
  }
  const Shape split = split_at(s, first, count);
  return b.reshape(gather_rows(b, x, split, place), n.out().shape);
}

Lowered gather_elements(const Call& n, Builder& b, int64_t axis, Value* index) {
  Value* x = with_parameters(n, b, n.in(0), n.out());
  const Shape& s = x->shape();
  const Shape& wanted = index->shape();
  if (s.rank() == 0 || wanted.rank() != s.rank() || !normalise_axis(axis, s.rank())) {
    return reject(Code::kRejectShape, "{}: indices of sizes {} along axis {} of {}",
                  n.schema().full_name, to_string(wanted), axis, to_string(s));
  }
  if (auto r = check(n, *x, *index)) return *r;
  // Where each element would be with index 0.
  std::vector<int64_t> base;
  int64_t step = 1;
  for (int i = static_cast<int>(axis) + 1; i < s.rank(); ++i)
    step *= s[i];
  for (int64_t p = 0; p < wanted.num_elements(); ++p) {
    int64_t rest = p;
    int64_t place = 0;
    int64_t stride = 1;
    for (int i = s.rank(); i-- > 0;) {
      if (i != axis) place += rest % wanted[i] * stride;
      rest /= wanted[i];
      stride *= s[i];
    }
    base.push_back(place);
  }
  PlaceMath m(b);
  Value* place = m.add(m.times(m.load(index, s.rank()), step), m.numbers(wanted, base));
  const Shape flat{1, s.num_elements(), 1};
  return b.reshape(b.emit(tosa::gather, {b.reshape(x, flat), m.row(place)}), n.out().shape);
}

}  // namespace tosaic::aten
