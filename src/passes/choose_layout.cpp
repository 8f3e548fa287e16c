// SPDX-License-Identifier: Apache-2.0
// Moves TRANSPOSEs until few bytes are moved. PyTorch's activations are NCHW and TOSA's
// convolutions take NHWC, so that lowerings put a TRANSPOSE before and one behind each; what lies
// between two convolutions can as well be computed in NHWC.
//
//   %a = tosa.transpose(%x) {perms = [0, 3, 1, 2]}     // NHWC -> NCHW
//   %b = tosa.clamp(%a) {…}                            %b = tosa.clamp(%x) {…}
//   %c = tosa.pad(%b, [0,0,0,0,1,1,1,1], 0)       =>   %c = tosa.pad(%b, [0,0,1,1,1,1,0,0], 0)
//   %d = tosa.transpose(%c) {perms = [0, 2, 3, 1]}     return %c
//   return %d
//
// layout_regions.h says which layout each value gets. A node is then rebuilt on permuted operands
// and its result is permuted back; permutations that meet become one or nothing (constants: another
// view of the same bytes). The pass also moves a TRANSPOSE behind a RESHAPE that keeps the permuted
// axes apart, where it may meet its inverse (patch embeddings), and into the weight of a CONV2D
// that sums flattened channels (linear after flatten), for integers alone: float sums depend on
// their order. Each value is the same tensor as before, up to the order of its axes.
#include <utility>

#include "passes/layout_regions.h"
#include "passes/passes.h"
#include "passes/rewriter.h"
#include "tosa/ops.h"

namespace tosaic {
namespace {

class Layout {
 public:
  Layout(Graph& graph, PassContext& context) : rewriter_(graph, context) {}

  /// The TRANSPOSE goes behind the RESHAPE, or disappears in it.
  bool swap_with_reshape(Node& node) {
    const Node* turn = node.operand(0)->def();
    const auto perm = transpose_of(turn);
    if (!perm || !turn->result().has_one_use()) return false;
    Value* x = turn->operand(0);
    const auto swapped = swap_reshape(x->shape(), *perm, node.result().shape());
    if (!swapped) return false;
    tosa::Builder& b = rewriter_.before(node);
    return rewriter_.replace(
        node, b.layout_transpose(b.reshape(x, swapped->shape), swapped->perm.axes()));
  }

  /// CONV2D of RESHAPE of TRANSPOSE: the weight's channels are permuted instead of the input.
  bool fold_into_weight(Node& node) {
    const Node* reshape = node.operand(0)->def();
    if (!sums_channels_in_any_order(node) || reshape == nullptr || !reshape->is(tosa::reshape)) {
      return false;
    }
    const Value& flat = reshape->result();
    const Value& turned = *reshape->operand(0);
    const auto perm = transpose_of(turned.def());
    if (!perm || (*perm)[0] != 0 || turned.shape()[0] != flat.shape()[0]) return false;
    tosa::Builder& b = rewriter_.before(node);
    const Value& weight = *node.operand(1);
    Shape channels = turned.shape();
    channels[0] = weight.shape()[0];
    Value* permuted = b.reshape(
        b.transpose(b.reshape(node.operand(1), channels), perm->inverse().axes()), weight.shape());
    std::vector<Value*> operands = operands_of(node);
    operands[0] = b.reshape(turned.def()->operand(0), flat.shape());
    operands[1] = permuted;
    copy_quant(flat, *operands[0]);
    copy_quant(weight, *permuted);
    return rewriter_.replace(node, b.emit(node.op(), operands, node.attrs()));
  }

  /// Two TRANSPOSEs in a row are one, or nothing.
  bool merge_transposes(Node& node) {
    Value* x = node.operand(0);
    if (x->def() == nullptr || !x->def()->is(tosa::transpose)) return false;
    tosa::Builder& b = rewriter_.before(node);
    return rewriter_.replace(node, b.layout_transpose(x, transpose_of(&node)->axes()));
  }

