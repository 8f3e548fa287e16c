// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/calls.h"

// Pooling with as many windows as the output has elements, over the last two axes: one pooling
// where the windows tile the input, else one for each window. PyTorch's windows are ranges of rows
// times ranges of columns, so that rows can be pooled first and columns of the result then.

namespace tosaic::aten {
namespace {

/// Windows of more parts than this are refused: each is a pooling of its own.
constexpr int64_t kMaxParts = 64;

/// Elements [begin, end) of an axis.
struct Range {
  int64_t begin = 0;
  int64_t size = 0;
};

/// PyTorch's window i of `count` over `size` elements.
Range window(int64_t i, int64_t count, int64_t size) {
  const int64_t begin = i * size / count;
  return {begin, ((i + 1) * size + count - 1) / count - begin};
}

/// Windows of a size that lie side by side, as calls of avg_pool2d or max_pool2d.
struct Pooling {
  std::string_view overload;
  int rank;

  int h() const { return rank - 2; }
  int w() const { return rank - 1; }

  Value* call(Builder& b, Value* x, const TensorType& type, int64_t kh, int64_t kw) const {
    const int64_t kernel[] = {kh, kw};
    return b.call(overload, {x}, type, {{"kernel_size", Attr::ints(kernel)}});
  }
};

/// One axis of `x` pooled to that of `type`.
Value* pool_axis(Builder& b, const Pooling& pooling, Value* x, int axis, const TensorType& type) {
  const int64_t size = x->shape()[axis];
  const int64_t count = type.shape[axis];
  const auto pooled = [&](Value* part, const TensorType& result, int64_t kernel) {
    return axis == pooling.h() ? pooling.call(b, part, result, kernel, 1)
                               : pooling.call(b, part, result, 1, kernel);
  };
  if (size == count) return x;
  if (size % count == 0) return pooled(x, type, size / count);
  TensorType part_type = type;
  part_type.shape[axis] = 1;
  std::vector<Value*> parts;
  for (int64_t i = 0; i < count; ++i) {
    const Range range = window(i, count, size);
    parts.push_back(pooled(call_slice(b, x, axis, range.begin, range.size), part_type, range.size));
  }
  return call_cat(b, parts, axis, type);
}

Value* pool_rows_then_columns(Builder& b, const Pooling& pooling, Value* x,
                              const TensorType& type) {
  TensorType rows = type;
  rows.shape[pooling.w()] = x->shape()[pooling.w()];
  x = pool_axis(b, pooling, x, pooling.h(), rows);
  return call_view(b, pool_axis(b, pooling, x, pooling.w(), type), type);
}

/// Each window by itself: an average is rounded once.
Value* pool_windows(Builder& b, const Pooling& pooling, Value* x, const TensorType& type) {
  const int64_t out_h = type.shape[pooling.h()];
  const int64_t out_w = type.shape[pooling.w()];
  TensorType row_type = type;
  row_type.shape[pooling.h()] = 1;
  TensorType part_type = row_type;
  part_type.shape[pooling.w()] = 1;
  std::vector<Value*> rows;
  for (int64_t i = 0; i < out_h; ++i) {
    const Range y = window(i, out_h, x->shape()[pooling.h()]);
    Value* strip = call_slice(b, x, pooling.h(), y.begin, y.size);
    std::vector<Value*> parts;
    for (int64_t j = 0; j < out_w; ++j) {
      const Range c = window(j, out_w, x->shape()[pooling.w()]);
      parts.push_back(pooling.call(b, call_slice(b, strip, pooling.w(), c.begin, c.size), part_type,
                                   y.size, c.size));
    }
    rows.push_back(call_cat(b, parts, pooling.w(), row_type));
  }
  return call_cat(b, rows, pooling.h(), type);
}

/// With a result for each of the operator's; those after the first are indices, which are missing.
Lowered lower_adaptive_pool(const Call& n, Builder& b, std::string_view overload, bool rounds) {
  Value* x = n.in(0);
  const TensorType& type = n.out();
  const Pooling pooling{overload, x->shape().rank()};
  if ((pooling.rank != 3 && pooling.rank != 4) || type.shape.rank() != pooling.rank) {
    return reject(Code::kRejectShape, "{}: the input has {} axes; 3 and 4 are taken",
                  n.schema().full_name, pooling.rank);
  }
  const int64_t in_h = x->shape()[pooling.h()];
  const int64_t in_w = x->shape()[pooling.w()];
  const int64_t out_h = type.shape[pooling.h()];
  const int64_t out_w = type.shape[pooling.w()];
  if (std::min({in_h, in_w, out_h, out_w}) <= 0) {
    return reject(Code::kRejectShape, "{}: the input or the result has no elements",
                  n.schema().full_name);
  }
  std::vector<Value*> results(n.results().size(), nullptr);
  if (in_h % out_h == 0 && in_w % out_w == 0) {
    results[0] = pooling.call(b, x, type, in_h / out_h, in_w / out_w);
  } else if (rounds && out_h * out_w <= kMaxParts) {
    results[0] = pool_windows(b, pooling, x, type);
  } else if (std::max(out_h, out_w) <= kMaxParts) {
    results[0] = pool_rows_then_columns(b, pooling, x, type);
  } else {
    return reject(Code::kRejectShape, "{}: {}x{} windows of unequal sizes; up to {} are taken",
                  n.schema().full_name, out_h, out_w, kMaxParts);
  }
  return results;
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(adaptive_avg_pool2d) = {
    .schemas = schemas("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
                       "aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"),
    .doc =
        "Averages of as many windows as the output has elements: avg_pool2d where they tile the "
        "input, else one avg_pool2d per window, or per row and column of many windows.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return lower_adaptive_pool(n, b, "aten.avg_pool2d.default", true); },
    .cpu =
        "aten::_adaptive_avg_pool2d.out(Tensor self, SymInt[2] output_size, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(adaptive_max_pool2d) = {
    .schemas =
        schemas("aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)"),
    .doc =
        "Greatest elements of as many windows as the output has elements: max_pool2d where they "
        "tile the input, else one max_pool2d per row and column of windows. Without the indices.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return lower_adaptive_pool(n, b, "aten.max_pool2d.default", false); },
};
