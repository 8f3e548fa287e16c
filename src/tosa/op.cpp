// SPDX-License-Identifier: Apache-2.0
#include "tosa/op.h"

#include <algorithm>
#include <string>

#include "ir/verify.h"
#include "support/check.h"

namespace tosaic::tosa {
namespace {

constexpr std::string_view kPrefix = "tosa.";
constexpr Level kLevel;

/// Definition of operand `i`; those from the last one on are the variadic one.
const Arg& operand_arg(const OpSpec& s, size_t i) {
  return s.operands[std::min<size_t>(i, s.operands.count - size_t{1})];
}

bool is_variadic(const OpSpec& s) {
  return s.operands.count > 0 && s.operands[s.operands.count - size_t{1}].variadic;
}

/// Dtype that `arg` has under a signature; kUnknown: not said by the signature.
DType arg_dtype(const Signature& signature, const Arg& arg) {
  switch (arg.type) {
    case kAnyOperand:
      return DType::kUnknown;
    case kI8Operand:
      return DType::kI8;
    case kShapeOperand:
      return DType::kShape;
    case kBoolOperand:
      return DType::kBool;
    default:
      return signature.types[arg.type];
  }
}

bool fits(const Signature& signature, const Arg& arg, DType dtype) {
  return arg.type == kAnyOperand || arg_dtype(signature, arg) == dtype;
}

bool fits_operands(const Signature& signature, const OpSpec& s, std::span<Value* const> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!fits(signature, operand_arg(s, i), operands[i]->dtype())) return false;
  }
  return true;
}

/// An error of an operation that is not in a graph yet.
template <typename... Args>
Diagnostic op_error(Code code, const OpDef& op, fmt::format_string<Args...> format,
                    Args&&... args) {
  return error(code, "tosa.{}: {}", op.name, fmt::format(format, std::forward<Args>(args)...));
}

Status check_arity(const OpDef& op, std::span<Value* const> operands) {
  const OpSpec& s = spec(op);
  const size_t wanted = s.operands.count;
  const bool right = is_variadic(s) ? operands.size() >= wanted : operands.size() == wanted;
  if (!right) {
    return op_error(Code::kVerifyArity, op, "has {} operands and needs {}{}", operands.size(),
                    wanted, is_variadic(s) ? " or more" : "");
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr) {
      return op_error(Code::kVerifyArity, op, "operand {} is missing", operand_arg(s, i).name);
    }
  }
  return ok();
}

Status check_constants(const OpDef& op, std::span<Value* const> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const Arg& arg = operand_arg(spec(op), i);
    if ((arg.constant || arg.type == kShapeOperand) && !operands[i]->is_constant()) {
      return op_error(Code::kVerifyConstant, op, "operand {} must be a constant", arg.name);
    }
  }
  return ok();
}

std::string dtypes(std::span<Value* const> operands) {
  std::string text;
  for (const Value* value : operands) {
    if (!text.empty()) text += ", ";
    text += dtype_name(value->dtype());
  }
  return text;
}

const Signature* choose_signature(const OpSpec& s, std::span<Value* const> operands, DType wanted) {
  for (const Signature& signature : s.signatures) {
    if (!fits_operands(signature, s, operands)) continue;
    if (wanted == DType::kUnknown || fits(signature, s.results[0], wanted)) return &signature;
  }
  return nullptr;
}

Status verify_node(const Node& node) {
  const OpSpec& s = spec(node.op());
  if (node.num_results() != s.results.count) {
    return node_error(Code::kVerifyArity, node, "has {} results and needs {}", node.num_results(),
                      int{s.results.count});
  }
  std::vector<Value*> operands;
  for (const Use& use : node.operands())
    operands.push_back(use.value());
  auto types = infer_types(node.op(), operands, node.attrs(), node.result().dtype());
  if (!types) return std::move(types).error().at(resolve(node.loc()));
  for (size_t i = 0; i < types->size(); ++i) {
    const TensorType& type = node.results()[i].type();
    const TensorType& inferred = (*types)[i];
    if (type.dtype != inferred.dtype || !(type.shape == inferred.shape)) {
      return node_error(Code::kVerifyTypes, node, "result {} is {} and must be {}",
                        s.results[i].name, to_string(type), to_string(inferred));
    }
  }
  return ok();
}

}  // namespace

constinit const DialectHooks kTosaHooks = {
    .variant_name =
        [](const OpDef& op, int) {
          // TOSAIC_TOSA_OP puts the name behind its prefix.
          return std::string_view(op.name.data() - kPrefix.size(), op.name.size() + kPrefix.size());
        },
    .num_variants = [](const OpDef&) { return 1; },
    .verify = verify_node,
};

