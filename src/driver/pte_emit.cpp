// SPDX-License-Identifier: Apache-2.0
#include "driver/pte_emit.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

#include "aten/call.h"
#include "ir/verify.h"
#include "pte/planner.h"
#include "pte/program.h"
#include "pte/writer.h"

namespace tosaic {
namespace {

std::optional<PteDtype> pte_dtype(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return PteDtype::kBool;
    case DType::kI8:
      return PteDtype::kInt8;
    case DType::kU8:
      return PteDtype::kUint8;
    case DType::kI16:
      return PteDtype::kInt16;
    case DType::kU16:
      return PteDtype::kUint16;
    case DType::kI32:
      return PteDtype::kInt32;
    case DType::kU32:
      return PteDtype::kUint32;
    case DType::kI64:
      return PteDtype::kInt64;
    case DType::kU64:
      return PteDtype::kUint64;
    case DType::kF16:
      return PteDtype::kFloat16;
    case DType::kBF16:
      return PteDtype::kBfloat16;
    case DType::kF32:
      return PteDtype::kFloat32;
    case DType::kF64:
      return PteDtype::kFloat64;
    default:
      return std::nullopt;
  }
}

/// Builds the plan of method "forward" from a mixed graph.
class Emitter {
 public:
  Emitter(const Graph& graph, const std::vector<Delegate>& delegates, const Target& target,
          const std::unordered_set<const Value*>& nhwc)
      : graph_(graph), delegates_(delegates), target_(target), nhwc_(nhwc) {}

  Status run() {
    for (const Delegate& d : delegates_)
      add_delegate(d);
    for (const Value* v : graph_.inputs()) {
      TOSAIC_TRY(const int32_t index, tensor(*v));
      plan_.inputs.push_back(index);
    }
    for (const Node& node : graph_.nodes()) {
      TOSAIC_CHECK_OK(node.is(kCallOp) ? delegate_call(node) : kernel_call(node));
    }
    for (const Value* v : graph_.outputs()) {
      TOSAIC_TRY(const int32_t index, tensor(*v));
      plan_.outputs.push_back(index);
    }
    return ok();
  }

  PteProgram finish() {
    program_.plans.push_back(std::move(plan_));
    return std::move(program_);
  }
  std::vector<std::string> kernel_names() const {
    std::vector<std::string> names;
    for (const PteOperator& op : plan_.operators) {
      names.push_back(fmt::format("{}.{}", op.name, op.overload));
    }
    std::ranges::sort(names);
    return names;
  }

 private:
  static PteCompileSpec text_spec(std::string key, std::string_view value) {
    const auto bytes = std::as_bytes(std::span(value.data(), value.size()));
    return {std::move(key), {bytes.begin(), bytes.end()}};
  }

  void add_delegate(const Delegate& d) {
    PteDelegate made;
    made.id = "EthosUBackend";
    made.payload = d.payload;
    // What ExecuTorch's own flow stores and tools show; the runtime reads none of it.
    made.specs.push_back(text_spec("output_format", "vela"));
    made.specs.push_back(text_spec("target", target_.name));
    delegate_index_[d.graph] = static_cast<int32_t>(plan_.delegates.size());
    plan_.delegates.push_back(std::move(made));
  }

  int32_t add(PteValue value) {
    plan_.values.push_back(std::move(value));
    return static_cast<int32_t>(plan_.values.size() - 1);
  }

  /// The value's index; made on first use.
  Expected<int32_t> tensor(const Value& v) {
    if (const auto it = index_.find(&v); it != index_.end()) return it->second;
    const auto dtype = pte_dtype(v.dtype());
    if (!dtype || !v.shape().is_static()) {
      return error(Code::kUnsupportedFeature, "a .pte cannot hold a tensor of type {}",
                   to_string(v.type()));
    }
    PteTensor t;
    t.dtype = *dtype;
    for (int64_t size : v.shape())
      t.sizes.push_back(static_cast<int32_t>(size));
    if (nhwc_.contains(&v)) {
      std::rotate(t.sizes.begin() + 1, t.sizes.begin() + 3, t.sizes.end());
      t.dim_order = {0, 2, 3, 1};
    }
    if (v.is_constant()) {
      const Constant& plain = graph_.module().materialised(*v.constant());
      t.storage = PteStorage::kConstant;
      t.constant = static_cast<uint32_t>(program_.constants.size());
      program_.constants.push_back(plain.plain_bytes());
    }
    const int32_t index = add(std::move(t));
    index_[&v] = index;
    return index;
  }

