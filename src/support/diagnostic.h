// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tosaic {

/// A diagnostic code; the list with meanings is support/errors.def.
enum class Code : uint16_t {
#define TOSAIC_CODE(code, name, meaning) name,
#include "support/errors.def"
#undef TOSAIC_CODE
};

/// The published spelling ("E0101") and the meaning of a code.
std::string_view code_id(Code code);
std::string_view code_meaning(Code code);

enum class Severity : uint8_t { kError, kWarning, kRemark };

/// A place in the user's program, already resolved to text. Every field may be empty.
struct Location {
  std::string file;    ///< Python or text-IR file, or the name of a binary file
  uint32_t line = 0;   ///< 1-based; 0 = not known
  std::string source;  ///< the source line itself
  std::string scope;   ///< module path, "Net.stem.pool"
};

/// What was found, what is allowed, where, and what to do. Lower case, no full stop.
struct Diagnostic {
  Code code = Code::kInternal;
  Severity severity = Severity::kError;
  std::string message;
  Location where;
  std::vector<std::string> notes;
  std::string hint;

  Diagnostic&& at(Location location) && {
    where = std::move(location);
    return std::move(*this);
  }
  Diagnostic&& with_hint(std::string text) && {
    hint = std::move(text);
    return std::move(*this);
  }
  Diagnostic&& with_note(std::string text) && {
    notes.push_back(std::move(text));
    return std::move(*this);
  }
};

/// Makes an error; arguments are those of fmt::format.
template <typename... Args>
Diagnostic error(Code code, fmt::format_string<Args...> format, Args&&... args) {
  Diagnostic d;
  d.code = code;
  d.message = fmt::format(format, std::forward<Args>(args)...);
  return d;
}

/// Why a node is not taken by a target: it stays on the CPU and `explain` shows it. Not an error.
struct Reject {
  Code code = Code::kRejectNoLowering;
  std::string why;   ///< "stride 4 is above 3, the limit of Ethos-U55"
  std::string hint;  ///< what the user can do; may be empty
};

template <typename... Args>
Reject reject(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return Reject{code, fmt::format(format, std::forward<Args>(args)...), {}};
}

/// The form of STYLE.md "Errors": `file:line: severity[code]: message`, source line, scope, notes
/// and hint. `color` adds ANSI colours. Ends with a newline.
std::string render(const Diagnostic& diagnostic, bool color = false);

/// Collects what does not end the work: warnings and remarks.
class DiagnosticSink {
 public:
  void add(Diagnostic d) { all_.push_back(std::move(d)); }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
};

/// The entry of `names` that is nearest to `word` by edit distance, or "" when none is near.
std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& names);

}  // namespace tosaic