Status check_attrs(const OpDef& op, AttrList attrs) {
  const FieldList& fields = spec(op).attrs;
  if (attrs.size() != fields.count) {
    return op_error(Code::kVerifyAttributes, op, "has {} attributes and needs {}", attrs.size(),
                    fields.count);
  }
  for (size_t i = 0; i < attrs.size(); ++i) {
    const AttrField& field = fields.fields[i];
    if (attrs[i].name != field.name) {
      return op_error(Code::kVerifyAttributes, op, "attribute {} is {} and must be {}", i,
                      attrs[i].name, field.name);
    }
    if (const std::string_view needs = field_needs(field, attrs[i].value); !needs.empty()) {
      return op_error(Code::kVerifyAttributes, op, "attribute {} is {} and must be {}", field.name,
                      to_string(attrs[i].value), needs);
    }
  }
  return ok();
}

Status check_level(const OpDef& op, std::string_view what, const TensorType& type) {
  if (type.dtype == DType::kShape) return ok();
  const Shape& shape = type.shape;
  if (shape.rank() > kLevel.max_rank) {
    return op_error(Code::kVerifyLevel, op, "{} has rank {}, and the level allows {}", what,
                    shape.rank(), kLevel.max_rank);
  }
  if (!shape.is_static()) {
    return op_error(Code::kDynamicShape, op, "a size of {} is symbolic: {}", what,
                    to_string(shape));
  }
  // A tensor's bytes must be below 2^(max_log2_size + 1); checked step by step, against overflow.
  const uint64_t max_bytes = (uint64_t{1} << (kLevel.max_log2_size + 1)) - 1;
  uint64_t bytes = element_bytes(type.dtype);
  for (const int64_t size : shape) {
    if (size < 1) {
      return op_error(Code::kVerifyRank, op,
                      "{} has size {} along an axis, and TOSA needs 1 or more", what, size);
    }
    if (size >= int64_t{1} << kLevel.max_log2_size) bytes = max_bytes + 1;
    if (bytes <= max_bytes) bytes *= static_cast<uint64_t>(size);
  }
  if (bytes > max_bytes) {
    return op_error(Code::kVerifyLevel, op, "{} {} is larger than the level allows", what,
                    to_string(type));
  }
  return ok();
}

void InferCall::add_result(const Shape& shape) {
  out.push_back({arg_dtype(signature, spec(op).results[out.size()]), shape, nullptr});
}

std::vector<int64_t> InferCall::shape_value(size_t i) const {
  TOSAIC_CHECK(in[i]->is_constant(), "a shape operand is not a constant");
  return int_values(*in[i]->constant());
}

Expected<std::vector<TensorType>> infer_types(const OpDef& op, std::span<Value* const> operands,
                                              AttrList attrs, DType wanted) {
  const OpSpec& s = spec(op);
  TOSAIC_CHECK_OK(check_arity(op, operands));
  TOSAIC_CHECK_OK(check_attrs(op, attrs));
  TOSAIC_CHECK_OK(check_constants(op, operands));
  const Signature* signature = choose_signature(s, operands, wanted);
  if (signature == nullptr) {
    return op_error(Code::kVerifySignature, op, "there is no form for operands of {}{}{}",
                    dtypes(operands), wanted == DType::kUnknown ? "" : " with result ",
                    wanted == DType::kUnknown ? "" : dtype_name(wanted));
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    TOSAIC_CHECK_OK(check_level(op, operand_arg(s, i).name, operands[i]->type()));
  }
  InferCall call{op, operands, attrs, *signature, wanted, {}};
  TOSAIC_CHECK_OK(s.infer(call));
  TOSAIC_CHECK(call.out.size() == s.results.count, "shape inference left out a result");
  for (size_t i = 0; i < call.out.size(); ++i) {
    TOSAIC_CHECK_OK(check_level(op, s.results[i].name, call.out[i]));
  }
  return std::move(call.out);
}

const Signature* find_signature(const Node& node, Feature features) {
  const OpSpec& s = spec(node.op());
  for (const Signature& signature : s.signatures) {
    if (!any(signature.any_of & features)) continue;
    bool right = true;
    for (size_t i = 0; right && i < node.operands().size(); ++i) {
      right = fits(signature, operand_arg(s, i), node.operand(static_cast<int>(i))->dtype());
    }
    for (size_t i = 0; right && i < node.results().size(); ++i) {
      right = fits(signature, s.results[i], node.results()[i].dtype());
    }
    if (right) return &signature;
  }
  return nullptr;
}