  Status delegate_call(const Node& node) {
    PteDelegateCall call;
    call.delegate = delegate_index_.at(std::string(node.attr("callee")->as_string()));
    for (const Use& use : node.operands()) {
      TOSAIC_TRY(const int32_t index, tensor(*use.value()));
      call.args.push_back(index);
    }
    for (const Value& v : node.results()) {
      TOSAIC_TRY(const int32_t index, tensor(v));
      call.args.push_back(index);
    }
    plan_.instructions.push_back(std::move(call));
    return ok();
  }

  Diagnostic no_kernel(const Node& node, std::string_view why) const {
    return node_error(Code::kNoCpuKernel, node, "{}", why);
  }

  Expected<int32_t> int_list(const Node& node, const Attr& value, const aten::SchemaArg* given) {
    std::vector<int64_t> items;
    if (value.kind() == Attr::Kind::kInt) {
      items.assign(given == nullptr || given->fixed_length == 0 ? 1 : given->fixed_length,
                   value.as_int());
    } else if (value.kind() == Attr::Kind::kInts) {
      items.assign(value.as_ints().begin(), value.as_ints().end());
    } else {
      return no_kernel(node, fmt::format("the kernel takes a list of numbers where the program has "
                                         "{}",
                                         to_string(value)));
    }
    PteIntList list;
    for (int64_t item : items)
      list.items.push_back(add(item));
    return add(std::move(list));
  }

  Expected<int32_t> float_list(const Node& node, const Attr& value) {
    PteDoubleList list;
    if (value.kind() == Attr::Kind::kFloats) {
      list.items.assign(value.as_reals().begin(), value.as_reals().end());
    } else if (value.kind() == Attr::Kind::kInts) {
      list.items.assign(value.as_ints().begin(), value.as_ints().end());
    } else {
      return no_kernel(node, fmt::format("the kernel takes a list of numbers where the program has "
                                         "{}",
                                         to_string(value)));
    }
    return add(std::move(list));
  }

  /// A value for an argument that is no tensor.
  Expected<int32_t> plain_arg(const Node& node, const aten::SchemaArg& arg, const Attr& value,
                              const aten::SchemaArg* given) {
    if (value.is_none() || arg.kind == aten::ArgKind::kOther) return add(std::monostate());
    switch (arg.kind) {
      case aten::ArgKind::kInts:
        return int_list(node, value, given);
      case aten::ArgKind::kFloats:
        return float_list(node, value);
      case aten::ArgKind::kFloat:
        return add(value.kind() == Attr::Kind::kFloat ? value.as_real()
                                                      : static_cast<double>(value.as_int()));
      case aten::ArgKind::kInt:
        return add(value.as_int());
      case aten::ArgKind::kBool:
        return add(value.as_bool());
      case aten::ArgKind::kString:
        return add(std::string(value.as_string()));
      case aten::ArgKind::kDType: {
        const auto dtype = pte_dtype(value.as_dtype());
        if (!dtype) return no_kernel(node, "its dtype argument has no number in a .pte");
        return add(static_cast<int64_t>(*dtype));
      }
      case aten::ArgKind::kScalar:
        if (value.kind() == Attr::Kind::kFloat) return add(value.as_real());
        if (value.kind() == Attr::Kind::kBool) return add(value.as_bool());
        return add(value.as_int());
      default:
        return no_kernel(node,
                         fmt::format("argument \"{}\" has a kind that is not supported", arg.name));
    }
  }

