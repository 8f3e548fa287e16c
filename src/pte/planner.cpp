// SPDX-License-Identifier: Apache-2.0
#include "pte/planner.h"

#include <algorithm>
#include <limits>

#include "pte/check.h"

namespace tosaic {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

struct Interval {
  int64_t first = kNever;
  int64_t last = -1;
};

struct Placed {
  uint64_t begin = 0, end = 0;  // bytes
  Interval alive;
};

/// Walks over the values that an instruction names, lists included.
class Liveness {
 public:
  explicit Liveness(const PtePlan& plan) : plan_(plan), alive_(plan.values.size()) {}

  Expected<std::vector<Interval>> compute() {
    const auto num = static_cast<int64_t>(plan_.instructions.size());
    bool jumps = false;
    for (int64_t i = 0; i < num; i++) {
      const PteInstruction& instruction = plan_.instructions[static_cast<size_t>(i)];
      jumps = jumps || std::holds_alternative<PteJumpFalseCall>(instruction);
      if (const auto* call = std::get_if<PteKernelCall>(&instruction)) use_all(call->args, i);
      if (const auto* call = std::get_if<PteDelegateCall>(&instruction)) use_all(call->args, i);
      if (const auto* call = std::get_if<PteFreeCall>(&instruction)) use(call->value, i);
      // A move makes two values one tensor, which no interval describes.
      jumps = jumps || std::holds_alternative<PteMoveCall>(instruction);
    }
    use_all(plan_.inputs, -1);
    use_all(plan_.outputs, num);
    if (jumps) {
      for (Interval& interval : alive_)
        interval = {-1, num};
    }
    if (bad_index_) return error(Code::kFlatbuffer, "program: a value index is out of range");
    return std::move(alive_);
  }

 private:
  void use_all(const std::vector<int32_t>& values, int64_t at) {
    for (int32_t value : values)
      use(value, at);
  }

  void use(int64_t value, int64_t at) {
    if (value < 0 || static_cast<uint64_t>(value) >= alive_.size()) {
      bad_index_ = true;
      return;
    }
    Interval& interval = alive_[static_cast<size_t>(value)];
    interval.first = std::min(interval.first, at);
    interval.last = std::max(interval.last, at);
    // Lists hold tensors only, so this does not recurse further.
    const PteValue& v = plan_.values[static_cast<size_t>(value)];
    if (const auto* list = std::get_if<PteTensorList>(&v)) use_tensors(list->items, at);
    if (const auto* list = std::get_if<PteOptionalTensorList>(&v)) use_tensors(list->items, at);
  }

  void use_tensors(const std::vector<int32_t>& values, int64_t at) {
    for (int32_t value : values) {
      bool in_range = value >= 0 && static_cast<size_t>(value) < alive_.size();
      if (in_range && std::holds_alternative<PteTensor>(plan_.values[static_cast<size_t>(value)])) {
        use(value, at);
      }
    }
  }

  const PtePlan& plan_;
  std::vector<Interval> alive_;
  bool bad_index_ = false;
};

bool meet(const Interval& a, const Interval& b) {
  return a.first <= b.last && b.first <= a.last;
}

/// The lowest aligned offset where `num_bytes` fit between those of `placed` that are alive too.
/// `placed` is sorted by its begin.
uint64_t find_gap(const std::vector<Placed>& placed, uint64_t num_bytes, const Interval& alive) {
  uint64_t offset = 0;
  for (const Placed& other : placed) {
    if (!meet(other.alive, alive)) continue;
    if (other.begin >= offset && other.begin - offset >= num_bytes) break;
    offset = std::max(offset, other.end);
  }
  return offset;
}

Status plan_method(PtePlan& plan) {
  TOSAIC_TRY(std::vector<Interval> alive, Liveness(plan).compute());
  struct Item {
    PteTensor* tensor;
    uint64_t num_bytes;  // rounded up to the alignment
    Interval alive;
  };
  std::vector<Item> items;
  for (size_t i = 0; i < plan.values.size(); i++) {
    auto* tensor = std::get_if<PteTensor>(&plan.values[i]);
    if (tensor == nullptr || tensor->storage != PteStorage::kPlanned) continue;
    TOSAIC_CHECK_OK(check_pte_tensor(*tensor));
    tensor->memory_id = 1;
    tensor->offset = 0;
    if (alive[i].last < alive[i].first) continue;  // nobody names it
    uint64_t num_bytes =
        (tensor->num_bytes() + kPteDataAlignment - 1) / kPteDataAlignment * kPteDataAlignment;
    items.push_back({tensor, num_bytes, alive[i]});
  }
  // Stable, so that the result depends on the program alone.
  std::stable_sort(items.begin(), items.end(),
                   [](const Item& a, const Item& b) { return a.num_bytes > b.num_bytes; });
  std::vector<Placed> placed;
  uint64_t total = 0;
  for (const Item& item : items) {
    uint64_t offset = find_gap(placed, item.num_bytes, item.alive);
    if (item.num_bytes > uint64_t{1} << 62 || offset > uint64_t{1} << 62) {
      return error(Code::kFlatbuffer, "program: planned tensors need more than 2^62 bytes");
    }
    item.tensor->offset = offset;
    Placed entry{offset, offset + item.num_bytes, item.alive};
    total = std::max(total, entry.end);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), entry,
                         [](const Placed& a, const Placed& b) { return a.begin < b.begin; }),
        entry);
  }
  // A tensor that nobody names still has its place checked by the runtime.
  for (const PteValue& value : plan.values) {
    const auto* tensor = std::get_if<PteTensor>(&value);
    if (tensor != nullptr && tensor->storage == PteStorage::kPlanned) {
      total = std::max(total, tensor->offset + tensor->num_bytes());
    }
  }
  plan.buffer_sizes = {0, static_cast<int64_t>((total + kPteDataAlignment - 1) / kPteDataAlignment *
                                               kPteDataAlignment)};
  return ok();
}

}  // namespace

Status plan_memory(PteProgram& program) {
  for (PtePlan& plan : program.plans)
    TOSAIC_CHECK_OK(plan_method(plan));
  return ok();
}

}  // namespace tosaic
