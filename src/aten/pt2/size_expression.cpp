// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/size_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tosaic::aten::pt2 {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::string_view kSymbolOpen = "Symbol('";

/// Division that rounds down, and its remainder, as Python's.
int64_t floor_div(int64_t a, int64_t b) {
  const int64_t quotient = a / b;
  return quotient - static_cast<int64_t>((a % b != 0) && ((a < 0) != (b < 0)));
}

/// The result of a function; nothing when it overflows or divides by zero.
using Result = std::optional<int64_t>;
using Arguments = std::vector<int64_t>;

Result sum(const Arguments& a) {
  int64_t total = 0;
  for (int64_t x : a) {
    if (__builtin_add_overflow(total, x, &total)) return std::nullopt;
  }
  return total;
}
Result product(const Arguments& a) {
  int64_t total = 1;
  for (int64_t x : a) {
    if (__builtin_mul_overflow(total, x, &total)) return std::nullopt;
  }
  return total;
}
Result floor_division(const Arguments& a) {
  if (a[1] == 0 || (a[0] == INT64_MIN && a[1] == -1)) return std::nullopt;
  return floor_div(a[0], a[1]);
}
Result ceil_division(const Arguments& a) {
  const Result down = floor_division(a);
  if (!down) return std::nullopt;
  return *down + static_cast<int64_t>(*down * a[1] != a[0]);
}
Result exact_division(const Arguments& a) {
  const Result quotient = floor_division(a);
  if (!quotient || *quotient * a[1] != a[0]) return std::nullopt;
  return quotient;
}
Result modulo(const Arguments& a) {
  const Result quotient = floor_division(a);
  if (!quotient) return std::nullopt;
  return a[0] - *quotient * a[1];
}
Result modular_indexing(const Arguments& a) {
  const Result quotient = floor_division(a);
  return quotient ? modulo({*quotient, a[2]}) : std::nullopt;
}
Result power(const Arguments& a) {
  if (a[1] < 0 || a[1] > 63) return std::nullopt;
  return product(Arguments(static_cast<size_t>(a[1]), a[0]));
}
Result greatest(const Arguments& a) {
  return *std::ranges::max_element(a);
}
Result least(const Arguments& a) {
  return *std::ranges::min_element(a);
}

struct Function {
  std::string_view name;
  size_t num_arguments;  ///< 0: one or more
  Result (*compute)(const Arguments&);
};

/// sympy's own, and those of torch.utils._sympy.functions that sizes consist of.
constexpr Function kFunctions[] = {
    {"Add", 0, sum},
    {"Mul", 0, product},
    {"Pow", 2, power},
    {"Max", 0, greatest},
    {"Min", 0, least},
    {"FloorDiv", 2, floor_division},
    {"CleanDiv", 2, exact_division},
    {"CeilDiv", 2, ceil_division},
    {"Mod", 2, modulo},
    {"PythonMod", 2, modulo},
    {"ModularIndexing", 3, modular_indexing},
};

/// Reads the text word by word.
class Scanner {
 protected:
  explicit Scanner(std::string_view text) : text_(text) {}

