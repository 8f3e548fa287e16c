// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aten/pt2/json.h"
#include "aten/pt2/size_expression.h"
#include "ir/type.h"
#include "support/expected.h"

namespace tosaic::aten::pt2 {

/// Our type for a number of torch's schema.ScalarType; kUnknown for those that have none.
DType dtype_of(int64_t number);
/// PyTorch's name of a number, "complex64".
std::string dtype_text(int64_t number);

/// Symbolic sizes of a program: each distinct expression is one symbol of Shape.
class Symbols {
 public:
  /// The value of `expression` (sympy's srepr) where all of its symbols have one; else the negative
  /// size that stands for it.
  Expected<int64_t> size_of(std::string_view expression);
  /// Gives a symbol its value. To be done before any size is asked for.
  void bind(std::string_view symbol, int64_t value) { values_[symbol] = value; }
  const SymbolValues& values() const { return values_; }
  /// The expression of a negative size.
  std::string_view expression(int64_t size) const {
    return expressions_[static_cast<size_t>(-1 - size)];
  }

 private:
  SymbolValues values_;
  std::vector<std::string_view> expressions_;
  std::unordered_map<std::string_view, int64_t> sizes_;
};

/// "s77" of "Symbol('s77', positive=True, integer=True)" and of what contains it; the text itself
/// when there is no symbol.
std::string_view symbol_name(std::string_view expression);

/// Element type and sizes of a TensorMeta (E0203, E0302, E0304). `symbols` is nullptr where sizes
/// must be numbers.
Expected<TensorType> parse_type(const Json& meta, Symbols* symbols);

/// Where the elements of a stored tensor lie in its storage, in elements.
struct StoredLayout {
  TensorType type;
  std::array<int64_t, kMaxRank> strides{};
  int64_t offset = 0;
};
/// Of a TensorMeta of a weights configuration. All elements lie within `storage_bytes` (E0302).
Expected<StoredLayout> parse_layout(const Json& meta, uint64_t storage_bytes);

}  // namespace tosaic::aten::pt2