  /// Rebuilds a node so that its result has its axes in the order of `perm`.
  bool rebuild(Node& node, const Permutation& perm) {
    tosa::Builder& b = rewriter_.before(node);
    const int num_data = num_flexible_operands(node);
    std::vector<Value*> operands = operands_of(node);
    for (int i = 0; i < node.num_operands(); ++i) {
      Value*& operand = operands[static_cast<size_t>(i)];
      if (i < num_data) {
        operand = permuted(operand, perm);
      } else if (operand->dtype() == DType::kShape) {
        operand = permuted_entries(b, *operand, perm);
      }
    }
    Value* result =
        b.emit_as(node.result().dtype(), node.op(), operands, permuted_attrs(node, perm));
    if (b.failure()) return false;
    copy_quant(node.result(), *result);
    if (!is_output(node.result())) result->set_name(node.result().name());
    return rewriter_.replace(node, b.layout_transpose(result, perm.inverse().axes()));
  }

 private:
  static std::vector<Value*> operands_of(const Node& node) {
    std::vector<Value*> operands;
    for (const Use& use : node.operands())
      operands.push_back(use.value());
    return operands;
  }

  static void copy_quant(const Value& from, Value& to) {
    const Quant* quant = from.quant();
    if (quant == nullptr || !quant->per_tensor() || to.quant() != nullptr) return;
    TensorType type = to.type();
    type.quant = quant;
    to.set_type(type);
  }

  /// The value with its axes permuted, made once for all users of a layout.
  Value* permuted(Value* value, const Permutation& perm) {
    Value*& known = permuted_[{value, perm.code()}];
    if (known == nullptr) {
      known = rewriter_.builder().layout_transpose(value, perm.axes());
      if (known->dtype() == value->dtype()) copy_quant(*value, *known);
    }
    return known;
  }

  /// A shape operand with one or two entries per axis.
  static Value* permuted_entries(tosa::Builder& b, const Value& operand, const Permutation& perm) {
    const std::vector<int64_t> entries = int_values(*operand.constant());
    const size_t per_axis = entries.size() / static_cast<size_t>(perm.rank());
    std::vector<int64_t> result;
    for (const int64_t axis : perm.axes()) {
      for (size_t k = 0; k < per_axis; ++k)
        result.push_back(entries[static_cast<size_t>(axis) * per_axis + k]);
    }
    return b.shape_value(result);
  }

  AttrList permuted_attrs(const Node& node, const Permutation& perm) {
    if (tosa::spec(node.op()).axis_rule != tosa::AxisRule::kAxisAttr) return node.attrs();
    auto attrs = rewriter_.builder().module().arena().make_span<NamedAttr>(node.attrs().size());
    for (size_t i = 0; i < attrs.size(); ++i) {
      attrs[i] = node.attrs()[i];
      if (attrs[i].name != "axis") continue;
      attrs[i].value = Attr::integer(perm.inverse()[static_cast<int>(attrs[i].value.as_int())]);
    }
    return attrs;
  }

  struct KeyHash {
    size_t operator()(const std::pair<const Value*, uint32_t>& key) const {
      return std::hash<const void*>()(key.first) ^ key.second * 0x9e3779b97f4a7c15;
    }
  };

  Rewriter rewriter_;
  std::unordered_map<std::pair<const Value*, uint32_t>, Value*, KeyHash> permuted_;
};

}  // namespace

Status run_choose_layout(Graph& graph, PassContext& context) {
  Layout layout(graph, context);
  // First what needs no choice, so that the choice sees it.
  for (Node& node : graph.nodes()) {
    if (node.is(tosa::transpose)) layout.merge_transposes(node);
    if (node.is(tosa::reshape)) layout.swap_with_reshape(node);
  }
  if (graph.erase_dead_nodes() > 0) context.changed = true;
  const auto chosen = choose_layouts(graph);
  for (Node& node : graph.nodes()) {
    if (node.is(tosa::transpose)) {
      layout.merge_transposes(node);
    } else if (node.is(tosa::reshape)) {
      layout.swap_with_reshape(node);
    } else if (node.is(tosa::conv2d)) {
      layout.fold_into_weight(node);
    } else if (node.num_results() == 1) {
      if (const auto it = chosen.find(&node.result()); it != chosen.end()) {
        layout.rebuild(node, it->second);
      }
    }
  }
  if (graph.erase_dead_nodes() > 0) context.changed = true;
  return ok();
}

}  // namespace tosaic
