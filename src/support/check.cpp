// SPDX-License-Identifier: Apache-2.0
#include "support/check.h"

#include <fmt/format.h>

namespace tosaic {

BugError::BugError(std::string_view condition, std::string_view message, std::source_location where)
    : text_(fmt::format("{}:{}: check '{}' failed: {}", where.file_name(), where.line(), condition,
                        message)) {}

void check_failed(std::string_view condition, std::string_view message,
                  std::source_location where) {
  throw BugError(condition, message, where);
}

}  // namespace tosaic
