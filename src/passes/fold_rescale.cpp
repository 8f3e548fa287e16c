// SPDX-License-Identifier: Apache-2.0
// Merges RESCALE pairs, and drops RESCALE and CLAMP that change nothing, where all bits stay the
// same.
//
//   %a: i32[8] = tosa.rescale(%x, 2^30, 20, 3, 0)         // exactly * 1024
//   %b: i8[8] = tosa.rescale(%a, 1518500250, 41, 0, -5)
// =>
//   %b: i8[8] = tosa.rescale(%x, 1518500250, 31, 3, -5)
//
// Why that is exact: the first one multiplies by an integer c, without rounding and, for every
// value that its input's type has, without overflow or saturation. Its result v*c times m/2^s is
// rounded once by the second, and v times (c*m)/2^s is the same real number, rounded the same way.
// The new factor is c*m/2^s exactly, or there is none. A first RESCALE that rounds is never merged.
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "numeric/rescale.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "tosa/ops.h"

namespace tosaic {
namespace {

/// A RESCALE with scale32 and single rounding of signed integers.
struct Rescale {
  Value* input = nullptr;
  std::vector<int64_t> multipliers;  ///< one, or one per channel
  std::vector<int64_t> shifts;
  int64_t input_zp = 0;
  int64_t output_zp = 0;
  DType output = DType::kUnknown;
};

std::optional<Rescale> read(const Node* node) {
  if (node == nullptr || !node->is(tosa::rescale)) return std::nullopt;
  const auto attrs = tosa::read_attrs<tosa::RescaleAttrs>(*node);
  if (!attrs.scale32 || attrs.rounding_mode != tosa::RoundingMode::kSingle ||
      attrs.input_unsigned || attrs.output_unsigned) {
    return std::nullopt;
  }
  const auto values = [node](int i) { return int_values(*node->operand(i)->constant()); };
  return Rescale{node->operand(0), values(1),    values(2),
                 values(3)[0],     values(4)[0], node->result().dtype()};
}

numeric::RescaleParams params(const Rescale& r, size_t channel) {
  return {.input_zp = r.input_zp,
          .multiplier = static_cast<int32_t>(r.multipliers[channel]),
          .shift = static_cast<int32_t>(r.shifts[channel]),
          .output_zp = r.output_zp,
          .out_min = integer_min(r.output),
          .out_max = integer_max(r.output)};
}

/// The integer that the RESCALE multiplies by; nothing when it is none.
std::optional<int64_t> exact_factor(const Rescale& r) {
  if (r.multipliers.size() != 1) return std::nullopt;
  const int64_t unit = int64_t{1} << r.shifts[0];
  if (r.multipliers[0] < unit || r.multipliers[0] % unit != 0) return std::nullopt;
  return r.multipliers[0] / unit;
}

/// The same values in the same type: times 1, between equal zero points.
bool is_identity(const Rescale& r) {
  if (r.input->dtype() != r.output || r.input_zp != r.output_zp) return false;
  for (size_t c = 0; c < r.multipliers.size(); ++c) {
    if (r.multipliers[c] != int64_t{1} << r.shifts[c]) return false;
  }
  return true;
}

/// numerator / 2^shift as a factor, with as many bits as there is room for.
std::optional<numeric::Scale32> exact_scale(int64_t numerator, int64_t shift) {
  if (numerator <= 0) return std::nullopt;
  const int zeros = std::countr_zero(static_cast<uint64_t>(numerator));
  numerator >>= zeros;
  shift -= zeros;
  if (!numeric::fits<int32_t>(numerator)) return std::nullopt;
  while (shift < numeric::kMaxScaleShift && numerator < int64_t{1} << 30) {
    numerator <<= 1;
    ++shift;
  }
  if (!numeric::is_valid_scale(numerator, shift)) return std::nullopt;
  return numeric::Scale32{static_cast<int32_t>(numerator), static_cast<int8_t>(shift)};
}

/// Factors of the one RESCALE that computes `second` after `first`; empty: there is none.
std::vector<numeric::Scale32> merge(const Rescale& first, const Rescale& second) {
  const auto factor = exact_factor(first);
  const DType in = first.input->dtype();
  if (!factor || (in != DType::kI8 && in != DType::kI16)) return {};
  if (first.output_zp != second.input_zp) return {};
  const int64_t ends[] = {integer_min(in), integer_max(in)};
  for (const int64_t value : ends) {
    // Monotonic, so what holds at both ends holds between them.
    const auto result = numeric::rescale(value, params(first, 0));
    const int64_t exact = (value - first.input_zp) * *factor + first.output_zp;
    if (result.unpredictable || result.value != exact) return {};
  }
  std::vector<numeric::Scale32> scales;
  for (size_t c = 0; c < second.multipliers.size(); ++c) {
    const auto scale = exact_scale(*factor * second.multipliers[c], second.shifts[c]);
    if (!scale) return {};
    for (const int64_t value : ends) {
      const int64_t middle = numeric::rescale(value, params(first, 0)).value;
      if (numeric::rescale(middle, params(second, c)).unpredictable ||
          !numeric::fits_scale_32(value - first.input_zp, scale->shift)) {
        return {};
      }
    }
    scales.push_back(*scale);
  }
  return scales;
}

Value* emit(tosa::Builder& b, const Rescale& first, const Rescale& second,
            const std::vector<numeric::Scale32>& scales) {
  std::vector<int64_t> multipliers;
  std::vector<int64_t> shifts;
  for (const numeric::Scale32& scale : scales) {
    multipliers.push_back(scale.multiplier);
    shifts.push_back(scale.shift);
  }
  const Shape sizes{static_cast<int64_t>(scales.size())};
  return b.emit_as(
      second.output, tosa::rescale,
      std::vector<Value*>{first.input, b.constant_ints(DType::kI32, sizes, multipliers),
                          b.constant_ints(DType::kI8, sizes, shifts),
                          b.zero_point(first.input->dtype(), first.input_zp),
                          b.zero_point(second.output, second.output_zp)},
      tosa::write_attrs(tosa::RescaleAttrs{.per_channel = scales.size() > 1}, b.module().arena()));
}

/// Least and greatest value that a RESCALE can give.
std::pair<int64_t, int64_t> output_range(const Rescale& r) {
  const DType in = r.input->dtype();
  std::pair<int64_t, int64_t> range{integer_min(r.output), integer_max(r.output)};
  if (r.multipliers.size() != 1 || (in != DType::kI8 && in != DType::kI16)) return range;
  const auto low = numeric::rescale(integer_min(in), params(r, 0));
  const auto high = numeric::rescale(integer_max(in), params(r, 0));
  if (!low.unpredictable && !high.unpredictable) range = {low.value, high.value};
  return range;
}

/// The value that the node's result equals; nullptr: none is known.
Value* simplify(const Node& node, tosa::Builder& b) {
  if (node.is(tosa::clamp)) {
    const auto rescale = read(node.operand(0)->def());
    if (!rescale) return nullptr;
    const auto limits = tosa::read_attrs<tosa::ClampAttrs>(node);
    const auto [low, high] = output_range(*rescale);
    const bool covers = limits.min_val.i <= low && limits.max_val.i >= high;
    return covers ? node.operand(0) : nullptr;
  }
  const auto second = read(&node);
  if (!second) return nullptr;
  if (is_identity(*second)) return second->input;
  const auto first = read(second->input->def());
  if (!first) return nullptr;
  const auto scales = merge(*first, *second);
  return scales.empty() ? nullptr : emit(b, *first, *second, scales);
}

}  // namespace

Status run_fold_rescale(Graph& graph, PassContext& context) {
  Rewriter rewriter(graph, context);
  for (Node& node : graph.nodes()) {
    if (!node.is(tosa::rescale) && !node.is(tosa::clamp)) continue;
    rewriter.replace(node, simplify(node, rewriter.before(node)));
  }
  return ok();
}

}  // namespace tosaic
