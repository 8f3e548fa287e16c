// SPDX-License-Identifier: Apache-2.0
#include "aten/call.h"

#include "support/check.h"

namespace tosaic::aten {

Call::Call(const OpDef& op, int variant, std::span<Value* const> operands,
           std::span<const int16_t> segments, AttrList attrs, std::span<const TensorType> results,
           Loc loc)
    : op_(op),
      schema_(aten::schema(op, variant)),
      variant_(variant),
      operands_(operands),
      segments_(segments),
      attrs_(attrs),
      results_(results),
      loc_(loc) {}

std::span<Value* const> Call::tensors(std::string_view name) const {
  size_t group = 0;
  size_t flat = 0;
  for (size_t i = 0; i < schema_.args.size(); ++i) {
    if (!schema_.is_tensor_arg(i)) continue;
    if (!segments_.empty() && group >= segments_.size()) break;
    const int size = segments_.empty() ? -1 : segments_[group];
    const size_t count = size < 0 ? 1 : static_cast<size_t>(size);
    if (schema_.args[i].name == name) {
      return flat + count <= operands_.size() ? operands_.subspan(flat, count)
                                              : std::span<Value* const>();
    }
    flat += count;
    ++group;
  }
  return {};
}

Value* Call::tensor(std::string_view name) const {
  const auto list = tensors(name);
  return list.empty() ? nullptr : list[0];
}

Attr Call::arg(std::string_view name) const {
  if (const Attr* attr = find_attr(attrs_, name)) return *attr;
  const SchemaArg* arg = schema_.find(name);
  TOSAIC_CHECK(arg != nullptr, fmt::format("{} has no argument {}", schema_.full_name, name));
  return arg->value.value_or(Attr());
}

int64_t Call::i(std::string_view name) const {
  return arg(name).as_int();
}
double Call::f(std::string_view name) const {
  const Attr a = arg(name);
  return a.kind() == Attr::Kind::kFloat ? a.as_real() : static_cast<double>(a.as_int());
}
bool Call::b(std::string_view name) const {
  return arg(name).as_bool();
}
std::string_view Call::s(std::string_view name) const {
  return arg(name).as_string();
}

std::vector<int64_t> Call::ints(std::string_view name, size_t length) const {
  const Attr a = arg(name);
  std::vector<int64_t> list;
  if (a.kind() == Attr::Kind::kInt) {
    list = {a.as_int()};
  } else if (!a.is_none()) {
    const auto values = a.as_ints();
    list.assign(values.begin(), values.end());
  }
  if (list.size() == 1 && length > 1) list.resize(length, list[0]);
  return list;
}

bool Call::all_quantised() const {
  for (const Value* v : operands_) {
    if (v != nullptr && v->quant() == nullptr) return false;
  }
  for (const TensorType& t : results_) {
    if (t.quant == nullptr) return false;
  }
  return true;
}

bool Call::any_quantised() const {
  for (const Value* v : operands_) {
    if (v != nullptr && v->quant() != nullptr) return true;
  }
  for (const TensorType& t : results_) {
    if (t.quant != nullptr) return true;
  }
  return false;
}

namespace {
std::vector<Value*> operands_of(const Node& node) {
  std::vector<Value*> list;
  list.reserve(node.operands().size());
  for (const Use& use : node.operands())
    list.push_back(use.value());
  return list;
}
std::vector<TensorType> results_of(const Node& node) {
  std::vector<TensorType> list;
  for (const Value& v : node.results())
    list.push_back(v.type());
  return list;
}
}  // namespace

NodeCall::NodeCall(const Node& node)
    : operands(operands_of(node)),
      results(results_of(node)),
      call(node.op(), node.variant(), operands, node.segments(), node.attrs(), results,
           node.loc()) {}

bool normalise_axis(int64_t& axis, int rank) {
  const int64_t limit = rank == 0 ? 1 : rank;  // PyTorch lets a scalar have axis 0 and -1
  if (axis < -limit || axis >= limit) return false;
  if (axis < 0) axis += limit;
  return true;
}

}  // namespace tosaic::aten
