// SPDX-License-Identifier: Apache-2.0
#include "aten/indices.h"

#include <functional>
#include <numeric>
#include <unordered_set>

#include "aten/calls.h"

namespace tosaic::aten {
namespace {

/// More runs of neighbours are not cut into slices.
constexpr size_t kMaxRuns = 1024;
/// From so many runs on GATHER is asked first.
constexpr size_t kManyRuns = 16;
constexpr int64_t kMaxPlaces = int64_t{1} << 20;

/// Element `flat` of a tensor of sizes `to` is which one of a tensor that is broadcast to them?
int64_t broadcast_source(int64_t flat, const Shape& to, const Shape& from) {
  int64_t source = 0;
  int64_t stride = 1;
  for (int axis = to.rank(); axis-- > 0;) {
    const int64_t place = flat % to[axis];
    flat /= to[axis];
    const int own = axis - (to.rank() - from.rank());
    if (own < 0) continue;
    if (from[own] != 1) source += place * stride;
    stride *= from[own];
  }
  return source;
}

size_t count_runs(std::span<const int64_t> indices) {
  size_t runs = 0;
  for (size_t i = 0; i < indices.size(); ++i)
    runs += i == 0 || indices[i] != indices[i - 1] + 1 ? 1 : 0;
  return runs;
}

std::optional<Reject> find_indexed_axes(const Call& call, std::span<Value* const> lists,
                                        const Shape& shape, Places& places) {
  const std::string& name = call.schema().full_name;
  int count = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    const Value* list = lists[i];
    if (list == nullptr) continue;
    if (count == 0) places.first_axis = static_cast<int>(i);
    if (static_cast<size_t>(places.first_axis) + static_cast<size_t>(count++) != i) {
      return reject(Code::kRejectAttribute, "{}: indices for axes that are not neighbours", name);
    }
    Shape joined;
    if (!list->shape().is_static() || !broadcast(places.shape, list->shape(), joined)) {
      return reject(Code::kRejectShape, "{}: indices of sizes {} and {}", name,
                    to_string(places.shape), to_string(list->shape()));
    }
    places.shape = joined;
  }
  if (count == 0) return reject(Code::kRejectAttribute, "{}: no indices", name);
  if (lists.size() > static_cast<size_t>(shape.rank()) || !shape.is_static()) {
    return reject(Code::kRejectAttribute, "{}: {} indices for {}", name, lists.size(),
                  to_string(shape));
  }
  std::vector<int64_t> merged(shape.begin(), shape.begin() + places.first_axis);
  merged.push_back(std::accumulate(shape.begin() + places.first_axis,
                                   shape.begin() + places.first_axis + count, int64_t{1},
                                   std::multiplies<>()));
  merged.insert(merged.end(), shape.begin() + places.first_axis + count, shape.end());
  places.merged = Shape(merged);
  return std::nullopt;
}

/// `indices` of each row of [outer, size, inner], by GATHER; nullptr where the target has none.
Value* gather(Builder& b, Value* x, int axis, std::span<const int64_t> indices) {
  const Shape s = x->shape();
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i)
    outer *= s[i];
  const auto count = static_cast<int64_t>(indices.size());
  if (outer * count > kMaxPlaces) return nullptr;
  const int64_t inner = s.num_elements() / (outer * s[axis]);
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < outer; ++i)
    rows.insert(rows.end(), indices.begin(), indices.end());
  Value* places = b.constant_ints(DType::kI32, {outer, count}, rows);
  Value* operands[] = {b.reshape(x, {outer, s[axis], inner}), places};
  if (!b.legal(tosa::gather, operands)) return nullptr;
  Shape shape = s;
  shape[axis] = count;
  Value* y = b.reshape(b.emit(tosa::gather, operands), shape);
  if (y->shape() == shape) y->set_type({y->dtype(), shape, x->quant()});
  return y;
}

}  // namespace

