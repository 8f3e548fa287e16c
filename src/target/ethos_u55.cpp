// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "target/ethos_u55_rows.h"
#include "target/families.h"

// Rows of Ethos-U55 and U65, which Vela treats alike. Forms that compile but have not been proved
// to give the right numbers are refused as such (R0014).

namespace tosaic {
namespace rows {
namespace {

DType dtype_of(const Node& node) {
  return node.operand(0)->dtype();
}

Result check_argmax(const Node& node, const Target& t) {
  constexpr int64_t kMaxChannels = 127;
  const Shape& s = node.operand(0)->shape();
  const int last = s.rank() - 1;
  const auto axis = tosa::read_attrs<tosa::ArgMaxAttrs>(node).axis;
  if (dtype_of(node) != DType::kI8) return absent(node, t);
  if (axis != last) return limit(node, t, "axis {} of {} is not the last", axis, to_string(s));
  if (s[last] > kMaxChannels)
    return limit(node, t, "{} channels are above {}", s[last], kMaxChannels);
  int64_t images = 1;
  for (int i = 0; i < last - 2; ++i)
    images *= s[i];
  return images == 1 ? std::nullopt : limit(node, t, "{} images are above {}", images, 1);
}

/// An int48 has no place in memory: only what Vela joins with the convolution takes one. Of
/// channels joined before (CONCAT) Vela 5.2.0 crashes when both multipliers and shifts differ.
Result check_rescale(const Node& node, const Target& t) {
  const Value& x = *node.operand(0);
  const Node* def = x.def();
  if (tosa::read_attrs<tosa::RescaleAttrs>(node).per_channel && def != nullptr &&
      def->is(tosa::concat) &&
      tosa::read_attrs<tosa::AxisAttrs>(*def).axis == x.shape().rank() - 1) {
    return reject(Code::kRejectTargetOp,
                  "{} per channel of what CONCAT joins is not available on {}", node.full_name(),
                  t.display_name);
  }
  if (x.dtype() != DType::kI48) return std::nullopt;
  if (def != nullptr && (def->is(tosa::conv2d) || def->is(tosa::depthwise_conv2d)))
    return std::nullopt;
  return reject(Code::kRejectTargetOp,
                "{} of an int48 that no convolution gives is not available on {}", node.full_name(),
                t.display_name);
}

Result check_cast(const Node& node, const Target& t) {
  const bool narrows = element_bytes(node.result().dtype()) < element_bytes(dtype_of(node));
  return narrows ? unproven(node, t) : std::nullopt;
}

Result check_table(const Node& node, const Target& t) {
  return dtype_of(node) == DType::kI8 ? std::nullopt : unproven(node, t);
}

Result check_right_shift(const Node& node, const Target& t) {
  if (dtype_of(node) != DType::kI32) return absent(node, t);
  const bool rounds = tosa::read_attrs<tosa::ArithmeticRightShiftAttrs>(node).round;
  return rounds ? check_broadcast(node, t) : unproven(node, t);
}

Result only_int32(const Node& node, const Target& t) {
  return dtype_of(node) == DType::kI32 ? check_broadcast(node, t) : absent(node, t);
}
Result not_int32(const Node& node, const Target& t) {
  return dtype_of(node) == DType::kI32 ? absent(node, t) : std::nullopt;
}

/// Vela 5.2.0 crashes on REDUCE_MIN when a RESHAPE shows its operand, or its result, with five
/// axes. REDUCE_MAX does the same work.
Result check_reduce_min(const Node& node, const Target& t) {
  if (dtype_of(node) == DType::kI32) return absent(node, t);
  return reject(Code::kRejectTargetOp, "{} is not given to {}: Vela may crash on it",
                node.full_name(), t.display_name);
}

constexpr Row kRows[] = {
    {&tosa::conv2d, u55_conv},
    {&tosa::depthwise_conv2d, u55_conv},
    {&tosa::conv3d, u55_conv3d},
    {&tosa::transpose_conv2d, u55_transpose_conv},
    {&tosa::avg_pool2d, u55_avg_pool},
    {&tosa::max_pool2d, u55_max_pool},
    {&tosa::matmul, u55_matmul},
    {&tosa::argmax, check_argmax},
    {&tosa::rescale, check_rescale},
    {&tosa::cast, check_cast},
    {&tosa::table, check_table},
    {&tosa::add, check_broadcast},
    {&tosa::sub, check_broadcast},
    {&tosa::mul, check_broadcast},
    {&tosa::maximum, check_broadcast},
    {&tosa::minimum, check_broadcast},
    {&tosa::arithmetic_right_shift, check_right_shift},
    {&tosa::logical_left_shift, only_int32},
    {&tosa::logical_right_shift, absent},
    {&tosa::bitwise_and, absent},
    {&tosa::bitwise_or, absent},
    {&tosa::bitwise_xor, absent},
    {&tosa::bitwise_not, absent},
    {&tosa::intdiv, absent},
    {&tosa::select, absent},
    {&tosa::gather, absent},
    {&tosa::scatter, absent},
    {&tosa::reduce_max, not_int32},
    {&tosa::reduce_min, check_reduce_min},
    {&tosa::reduce_sum, u55_reduce_sum},
    {&tosa::concat, check_copies},
    {&tosa::pad, check_copies},
    {&tosa::slice, check_copies},
    {&tosa::tile, check_tile},
    {&tosa::transpose, u55_transpose},
    {&tosa::reverse, u55_reverse},
    {&tosa::resize, u55_resize},
};

bool has_bool(const Node& node) {
  const auto is_bool = [](const Value* v) { return v != nullptr && v->dtype() == DType::kBool; };
  return std::ranges::any_of(node.operands(), [&](const Use& u) { return is_bool(u.value()); }) ||
         std::ranges::any_of(node.results(), [&](const Value& v) { return is_bool(&v); });
}

/// The int48 of a 16-bit convolution must go to a RESCALE. While a graph is being made, the RESCALE
/// comes later.
Result check_accumulator(const Node& node, const Target& t) {
  const Value& y = node.result();
  if (y.dtype() != DType::kI48 || dtype_of(node) == DType::kI48) return std::nullopt;
  for (const Use* use = y.first_use(); use != nullptr; use = use->next()) {
    if (use->user().is(tosa::rescale)) continue;
    return reject(Code::kRejectTargetOp, "{}: its int48 result must go to RESCALE on {}",
                  node.full_name(), t.display_name);
  }
  return std::nullopt;
}

}  // namespace
}  // namespace rows

std::optional<Reject> ethos_u55_rows(const Node& node, const Target& target) {
  if (rows::has_bool(node)) {
    return reject(Code::kRejectDtype, "{}: bool tensors are not available on {}", node.full_name(),
                  target.display_name);
  }
  if (auto r = rows::check_batch(node, target)) return r;
  if (auto r = rows::check(rows::kRows, node, target)) return r;
  return node.num_results() == 1 ? rows::check_accumulator(node, target) : std::nullopt;
}

}  // namespace tosaic
