// SPDX-License-Identifier: Apache-2.0
// `--io-layout channels_last`: rank-4 inputs and outputs of the program in NHWC, the layout that
// the NPU computes in. A partition's graph gets a permute behind such an input and in front of such
// an output; layout choice then removes these together with the transposes of the convolutions.
//
//   mixed graph @main(%x: f32[1,3,8,8]) {      mixed graph @main(%x: f32[1,8,8,3]) {
//     %q: i8[1,3,8,8] = quantize(%x)       =>    %q: i8[1,8,8,3] = quantize(%x)
//     %y = call @part0(%q)                       %y = call @part0(%q)
//   aten graph @part0(%q: i8[1,3,8,8]) {       aten graph @part0(%q: i8[1,8,8,3]) {
//     …                                          %p: i8[1,3,8,8] = permute(%q, [0,3,1,2])
//                                                …
//
// Values that kernels of the CPU read or write stay as they are, but for the quantize and
// dequantize nodes at the borders, for which the order of elements has no meaning.
#include <algorithm>
#include <array>

#include "partition/partition.h"
#include "quant/qdq.h"

namespace tosaic {
namespace {

constexpr std::array<int64_t, 4> kToNchw = {0, 3, 1, 2};
constexpr std::array<int64_t, 4> kToNhwc = {0, 2, 3, 1};

TensorType permuted(const TensorType& type, std::span<const int64_t> perm) {
  TensorType result = type;
  for (int axis = 0; axis < type.shape.rank(); ++axis)
    result.shape[axis] = type.shape[static_cast<int>(perm[static_cast<size_t>(axis)])];
  return result;
}

bool is_unsigned(const Value& v) {
  return v.dtype() == DType::kU8 || v.dtype() == DType::kU16;
}

Value& insert_permute(Value& v, std::span<const int64_t> perm, Node* before) {
  const OpVariant permute = find_op("aten.permute.default");
  TOSAIC_CHECK(permute.op != nullptr, "a row of permute");
  Value* operand = &v;
  const TensorType type = permuted(v.type(), perm);
  const NamedAttr dims{"dims", Attr::ints(perm)};
  return v.graph()
      .insert({.op = permute.op,
               .variant = permute.variant,
               .operands = std::span(&operand, 1),
               .segments = {},
               .results = std::span(&type, 1),
               .attrs = std::span(&dims, 1),
               .loc = v.def() == nullptr ? nullptr : v.def()->loc()},
              before)
      .result();
}

/// The value, an input or what a conversion of an input gives, becomes NHWC, and all its users read
/// the NCHW value again. Unsigned values cannot be permuted: their conversion is.
void permute_read(Value& v) {
  Graph& graph = v.graph();
  std::vector<const Use*> uses;
  for (const Use* use = v.first_use(); use != nullptr; use = use->next())
    uses.push_back(use);
  v.set_type(permuted(v.type(), kToNhwc));
  if (is_unsigned(v)) {
    for (const Use* use : uses)
      permute_read(use->user().result());
    return;
  }
  Node* before = v.def() == nullptr ? graph.first() : v.def()->next();
  Value& nchw = insert_permute(v, kToNchw, before);
  for (const Use* use : uses)
    graph.set_operand(use->user(), use->index(), &nchw);
}

void permute_operand(Node& user, int index) {
  Value& v = *user.operand(index);
  if (is_unsigned(v)) {
    v.set_type(permuted(v.type(), kToNhwc));
    permute_operand(*v.def(), 0);
    return;
  }
  Graph& graph = user.graph();
  const bool is_return = &user == &graph.return_node();
  Value& nhwc = insert_permute(v, kToNhwc, is_return ? nullptr : &user);
  if (is_return) nhwc.set_name(v.name());
  graph.set_operand(user, index, &nhwc);
}

void permute_input(Graph& graph, int index) {
  permute_read(*graph.inputs()[static_cast<size_t>(index)]);
}

void permute_output(Graph& graph, int index) {
  permute_operand(graph.return_node(), index);
}

class BorderLayout {
 public:
  explicit BorderLayout(Graph& main) : main_(main) {}

  std::vector<const Value*> run() {
    const bool is_whole = main_.dialect() == Dialect::kAten;  // of a TOSA target: no calls
    for (size_t i = 0; i < main_.inputs().size(); ++i) {
      Value& input = *main_.inputs()[i];
      if (input.shape().rank() != 4) continue;
      if (is_whole) {
        permute_input(main_, static_cast<int>(i));
        found_.push_back(&input);
      } else if (only_calls_read(input)) {
        retype_reads(input);
      }
    }
    for (int i = 0; i < main_.num_outputs(); ++i) {
      Value* output = main_.output(i);
      if (output == nullptr || output->shape().rank() != 4 || is_found(*output)) continue;
      if (is_whole) {
        permute_output(main_, i);
        found_.push_back(main_.output(i));
      } else if (only_a_call_writes(*output)) {
        retype_writes(*output);
      }
    }
    return std::move(found_);
  }

 private:
  bool is_found(const Value& v) const { return std::ranges::find(found_, &v) != found_.end(); }
  Graph& callee(const Node& call) const {
    return *main_.module().find_graph(call.attr("callee")->as_string());
  }

  static bool only_calls_read(const Value& v) {
    for (const Use* use = v.first_use(); use != nullptr; use = use->next()) {
      const Node& user = use->user();
      if (user.is(kCallOp)) continue;
      if (!is_quantize(user) || use->index() != 0 || !only_calls_read(user.result())) return false;
    }
    return v.has_uses();
  }

  void retype_reads(Value& v) {
    v.set_type(permuted(v.type(), kToNhwc));
    found_.push_back(&v);
    for (const Use* use = v.first_use(); use != nullptr; use = use->next()) {
      if (use->user().is(kCallOp)) {
        permute_input(callee(use->user()), use->index());
      } else {
        retype_reads(use->user().result());
      }
    }
  }

  bool only_returned(const Value& v) const {
    for (const Use* use = v.first_use(); use != nullptr; use = use->next()) {
      if (&use->user() != &main_.return_node()) return false;
    }
    return true;
  }

  bool only_a_call_writes(const Value& v) const {
    const Node* def = v.def();
    if (def == nullptr || !only_returned(v)) return false;
    if (def->is(kCallOp)) return true;
    if (!is_dequantize(*def)) return false;
    const Value& inner = *def->operand(0);
    const Use* use = inner.first_use();
    return inner.def() != nullptr && inner.def()->is(kCallOp) && use->next() == nullptr;
  }

  void retype_writes(Value& v) {
    v.set_type(permuted(v.type(), kToNhwc));
    found_.push_back(&v);
    Node& def = *v.def();
    if (!def.is(kCallOp)) {
      retype_writes(*def.operand(0));
      return;
    }
    for (int i = 0; i < def.num_results(); ++i) {
      if (&def.result(i) == &v) permute_output(callee(def), i);
    }
  }

  Graph& main_;
  std::vector<const Value*> found_;
};

}  // namespace

std::vector<const Value*> make_channels_last(Graph& main) {
  return BorderLayout(main).run();
}

}  // namespace tosaic
