// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "tosa/op.h"
#include "tosa/spec.h"

/// What differs between the versions of a .tosa file: numbers of types, operators and attribute
/// tables, and where an operation's parameters stand. The IR is that of 1.0.
namespace tosaic::tosa {

/// How one version stores an operation.
struct StoredOp {
  const OpDef* op = nullptr;  ///< nullptr: an operator that has no definition
  std::string_view name;      ///< without "tosa."; for messages
  uint32_t number = 0;
  uint8_t table = 0;  ///< type number of its attribute table in the union; 0: it has none
  /// Fields of that table, by id. Each is named as the attribute or the operand of the definition
  /// that it holds; one that has neither says nothing.
  std::span<const AttrField> fields;
  uint8_t inputs = 0xff;  ///< bit i: operand i is an input of the operator, not a field

  bool is_input(size_t operand) const { return operand >= 8 || (inputs >> operand & 1) != 0; }
  bool has_field(std::string_view field_name) const;
  /// Whether an attribute or an operand of the definition has the field's name.
  bool is_used(const AttrField& field) const;
};

/// The tables of one version.
class FileVersion {
 public:
  static bool is_known(const TosaVersion& version);  ///< 0.80, 1.0 and 1.1, any patch
  explicit FileVersion(const TosaVersion& version);  ///< a known one
  FileVersion(const FileVersion&) = delete;
  FileVersion& operator=(const FileVersion&) = delete;

  const TosaVersion& number() const { return version_; }
  std::string name() const;  ///< "TOSA 0.80"
  /// Whether the specification of that version is a draft.
  bool is_draft() const { return version_.minor == 1; }
  /// Whether shape values, locations of operators and tables without fields exist.
  bool is_one() const { return version_.major == 1; }

  /// nullptr: the version lacks the operation.
  const StoredOp* stored(const OpDef& op) const;
  /// nullptr: the version has no operator of that number.
  const StoredOp* by_number(uint32_t number) const;
  /// The operators that are no operations of the IR.
  const StoredOp& constant() const { return ops_[const_]; }
  const StoredOp& constant_shape() const { return ops_[const_shape_]; }  ///< number 0: none
  /// Operators whose tensors say which variable; all but IDENTITY, which serves as well, from 1.0
  /// on only.
  static bool is_declaration(const StoredOp& stored) { return stored.name == "variable"; }
  static bool is_access(const StoredOp& stored) {
    return stored.name == "identity" || stored.name == "variable_read" ||
           stored.name == "variable_write";
  }

  std::optional<uint32_t> number_of(DType dtype) const;
  DType dtype(uint32_t number) const;  ///< kUnknown: none, or one that the IR lacks

 private:
  void add(const StoredOp& stored);
  void fill_one();
  void fill_zero_eighty();

  const TosaVersion version_;
  std::span<const DType> dtypes_;             // by number
  std::array<StoredOp, 128> ops_{};           // by number
  std::array<uint8_t, 256> by_definition_{};  // by the definition's number
  uint8_t const_ = 0;
  uint8_t const_shape_ = 0;
};

/// The value of an attribute in a version whose table lacks it; `result` is the operation's result
/// dtype.
Attr unsaid_value(const AttrField& field, DType result);

}  // namespace tosaic::tosa
