// SPDX-License-Identifier: Apache-2.0
#include "support/diagnostic.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "support/printable.h"

namespace tosaic {
namespace {

struct CodeText {
  std::string_view id;
  std::string_view meaning;
};

constexpr CodeText kCodes[] = {
#define TOSAIC_CODE(code, name, meaning) {#code, meaning},
#include "support/errors.def"
#undef TOSAIC_CODE
};

const CodeText& code_text(Code code) {
  const size_t index = static_cast<size_t>(code);
  return kCodes[index < std::size(kCodes) ? index : 0];
}

// ANSI sequences of the parts of a diagnostic; all empty when colours are off.
struct Palette {
  std::string_view place, severity, gutter, note, hint, end;
};

Palette palette(Severity severity, bool color) {
  if (!color) return {};
  std::string_view of_severity = "\x1b[1;31m";
  if (severity == Severity::kWarning) of_severity = "\x1b[1;33m";
  if (severity == Severity::kRemark) of_severity = "\x1b[1;34m";
  return {"\x1b[1m", of_severity, "\x1b[34m", "\x1b[1;36m", "\x1b[1;32m", "\x1b[0m"};
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kWarning:
      return "warning";
    case Severity::kRemark:
      return "remark";
    case Severity::kError:
      break;
  }
  return "error";
}

/// `text` for the terminal; a line break is followed by `indent` spaces.
std::string indented(std::string_view text, size_t indent) {
  std::string out;
  for (const char c : printable(text)) {
    out += c;
    if (c == '\n') out.append(indent, ' ');
  }
  return out;
}

std::string_view without_trailing_space(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t\r\n");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string render_place(const Location& where, const Palette& colors) {
  if (where.file.empty()) return {};
  std::string place = printable_line(where.file);
  if (where.line != 0) place += fmt::format(":{}", where.line);
  return fmt::format("{}{}:{} ", colors.place, place, colors.end);
}

std::string render_source(const Location& where, const Palette& colors) {
  const std::string source = printable_line(without_trailing_space(where.source));
  const std::string scope = printable_line(where.scope);
  std::string out;
  if (source.empty()) {
    if (!scope.empty()) out = fmt::format("  in {}\n", scope);
    return out;
  }
  const std::string number = where.line != 0 ? fmt::format("{}", where.line) : std::string{};
  out = fmt::format("{}{:>5} |{} {}\n", colors.gutter, number, colors.end, source);
  if (!scope.empty()) {
    const std::string lead = source.substr(0, source.find_first_not_of(" \t"));
    const size_t width = std::max<size_t>(5, number.size());
    out +=
        fmt::format("{}{:{}} |{} {}    in {}\n", colors.gutter, "", width, colors.end, lead, scope);
  }
  return out;
}

// Edit distance where swapping two neighbours counts once (optimal string alignment).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string_view code_id(Code code) {
  return code_text(code).id;
}

std::string_view code_meaning(Code code) {
  return code_text(code).meaning;
}

std::string render(const Diagnostic& diagnostic, bool color) {
  const Palette colors = palette(diagnostic.severity, color);
  std::string out = render_place(diagnostic.where, colors);
  out += fmt::format("{}{}[{}]:{} {}\n", colors.severity, severity_name(diagnostic.severity),
                     code_id(diagnostic.code), colors.end, indented(diagnostic.message, 4));
  out += render_source(diagnostic.where, colors);
  for (const std::string& note : diagnostic.notes) {
    out += fmt::format("  {}note:{} {}\n", colors.note, colors.end, indented(note, 8));
  }
  if (!diagnostic.hint.empty()) {
    out += fmt::format("  {}hint:{} {}\n", colors.hint, colors.end, indented(diagnostic.hint, 8));
  }
  return out;
}

std::string_view nearest_name(std::string_view word, const std::vector<std::string_view>& names) {
  // Longer words are no typing errors of ours, and the distance is quadratic in the length.
  constexpr size_t kMaxLength = 256;
  if (word.empty() || word.size() > kMaxLength) return {};
  const size_t limit = std::max<size_t>(1, word.size() / 3);
  size_t best_distance = limit + 1;
  std::string_view best;
  for (const std::string_view name : names) {
    const size_t longer = std::max(name.size(), word.size());
    if (longer - std::min(name.size(), word.size()) >= best_distance) continue;
    const size_t distance = edit_distance(word, name);
    // A distance of the whole length says that nothing is in common.
    if (distance < best_distance && distance < longer) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

}  // namespace tosaic
