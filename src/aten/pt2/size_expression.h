// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "support/expected.h"

namespace tosaic::aten::pt2 {

/// The sizes that symbols stand for, by name ("s77").
using SymbolValues = std::unordered_map<std::string_view, int64_t>;

/// The value of an expression of sizes in the notation of sympy's srepr, such as
/// "Add(Mul(Integer(2), Symbol('s77', positive=True, integer=True)), Integer(1))".
/// Nothing when a symbol has no value. E0304 for a function that is not known, E0302 for text that
/// is no expression, a division by zero or an overflow of 64 bits.
Expected<std::optional<int64_t>> evaluate_size(std::string_view expression,
                                               const SymbolValues& values);

/// The expression as people write it, "2*s77 + 1"; what is no expression stays as it is.
std::string size_text(std::string_view expression);

/// Names of the symbols in an expression, each once, in order.
std::vector<std::string_view> symbols_of(std::string_view expression);

}  // namespace tosaic::aten::pt2