  Diagnostic bad() const {
    return error(Code::kPt2Content, "\"{}\" is not an expression of sizes", text_.substr(0, 200));
  }
  void skip_blanks() {
    while (at_ < text_.size() && text_[at_] == ' ')
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    skip_blanks();
    const size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_')) {
      ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }
  bool is_at_end() {
    skip_blanks();
    return at_ == text_.size();
  }
  /// 'name', assumptions)
  Expected<std::string_view> symbol_name() {
    if (!take('\'')) return bad();
    const std::string_view name = word();
    const size_t close = text_.find(')', at_);
    if (name.empty() || !take('\'') || close == std::string_view::npos) return bad();
    at_ = close + 1;
    return name;
  }
  /// number)
  Expected<int64_t> number() {
    skip_blanks();
    int64_t value = 0;
    const auto [end, problem] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (problem != std::errc()) return bad();
    at_ = static_cast<size_t>(end - text_.data());
    if (!take(')')) return bad();
    return value;
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

class Evaluator : Scanner {
 public:
  Evaluator(std::string_view text, const SymbolValues& values) : Scanner(text), values_(values) {}

  Expected<std::optional<int64_t>> run() {
    TOSAIC_TRY(const std::optional<int64_t> value, expression(0));
    if (!is_at_end()) return bad();
    return value;
  }

 private:
  Expected<std::optional<int64_t>> expression(int depth) {
    if (depth > kMaxDepth) return bad();
    const std::string_view name = word();
    if (name.empty() || !take('(')) return bad();
    if (name == "Symbol") return symbol();
    if (name == "Integer") {
      TOSAIC_TRY(const int64_t value, number());
      return std::optional(value);
    }
    const auto* const function = std::ranges::find(kFunctions, name, &Function::name);
    if (function == std::end(kFunctions)) {
      return error(Code::kUnsupportedFeature, "a size is computed by {}, which is not supported",
                   name)
          .with_hint("export without dynamic_shapes");
    }
    return call(*function, depth);
  }

  Expected<std::optional<int64_t>> call(const Function& function, int depth) {
    Arguments arguments;
    bool is_known = true;
    do {
      TOSAIC_TRY(const std::optional<int64_t> value, expression(depth + 1));
      is_known = is_known && value;
      arguments.push_back(value.value_or(0));
    } while (take(','));
    if (!take(')')) return bad();
    if (function.num_arguments != 0 && arguments.size() != function.num_arguments) return bad();
    if (!is_known) return std::optional<int64_t>();
    const Result result = function.compute(arguments);
    if (!result) {
      return error(Code::kPt2Content, "the size {}({}) is not a 64-bit integer", function.name,
                   fmt::join(arguments, ", "));
    }
    return std::optional(*result);
  }

  Expected<std::optional<int64_t>> symbol() {
    TOSAIC_TRY(const std::string_view name, symbol_name());
    const auto it = values_.find(name);
    if (it == values_.end()) return std::optional<int64_t>();
    return std::optional(it->second);
  }

  const SymbolValues& values_;
};

class Writer : Scanner {
 public:
  explicit Writer(std::string_view text) : Scanner(text) {}

  Expected<std::string> run() {
    TOSAIC_TRY(std::string text, expression(0));
    if (!is_at_end()) return bad();
    return text;
  }

 private:
  Expected<std::string> expression(int depth) {
    if (depth > kMaxDepth) return bad();
    const std::string_view name = word();
    if (name.empty() || !take('(')) return bad();
    if (name == "Symbol") {
      TOSAIC_TRY(const std::string_view symbol, symbol_name());
      return std::string(symbol);
    }
    if (name == "Integer") {
      TOSAIC_TRY(const int64_t value, number());
      return fmt::format("{}", value);
    }
    std::vector<std::string> parts;
    do {
      TOSAIC_TRY(std::string part, expression(depth + 1));
      parts.push_back(std::move(part));
    } while (take(','));
    if (!take(')')) return bad();
    if (name == "Mul") return fmt::format("{}", fmt::join(parts, "*"));
    if (name != "Add") return fmt::format("{}({})", name, fmt::join(parts, ", "));
    const std::string sum = fmt::format("{}", fmt::join(parts, " + "));
    return depth == 0 ? sum : fmt::format("({})", sum);
  }
};

}  // namespace

Expected<std::optional<int64_t>> evaluate_size(std::string_view expression,
                                               const SymbolValues& values) {
  return Evaluator(expression, values).run();
}

std::string size_text(std::string_view expression) {
  const auto text = Writer(expression).run();
  return text ? *text : std::string(expression);
}

std::vector<std::string_view> symbols_of(std::string_view expression) {
  std::vector<std::string_view> names;
  size_t at = 0;
  while ((at = expression.find(kSymbolOpen, at)) != std::string_view::npos) {
    at += kSymbolOpen.size();
    const std::string_view name = expression.substr(at, expression.find('\'', at) - at);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace tosaic::aten::pt2
