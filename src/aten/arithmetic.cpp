// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

#include <algorithm>
#include <cmath>

#include "numeric/quantize.h"

namespace tosaic::aten {

std::optional<Reject> check_activation(const Call& call, const TensorType& type,
                                       std::string_view what) {
  if (type.quant == nullptr) {
    return reject(Code::kRejectNotQuantised, "{}: {} is not quantised", call.schema().full_name,
                  what);
  }
  if (!type.quant->per_tensor()) {
    return reject(Code::kRejectQuantParams, "{}: {} is quantised per channel",
                  call.schema().full_name, what);
  }
  if (type.dtype != DType::kI8 && type.dtype != DType::kI16) {
    return reject(Code::kRejectDtype, "{}: {} is {}; i8 and i16 are taken", call.schema().full_name,
                  what, dtype_name(type.dtype));
  }
  return std::nullopt;
}

Value* requantise(Builder& b, Value* x, const TensorType& type) {
  const Quant* from = x->quant();
  const Quant* to = type.quant;
  const bool equal = from->scale() == to->scale() && from->zero_point() == to->zero_point();
  if (equal && x->dtype() == type.dtype) return clamp_to_range(b, x, type);
  Value* y =
      b.rescale(x, type.dtype, from->scale() / to->scale(), from->zero_point(), to->zero_point());
  return clamp_to_range(b, y, type);
}

Value* with_parameters(const Call& call, Builder& b, Value* x, const TensorType& type) {
  if (x->quant() == type.quant) return x;
  auto reason = check_activation(call, x->type(), "the input");
  if (!reason) reason = check_activation(call, type, "the output");
  if (!reason) return requantise(b, x, type);
  b.fail(*std::move(reason));
  return x;
}

Value* clamp_to_range(Builder& b, Value* x, const TensorType& type) {
  return b.clamp_int(x, type.quant->qmin, type.quant->qmax);
}

int64_t quantised_value(double real, const Quant& quant) {
  if (std::isinf(real)) return real > 0 ? quant.qmax : quant.qmin;
  const numeric::AffineParams params{.scale = quant.scale(),
                                     .zero_point = quant.zero_point(),
                                     .qmin = static_cast<int32_t>(quant.qmin),
                                     .qmax = static_cast<int32_t>(quant.qmax)};
  return numeric::tensor_quantizer(params).quantize(static_cast<float>(real));
}

std::optional<Reject> read_axes(const Call& call, std::vector<int64_t>& axes) {
  const int rank = call.in(0)->shape().rank();
  axes = call.schema().find("dim") == nullptr ? std::vector<int64_t>() : call.ints("dim");
  if (axes.empty()) {
    for (int axis = 0; axis < rank; ++axis)
      axes.push_back(axis);
  }
  for (int64_t& axis : axes) {
    if (!normalise_axis(axis, rank) || rank == 0) {
      return reject(Code::kRejectAttribute, "{}: there is no axis {}", call.schema().full_name,
                    axis);
    }
  }
  std::ranges::sort(axes);
  return std::nullopt;
}

Value* fit_windows(Builder& b, Value* x, std::array<int64_t, 2> window,
                   std::vector<int64_t>& stride, std::vector<int64_t>& pad) {
  if (x->shape().rank() != 4) return x;
  std::vector<int64_t> start(4, 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  for (size_t axis = 0; axis < 2; ++axis) {
    int64_t& pad_after = pad[2 * axis + 1];
    const int64_t span = size[1 + axis] + pad[2 * axis] + pad_after - window[axis];
    if (span < 0) continue;  // the operation itself says what is wrong
    const int64_t rest = span % stride[axis];
    const int64_t from_pad = std::min(rest, pad_after);
    pad_after -= from_pad;
    size[1 + axis] -= rest - from_pad;
    if (span < stride[axis]) stride[axis] = 1;
  }
  return b.slice(x, start, size);
}

std::optional<int64_t> whole(double number, DType dtype) {
  if (dtype == DType::kBool) return number != 0;
  const double least = dtype == DType::kI64 ? -0x1p63 : static_cast<double>(integer_min(dtype));
  const double above = dtype == DType::kI64 ? 0x1p63 : static_cast<double>(integer_max(dtype)) + 1;
  const double integer = std::trunc(number);
  if (!(integer >= least && integer < above)) return std::nullopt;
  return static_cast<int64_t>(integer);
}

DType accumulator_type(DType input) {
  switch (input) {
    case DType::kI8:
      return DType::kI32;
    case DType::kI16:
      return DType::kI48;
    default:
      return DType::kF32;
  }
}

namespace {

/// s_in * s_w, one per channel or one for all.
std::vector<double> accumulator_scales(const Value& x, const Value& w) {
  std::vector<double> scales;
  for (double s : w.quant()->scales)
    scales.push_back(s * x.quant()->scale());
  return scales;
}

/// Parameters of a bias in the accumulator's domain.
const Quant* bias_quant(Module& module, const Value& x, const Value& w, DType dtype) {
  const std::vector<double> scales = accumulator_scales(x, w);
  const std::vector<int32_t> zero_points(scales.size(), 0);
  return module.quant(scales, zero_points, scales.size() == 1 ? -1 : 0, integer_min(dtype),
                      integer_max(dtype));
}

bool nearly_equal(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b);
}

/// An int32 bias is taken as it is when its scale is the accumulator's.
bool scale_fits(const Quant& given, const Quant& wanted) {
  if (given.scales.size() != wanted.scales.size()) return false;
  for (size_t i = 0; i < given.scales.size(); ++i) {
    if (!nearly_equal(given.scales[i], wanted.scales[i])) return false;
  }
  return true;
}

}  // namespace

Value* conv_bias(const Call& call, Builder& b, Value* bias, const Value& x, const Value& w,
                 int64_t num_channels) {
  Module& module = b.module();
  const bool quantised = x.quant() != nullptr;
  const DType dtype = quantised ? accumulator_type(x.dtype()) : x.dtype();
  if (bias == nullptr) {
    // One zero stands for all channels (specification: bias has size 1 or OC).
    return quantised ? b.scalar_int(dtype, 0) : b.scalar_float(dtype, 0);
  }
  if (!quantised) return bias;
  const Quant* wanted = bias_quant(module, x, w, dtype);
  const Constant& data = *bias->constant();
  if (is_float(bias->dtype())) {
    ConstantStage stage;
    stage.quant = wanted;
    return b.constant(module.staged(data, stage, dtype));
  }
  if (bias->quant() == nullptr || !scale_fits(*bias->quant(), *wanted)) {
    b.fail(reject(Code::kRejectQuantParams,
                  "{}: the bias is {} with a scale that is not scale(input) * scale(weight)",
                  call.schema().full_name, dtype_name(bias->dtype())));
    return bias;
  }
  if (bias->dtype() == dtype) return b.constant(data);
  return b.constant_ints(dtype, {num_channels}, int_values(data));
}

Value* side_by_side(Builder& b, std::span<Value* const> parts, int axis) {
  if (parts.size() == 1) return parts[0];
  return b.emit(tosa::concat, parts, tosa::write_attrs(tosa::AxisAttrs{axis}, b.module().arena()));
}

Value* finish_accumulator(Builder& b, Value* accumulator, const Value& x, const Value& w,
                          const TensorType& result) {
  return finish_accumulators(b, {&accumulator, 1}, x, w, result);
}

namespace {

/// Groups side by side. Of five axes the first two are one: Vela 5.2.0 crashes for Ethos-U85 on a
/// CONCAT of five axes that joins what convolutions over three axes give.
Value* join_channels(Builder& b, std::vector<Value*> parts) {
  const Shape& s = parts[0]->shape();
  if (parts.size() == 1 || s.rank() == 0) return parts[0];  // no rank: something is refused
  std::vector<int64_t> sizes(s.begin(), s.end());
  sizes.back() *= static_cast<int64_t>(parts.size());
  if (s.rank() > 4) {
    for (Value*& part : parts)
      part = b.reshape(part, {s[0] * s[1], s[2], s[3], s[4]});
  }
  return b.reshape(side_by_side(b, parts, parts[0]->shape().rank() - 1), Shape(sizes));
}

}  // namespace

Value* finish_accumulators(Builder& b, std::span<Value* const> groups, const Value& x,
                           const Value& w, const TensorType& result) {
  std::vector<Value*> parts(groups.begin(), groups.end());
  if (x.quant() != nullptr) {
    std::vector<double> scales = accumulator_scales(x, w);
    for (double& s : scales)
      s /= result.quant->scale();
    const size_t channels = scales.size() == 1 ? 0 : scales.size() / parts.size();
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto own =
          channels == 0 ? std::span(scales) : std::span(scales).subspan(i * channels, channels);
      parts[i] = b.rescale(parts[i], result.dtype, own, 0, result.quant->zero_point());
    }
  }
  Value* y = join_channels(b, std::move(parts));
  return x.quant() == nullptr ? y : clamp_to_range(b, y, result);
}

