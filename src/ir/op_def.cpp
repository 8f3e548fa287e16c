// SPDX-License-Identifier: Apache-2.0
#include "ir/op_def.h"

#include <unordered_map>

#include "support/check.h"

// The linker defines these around the section that TOSAIC_REGISTER_OP fills.
extern "C" {
extern const tosaic::OpDef* const __start_tosaic_ops[];  // NOLINT
extern const tosaic::OpDef* const __stop_tosaic_ops[];   // NOLINT
}

namespace tosaic {
namespace {

using OpMap = std::unordered_map<std::string_view, OpVariant>;

OpMap map_names() {
  OpMap map;
  map.reserve(2 * all_ops().size());
  for (const OpDef* op : all_ops()) {
    const int num_variants = op->hooks->num_variants(*op);
    for (int i = 0; i < num_variants; ++i) {
      const bool is_new = map.emplace(op->hooks->variant_name(*op, i), OpVariant{op, i}).second;
      TOSAIC_CHECK(is_new, "two operators have the same full name");
    }
  }
  return map;
}

}  // namespace

std::string_view dialect_name(Dialect dialect) {
  switch (dialect) {
    case Dialect::kBuiltin:
      return "builtin";
    case Dialect::kAten:
      return "aten";
    case Dialect::kTosa:
      return "tosa";
    case Dialect::kMixed:
      return "mixed";
  }
  return "unknown";
}

std::span<const OpDef* const> all_ops() {
  return {__start_tosaic_ops, __stop_tosaic_ops};
}

OpVariant find_op(std::string_view full_name) {
  static const OpMap map = map_names();
  const auto it = map.find(full_name);
  return it == map.end() ? OpVariant{} : it->second;
}

}  // namespace tosaic
