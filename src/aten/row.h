// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "aten/schema.h"
#include "ir/graph.h"
#include "support/diagnostic.h"

namespace tosaic::aten {

class Builder;
class Call;
struct Row;

/// Schemas of the overloads a row serves, in PyTorch's notation. Argument names, order and defaults
/// come from here; a test compares each with torch's own.
struct Schemas {
  static constexpr size_t kMax = 12;
  std::array<std::string_view, kMax> text{};
  uint8_t count = 0;
  constexpr auto begin() const { return text.begin(); }
  constexpr auto end() const { return text.begin() + count; }
};
template <typename... T>
constexpr Schemas schemas(T... text) {
  static_assert(sizeof...(T) <= Schemas::kMax);
  return {{std::string_view(text)...}, sizeof...(T)};
}

// ---- Quantisation constraints -----------------------------------------------------------------
//
// An operand is named by the index of its argument in the schema (a list argument means all of its
// tensors); out(i) is a result.

using OperandRef = int16_t;
constexpr OperandRef out(int i) {
  return static_cast<OperandRef>(1000 + i);
}
constexpr bool is_out(OperandRef ref) {
  return ref >= 1000;
}

enum class ConstraintKind : uint8_t {
  kNone,
  kOwn,     ///< has parameters of its own
  kSame,    ///< all operands of the list have the same parameters
  kFixed,   ///< the parameters are fixed by the operator (sigmoid's output)
  kWeight,  ///< symmetric weight, per channel along `axis`
  kBias,    ///< int32 (int48 for 16-bit activations), scale = product of two operands' scales
  kReal,    ///< a constant stays float and the row takes its numbers; else parameters of its own
};

struct Constraint {
  ConstraintKind kind = ConstraintKind::kNone;
  std::array<OperandRef, 4> operands{};
  uint8_t count = 0;
  int8_t axis = -1;     ///< of kWeight
  double scale_i8 = 0;  ///< of kFixed, by activation dtype
  int32_t zero_point_i8 = 0;
  double scale_i16 = 0;
};
constexpr Constraint own(OperandRef a) {
  return {ConstraintKind::kOwn, {a}, 1};
}
constexpr Constraint same(std::initializer_list<OperandRef> list) {
  Constraint c{ConstraintKind::kSame, {}, 0};
  for (OperandRef ref : list)
    c.operands[c.count++] = ref;
  return c;
}
constexpr Constraint fixed(OperandRef a, double scale_i8, int32_t zero_point_i8, double scale_i16) {
  return {ConstraintKind::kFixed, {a}, 1, -1, scale_i8, zero_point_i8, scale_i16};
}
constexpr Constraint weight(OperandRef a, int axis) {
  return {ConstraintKind::kWeight, {a}, 1, static_cast<int8_t>(axis)};
}
/// `a`'s scale is the product of the scales of `x` and `w`.
constexpr Constraint bias(OperandRef a, OperandRef x, OperandRef w) {
  return {ConstraintKind::kBias, {a, x, w}, 3};
}
/// A scale, offset or mask whose numbers the row puts into its own integers.
constexpr Constraint real(OperandRef a) {
  return {ConstraintKind::kReal, {a}, 1};
}

struct Constraints {
  static constexpr size_t kMax = 6;
  std::array<Constraint, kMax> list{};
  uint8_t count = 0;
  constexpr Constraints() = default;
  constexpr Constraints(std::initializer_list<Constraint> constraints) {
    for (const Constraint& c : constraints)
      list[count++] = c;
  }
  constexpr auto begin() const { return list.begin(); }
  constexpr auto end() const { return list.begin() + count; }
};

/// What a lowering gives: one value per result, or why not. nullptr stands for a result after the
/// first that the row cannot compute: the node is taken where nobody uses it.
class Lowered {
 public:
  Lowered(Value* value) : values_{value} {}
  Lowered(std::vector<Value*> values) : values_(std::move(values)) {}
  Lowered(Reject reason) : reject_(std::move(reason)) {}

  bool ok() const { return !reject_; }
  const Reject& reason() const { return *reject_; }
  std::span<Value* const> values() const { return values_; }

 private:
  std::vector<Value*> values_;
  std::optional<Reject> reject_;
};

/// How the row stands to layout of memory and to other nodes: traits that passes ask for.
enum class Trait : uint8_t {
  kNone = 0,
  kNoOp = 1 << 0,  ///< gives its first operand unchanged (dropout in eval, detach, alias, clone)
  kActivation = 1 << 1,  ///< may be fused into the node before it: monotonic clamp of operand 0
  kView = 1 << 2,        ///< moves or relabels elements, computes nothing: keeps parameters
  kQuantize = 1 << 3,    ///< quantized_decomposed.quantize_*
  kDequantize = 1 << 4,  ///< quantized_decomposed.dequantize_*
  kFusesActivation =
      1 << 5,  ///< a following activation without q/dq between belongs to it (conv, linear, add)
  kAlias = 1 << 6,    ///< spells a call of another row, which takes its place before all else
  kIndices = 1 << 7,  ///< its int64 operands and results are places, which int32 holds
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}

/// An operator of PyTorch: everything Tosaic knows of it (DESIGN §4, docs/add-an-op.md).
struct Row {
  Schemas schemas{};
  std::string_view doc{};
  Trait traits = Trait::kNone;
  Constraints quant{};
  /// The real function when the quantised form is a table look-up of operand 0.
  double (*table)(double x, const Call& call) = nullptr;
  /// Emits the operator for the builder's target; float, and quantised unless `table` is set.
  Lowered (*lower)(const Call& call, Builder& b) = nullptr;
  /// Schema of the ExecuTorch out-variant that computes the float operator on the CPU; empty: none.
  /// Arguments are filled by name from the node; those it lacks from the defaults written here.
  std::string_view cpu{};
  /// Whether that kernel takes a call; what it does not take is expanded. Not set: all.
  bool (*cpu_takes)(const Call& call) = nullptr;

  bool has(Trait trait) const {
    return (static_cast<uint8_t>(traits) & static_cast<uint8_t>(trait)) != 0;
  }
};

inline const Row& row(const OpDef& op) {
  return *static_cast<const Row*>(op.spec);
}
extern const DialectHooks kAtenHooks;

/// The operator's name as the program wrote it, also of one that no row serves.
std::string_view shown_name(const Node& node);

inline bool is_aten(const Node& node) {
  return node.op().dialect == Dialect::kAten;
}

/// The parsed schema of an overload; parsed once per process.
const Schema& schema(const OpDef& op, int variant);
/// The parsed out-variant of a row; only for rows that have one.
const Schema& cpu_schema(const OpDef& op);

}  // namespace tosaic::aten

/// `TOSAIC_ATEN_OP(tanh) = {.schemas = …};` defines the row and its operator tosaic::aten::tanh.
#define TOSAIC_ATEN_OP(op_name)                                                         \
  namespace tosaic::aten {                                                              \
  extern const Row op_name##_row;                                                       \
  extern constinit const OpDef op_name;                                                 \
  constinit const OpDef op_name{#op_name, Dialect::kAten, &kAtenHooks, &op_name##_row}; \
  TOSAIC_REGISTER_OP(op_name);                                                          \
  }                                                                                     \
  constinit const ::tosaic::aten::Row tosaic::aten::op_name##_row

/// Names another file's operator, for composites and passes: `TOSAIC_USE_ATEN_OP(sigmoid);`.
#define TOSAIC_USE_ATEN_OP(op_name) \
  namespace tosaic::aten {          \
  extern const OpDef op_name;       \
  }                                 \
  static_assert(true)
