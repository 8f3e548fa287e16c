// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "support/check.h"
#include "support/diagnostic.h"

namespace tosaic {

/// A value of type T, or the Diagnostic that tells why there is none. Nothing throws.
template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Diagnostic d)
      : state_(std::in_place_index<1>, std::make_unique<Diagnostic>(std::move(d))) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  Diagnostic& error() & { return **std::get_if<1>(&state_); }
  const Diagnostic& error() const& { return **std::get_if<1>(&state_); }
  Diagnostic&& error() && { return std::move(**std::get_if<1>(&state_)); }

 private:
  std::variant<T, std::unique_ptr<Diagnostic>> state_;
};

/// Success, or a Diagnostic.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Diagnostic d) : error_(std::make_unique<Diagnostic>(std::move(d))) {}

  bool ok() const { return error_ == nullptr; }
  explicit operator bool() const { return ok(); }
  Diagnostic& error() & { return *error_; }
  const Diagnostic& error() const& { return *error_; }
  Diagnostic&& error() && { return std::move(*error_); }

 private:
  std::unique_ptr<Diagnostic> error_;
};

inline Status ok() {
  return {};
}

}  // namespace tosaic

#define TOSAIC_CONCAT_(a, b) a##b
#define TOSAIC_CONCAT(a, b) TOSAIC_CONCAT_(a, b)

/// `TOSAIC_TRY(auto x, f());` assigns the value of an Expected, or returns its error.
#define TOSAIC_TRY(lhs, expr) TOSAIC_TRY_(TOSAIC_CONCAT(try_, __COUNTER__), lhs, expr)
#define TOSAIC_TRY_(tmp, lhs, expr)        \
  auto tmp = (expr);                       \
  if (!tmp) return std::move(tmp).error(); \
  lhs = *std::move(tmp)

/// Returns the error of a Status (or Expected) when there is one.
#define TOSAIC_CHECK_OK(expr)                                               \
  do {                                                                      \
    if (auto status_ = (expr); !status_) return std::move(status_).error(); \
  } while (false)
