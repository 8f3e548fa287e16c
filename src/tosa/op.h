// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
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
inline constexpr uint8_t kShapeOperand = 14;  ///< a shape value: a constant of dtype shape
inline constexpr uint8_t kBoolOperand = 15;

/// An operand or result of an operation, as the specification's argument table names it.
struct Arg {
  std::string_view name;
  uint8_t type = 0;         ///< index into Signature::types, or kShapeOperand, kBoolOperand
  bool constant = false;    ///< must be a constant (specification: CTC, or Vela needs it)
  bool variadic = false;    ///< a list (CONCAT); only the last operand may be one
};
inline constexpr size_t kMaxArgs = 6;
struct ArgList {
  std::array<Arg, kMaxArgs> args{};
  uint8_t count = 0;
  constexpr ArgList() = default;
  constexpr ArgList(std::initializer_list<Arg> list) {
    for (const Arg& a : list) args[count++] = a;
  }
  constexpr auto begin() const { return args.begin(); }
  constexpr auto end() const { return args.begin() + count; }
  constexpr const Arg& operator[](size_t i) const { return args[i]; }
};

/// One row of the specification's table "supported data types": with any feature of `any_of` the
/// type variables may have these dtypes.
struct Signature {
  Feature any_of = Feature::kNone;   ///< one of these suffices (PRO-INT or PRO-FP)
  std::array<DType, 3> types{};
};

/// What shape inference sees: operands that exist, attributes, and room for the result types.
struct InferCall {
  const OpDef& op;
  std::span<Value* const> in;
  AttrList attrs;
  std::vector<TensorType> out;   ///< to be filled

  const Shape& shape(size_t i) const { return in[i]->shape(); }
  DType dtype(size_t i) const { return in[i]->dtype(); }
  template <typename A>
  A get() const {
    return read_attrs<A>(attrs);
  }
  /// Value of a shape operand. Checked: it is a constant.
  std::vector<int64_t> shape_value(size_t i) const;
  /// An error of this operation: V0007 for shapes, V0010 for ERROR_IF rules.
  template <typename... Args>
  Diagnostic fail(Code code, fmt::format_string<Args...> format, Args&&... args) const {
    return error(code, "tosa.{}: {}", op.name, fmt::format(format, std::forward<Args>(args)...));
  }
};

/// A TOSA operation: signatures, shape inference, verification, scalar reference.
struct OpSpec {
  uint16_t number = 0;             ///< of the operator enumeration in 1.0; also its union type
  ArgList operands{};
  ArgList results{};
  std::span<const Signature> signatures{};
  FieldList attrs{};               ///< fields_of<…Attrs>()
  /// Result types, and every ERROR_IF rule of the operation that concerns its operands.
  Status (*infer)(InferCall& call) = nullptr;
  /// Executes one node; written to follow the specification's pseudo code, not for speed.
  Status (*reference)(RefCall& call) = nullptr;
};

inline const OpSpec& spec(const OpDef& op) { return *static_cast<const OpSpec*>(op.spec); }
extern const DialectHooks kTosaHooks;

/// Result types of an operation on these operands, after checking arity, attributes, signature,
/// constants, level and the operation's own rules. Used by the builder and by verification alike.
Expected<std::vector<TensorType>> infer_types(const OpDef& op, std::span<Value* const> operands,
                                              AttrList attrs);

/// The first signature that fits the node's types and is available with `features`; nullptr: none.
const Signature* find_signature(const Node& node, Feature features);

/// The operation with that 1.0 number; nullptr: none.
const OpDef* op_by_number(uint16_t number);

// Shape inference that several operations share.
Status infer_same(InferCall& call);           ///< result = type of operand 0
Status infer_broadcast(InferCall& call);      ///< elementwise; equal ranks, sizes equal or 1
/// Output size of a window along one axis; the division must be exact (specification).
Expected<int64_t> window_size(const InferCall& call, std::string_view axis, int64_t size,
                              int64_t pad_before, int64_t pad_after, int64_t kernel,
                              int64_t stride, int64_t dilation);

}  // namespace tosaic::tosa

/// `TOSAIC_TOSA_OP(add) = {.number = 15, …};` in src/tosa/ops/add.cpp defines tosaic::tosa::add.
#define TOSAIC_TOSA_OP(op_name)                                                            \
  namespace tosaic::tosa {                                                                 \
  extern const OpSpec op_name##_spec;                                                      \
  extern constinit const OpDef op_name;                                                    \
  constinit const OpDef op_name{#op_name, Dialect::kTosa, &kTosaHooks, &op_name##_spec};   \
  TOSAIC_REGISTER_OP(op_name);                                                             \
  }                                                                                        \
  constinit const ::tosaic::tosa::OpSpec tosaic::tosa::op_name##_spec
