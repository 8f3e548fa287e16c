// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/expected.h"

namespace tosaic {

/// A Vela configuration file in the syntax of Python's ConfigParser.
struct VelaIni {
  struct Section {
    std::string name;
    int line = 0;
    std::map<std::string, std::string> keys;  ///< keys in lower case
  };
  std::vector<Section> sections;  ///< in the order of the file

  const Section* find(std::string_view name) const {
    for (const Section& section : sections) {
      if (section.name == name) return &section;
    }
    return nullptr;
  }
};

/// Takes LF and CRLF, a UTF-8 byte order mark, `=` and `:`, whole-line comments with ';' and '#'.
/// Refused, with the line: NUL, a key twice, a section twice, values over several lines, and text
/// that is neither. Errors: kVelaConfig.
Expected<VelaIni> parse_vela_ini(std::string_view text, const std::string& file);

}  // namespace tosaic
