// SPDX-License-Identifier: Apache-2.0
#include "ethosu/vela_ini.h"

#include <algorithm>

namespace tosaic {
namespace {

// Vela's own file has 7 KB; this keeps a wrong file (an image, a model) from being parsed.
constexpr size_t kMaxIniBytes = size_t{1} << 20;
constexpr size_t kMaxSections = 1000;

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\f\v";
  size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

struct Parser {
  const std::string& file;
  VelaIni ini;
  int line = 0;
  size_t key_indent = 0;  // of the last key: a deeper line continues its value
  bool after_key = false;

  Status section(std::string_view text) {
    size_t end = text.find(']');
    if (end == std::string_view::npos || end < 2) {
      return error(Code::kVelaConfig, "{}:{}: section name without ']': '{:.60}'", file, line,
                   text);
    }
    std::string name(text.substr(1, end - 1));
    if (const VelaIni::Section* first = ini.find(name)) {
      return error(Code::kVelaConfig, "{}:{}: section [{:.60}] is already at line {}", file, line,
                   name, first->line);
    }
    if (ini.sections.size() == kMaxSections) {
      return error(Code::kVelaConfig, "{}:{}: more than {} sections", file, line, kMaxSections);
    }
    ini.sections.push_back({name, line, {}});
    after_key = false;
    return ok();
  }

  Status key(std::string_view text, size_t indent) {
    size_t separator = text.find_first_of("=:");
    if (separator == std::string_view::npos || separator == 0) {
      return error(Code::kVelaConfig, "{}:{}: neither a section nor 'key=value': '{:.60}'", file,
                   line, text);
    }
    if (ini.sections.empty()) {
      return error(Code::kVelaConfig, "{}:{}: key before the first section: '{:.60}'", file, line,
                   text);
    }
    std::string name = lower(trim(text.substr(0, separator)));
    std::string value(trim(text.substr(separator + 1)));
    if (!ini.sections.back().keys.emplace(name, value).second) {
      return error(Code::kVelaConfig, "{}:{}: key '{:.60}' stands twice in section [{:.60}]", file,
                   line, name, ini.sections.back().name);
    }
    key_indent = indent;
    after_key = true;
    return ok();
  }

  Status next_line(std::string_view raw) {
    line++;
    std::string_view text = trim(raw);
    if (text.empty() || text[0] == ';' || text[0] == '#') return ok();
    if (text.find('\0') != std::string_view::npos) {
      return error(Code::kVelaConfig, "{}:{}: NUL byte in a text file", file, line);
    }
    size_t indent = static_cast<size_t>(text.data() - raw.data());
    if (after_key && indent > key_indent) {
      return error(Code::kVelaConfig, "{}:{}: a value over several lines: '{:.60}'", file, line,
                   text)
          .with_hint("start each key at the same column");
    }
    return text[0] == '[' ? section(text) : key(text, indent);
  }
};

}  // namespace

Expected<VelaIni> parse_vela_ini(std::string_view text, const std::string& file) {
  if (text.size() > kMaxIniBytes) {
    return error(Code::kVelaConfig, "{}: {} bytes are no Vela configuration; at most {} are read",
                 file, text.size(), kMaxIniBytes);
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  Parser parser{file, {}};
  while (!text.empty()) {
    size_t end = text.find('\n');
    TOSAIC_CHECK_OK(parser.next_line(text.substr(0, end)));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return std::move(parser.ini);
}

}  // namespace tosaic
