// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "target/families.h"
#include "tosa/ops.h"

// Rows of Ethos-U55 and U65, which Vela treats alike. What compiles but has not been proved to give
// the right numbers stays out: CAST to fewer bits, TABLE on int16, ARITHMETIC_RIGHT_SHIFT without
// rounding.

namespace tosaic {
namespace {

using Result = std::optional<Reject>;

template <typename... Args>
Result limit(const Node& node, const Target& target, fmt::format_string<Args...> format,
             Args&&... args) {
  return reject(Code::kRejectTargetLimit, "{}: {}, the limit of {}", node.full_name(),
                fmt::format(format, std::forward<Args>(args)...), target.display_name);
}

Result absent(const Node& node, const Target& target) {
  return reject(Code::kRejectTargetOp, "{} on {} is not available on {}", node.full_name(),
                node.num_operands() == 0 ? "nothing" : dtype_name(node.operand(0)->dtype()),
                target.display_name);
}

/// Strides of windows whose output has more than one position along the axis.
Result check_strides(const Node& node, const Target& t, std::span<const int32_t> stride) {
  constexpr int32_t kMaxStride = 3;
  const Shape& out = node.result().shape();
  for (size_t axis = 0; axis < 2; ++axis) {
    if (stride[axis] > kMaxStride && out[1 + static_cast<int>(axis)] > 1) {
      Result r = limit(node, t, "stride {} is above {}", stride[axis], kMaxStride);
      r->hint = "use strides of at most 3, for example two layers whose strides multiply";
      return r;
    }
  }
  return std::nullopt;
}

Result check_conv(const Node& node, const Target& t, int64_t kernel_h, int64_t kernel_w) {
  constexpr int64_t kMaxHeight = 64;
  constexpr int64_t kMaxArea = 4096;
  const auto a = tosa::read_attrs<tosa::Conv2dAttrs>(node);
  if (!node.operand(1)->is_constant() || !node.operand(2)->is_constant()) {
    return reject(Code::kRejectNotConstant, "{}: weight and bias must be constants on {}",
                  node.full_name(), t.display_name);
  }
  if (auto r = check_strides(node, t, a.stride)) return r;
  const int64_t h = (kernel_h - 1) * a.dilation[0] + 1;
  const int64_t w = (kernel_w - 1) * a.dilation[1] + 1;
  if (h > kMaxHeight) return limit(node, t, "kernel height {} is above {}", h, kMaxHeight);
  if (h * w > kMaxArea) {
    return limit(node, t, "kernel {}x{} has {} elements, above {}", h, w, h * w, kMaxArea);
  }
  return std::nullopt;
}

Result check_avg_pool(const Node& node, const Target& t) {
  const auto a = tosa::read_attrs<tosa::AvgPool2dAttrs>(node);
  const bool padded = std::ranges::any_of(a.pad, [](int32_t p) { return p != 0; });
  const int64_t max_height = padded ? 8 : 256;
  const int64_t max_width = padded ? 8 : 65536;
  if (auto r = check_strides(node, t, a.stride)) return r;
  if (a.kernel[0] > max_height) {
    return limit(node, t, "kernel height {} is above {}{}", a.kernel[0], max_height,
                 padded ? " with padding" : "");
  }
  if (a.kernel[1] > max_width || int64_t{a.kernel[0]} * a.kernel[1] > 65536) {
    return limit(node, t, "kernel {}x{} is above {} wide or 65536 elements{}", a.kernel[0],
                 a.kernel[1], max_width, padded ? " with padding" : "");
  }
  if (node.operand(0)->shape()[0] != 1) {
    return limit(node, t, "batch {} is above 1", node.operand(0)->shape()[0]);
  }
  return std::nullopt;
}

Result check_max_pool(const Node& node, const Target& t) {
  const auto a = tosa::read_attrs<tosa::MaxPool2dAttrs>(node);
  if (auto r = check_strides(node, t, a.stride)) return r;
  if (a.kernel[0] > 256) return limit(node, t, "kernel height {} is above 256", a.kernel[0]);
  if (int64_t{a.kernel[0]} * a.kernel[1] > 65536) {
    return limit(node, t, "kernel {}x{} is above 65536 elements", a.kernel[0], a.kernel[1]);
  }
  return std::nullopt;
}

Result check_argmax(const Node& node, const Target& t) {
  const Shape& s = node.operand(0)->shape();
  const auto a = tosa::read_attrs<tosa::ArgMaxAttrs>(node);
  if (node.operand(0)->dtype() != DType::kI8) return absent(node, t);
  if (s.rank() == 4 && s[0] != 1) return limit(node, t, "a batch of {} is above {}", s[0], 1);
  if (a.axis != s.rank() - 1) {
    return limit(node, t, "axis {} is not the last, which is", a.axis);
  }
  if (s.rank() > 4 || s[s.rank() - 1] > 127) {
    return limit(node, t, "{} channels of rank {} are above 127 of rank 4", s[s.rank() - 1],
                 s.rank());
  }
  return std::nullopt;
}

Result check_transpose(const Node& node, const Target& t) {
  const Value& x = *node.operand(0);
  if (x.dtype() == DType::kI32 && x.shape().rank() > 4) {
    return limit(node, t, "rank {} of an int32 is above 4", x.shape().rank());
  }
  return std::nullopt;
}

Result check_rescale(const Node& node, const Target& t) {
  const Value& x = *node.operand(0);
  if (x.dtype() != DType::kI48) return std::nullopt;
  const bool from_conv =
      x.def() != nullptr && (x.def()->is(tosa::conv2d) || x.def()->is(tosa::depthwise_conv2d));
  if (from_conv) return std::nullopt;
  return reject(Code::kRejectTargetOp,
                "{} of an int48 that no convolution gives is not available "
                "on {}",
                node.full_name(), t.display_name);
}

/// Vela takes two forms of RESIZE only: doubling by nearest neighbours, with half-pixel centres and
/// with aligned corners.
Result check_resize(const Node& node, const Target& t) {
  using Values = std::vector<int64_t>;
  if (const int64_t batch = node.operand(0)->shape()[0]; batch != 1) {
    return limit(node, t, "a batch of {} is above {}", batch, 1);
  }
  if (tosa::read_attrs<tosa::ResizeAttrs>(node).mode == tosa::ResizeMode::kNearest) {
    const auto values = [&node](int i) { return int_values(*node.operand(i)->constant()); };
    const Values scale = values(1);
    const Values offset = values(2);
    const Values border = values(3);
    if (scale == Values{4, 2, 4, 2} && offset == Values{-1, -1} && border == Values{1, 1})
      return std::nullopt;
    if (scale == Values{2, 1, 2, 1} && offset == Values{0, 0} && border == Values{0, 0})
      return std::nullopt;
  }
  return limit(node, t, "{} is not doubling by nearest neighbours, which is",
               tosa::name(tosa::read_attrs<tosa::ResizeAttrs>(node).mode));
}

/// Height or width; of an int32 it compiles, but nothing shows that the numbers are right.
Result check_reverse(const Node& node, const Target& t) {
  const Value& x = *node.operand(0);
  if (x.dtype() == DType::kI32) return absent(node, t);
  const int rank = x.shape().rank();
  const auto axis = tosa::read_attrs<tosa::AxisAttrs>(node).axis;
  if (rank > 4 || (axis != rank - 2 && axis != rank - 3)) {
    return limit(node, t, "axis {} of rank {} is not height or width, which is", axis, rank);
  }
  return std::nullopt;
}

Result check_transpose_conv(const Node& node, const Target& t) {
  const auto a = tosa::read_attrs<tosa::TransposeConv2dAttrs>(node);
  const Shape& in = node.operand(0)->shape();
  const Shape& w = node.operand(1)->shape();
  const bool is_row = in[1] == 1 && w[1] == 1 && a.stride[0] == 1 && a.stride[1] == 2;
  const bool is_column = in[2] == 1 && w[2] == 1 && a.stride[0] == 2 && a.stride[1] == 1;
  const bool is_even = a.stride[0] == a.stride[1] && a.stride[0] <= 2;
  if (!node.operand(1)->is_constant() || !node.operand(2)->is_constant()) {
    return reject(Code::kRejectNotConstant, "{}: weights and bias must be constants on {}",
                  node.full_name(), t.display_name);
  }
  if (!is_row && !is_column && !is_even) {
    return limit(node, t, "stride {}, {} is neither 1, 1 nor 2, 2", a.stride[0], a.stride[1]);
  }
  return std::nullopt;
}

bool has_bool(const Node& node) {
  const auto is_bool = [](const Value* v) { return v != nullptr && v->dtype() == DType::kBool; };
  for (const Use& use : node.operands()) {
    if (is_bool(use.value())) return true;
  }
  for (const Value& v : node.results()) {
    if (is_bool(&v)) return true;
  }
  return false;
}

/// The int48 of a 16-bit convolution has no place in memory: a RESCALE must take it. While a graph
/// is being made, the RESCALE comes later.
Result check_accumulator(const Node& node, const Target& t) {
  const Value& y = node.result();
  if (y.dtype() != DType::kI48) return std::nullopt;
  for (const Use* use = y.first_use(); use != nullptr; use = use->next()) {
    if (use->user().is(tosa::rescale)) continue;
    return reject(Code::kRejectTargetOp, "{}: its int48 result must go to RESCALE on {}",
                  node.full_name(), t.display_name);
  }
  return std::nullopt;
}

/// Operations with a rule of their own.
Result check_op(const Node& node, const Target& t) {
  const DType in = node.num_operands() > 0 ? node.operand(0)->dtype() : DType::kUnknown;
  if (node.is(tosa::conv2d)) {
    const Shape& w = node.operand(1)->shape();
    return check_conv(node, t, w[1], w[2]);
  }
  if (node.is(tosa::depthwise_conv2d)) {
    const Shape& w = node.operand(1)->shape();
    return check_conv(node, t, w[0], w[1]);
  }
  if (node.is(tosa::avg_pool2d)) return check_avg_pool(node, t);
  if (node.is(tosa::max_pool2d)) return check_max_pool(node, t);
  if (node.is(tosa::argmax)) return check_argmax(node, t);
  if (node.is(tosa::transpose)) return check_transpose(node, t);
  if (node.is(tosa::rescale)) return check_rescale(node, t);
  if (node.is(tosa::matmul)) return in == DType::kI8 ? std::nullopt : absent(node, t);
  if (node.is(tosa::table)) return in == DType::kI8 ? std::nullopt : absent(node, t);
  if (node.is(tosa::logical_left_shift)) return in == DType::kI32 ? std::nullopt : absent(node, t);
  if (node.is(tosa::select)) return absent(node, t);
  for (const OpDef* op :
       {&tosa::logical_right_shift, &tosa::bitwise_and, &tosa::bitwise_or, &tosa::bitwise_xor,
        &tosa::bitwise_not, &tosa::intdiv, &tosa::gather, &tosa::scatter, &tosa::conv3d}) {
    if (node.is(*op)) return absent(node, t);
  }
  if (node.is(tosa::resize)) return check_resize(node, t);
  if (node.is(tosa::reverse)) return check_reverse(node, t);
  if (node.is(tosa::transpose_conv2d)) return check_transpose_conv(node, t);
  if (node.is(tosa::reduce_max) || node.is(tosa::reduce_min)) {
    return in == DType::kI32 ? absent(node, t) : std::nullopt;
  }
  if (node.is(tosa::arithmetic_right_shift)) {
    const bool round = tosa::read_attrs<tosa::ArithmeticRightShiftAttrs>(node).round;
    return in == DType::kI32 && round ? std::nullopt : absent(node, t);
  }
  if (node.is(tosa::cast)) {
    return element_bytes(node.result().dtype()) < element_bytes(in) ? absent(node, t)
                                                                    : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Reject> ethos_u55_rows(const Node& node, const Target& target) {
  constexpr int64_t kMaxSize = 65536;
  if (has_bool(node)) {
    return reject(Code::kRejectDtype, "{}: bool tensors are not available on {}", node.full_name(),
                  target.display_name);
  }
  for (const Value& v : node.results()) {
    for (int64_t size : v.shape()) {
      if (size > kMaxSize) return limit(node, target, "size {} is above {}", size, kMaxSize);
    }
  }
  for (const Use& use : node.operands()) {
    if (use.value() == nullptr || use.value()->is_constant()) continue;
    for (int64_t size : use.value()->shape()) {
      if (size > kMaxSize) return limit(node, target, "size {} is above {}", size, kMaxSize);
    }
  }
  if (auto r = check_op(node, target)) return r;
  return node.num_results() == 1 ? check_accumulator(node, target) : std::nullopt;
}

}  // namespace tosaic