std::optional<Reject> check_conv_operands(const Call& call, const Value& x, const Value& w,
                                          const Value* bias, int channel_axis) {
  const std::string& name = call.schema().full_name;
  if (!call.any_quantised()) return std::nullopt;
  if (auto r = check_activation(call, x.type(), "the input")) return r;
  if (auto r = check_activation(call, call.out(), "the output")) return r;
  if (!w.is_constant() || w.quant() == nullptr) {
    return reject(Code::kRejectNotConstant, "{}: the weight must be a quantised constant", name);
  }
  if (bias != nullptr && !bias->is_constant()) {
    return reject(Code::kRejectNotConstant, "{}: the bias must be a constant", name);
  }
  const Quant& q = *w.quant();
  if (!q.per_tensor() && q.axis != channel_axis) {
    return reject(Code::kRejectQuantParams,
                  "{}: the weight is quantised along axis {}; axis {} is "
                  "the output channel",
                  name, q.axis, channel_axis);
  }
  for (int32_t zp : q.zero_points) {
    if (zp != 0) {
      return reject(Code::kRejectQuantParams,
                    "{}: the weight has zero point {}; only symmetric "
                    "weights are taken",
                    name, zp);
    }
  }
  if (w.dtype() != DType::kI8) {
    return reject(Code::kRejectDtype, "{}: the weight is {}; i8 is taken", name,
                  dtype_name(w.dtype()));
  }
  return std::nullopt;
}

}  // namespace tosaic::aten
