// SPDX-License-Identifier: Apache-2.0
#include "tosa/reference.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "ir/verify.h"
#include "support/check.h"
#include "tosa/ops/control_flow.h"
#include "tosa/ops/custom.h"
#include "tosa/ops/variables.h"

namespace tosaic::tosa {
namespace {

bool is_aligned(std::span<const std::byte> bytes, size_t alignment) {
  return reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0;
}

/// `bytes` as they are, or a copy when their address does not suit the elements.
HostTensor aligned_view(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  if (is_aligned(bytes, element_bytes(dtype))) return HostTensor::view(dtype, shape, bytes);
  HostTensor tensor = HostTensor::allocate(dtype, shape);
  std::memcpy(tensor.storage.data(), bytes.data(), bytes.size());
  return tensor;
}

HostTensor materialise(const Constant& constant) {
  if (constant.is_plain()) {
    return aligned_view(constant.dtype, constant.shape, constant.plain_bytes());
  }
  HostTensor tensor = HostTensor::allocate(constant.dtype, constant.shape);
  constant.materialise(tensor.storage);
  return tensor;
}

std::vector<HostTensor> allocate_results(const Node& node) {
  std::vector<HostTensor> results;
  for (const Value& value : node.results())
    results.push_back(HostTensor::allocate(value.dtype(), value.shape()));
  return results;
}

/// Runs the operation's reference; an unpredictable result is told in `unpredictable`, lost bits in
/// `wraps`.
Status execute(const Node& node, std::span<const HostTensor* const> in, std::span<HostTensor> out,
               std::string& unpredictable, bool& wraps) {
  if (node.is(custom)) {
    return node_error(Code::kUnsupportedFeature, node,
                      "operation \"{}\" of domain \"{}\" is not known and cannot be executed",
                      node.attr("operator_name")->as_string(),
                      node.attr("domain_name")->as_string());
  }
  if (node.op().dialect != Dialect::kTosa || spec(node.op()).reference == nullptr) {
    return node_error(Code::kUnsupportedFeature, node, "cannot be computed on the host");
  }
  RefCall call{node, in, out, {}, false};
  TOSAIC_CHECK_OK(spec(node.op()).reference(call));
  unpredictable = std::move(call.unpredictable);
  wraps = wraps || call.wraps;
  return ok();
}

}  // namespace

HostTensor::HostTensor(const HostTensor& other)
    : dtype(other.dtype), shape(other.shape), storage(other.storage), bytes(other.bytes) {
  if (!storage.empty()) bytes = storage;
}

HostTensor& HostTensor::operator=(HostTensor other) noexcept {
  dtype = other.dtype;
  shape = other.shape;
  bytes = other.bytes;  // moving a vector keeps its address
  storage = std::move(other.storage);
  return *this;
}

HostTensor HostTensor::allocate(DType dtype, const Shape& shape) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.storage.resize(element_bytes(dtype) * static_cast<size_t>(shape.num_elements()));
  tensor.bytes = tensor.storage;
  return tensor;
}

HostTensor HostTensor::view(DType dtype, const Shape& shape, std::span<const std::byte> bytes) {
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.shape = shape;
  tensor.bytes = bytes;
  return tensor;
}

/// Of the whole program, by name.
struct Reference::Variables {
  struct Variable {
    HostTensor value;
    bool has_value = false;  // an initial one, or one that was written
  };
  std::unordered_map<std::string, Variable> by_name;
};

struct Reference::State {
  const Graph& graph;
  std::shared_ptr<Variables> variables;
  std::unordered_map<const Value*, HostTensor> constants;
  std::unordered_map<const Value*, size_t> num_uses;
  std::function<void(const Node&, std::span<const HostTensor>)> observer;
  std::string unpredictable;
  bool wraps = false;
  std::unordered_map<const Graph*, std::unique_ptr<Reference>> graphs;  // that nodes run

  // Of one run.
  std::unordered_map<const Value*, HostTensor> values;
  std::unordered_map<const Value*, size_t> uses_left;

  const HostTensor& value(const Value* v) const {
    const auto constant = constants.find(v);
    if (constant != constants.end()) return constant->second;
    const auto it = values.find(v);
    TOSAIC_CHECK(it != values.end(), "a value is used before it is computed");
    return it->second;
  }

