// SPDX-License-Identifier: Apache-2.0
// Moves an inference batch_norm into the constants of the convolution (or linear) before it:
//
//   %c: f32[1,8,4,4] = aten.conv2d.default(%x, %w)
//   %n: f32[1,8,4,4] = aten.batch_norm.default(%c, %gamma, %beta, %mean, %var) {training = false,
//   …}
// =>
//   %n: f32[1,8,4,4] = aten.conv2d.default(%x, %w1, %b1)
//
// with k = gamma / sqrt(var + eps), w1 = w * k (per output channel, computed when the constant is
// written) and b1 = (b - mean) * k + beta. The convolution must have no other user and float
// constants.
#include <cmath>
#include <optional>
#include <vector>

#include "aten/call.h"
#include "passes/passes.h"

namespace tosaic {
namespace {

using aten::Constraint;
using aten::ConstraintKind;

/// Where a convolution-like row has its weight and bias, and the axis of the output channels.
struct ConvOperands {
  int weight = -1;
  int bias = -1;
  int channel_axis = 0;
};

std::optional<ConvOperands> conv_operands(const Node& node) {
  if (!aten::is_aten(node) || node.num_results() != 1 || !node.segments().empty()) {
    return std::nullopt;
  }
  ConvOperands found;
  for (const Constraint& constraint : aten::row(node.op()).quant) {
    if (constraint.kind == ConstraintKind::kWeight) {
      found.weight = constraint.operands[0];
      found.channel_axis = constraint.axis;
    } else if (constraint.kind == ConstraintKind::kBias) {
      found.bias = constraint.operands[0];
    }
  }
  // In these rows the tensors come first in the schema: argument and operand have one number.
  const bool fits = found.weight == 1 && found.bias == 2 && node.num_operands() >= 2;
  return fits ? std::optional(found) : std::nullopt;
}

bool is_float_constant(const Value* value) {
  return value != nullptr && value->is_constant() && value->dtype() == DType::kF32;
}

/// Values of an optional constant of batch_norm, or `missing` for each channel; none when the
/// operand cannot be used.
std::optional<std::vector<double>> channel_values(const Value* value, size_t channels,
                                                  double missing) {
  if (value == nullptr) return std::vector<double>(channels, missing);
  if (!is_float_constant(value)) return std::nullopt;
  std::vector<double> values = float_values(*value->constant());
  if (values.size() != channels) return std::nullopt;
  return values;
}

/// What batch_norm multiplies with and adds.
struct Affine {
  std::vector<double> scale;
  std::vector<double> offset;
};

std::optional<Affine> affine_of(const Node& node, size_t channels) {
  const aten::NodeCall view(node);
  const aten::Call& call = view.call;
  if (call.b("training")) return std::nullopt;
  // Without running statistics batch_norm takes those of the batch.
  if (call.tensor("running_mean") == nullptr || call.tensor("running_var") == nullptr) {
    return std::nullopt;
  }
  const auto gamma = channel_values(call.tensor("weight"), channels, 1);
  const auto beta = channel_values(call.tensor("bias"), channels, 0);
  const auto mean = channel_values(call.tensor("running_mean"), channels, 0);
  const auto var = channel_values(call.tensor("running_var"), channels, 1);
  if (!gamma || !beta || !mean || !var) return std::nullopt;
  const double eps = call.f("eps");
  Affine affine;
  for (size_t i = 0; i < channels; ++i) {
    const double k = (*gamma)[i] / std::sqrt((*var)[i] + eps);
    if (!std::isfinite(k)) return std::nullopt;
    affine.scale.push_back(k);
    affine.offset.push_back((*beta)[i] - (*mean)[i] * k);
  }
  return affine;
}

bool is_batch_norm(const Node& node) {
  return node.full_name() == "aten.batch_norm.default";
}

/// The convolution whose only use is `node`'s first operand.
Node* foldable_conv(const Node& node, ConvOperands& operands) {
  const Value* input = node.operand(0);
  if (input == nullptr || !input->has_one_use() || input->def() == nullptr) return nullptr;
  Node& conv = *input->def();
  const auto found = conv_operands(conv);
  if (!found) return nullptr;
  operands = *found;
  const Value* weight = conv.operand(operands.weight);
  const Value* bias = conv.num_operands() > operands.bias ? conv.operand(operands.bias) : nullptr;
  if (!is_float_constant(weight) || weight->quant() != nullptr) return nullptr;
  if (bias != nullptr && !is_float_constant(bias)) return nullptr;
  // batch_norm's channels are axis 1. Where the ranks differ (a batch is missing, or linear has
  // more axes than two) that is another axis than the channels of the convolution.
  const Shape& shape = input->shape();
  if (shape.rank() != weight->shape().rank() || shape.rank() < 2) return nullptr;
  if (shape[1] != weight->shape()[operands.channel_axis]) return nullptr;
  if (bias != nullptr && bias->shape().num_elements() != shape[1]) return nullptr;
  return &conv;
}

/// The convolution with the batch_norm in its constants, before `node`.
Node& insert_folded(Node& node, const Node& conv, const ConvOperands& where, const Affine& affine) {
  Graph& graph = node.graph();
  Module& module = graph.module();
  const Value& weight = *conv.operand(where.weight);
  const Value* bias = conv.num_operands() > where.bias ? conv.operand(where.bias) : nullptr;
  ConstantStage stage;
  stage.axis = where.channel_axis;
  stage.scales = affine.scale;
  std::vector<double> offset = affine.offset;
  if (bias != nullptr) {
    const std::vector<double> old = float_values(*bias->constant());
    for (size_t i = 0; i < offset.size(); ++i)
      offset[i] += old[i] * affine.scale[i];
  }
  std::vector<Value*> operands;
  for (const Use& use : conv.operands())
    operands.push_back(use.value());
  if (std::ssize(operands) <= where.bias) operands.resize(static_cast<size_t>(where.bias) + 1);
  operands[static_cast<size_t>(where.weight)] = &graph.add_constant(
      module.staged(*weight.constant(), stage, DType::kF32), weight.type(), weight.name());
  const Shape channels{static_cast<int64_t>(offset.size())};
  operands[static_cast<size_t>(where.bias)] = &graph.add_constant(
      module.constant_floats(DType::kF32, channels, offset), {DType::kF32, channels, nullptr},
      bias == nullptr ? std::string_view() : bias->name());
  const TensorType type = node.result().type();
  Node& folded = graph.insert({.op = &conv.op(),
                               .variant = conv.variant(),
                               .operands = operands,
                               .segments = {},
                               .results = std::span(&type, 1),
                               .attrs = conv.attrs(),
                               .loc = conv.loc()},
                              &node);
  folded.result().set_name(conv.result().name());
  return folded;
}

}  // namespace

Status run_fold_batch_norm(Graph& graph, PassContext& context) {
  for (Node& node : graph.nodes()) {
    if (!aten::is_aten(node) || !is_batch_norm(node)) continue;
    ConvOperands where;
    Node* conv = foldable_conv(node, where);
    if (conv == nullptr) continue;
    const auto affine = affine_of(node, static_cast<size_t>(node.operand(0)->shape()[1]));
    if (!affine) continue;
    Node& folded = insert_folded(node, *conv, where, *affine);
    graph.replace_all_uses(node.result(), folded.result());
    graph.erase(node);
    graph.erase(*conv);
    context.changed = true;
  }
  return ok();
}

}  // namespace tosaic