const OpDef* op_by_number(uint16_t number) {
  for (const OpDef* op : all_ops()) {
    if (op->dialect == Dialect::kTosa && spec(*op).number == number) return op;
  }
  return nullptr;
}

Status infer_same(InferCall& call) {
  call.add_result(call.shape(0));
  return ok();
}

Status infer_broadcast(InferCall& call) {
  Shape result = call.shape(0);
  const OpSpec& s = spec(call.op);
  for (size_t i = 1; i < call.in.size(); ++i) {
    if (s.operands[i].constant) continue;
    const Shape& shape = call.shape(i);
    if (shape.rank() != result.rank()) {
      return call.fail(Code::kVerifyRank, "operands have ranks {} and {}, which must be equal",
                       result.rank(), shape.rank());
    }
    for (int axis = 0; axis < result.rank(); ++axis) {
      if (shape[axis] != result[axis] && shape[axis] != 1 && result[axis] != 1) {
        return call.fail(Code::kVerifyRank, "sizes {} and {} do not broadcast", to_string(result),
                         to_string(shape));
      }
      if (result[axis] == 1) result[axis] = shape[axis];
    }
  }
  call.add_result(result);
  return ok();
}

Expected<int64_t> window_size(const InferCall& call, std::string_view axis, int64_t size,
                              int64_t pad_before, int64_t pad_after, int64_t kernel, int64_t stride,
                              int64_t dilation) {
  if (kernel < 1 || stride < 1 || dilation < 1 || pad_before < 0 || pad_after < 0) {
    return call.fail(
        Code::kVerifyOpRule,
        "{}: kernel {}, stride {} and dilation {} must be 1 or more, and pads {}, {} 0 "
        "or more",
        axis, kernel, stride, dilation, pad_before, pad_after);
  }
  if (kernel * dilation > kLevel.max_kernel || pad_before > kLevel.max_kernel ||
      pad_after > kLevel.max_kernel || stride > kLevel.max_stride) {
    return call.fail(Code::kVerifyLevel,
                     "{}: kernel {}, dilation {}, stride {}, pads {}, {} are above the level's {}",
                     axis, kernel, dilation, stride, pad_before, pad_after, kLevel.max_kernel);
  }
  const int64_t span = size - 1 + pad_before + pad_after - (kernel - 1) * dilation;
  if (span < 0) {
    return call.fail(Code::kVerifyRank, "{}: the window is larger than the padded size {}", axis,
                     size + pad_before + pad_after);
  }
  if (span % stride != 0) {
    return call.fail(Code::kVerifyOpRule,
                     "{}: the stride {} must divide {}, the last position of the window", axis,
                     stride, span);
  }
  return span / stride + 1;
}

Status check_rank(const InferCall& call, size_t i, int min_rank, int max_rank) {
  const int rank = call.shape(i).rank();
  if (rank >= min_rank && rank <= max_rank) return ok();
  const std::string allowed = min_rank == max_rank ? fmt::format("{}", min_rank)
                                                   : fmt::format("{} to {}", min_rank, max_rank);
  return call.fail(Code::kVerifyRank, "operand {} has rank {} and must have {}",
                   operand_arg(spec(call.op), i).name, rank, allowed);
}

Status check_zero_point(const InferCall& call, size_t i) {
  const std::string_view name = operand_arg(spec(call.op), i).name;
  if (!(call.shape(i) == Shape{1})) {
    return call.fail(Code::kVerifyRank, "{} has sizes {} and must have [1]", name,
                     to_string(call.shape(i)));
  }
  if (call.dtype(i) == DType::kI8) return ok();
  const Constant& constant = *call.in[i]->constant();
  const bool is_zero =
      is_float(call.dtype(i)) ? float_values(constant)[0] == 0 : int_values(constant)[0] == 0;
  if (is_zero) return ok();
  return call.fail(Code::kVerifyOpRule, "{} must be 0, since its dtype is {} and not i8", name,
                   dtype_name(call.dtype(i)));
}

Status check_axis(const InferCall& call, int64_t axis) {
  if (axis >= 0 && axis < call.shape(0).rank()) return ok();
  return call.fail(Code::kVerifyOpRule, "axis {} must be in 0 to {}", axis,
                   call.shape(0).rank() - 1);
}

}  // namespace tosaic::tosa
