// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "tosa/op.h"
#include "tosa/ops.h"
#include "tosa/spec.h"

namespace tosaic::tosa {

/// Appends TOSA operations to a graph for a target. Result types are inferred.
///
/// An operation that cannot be made (its operands break a rule, or the target refuses it) does not
/// stop the caller: it gives a value of unknown type, operations on such a value give another, and
/// the first reason is kept in failure(). So a lowering is straight code and is judged at its end.
class Builder {
 public:
  Builder(Graph& graph, const Target& target, Loc loc = nullptr)
      : graph_(graph), target_(target), loc_(loc) {}

  Graph& graph() const { return graph_; }
  Module& module() const { return graph_.module(); }
  const Target& target() const { return target_; }
  Loc loc() const { return loc_; }
  void set_loc(Loc loc) { loc_ = loc; }
  /// Where new nodes go: before this node; nullptr: at the end.
  void set_insertion_point(Node* before) { before_ = before; }
  Node* insertion_point() const { return before_; }

  bool has(Feature feature) const { return target_.has(feature); }
  /// The first reason why something could not be made; emission continues harmlessly after it.
  const std::optional<Reject>& failure() const { return failure_; }
  void fail(Reject reason) {
    if (!failure_) failure_ = std::move(reason);
  }
  void clear_failure() { failure_.reset(); }

  Value* emit(const OpDef& op, std::span<Value* const> operands, AttrList attrs = {});
  Value* emit(const OpDef& op, std::initializer_list<Value*> operands) {
    return emit(op, std::span(operands.begin(), operands.size()), AttrList{});
  }
  template <typename A>
  Value* emit(const OpDef& op, std::initializer_list<Value*> operands, const A& attrs) {
    return emit(op, std::span(operands.begin(), operands.size()),
                write_attrs(attrs, module().arena()));
  }
  /// For operations whose operands leave the dtype of the result open (MATMUL of f16).
  Value* emit_as(DType result, const OpDef& op, std::span<Value* const> operands,
                 AttrList attrs = {});
  /// Whether the operation can be made and the target takes it; nothing is made.
  bool legal(const OpDef& op, std::span<Value* const> operands, AttrList attrs = {});
  /// The same, and as one operation: another form may be better than one that is taken to pieces.
  bool whole(const OpDef& op, std::span<Value* const> operands, AttrList attrs = {});
  /// Operations with several results.
  std::vector<Value*> emit_all(const OpDef& op, std::span<Value* const> operands, AttrList attrs);

  // Constants. Small ones are cached, so that a zero point of 0 is one value per graph.
  Value* constant(const Constant& constant);
  Value* constant_ints(DType dtype, const Shape& shape, std::span<const int64_t> values);
  Value* constant_floats(DType dtype, const Shape& shape, std::span<const double> values);
  Value* scalar_int(DType dtype, int64_t value, int rank = 1);  ///< sizes all 1
  Value* scalar_float(DType dtype, double value, int rank = 1);
  Value* shape_value(std::span<const int64_t> sizes);  ///< of dtype shape
  /// A zero point operand; 0 for float dtypes.
  Value* zero_point(DType dtype, int64_t value) { return scalar_number(dtype, value); }

  // Operations that fold: on a constant they give another view of its bytes and no node; an
  // identity gives the operand itself.
  Value* reshape(Value* x, const Shape& shape);
  Value* transpose(Value* x, std::span<const int64_t> perm);
  /// SLICE; `start` and `size` have an entry per axis.
  Value* slice(Value* x, std::span<const int64_t> start, std::span<const int64_t> size);
  /// A transpose that the layout pass is expected to remove: the target is not asked about it.
  Value* layout_transpose(Value* x, std::span<const int64_t> perm);
  /// Leading 1s until the rank is `rank` (TOSA broadcasts only equal ranks).
  Value* expand_rank(Value* x, int rank);

  /// CAST; gives `x` itself when it has that dtype, and another constant for an int64 one, which
  /// TOSA does not have.
  Value* cast(Value* x, DType dtype);

  // Quantised arithmetic.
  /// RESCALE of `x` to `dtype` so that real values keep: out = (x - zp_in) * scale + zp_out.
  /// Saturates.
  Value* rescale(Value* x, DType dtype, double scale, int64_t zp_in, int64_t zp_out);
  /// One scale per index of the last axis.
  Value* rescale(Value* x, DType dtype, std::span<const double> scales, int64_t zp_in,
                 int64_t zp_out);
  /// CLAMP to [min, max], for i32 (which has no CLAMP) by MAXIMUM and MINIMUM; gives `x` itself
  /// when that is the whole range of its dtype.
  Value* clamp_int(Value* x, int64_t min, int64_t max);
  Value* clamp_float(Value* x, double min, double max);
  /// MUL with its shift operand.
  Value* mul(Value* a, Value* b, int shift = 0);

 protected:
  /// A value of unknown type: what is made of it is unknown too.
  Value* poison();

 private:
  struct Request;
  Value* scalar_number(DType dtype, int64_t value);
  Value* fail_with(Reject reason);
  std::vector<Value*> make(const Request& request);
  bool ask(const OpDef& op, std::span<Value* const> operands, AttrList attrs, bool as_one);
  Value* transpose(Value* x, std::span<const int64_t> perm, bool ask_target);
  Value* rescale_by(Value* x, Value* multiplier, Value* shift, bool scale32, bool per_channel,
                    std::pair<Value*, Value*> zero_points);

  Graph& graph_;
  const Target& target_;
  Loc loc_;
  Node* before_ = nullptr;
  std::optional<Reject> failure_;
  std::unordered_multimap<uint64_t, Value*> small_constants_;  // by content hash
};

}  // namespace tosaic::tosa
