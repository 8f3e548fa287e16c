// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <source_location>
#include <string>
#include <string_view>

namespace tosaic {

/// Thrown by TOSAIC_CHECK: a bug in tosaic, never bad input. Caught once, in driver::compile().
class BugError : public std::exception {
 public:
  BugError(std::string_view condition, std::string_view message, std::source_location where);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

[[noreturn]] void check_failed(std::string_view condition, std::string_view message,
                               std::source_location where = std::source_location::current());

}  // namespace tosaic

/// An invariant of our own code. Input from outside never reaches a check.
#define TOSAIC_CHECK(condition, message) \
  ((condition) ? static_cast<void>(0) : ::tosaic::check_failed(#condition, message))
