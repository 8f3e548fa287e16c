// SPDX-License-Identifier: Apache-2.0
#include "pte/check.h"

#include <limits>

namespace tosaic {
namespace {

template <typename... Args>
Diagnostic bad(fmt::format_string<Args...> format, Args&&... args) {
  return error(Code::kFlatbuffer, "program: {}", fmt::format(format, std::forward<Args>(args)...));
}

/// Checks of one plan. `num` are the sizes that indices are compared with.
struct PlanCheck {
  const PteProgram& program;
  const PtePlan& plan;

  Status value_index(int64_t index, std::string_view what) const {
    if (index < 0 || static_cast<uint64_t>(index) >= plan.values.size()) {
      return bad("{} is value {} of {}", what, index, plan.values.size());
    }
    return ok();
  }

  template <typename T>
  Status element(int64_t index, std::string_view what) const {
    TOSAIC_CHECK_OK(value_index(index, what));
    if (!std::holds_alternative<T>(plan.values[static_cast<size_t>(index)])) {
      return bad("{} is value {}, which is of another type", what, index);
    }
    return ok();
  }

  Status tensor(const PteTensor& t, size_t index) const {
    if (Status status = check_pte_tensor(t); !status) {
      return bad("value {}: {}", index, status.error().message);
    }
    if (t.storage == PteStorage::kConstant) {
      if (t.constant >= program.constants.size()) {
        return bad("value {} is constant {} of {}", index, t.constant, program.constants.size());
      }
      if (program.constants[t.constant].size() < t.num_bytes()) {
        return bad("value {} needs {} bytes, but constant {} has {}", index, t.num_bytes(),
                   t.constant, program.constants[t.constant].size());
      }
    }
    if (t.storage == PteStorage::kPlanned || t.storage == PteStorage::kState) {
      if (t.memory_id == 0 || t.memory_id >= plan.buffer_sizes.size()) {
        return bad("value {} is in memory {}, but there are memories 1 to {}", index, t.memory_id,
                   plan.buffer_sizes.size() - 1);
      }
      auto size = static_cast<uint64_t>(plan.buffer_sizes[t.memory_id]);
      if (t.num_bytes() > size || t.offset > size - t.num_bytes()) {
        return bad("value {} of {} bytes at {} is not within memory {} of {} bytes", index,
                   t.num_bytes(), t.offset, t.memory_id, size);
      }
    }
    if (t.storage == PteStorage::kExternal && t.name.empty()) {
      return bad("value {} is external but has no name", index);
    }
    return ok();
  }

  Status value(const PteValue& v, size_t index) const {
    if (const auto* t = std::get_if<PteTensor>(&v)) return tensor(*t, index);
    if (const auto* list = std::get_if<PteIntList>(&v)) {
      for (int64_t item : list->items)
        TOSAIC_CHECK_OK(element<int64_t>(item, "an integer of a list"));
    }
    if (const auto* list = std::get_if<PteTensorList>(&v)) {
      for (int32_t item : list->items)
        TOSAIC_CHECK_OK(element<PteTensor>(item, "a tensor of a list"));
    }
    if (const auto* list = std::get_if<PteOptionalTensorList>(&v)) {
      for (int32_t item : list->items) {
        if (item == -1) continue;
        TOSAIC_CHECK_OK(value_index(item, "a tensor of a list"));
        const PteValue& entry = plan.values[static_cast<size_t>(item)];
        if (!std::holds_alternative<PteTensor>(entry) &&
            !std::holds_alternative<std::monostate>(entry)) {
          return bad("a tensor of a list is value {}, which is of another type", item);
        }
      }
    }
    return ok();
  }

  Status indices(const std::vector<int32_t>& list, std::string_view what) const {
    for (int32_t index : list)
      TOSAIC_CHECK_OK(value_index(index, what));
    return ok();
  }

  Status instruction(const PteInstruction& i) const {
    auto in_range = [](int64_t index, size_t size) {
      return index >= 0 && static_cast<uint64_t>(index) < size;
    };
    if (const auto* call = std::get_if<PteKernelCall>(&i)) {
      if (!in_range(call->op, plan.operators.size())) {
        return bad("a kernel call is of operator {} of {}", call->op, plan.operators.size());
      }
      return indices(call->args, "an argument");
    }
    if (const auto* call = std::get_if<PteDelegateCall>(&i)) {
      if (!in_range(call->delegate, plan.delegates.size())) {
        return bad("a delegate call is of delegate {} of {}", call->delegate,
                   plan.delegates.size());
      }
      return indices(call->args, "an argument");
    }
    if (const auto* move = std::get_if<PteMoveCall>(&i))
      return indices({move->from, move->to}, "a move");
    if (const auto* jump = std::get_if<PteJumpFalseCall>(&i)) {
      // One past the end leaves the method.
      if (!in_range(jump->destination, plan.instructions.size() + 1)) {
        return bad("a jump goes to instruction {} of {}", jump->destination,
                   plan.instructions.size());
      }
      return value_index(jump->condition, "a condition");
    }
    return value_index(std::get<PteFreeCall>(i).value, "a freed tensor");
  }

  Status all() const {
    if (plan.buffer_sizes.empty()) return bad("method '{}' lists no memory sizes", plan.name);
    for (int64_t size : plan.buffer_sizes) {
      if (size < 0) return bad("a memory of method '{}' has {} bytes", plan.name, size);
    }
    for (size_t i = 0; i < plan.values.size(); i++)
      TOSAIC_CHECK_OK(value(plan.values[i], i));
    TOSAIC_CHECK_OK(indices(plan.inputs, "an input"));
    TOSAIC_CHECK_OK(indices(plan.outputs, "an output"));
    for (const PteInstruction& i : plan.instructions)
      TOSAIC_CHECK_OK(instruction(i));
    return ok();
  }
};

}  // namespace

Status check_pte_tensor(const PteTensor& t) {
  if (t.sizes.size() > kPteMaxRank) {
    return bad("rank {} is above {}, the limit of the runtime", t.sizes.size(), kPteMaxRank);
  }
  if (!t.dim_order.empty()) {
    uint32_t seen = 0;
    for (uint8_t dim : t.dim_order) {
      if (dim < t.sizes.size()) seen |= uint32_t{1} << dim;
    }
    if (t.dim_order.size() != t.sizes.size() || seen + 1 != uint32_t{1} << t.sizes.size()) {
      return bad("dim_order [{}] is no permutation of {} dimensions", fmt::join(t.dim_order, ","),
                 t.sizes.size());
    }
  }
  uint64_t bytes = pte_element_bytes(t.dtype);
  if (bytes == 0) return bad("{} is not supported", pte_dtype_name(t.dtype));
  for (int32_t size : t.sizes) {
    if (size < 0) return bad("negative size {}", size);
    if (size != 0 && bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) /
                                 static_cast<uint64_t>(size)) {
      return bad("sizes [{}] overflow", fmt::join(t.sizes, ","));
    }
    bytes *= static_cast<uint64_t>(size);
  }
  return ok();
}

Status check_pte(const PteProgram& program) {
  if (program.plans.empty()) return bad("it has no method");
  for (const PtePlan& plan : program.plans) {
    TOSAIC_CHECK_OK((PlanCheck{program, plan}.all()));
  }
  return ok();
}

}  // namespace tosaic
