// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tosaic {

/// How much is said on standard error; each level says what those before it say.
enum class LogLevel : uint8_t {
  kError,
  kWarning,  ///< and what did not end the work
  kInfo,     ///< and each stage as it begins
  kDebug,    ///< and what each stage took and gave
};

/// Receives what is said while the work goes on, without a newline. Called from the thread that
/// compiles.
using Log = std::function<void(LogLevel, std::string_view)>;

}  // namespace tosaic
