// SPDX-License-Identifier: Apache-2.0
#include "quant/qdq.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "aten/call.h"
#include "ir/verify.h"
#include "numeric/quantize.h"
#include "support/check.h"

namespace tosaic {
namespace {

using aten::Trait;

bool has_trait(const Node& node, Trait trait) {
  return aten::is_aten(node) && aten::row(node.op()).has(trait);
}

/// Parameters as the program writes them, not yet checked.
struct RawParameters {
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  int64_t axis = -1;
  int64_t qmin = 0;
  int64_t qmax = 0;
  DType dtype = DType::kUnknown;
};

template <typename... Args>
Diagnostic bad_parameters(const Node& node, fmt::format_string<Args...> format, Args&&... args) {
  return node_error(Code::kQuantParams, node, format, std::forward<Args>(args)...);
}

Diagnostic dynamic(const Node& node, std::string_view what) {
  return node_error(Code::kUnsupportedFeature, node, "{} is not supported", what)
      .with_hint("use a quantiser with static parameters (is_dynamic=False) and calibrate it");
}

/// The values of a tensor of parameters, which must be a constant.
Expected<const Constant*> parameter_tensor(const Node& node, const Value* value,
                                           std::string_view what) {
  if (value == nullptr) return bad_parameters(node, "there are no {}", what);
  if (!value->is_constant()) {
    return dynamic(
        node, fmt::format("dynamic quantisation ({} are computed when the program runs)", what));
  }
  return value->constant();
}

Status read_tensors(const Node& node, const aten::Call& call, bool per_channel,
                    RawParameters& raw) {
  TOSAIC_TRY(const Constant* scales,
             parameter_tensor(node, call.tensor(per_channel ? "scales" : "scale"), "scales"));
  if (!is_float(scales->dtype)) {
    return bad_parameters(node, "scales are {}, not float", dtype_name(scales->dtype));
  }
  raw.scales = float_values(*scales);
  const Value* zero_points = call.tensor(per_channel ? "zero_points" : "zero_point");
  if (zero_points == nullptr) {  // optional when dequantising
    raw.zero_points.assign(raw.scales.size(), 0);
    return ok();
  }
  TOSAIC_TRY(const Constant* zeros, parameter_tensor(node, zero_points, "zero points"));
  if (is_float(zeros->dtype)) {
    for (double zero : float_values(*zeros)) {
      if (zero != std::nearbyint(zero) || std::fabs(zero) > 0x1p31) {
        return bad_parameters(node, "zero point {} is no integer", zero);
      }
      raw.zero_points.push_back(static_cast<int64_t>(zero));
    }
    return ok();
  }
  if (!is_integer(zeros->dtype)) {
    return bad_parameters(node, "zero points are {}", dtype_name(zeros->dtype));
  }
  raw.zero_points = int_values(*zeros);
  return ok();
}

Expected<RawParameters> read_raw(const Node& node) {
  const aten::NodeCall view(node);
  const aten::Call& call = view.call;
  const std::string_view name = node.full_name();
  RawParameters raw;
  const bool per_channel = name.find("per_channel.") != std::string_view::npos;
  if (call.schema().find("quant_min") == nullptr || call.schema().find("dtype") == nullptr) {
    return dynamic(node, "this form of quantisation");
  }
  if (per_channel || call.tensor("scale") != nullptr) {
    TOSAIC_CHECK_OK(read_tensors(node, call, per_channel, raw));
    if (per_channel) raw.axis = call.i("axis");
  } else {
    raw.scales = {call.f("scale")};
    raw.zero_points = {call.i("zero_point")};
  }
  if (call.tensor("quant_min") != nullptr || call.tensor("quant_max") != nullptr) {
    TOSAIC_TRY(const Constant* low, parameter_tensor(node, call.tensor("quant_min"), "limits"));
    TOSAIC_TRY(const Constant* high, parameter_tensor(node, call.tensor("quant_max"), "limits"));
    raw.qmin = int_values(*low).at(0);
    raw.qmax = int_values(*high).at(0);
  } else {
    raw.qmin = call.i("quant_min");
    raw.qmax = call.i("quant_max");
  }
  raw.dtype = call.arg("dtype").as_dtype();
  return raw;
}

Status check_range(const Node& node, const RawParameters& raw) {
  if (!is_integer(raw.dtype) || raw.dtype == DType::kU64 || raw.dtype == DType::kI64) {
    return bad_parameters(node, "{} is no type of quantised values", dtype_name(raw.dtype));
  }
  const int64_t least = integer_min(raw.dtype);
  const int64_t greatest = integer_max(raw.dtype);
  if (raw.qmin < least || raw.qmax > greatest || raw.qmin >= raw.qmax) {
    return bad_parameters(node, "limits {} and {}, allowed are increasing ones within {} to {}",
                          raw.qmin, raw.qmax, least, greatest);
  }
  for (double scale : raw.scales) {
    // PyTorch multiplies in float32, where a denormal scale has no usable reciprocal.
    if (!(scale >= std::numeric_limits<float>::min()) ||
        !(scale <= std::numeric_limits<float>::max())) {
      return bad_parameters(node, "scale {}, allowed are positive normal float32 numbers", scale);
    }
  }
  for (int64_t zero_point : raw.zero_points) {
    if (zero_point < least || zero_point > greatest ||
        zero_point < std::numeric_limits<int32_t>::min() ||
        zero_point > std::numeric_limits<int32_t>::max()) {
      return bad_parameters(node, "zero point {} is outside {}, {} to {}", zero_point,
                            dtype_name(raw.dtype), least, greatest);
    }
  }
  return ok();
}

Status check_lengths(const Node& node, const Shape& shape, RawParameters& raw) {
  if (raw.scales.size() != raw.zero_points.size()) {
    return bad_parameters(node, "{} scales and {} zero points", raw.scales.size(),
                          raw.zero_points.size());
  }
  const bool per_channel = node.full_name().find("per_channel.") != std::string_view::npos;
  if (!per_channel) {
    if (raw.scales.size() == 1) return ok();
    return bad_parameters(node, "{} scales, a tensor has one", raw.scales.size());
  }
  if (shape.rank() == 0 || !aten::normalise_axis(raw.axis, shape.rank())) {
    return bad_parameters(node, "axis {} of a tensor of rank {}", raw.axis, shape.rank());
  }
  const int64_t size = shape[static_cast<int>(raw.axis)];
  if (size < 1 || static_cast<uint64_t>(size) != raw.scales.size()) {
    return bad_parameters(node, "{} scales for axis {} of {}", raw.scales.size(), raw.axis,
                          to_string(shape));
  }
  return ok();
}

/// Name-value pairs of the arguments behind the tensor operands of a per-tensor node.
std::vector<NamedAttr> per_tensor_attrs(const TensorType& type) {
  const Quant& q = *type.quant;
  return {{"scale", Attr::real(q.scale())},
          {"zero_point", Attr::integer(q.zero_point())},
          {"quant_min", Attr::integer(q.qmin)},
          {"quant_max", Attr::integer(q.qmax)},
          {"dtype", Attr::dtype(type.dtype)}};
}

Value& insert_unary(std::string_view name, Value& operand, const TensorType& result,
                    std::span<const NamedAttr> attrs, Node* before, Loc loc) {
  const OpVariant op = find_op(name);
  TOSAIC_CHECK(op.op != nullptr, name);
  Value* operands[] = {&operand};
  return operand.graph()
      .insert({.op = op.op,
               .variant = op.variant,
               .operands = operands,
               .segments = {},
               .results = std::span(&result, 1),
               .attrs = attrs,
               .loc = loc},
              before)
      .result();
}

}  // namespace

bool is_quantize(const Node& node) {
  return has_trait(node, Trait::kQuantize);
}
bool is_dequantize(const Node& node) {
  return has_trait(node, Trait::kDequantize);
}

Status check_static_quantisation(const Node& node) {
  if (!aten::is_aten(node)) return ok();
  std::string_view name = node.full_name();
  if (const Attr* target = node.attr("target");
      target != nullptr && target->kind() == Attr::Kind::kString) {
    name = target->as_string();
  }
  if (name.find("quantized_decomposed") == std::string_view::npos) return ok();
  const auto contains = [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  // The overloads whose scale is a tensor are the ones for parameters that the program computes.
  if (contains("choose_qparams") || name.ends_with(".tensor")) {
    return dynamic(node, "dynamic quantisation");
  }
  if (contains("per_token")) return dynamic(node, "quantisation per token");
  if (contains("channel_group")) return dynamic(node, "quantisation per group");
  return ok();
}

Expected<TensorType> quantised_type_of(const Node& node) {
  const Value* operand = node.operand(0);
  TOSAIC_CHECK(operand != nullptr, "a quantize or dequantize node has an operand");
  TOSAIC_TRY(RawParameters raw, read_raw(node));
  TOSAIC_CHECK_OK(check_range(node, raw));
  TOSAIC_CHECK_OK(check_lengths(node, operand->shape(), raw));
  const DType stored = is_quantize(node) ? node.result().dtype() : operand->dtype();
  if (stored != raw.dtype) {
    return bad_parameters(node, "parameters for {}, the tensor is {}", dtype_name(raw.dtype),
                          dtype_name(stored));
  }
  std::vector<int32_t> zero_points(raw.zero_points.begin(), raw.zero_points.end());
  const bool per_channel = node.full_name().find("per_channel.") != std::string_view::npos;
  const int axis = per_channel ? static_cast<int>(raw.axis) : -1;
  return TensorType{raw.dtype, operand->shape(),
                    node.graph().module().quant(raw.scales, zero_points, axis, raw.qmin, raw.qmax)};
}

bool same_parameters(const TensorType& a, const TensorType& b) {
  if (a.dtype != b.dtype || a.quant == nullptr || b.quant == nullptr) return false;
  if (a.quant == b.quant) return true;
  return a.quant->axis == b.quant->axis && std::ranges::equal(a.quant->scales, b.quant->scales) &&
         std::ranges::equal(a.quant->zero_points, b.quant->zero_points);
}

Value& insert_dequantize(Value& value, Node* before, Loc loc) {
  TOSAIC_CHECK(value.quant() != nullptr && value.quant()->per_tensor(), "quantised per tensor");
  return insert_unary("quantized_decomposed.dequantize_per_tensor.default", value,
                      {DType::kF32, value.shape(), nullptr}, per_tensor_attrs(value.type()), before,
                      loc);
}

Value& insert_quantize(Value& value, const TensorType& type, Node* before, Loc loc) {
  TOSAIC_CHECK(type.quant != nullptr && type.quant->per_tensor(), "quantised per tensor");
  return insert_unary("quantized_decomposed.quantize_per_tensor.default", value,
                      {type.dtype, value.shape(), type.quant}, per_tensor_attrs(type), before, loc);
}

namespace {

/// `type` with all stored integers moved by `offset`.
TensorType moved(Module& module, const TensorType& type, DType dtype, int64_t offset) {
  const Quant& q = *type.quant;
  std::vector<int32_t> zero_points;
  for (int32_t z : q.zero_points)
    zero_points.push_back(static_cast<int32_t>(z + offset));
  const std::vector<double> scales(q.scales.begin(), q.scales.end());
  return {dtype, type.shape,
          module.quant(scales, zero_points, q.axis, q.qmin + offset, q.qmax + offset)};
}

}  // namespace

TensorType signed_type(Module& module, const TensorType& type) {
  if (type.dtype == DType::kU8) return moved(module, type, DType::kI8, -128);
  if (type.dtype == DType::kU16) return moved(module, type, DType::kI16, -32768);
  return type;
}

TensorType unsigned_type(Module& module, const TensorType& type) {
  if (type.dtype == DType::kI8) return moved(module, type, DType::kU8, 128);
  if (type.dtype == DType::kI16) return moved(module, type, DType::kU16, 32768);
  return type;
}

Value& insert_requantize(Value& value, const TensorType& type, Node* before, Loc loc) {
  Module& module = value.graph().module();
  const TensorType wanted{type.dtype, value.shape(), type.quant};
  const TensorType from = signed_type(module, value.type());
  const TensorType to = signed_type(module, wanted);
  Value* v = &value;
  if (from.dtype != value.dtype()) {
    v = &insert_unary("tosaic.from_unsigned.default", *v, from, {}, before, loc);
  }
  if (from != to) v = &insert_unary("tosaic.requantize.default", *v, to, {}, before, loc);
  if (to.dtype != wanted.dtype) {
    v = &insert_unary("tosaic.to_unsigned.default", *v, wanted, {}, before, loc);
  }
  return *v;
}

Value& dequantised_constant(const Value& value) {
  const Quant& quant = *value.quant();
  const Constant& data = *value.constant();
  const std::vector<int64_t> stored = int_values(data);
  const Shape& shape = value.shape();
  int64_t inner = 1;  // elements between two steps along the axis
  for (int axis = quant.axis + 1; !quant.per_tensor() && axis < shape.rank(); ++axis) {
    inner *= shape[axis];
  }
  std::vector<numeric::Quantizer<float>> channels;
  for (size_t i = 0; i < quant.scales.size(); ++i) {
    channels.push_back(
        numeric::tensor_quantizer({.scale = quant.scales[i], .zero_point = quant.zero_points[i]}));
  }
  std::vector<float> real(stored.size());
  for (size_t i = 0; i < stored.size(); ++i) {
    const size_t channel = (i / static_cast<size_t>(inner)) % channels.size();
    real[i] = channels[quant.per_tensor() ? 0 : channel].dequantize(stored[i]);
  }
  Graph& graph = value.graph();
  const Constant& constant =
      graph.module().constant(DType::kF32, shape, std::as_bytes(std::span(real)));
  return graph.add_constant(constant, {DType::kF32, shape, nullptr}, value.name());
}

}  // namespace tosaic