  /// A list of tensors; -1 where an element is None.
  template <typename List>
  Expected<int32_t> tensor_list(std::span<Value* const> values) {
    List list;
    for (const Value* v : values) {
      if (v == nullptr) {
        list.items.push_back(-1);
        continue;
      }
      TOSAIC_TRY(const int32_t index, tensor(*v));
      list.items.push_back(index);
    }
    return add(std::move(list));
  }

  Expected<int32_t> tensor_arg(const aten::Call& call, const aten::SchemaArg& arg) {
    if (arg.kind == aten::ArgKind::kTensorList) {
      return tensor_list<PteTensorList>(call.tensors(arg.name));
    }
    // The runtime aborts when it finds the other kind of list.
    if (arg.kind == aten::ArgKind::kOptionalTensorList) {
      return tensor_list<PteOptionalTensorList>(call.tensors(arg.name));
    }
    const Value* v = call.tensor(arg.name);
    if (v == nullptr) return add(std::monostate());
    return tensor(*v);
  }

  Status kernel_call(const Node& node) {
    const aten::NodeCall view(node);
    const aten::Schema& schema = aten::cpu_schema(node.op());
    PteKernelCall made;
    int next_result = 0;
    for (size_t i = 0; i < schema.args.size(); ++i) {
      const aten::SchemaArg& arg = schema.args[i];
      const aten::SchemaArg* given = view.call.schema().find(arg.name);
      Expected<int32_t> index = 0;
      if (arg.is_out) {
        index = tensor(node.result(next_result++));
      } else if (schema.is_tensor_arg(i)) {
        index = tensor_arg(view.call, arg);
      } else {
        const Attr value = given != nullptr ? view.call.arg(arg.name) : arg.value.value_or(Attr());
        index = plain_arg(node, arg, value, given == nullptr ? &arg : given);
      }
      TOSAIC_TRY(const int32_t arg_index, std::move(index));
      made.args.push_back(arg_index);
    }
    // The returned value again: one tensor, or the list of all.
    if (next_result == 1) {
      made.args.push_back(made.args.back());
    } else {
      PteTensorList all;
      all.items.assign(made.args.end() - next_result, made.args.end());
      made.args.push_back(add(std::move(all)));
    }
    made.op = operator_index(schema);
    plan_.instructions.push_back(std::move(made));
    return ok();
  }

  int32_t operator_index(const aten::Schema& schema) {
    // "aten.convolution.out" -> aten::convolution, out.
    const std::string& name = schema.full_name;
    if (const auto it = operator_index_.find(name); it != operator_index_.end()) return it->second;
    const size_t first = name.find('.');
    const size_t last = name.rfind('.');
    plan_.operators.push_back(
        {fmt::format("{}::{}", name.substr(0, first), name.substr(first + 1, last - first - 1)),
         name.substr(last + 1)});
    const auto index = static_cast<int32_t>(plan_.operators.size() - 1);
    operator_index_[name] = index;
    return index;
  }

  const Graph& graph_;
  const std::vector<Delegate>& delegates_;
  const Target& target_;
  const std::unordered_set<const Value*>& nhwc_;
  PtePlan plan_;
  PteProgram program_;
  std::unordered_map<const Value*, int32_t> index_;
  std::unordered_map<std::string, int32_t> operator_index_;
  std::unordered_map<std::string, int32_t> delegate_index_;
};

}  // namespace

Expected<EmittedPte> emit_pte(const Graph& graph, const std::vector<Delegate>& delegates,
                              const Target& target, const std::unordered_set<const Value*>& nhwc) {
  Emitter emitter(graph, delegates, target, nhwc);
  TOSAIC_CHECK_OK(emitter.run());
  EmittedPte emitted;
  emitted.kernels = emitter.kernel_names();
  PteProgram program = emitter.finish();
  TOSAIC_CHECK_OK(plan_memory(program));
  for (int64_t bytes : program.plans[0].buffer_sizes) {
    emitted.planned_bytes += static_cast<uint64_t>(bytes);
  }
  TOSAIC_TRY(emitted.bytes, write_pte(program));
  return emitted;
}

}  // namespace tosaic