std::optional<Reject> read_indices(const Call& call, const Value& index, int64_t size,
                                   std::vector<int64_t>& indices) {
  const std::string& name = call.schema().full_name;
  if (!index.is_constant() || !is_integer(index.dtype())) {
    return reject(Code::kRejectNotConstant,
                  "{}: indices of type {} must be constants; TOSA has no 64-bit integers", name,
                  to_string(index.type()));
  }
  if (index.shape().num_elements() > kMaxPlaces) {
    return reject(Code::kRejectShape, "{}: {} indices; up to {} are taken", name,
                  index.shape().num_elements(), kMaxPlaces);
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

std::optional<Reject> read_places(const Call& call, std::span<Value* const> lists,
                                  const Shape& shape, Places& places) {
  if (auto r = find_indexed_axes(call, lists, shape, places)) return r;
  if (places.shape.num_elements() > kMaxPlaces) {
    return reject(Code::kRejectShape, "{}: {} places; up to {} are taken", call.schema().full_name,
                  places.shape.num_elements(), kMaxPlaces);
  }
  places.list.assign(static_cast<size_t>(places.shape.num_elements()), 0);
  for (int axis = places.first_axis; axis < static_cast<int>(lists.size()); ++axis) {
    const Value* list = lists[static_cast<size_t>(axis)];
    if (list == nullptr) break;
    std::vector<int64_t> indices;
    if (auto r = read_indices(call, *list, shape[axis], indices)) return r;
    for (size_t p = 0; p < places.list.size(); ++p) {
      const int64_t from = broadcast_source(static_cast<int64_t>(p), places.shape, list->shape());
      places.list[p] = places.list[p] * shape[axis] + indices[static_cast<size_t>(from)];
    }
  }
  return std::nullopt;
}

std::optional<Reject> read_flat_places(const Call& call, int64_t axis, const Value& index,
                                       const Shape& shape, Places& places) {
  const std::string& name = call.schema().full_name;
  const Shape& s = index.shape();
  if (shape.rank() == 0 || !shape.is_static() || !s.is_static() || s.rank() != shape.rank() ||
      !normalise_axis(axis, shape.rank())) {
    return reject(Code::kRejectShape, "{}: indices of sizes {} along axis {} of {}", name,
                  to_string(s), axis, to_string(shape));
  }
  std::vector<int64_t> indices;
  if (auto r = read_indices(call, index, shape[static_cast<int>(axis)], indices)) return r;
  places.shape = s;
  places.merged = {shape.num_elements()};
  for (int i = 0; i < s.rank(); ++i) {
    if (i == axis || s[i] <= shape[i]) continue;
    return reject(Code::kRejectShape, "{}: indices of sizes {} for {}", name, to_string(s),
                  to_string(shape));
  }
  for (size_t p = 0; p < indices.size(); ++p) {
    auto rest = static_cast<int64_t>(p);
    int64_t place = 0;
    int64_t stride = 1;
    for (int i = s.rank(); i-- > 0;) {
      place += (i == axis ? indices[p] : rest % s[i]) * stride;
      rest /= s[i];
      stride *= shape[i];
    }
    places.list.push_back(place);
  }
  return std::nullopt;
}

Value* call_take_any(Builder& b, Value* x, int axis, std::span<const int64_t> indices) {
  const size_t runs = count_runs(indices);
  if (runs > kManyRuns && b.mode() == Builder::Mode::kLower && !b.failure()) {
    if (Value* taken = gather(b, x, axis, indices)) return taken;
  }
  if (runs > kMaxRuns) {
    b.fail(reject(Code::kRejectShape, "{} runs of indices; up to {} are cut into slices", runs,
                  kMaxRuns));
    return x;
  }
  return call_take(b, x, axis, indices);
}

Value* call_put(Builder& b, Value* x, Value* values, int axis, std::span<const int64_t> places,
                const TensorType& result) {
  const int64_t size = x->shape()[axis];
  std::vector<int64_t> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < places.size(); ++i)
    order[static_cast<size_t>(places[i])] = size + static_cast<int64_t>(i);
  TensorType type{result.dtype, x->shape(), result.quant};
  type.shape[axis] = size + static_cast<int64_t>(places.size());
  Value* parts[] = {x, values};
  return call_take_any(b, call_cat(b, parts, axis, type), axis, order);
}

bool has_repeats(std::span<const int64_t> places) {
  return std::unordered_set<int64_t>(places.begin(), places.end()).size() != places.size();
}

}  // namespace tosaic::aten