  void release(const Value* v) {
    const auto it = uses_left.find(v);
    if (it != uses_left.end() && --it->second == 0) values.erase(v);
  }

  Status set_inputs(std::span<const HostTensor> inputs);
  Status run_node(const Node& node);
  void run_variable(const Node& node, std::span<const HostTensor* const> in,
                    std::vector<HostTensor>& out, std::string& why);
  Status run_cond_if(const Node& node, std::vector<HostTensor> in, std::vector<HostTensor>& out);
  Status run_while_loop(const Node& node, std::vector<HostTensor> in, std::vector<HostTensor>& out);
  Expected<std::vector<HostTensor>> run_graph(const Node& node, std::string_view attribute,
                                              std::span<const HostTensor> inputs);
};

Status Reference::State::set_inputs(std::span<const HostTensor> inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return error(Code::kInput, "the program has {} inputs, and {} are given", graph.inputs().size(),
                 inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& wanted = *graph.inputs()[i];
    const HostTensor& given = inputs[i];
    const size_t num_bytes =
        element_bytes(wanted.dtype()) * static_cast<size_t>(wanted.shape().num_elements());
    if (given.dtype != wanted.dtype() || !(given.shape == wanted.shape()) ||
        given.bytes.size() != num_bytes) {
      return error(Code::kInput, "input {} ({}) is {}{} in {} bytes and must be {}{}", i,
                   wanted.name(), dtype_name(given.dtype), to_string(given.shape),
                   given.bytes.size(), dtype_name(wanted.dtype()), to_string(wanted.shape()));
    }
    values.insert_or_assign(&wanted, aligned_view(given.dtype, given.shape, given.bytes));
  }
  return ok();
}

/// Verification has limited how deeply graphs nest.
Expected<std::vector<HostTensor>> Reference::State::run_graph(const Node& node,
                                                              std::string_view attribute,
                                                              std::span<const HostTensor> inputs) {
  const Graph* callee = graph.module().find_graph(node.attr(attribute)->as_string());
  auto& reference = graphs[callee];
  if (reference == nullptr) reference.reset(new Reference(*callee, variables));
  reference->observe(observer);
  TOSAIC_TRY(auto results, reference->run(inputs));
  if (unpredictable.empty()) unpredictable = reference->unpredictable();
  wraps = wraps || reference->wrapped();
  return results;
}

Status Reference::State::run_cond_if(const Node& node, std::vector<HostTensor> in,
                                     std::vector<HostTensor>& out) {
  const bool condition = *in[0].data<uint8_t>() != 0;
  TOSAIC_TRY(out,
             run_graph(node, condition ? "then_graph" : "else_graph", std::span(in).subspan(1)));
  return ok();
}

Status Reference::State::run_while_loop(const Node& node, std::vector<HostTensor> in,
                                        std::vector<HostTensor>& out) {
  while (true) {
    TOSAIC_TRY(const auto condition, run_graph(node, "cond_graph", in));
    if (*condition[0].data<uint8_t>() == 0) break;
    TOSAIC_TRY(in, run_graph(node, "body_graph", in));
  }
  out = std::move(in);
  return ok();
}

void Reference::State::run_variable(const Node& node, std::span<const HostTensor* const> in,
                                    std::vector<HostTensor>& out, std::string& why) {
  const std::string name(variable_name(node));
  if (node.is(variable)) {
    const auto [it, is_new] = variables->by_name.try_emplace(name);
    if (!is_new) return;  // declared by an earlier run
    if (in[0] != nullptr) it->second = {*in[0], true};
    return;
  }
  const auto it = variables->by_name.find(name);
  TOSAIC_CHECK(it != variables->by_name.end(), "a variable is used before it is declared");
  Variables::Variable& stored = it->second;
  if (node.is(variable_read)) {
    if (stored.has_value) {
      out.push_back(stored.value);
    } else {
      out.push_back(HostTensor::allocate(node.result().dtype(), node.result().shape()));
      why = fmt::format("\"{}\" is read before it has a value", name);
    }
    return;
  }
  // A view of an input's bytes would not outlive the run.
  stored.value = HostTensor::allocate(in[0]->dtype, in[0]->shape);
  std::copy(in[0]->bytes.begin(), in[0]->bytes.end(), stored.value.storage.begin());
  stored.has_value = true;
}

