// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"
#include "tosa/attrs.h"
#include "tosa/spec.h"

namespace tosaic::tosa {

struct RefCall;

/// Index of a type variable of a signature, or one of these.
inline constexpr uint8_t kAnyOperand = 12;  ///< the operation's own rule decides (multipliers)
inline constexpr uint8_t kI8Operand = 13;
inline constexpr uint8_t kShapeOperand = 14;  ///< a shape value: a constant of dtype shape
inline constexpr uint8_t kBoolOperand = 15;

/// An operand or result of an operation, as the specification's argument table names it.
struct Arg {
  std::string_view name;
  uint8_t type = 0;       ///< index into Signature::types, or one of k…Operand
  bool constant = false;  ///< must be a constant (specification: CTC, or Vela needs it)
  bool variadic = false;  ///< a list (CONCAT); only the last operand may be one
};
inline constexpr size_t kMaxArgs = 6;
struct ArgList {
  std::array<Arg, kMaxArgs> args{};
  uint8_t count = 0;
  constexpr ArgList() = default;
  constexpr ArgList(std::initializer_list<Arg> list) {
    for (const Arg& a : list)
      args[count++] = a;
  }
  constexpr auto begin() const { return args.begin(); }
  constexpr auto end() const { return args.begin() + count; }
  constexpr const Arg& operator[](size_t i) const { return args[i]; }
};

/// One row of the specification's table "supported data types": with any feature of `any_of` the
/// type variables may have these dtypes.
struct Signature {
  Feature any_of = Feature::kNone;  ///< one of these suffices (PRO-INT or PRO-FP)
  std::array<DType, 3> types{};
};

/// What shape inference sees: operands that exist, attributes, and room for the result types.
struct InferCall {
  const OpDef& op;
  std::span<Value* const> in;
  AttrList attrs;
  const Signature& signature;  ///< the one that fits the operands (and the wanted dtype)
  /// Dtype that result 0 shall have; kUnknown: no wish. Only CAST cannot do without.
  DType wanted = DType::kUnknown;
  std::vector<TensorType> out;  ///< to be filled, in the order of the results

  const Shape& shape(size_t i) const { return in[i]->shape(); }
  DType dtype(size_t i) const { return in[i]->dtype(); }
  template <typename A>
  A get() const {
    return read_attrs<A>(attrs);
  }
  /// Appends a result of this shape; its dtype is that of the signature.
  void add_result(const Shape& shape);
  /// Value of a shape operand. Checked: it is a constant.
  std::vector<int64_t> shape_value(size_t i) const;
  /// An error of this operation: V0007 for shapes, V0010 for ERROR_IF rules.
  template <typename... Args>
  Diagnostic fail(Code code, fmt::format_string<Args...> format, Args&&... args) const {
    return error(code, "tosa.{}: {}", op.name, fmt::format(format, std::forward<Args>(args)...));
  }
};

/// What an operation does with the axes of its data when all of them are permuted alike.
enum class AxisRule : uint8_t {
  kFixed,        ///< each axis has its own meaning (convolutions), or the rank changes
  kElementwise,  ///< axes have no meaning; sizes of 1 broadcast
  kAxisAttr,     ///< only the axis that the attribute `axis` names has one; all operands are data
  kPerAxisOperands,  ///< the shape operands have as many entries per axis as there are (one or two)
};

/// A TOSA operation: signatures, shape inference, verification, scalar reference.
struct OpSpec {
  uint16_t number = 0;  ///< of the operator enumeration in 1.0; also its union type
  ArgList operands{};
  ArgList results{};
  std::span<const Signature> signatures{};
  FieldList attrs{};  ///< fields_of<…Attrs>()
  AxisRule axis_rule = AxisRule::kFixed;
  uint8_t num_data = 1;  ///< how many operands, from the first on, have the axes (not of kAxisAttr)
  /// Features that the node's attributes need beyond its signature; nullptr: none ever.
  Feature (*needs)(const Node& node) = nullptr;
  /// Result types, and every ERROR_IF rule of the operation that concerns its operands.
  Status (*infer)(InferCall& call) = nullptr;
  /// Executes one node; written to follow the specification's pseudo code, not for speed.
  Status (*reference)(RefCall& call) = nullptr;
};

inline const OpSpec& spec(const OpDef& op) {
  return *static_cast<const OpSpec*>(op.spec);
}
extern const DialectHooks kTosaHooks;

/// Result types of an operation on these operands, after checking arity, attributes, signature,
/// constants, level and the operation's own rules. Used by the builder and by verification alike.
/// Operands do not always decide the result's dtype (CAST; MATMUL of f16): `wanted` then does, and
/// kUnknown takes the first signature that fits.
Expected<std::vector<TensorType>> infer_types(const OpDef& op, std::span<Value* const> operands,
                                              AttrList attrs, DType wanted = DType::kUnknown);

/// The first signature that fits the node's types and is available with `features`; nullptr: none.
const Signature* find_signature(const Node& node, Feature features);

/// The operation with that 1.0 number; nullptr: none.
const OpDef* op_by_number(uint16_t number);

// Shape inference that several operations share.
Status infer_same(InferCall& call);  ///< one result, of operand 0's shape
/// Elementwise on the operands that need not be constants: equal ranks, sizes equal or 1.
Status infer_broadcast(InferCall& call);
/// Output size of a window along one axis; the division must be exact (specification).
Expected<int64_t> window_size(const InferCall& call, std::string_view axis, int64_t size,
                              int64_t pad_before, int64_t pad_after, int64_t kernel, int64_t stride,
                              int64_t dilation);

// Rules that several operations share.
/// Exactly the attributes of the definition, in its order and of its kinds (V0004).
Status check_attrs(const OpDef& op, AttrList attrs);
/// Rank, sizes and number of bytes that the level allows (V0007, V0009).
Status check_level(const OpDef& op, std::string_view what, const TensorType& type);
/// `rank` of operand `i` (V0007).
Status check_rank(const InferCall& call, size_t i, int min_rank, int max_rank);
/// Operand `i` has sizes [1] and is 0 unless its dtype is i8 (V0010).
Status check_zero_point(const InferCall& call, size_t i);
/// `axis` is one of operand 0's (V0010).
Status check_axis(const InferCall& call, int64_t axis);

}  // namespace tosaic::tosa

/// `TOSAIC_TOSA_OP(add) = {.number = 15, …};` in src/tosa/ops/add.cpp defines tosaic::tosa::add.
/// To be used at global namespace scope. The name is the end of a literal "tosa.add", so that the
/// full name is there without a copy.
#define TOSAIC_TOSA_OP(op_name)                                                               \
  namespace tosaic::tosa {                                                                    \
  extern const OpSpec op_name##_spec;                                                         \
  extern const OpDef op_name;                                                                 \
  constinit const OpDef op_name{std::string_view("tosa." #op_name).substr(5), Dialect::kTosa, \
                                &kTosaHooks, &op_name##_spec};                                \
  TOSAIC_REGISTER_OP(op_name);                                                                \
  }                                                                                           \
  constinit const ::tosaic::tosa::OpSpec tosaic::tosa::op_name##_spec
