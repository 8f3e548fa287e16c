// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aten/row.h"
#include "ir/graph.h"

namespace tosaic::aten {

/// One use of an operator: a node of an ATen graph seen with operands of the graph that is being
/// built, or a call out of a composite. Arguments are asked for by name; what the program did not
/// pass has the schema's default.
class Call {
 public:
  Call(const OpDef& op, int variant, std::span<Value* const> operands,
       std::span<const int16_t> segments, AttrList attrs, std::span<const TensorType> results,
       Loc loc);

  const OpDef& op() const { return op_; }
  const Row& row() const { return aten::row(op_); }
  const Schema& schema() const { return schema_; }
  int variant() const { return variant_; }
  Loc loc() const { return loc_; }
  AttrList attrs() const { return attrs_; }
  std::span<Value* const> operands() const { return operands_; }
  std::span<const int16_t> segments() const { return segments_; }

  /// i-th tensor operand in flat order; nullptr when absent.
  Value* in(size_t i) const { return i < operands_.size() ? operands_[i] : nullptr; }
  size_t num_in() const { return operands_.size(); }
  /// By argument name; nullptr when absent.
  Value* tensor(std::string_view name) const;
  std::span<Value* const> tensors(std::string_view name) const;

  /// Result types, quantisation included, as the program states them.
  const TensorType& out(size_t i = 0) const { return results_[i]; }
  std::span<const TensorType> results() const { return results_; }

  /// Attribute by argument name; the default when it was not passed; none when neither.
  Attr arg(std::string_view name) const;
  bool has(std::string_view name) const { return !arg(name).is_none(); }
  int64_t i(std::string_view name) const;
  double f(std::string_view name) const;  ///< takes int and bool arguments too
  bool b(std::string_view name) const;
  std::string_view s(std::string_view name) const;
  /// A list of ints; a single number (or a list of one) is repeated to `length` when that is not 0.
  std::vector<int64_t> ints(std::string_view name, size_t length = 0) const;

  /// Every tensor operand that exists, and every result, is quantised / is not.
  bool all_quantised() const;
  bool any_quantised() const;

 private:
  const OpDef& op_;
  const Schema& schema_;
  int variant_;
  std::span<Value* const> operands_;
  std::span<const int16_t> segments_;
  AttrList attrs_;
  std::span<const TensorType> results_;
  Loc loc_;
};

/// The same questions about a node where it stands.
struct NodeCall {
  explicit NodeCall(const Node& node);
  std::vector<Value*> operands;
  std::vector<TensorType> results;
  Call call;
};

/// Wraps a negative axis; false when it is out of range.
bool normalise_axis(int64_t& axis, int rank);

}  // namespace tosaic::aten