Status Reference::State::run_node(const Node& node) {
  std::vector<const HostTensor*> in;
  for (const Use& use : node.operands())
    in.push_back(use.value() == nullptr ? nullptr : &value(use.value()));
  std::vector<HostTensor> out;
  std::string why;
  if (node.is(cond_if) || node.is(while_loop)) {
    std::vector<HostTensor> copies;
    for (const HostTensor* tensor : in)
      copies.push_back(*tensor);
    TOSAIC_CHECK_OK(node.is(cond_if) ? run_cond_if(node, std::move(copies), out)
                                     : run_while_loop(node, std::move(copies), out));
  } else if (is_of_variable(node)) {
    run_variable(node, in, out, why);
  } else {
    out = allocate_results(node);
    TOSAIC_CHECK_OK(execute(node, in, out, why, wraps));
  }
  if (!why.empty() && unpredictable.empty()) {
    unpredictable = fmt::format("{}: {}", node.full_name(), why);
  }
  if (observer) observer(node, out);
  for (size_t i = 0; i < out.size(); ++i) {
    const Value* result = &node.results()[i];
    if (result->has_uses()) values.insert_or_assign(result, std::move(out[i]));
  }
  for (const Use& use : node.operands())
    release(use.value());
  return ok();
}

Reference::Reference(const Graph& graph) : Reference(graph, std::make_shared<Variables>()) {}

Reference::Reference(const Graph& graph, std::shared_ptr<Variables> variables)
    : state_(new State{.graph = graph, .variables = std::move(variables)}) {
  const auto add_uses = [this](const Node& node) {
    for (const Use& use : node.operands()) {
      const Value* v = use.value();
      if (v == nullptr && node.is(variable)) continue;  // no initial value
      TOSAIC_CHECK(v != nullptr, "an operand is missing");
      ++state_->num_uses[v];
      if (v->is_constant()) state_->constants.try_emplace(v, materialise(*v->constant()));
    }
  };
  for (const Node& node : graph.nodes())
    add_uses(node);
  add_uses(graph.return_node());
}

Reference::~Reference() = default;

Expected<std::vector<HostTensor>> Reference::run(std::span<const HostTensor> inputs) {
  State& s = *state_;
  s.unpredictable.clear();
  s.wraps = false;
  s.values.clear();
  s.uses_left = s.num_uses;
  TOSAIC_CHECK_OK(s.set_inputs(inputs));
  for (const Node& node : s.graph.nodes())
    TOSAIC_CHECK_OK(s.run_node(node));
  std::vector<HostTensor> outputs;
  for (int i = 0; i < s.graph.num_outputs(); ++i) {
    HostTensor output = s.value(s.graph.output(i));
    // An input or constant that is also an output would else be a view of somebody's bytes.
    if (output.storage.empty() && !output.bytes.empty()) {
      HostTensor copy = HostTensor::allocate(output.dtype, output.shape);
      std::copy(output.bytes.begin(), output.bytes.end(), copy.storage.begin());
      output = std::move(copy);
    }
    outputs.push_back(std::move(output));
  }
  s.values.clear();
  return outputs;
}

const std::string& Reference::unpredictable() const {
  return state_->unpredictable;
}

bool Reference::wrapped() const {
  return state_->wraps;
}

void Reference::observe(std::function<void(const Node&, std::span<const HostTensor>)> observer) {
  state_->observer = std::move(observer);
}

Expected<std::vector<HostTensor>> evaluate(const Node& node) {
  std::vector<HostTensor> operands;
  for (const Use& use : node.operands()) {
    TOSAIC_CHECK(use.value() != nullptr && use.value()->is_constant(), "an operand is no constant");
    operands.push_back(materialise(*use.value()->constant()));
  }
  std::vector<const HostTensor*> in;
  for (const HostTensor& operand : operands)
    in.push_back(&operand);
  std::vector<HostTensor> out = allocate_results(node);
  std::string unpredictable;
  bool wraps = false;
  TOSAIC_CHECK_OK(execute(node, in, out, unpredictable, wraps));
  if (!unpredictable.empty()) {
    return node_error(Code::kUnpredictable, node, "{}", unpredictable);
  }
  return out;
}

}  // namespace tosaic::tosa
