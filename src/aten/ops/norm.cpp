// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "aten/arithmetic.h"
#include "aten/calls.h"
#include "aten/moments.h"

// (x - mean) / sqrt(variance + eps) * weight + bias, where mean and variance are those of a row, of
// a group of channels, or of one channel; rms_norm leaves the mean where it is. Quantised,
// everything between input and output is int32 (docs/composites.md).

namespace tosaic::aten {
namespace {

/// A normalisation over the last axis of `rows`, then a weight and a bias that broadcast against
/// `affine`.
struct Norm {
  Shape rows;
  Shape affine;
  Value* weight = nullptr;
  Value* bias = nullptr;
  Shape parameters;  ///< sizes of weight and bias in `affine`
  double eps = 0;
  bool subtract_mean = true;
};

struct FloatNorm {
  Value* result = nullptr;
  Value* mean = nullptr;  ///< nullptr when it is not subtracted
  Value* inverse_deviation = nullptr;
};

FloatNorm float_norm(const Norm& norm, Builder& b, Value* x) {
  const int rank = norm.rows.rank();
  const double share = 1 / static_cast<double>(norm.rows[rank - 1]);
  const DType dtype = x->dtype();
  const auto mean_of = [&](Value* v) {
    Value* sum = b.emit(tosa::reduce_sum, {v}, tosa::AxisAttrs{rank - 1});
    return b.mul(sum, b.scalar_float(dtype, share, rank));
  };
  FloatNorm made;
  if (norm.subtract_mean) {
    made.mean = mean_of(x);
    x = b.emit(tosa::sub, {x, made.mean});
  }
  Value* variance = mean_of(b.mul(x, x));
  variance = b.emit(tosa::add, {variance, b.scalar_float(dtype, norm.eps, rank)});
  made.inverse_deviation = b.emit(tosa::rsqrt, {variance});
  Value* y = b.reshape(b.mul(x, made.inverse_deviation), norm.affine);
  if (norm.weight != nullptr) y = b.mul(y, b.reshape(norm.weight, norm.parameters));
  if (norm.bias != nullptr) y = b.emit(tosa::add, {y, b.reshape(norm.bias, norm.parameters)});
  made.result = y;
  return made;
}

double largest(std::span<const double> values) {
  double most = 0;
  for (double v : values)
    most = std::max(most, std::abs(v));
  return most;
}

/// y * weight + bias in int32. Neither leaves 2^29.
Scaled affine(const Norm& norm, Builder& b, const Scaled& y) {
  if (norm.weight == nullptr && norm.bias == nullptr) return y;
  Integers in(b);
  const auto count = static_cast<size_t>(norm.parameters.num_elements());
  const auto values = [&](const Value* v, double missing) {
    return v == nullptr ? std::vector<double>(count, missing) : float_values(*v->constant());
  };
  std::vector<double> weight = values(norm.weight, 1);
  std::vector<double> bias = values(norm.bias, 0);
  const double unit =
      std::max({y.scale * largest(weight), largest(bias) / 0x1p29, y.scale * 0x1p-24});
  const auto constant = [&](std::span<const double> reals, double step) {
    std::vector<int64_t> integers;
    for (double v : reals)
      integers.push_back(std::llrint(v / step));
    return b.constant_ints(DType::kI32, norm.parameters, integers);
  };
  constexpr int kBits = 30;
  Value* z = in.mul(y.value, constant(weight, std::ldexp(unit / y.scale, -kBits)), kBits);
  if (norm.bias != nullptr) z = in.add(z, constant(bias, unit));
  return {z, unit};
}

Lowered integer_norm(const Call& n, const Norm& norm, Builder& b, Value* x) {
  const int axis = norm.rows.rank() - 1;
  for (const Value* v : {norm.weight, norm.bias}) {
    if (v == nullptr || (v->is_constant() && is_float(v->dtype()))) continue;
    return reject(Code::kRejectNotConstant, "{}: weight and bias must be constants",
                  n.schema().full_name);
  }
  const Quant& quant = *n.in(0)->quant();
  const auto m = moments(b, x, quant, axis, norm.subtract_mean, norm.eps);
  if (!m) {
    return reject(Code::kRejectShape, "{}: {} elements of scale {} have sums that leave int32",
                  n.schema().full_name, norm.rows[axis], quant.scale());
  }
  const bool fine = x->dtype() == DType::kI16;
  Scaled y = normalised(b, *m, axis, fine);
  y.value = b.reshape(y.value, norm.affine);
  y = affine(norm, b, y);
  const Quant& to = *n.out().quant;
  Value* z = b.rescale(y.value, n.out().dtype, y.scale / to.scale(), 0, to.zero_point());
  return clamp_to_range(b, z, n.out());
}

std::optional<Reject> check_input(const Call& n, const Norm& norm) {
  const Value* x = n.in(0);
  if (norm.rows.num_elements() == 0) {
    return reject(Code::kRejectShape, "{}: the input is empty", n.schema().full_name);
  }
  if (n.any_quantised()) {
    if (auto r = check_activation(n, x->type(), "the input")) return r;
    return check_activation(n, n.out(), "the output");
  }
  if (is_float(x->dtype()) && x->dtype() == n.out().dtype) return std::nullopt;
  return reject(Code::kRejectDtype, "{}: {} to {}; floats of one type are taken",
                n.schema().full_name, dtype_name(x->dtype()), dtype_name(n.out().dtype));
}

Lowered lower_norm(const Call& n, const Norm& norm, Builder& b) {
  if (auto r = check_input(n, norm)) return *r;
  Value* x = b.reshape(n.in(0), norm.rows);
  if (!n.any_quantised()) return b.reshape(float_norm(norm, b, x).result, n.out().shape);
  const Lowered y = integer_norm(n, norm, b, x);
  return y.ok() ? b.reshape(y.values()[0], n.out().shape) : y;
}

/// With the statistics as further results, as core ATen has it. They have no quantised form.
Lowered lower_with_statistics(const Call& n, const Norm& norm, Builder& b) {
  if (n.any_quantised()) {
    const Lowered y = lower_norm(n, norm, b);
    if (!y.ok()) return y;
    std::vector<Value*> values(n.results().size(), nullptr);
    values[0] = y.values()[0];
    return values;
  }
  if (auto r = check_input(n, norm)) return *r;
  const FloatNorm made = float_norm(norm, b, b.reshape(n.in(0), norm.rows));
  std::vector<Value*> values = {b.reshape(made.result, n.out().shape)};
  if (norm.subtract_mean) values.push_back(b.reshape(made.mean, n.out(1).shape));
  values.push_back(b.reshape(made.inverse_deviation, n.results().back().shape));
  return values;
}

/// The number of elements of weight and bias is `count`, as PyTorch demands.
std::optional<Reject> check_parameters(const Call& n, const Norm& norm, int64_t count) {
  for (const Value* v : {norm.weight, norm.bias}) {
    if (v == nullptr || v->shape().num_elements() == count) continue;
    return reject(Code::kRejectShape, "{}: weight and bias have {} elements; {} are normalised",
                  n.schema().full_name, v->shape().num_elements(), count);
  }
  return std::nullopt;
}

// ---- Over the last axes
// ---------------------------------------------------------------------------

std::optional<Reject> norm_of_last_axes(const Call& n, bool subtract_mean, Norm& norm) {
  const Shape& s = n.in(0)->shape();
  const int kept = s.rank() - static_cast<int>(n.ints("normalized_shape").size());
  if (kept < 0 || kept == s.rank()) {
    return reject(Code::kRejectShape, "{}: {} has fewer axes than are normalised",
                  n.schema().full_name, to_string(s));
  }
  std::vector<int64_t> sizes(s.begin(), s.begin() + kept);
  int64_t count = 1;
  for (int axis = kept; axis < s.rank(); ++axis)
    count *= s[axis];
  sizes.push_back(count);
  norm.rows = Shape(sizes);
  norm.affine = norm.rows;
  std::vector<int64_t> ones(sizes.size(), 1);
  ones.back() = count;
  norm.parameters = Shape(ones);
  norm.weight = n.tensor("weight");
  norm.bias = n.schema().find("bias") == nullptr ? nullptr : n.tensor("bias");
  // rms_norm's default is the step of float32 at 1.
  norm.eps = n.has("eps") ? n.f("eps") : std::numeric_limits<float>::epsilon();
  norm.subtract_mean = subtract_mean;
  return check_parameters(n, norm, count);
}

Lowered lower_last_axes(const Call& n, Builder& b, bool subtract_mean, bool statistics) {
  Norm norm;
  if (auto r = norm_of_last_axes(n, subtract_mean, norm)) return *r;
  return statistics ? lower_with_statistics(n, norm, b) : lower_norm(n, norm, b);
}

/// ExecuTorch's kernel has the statistics as further results.
Lowered record_layer_norm(const Call& n, Builder& b) {
  TensorType statistics = n.out();
  const auto normalised = static_cast<int>(n.ints("normalized_shape").size());
  for (int i = 1; i <= normalised && i <= statistics.shape.rank(); ++i)
    statistics.shape[statistics.shape.rank() - i] = 1;
  const TensorType results[] = {n.out(), statistics, statistics};
  Value* const operands[] = {n.in(0), n.tensor("weight"), n.tensor("bias")};
  const NamedArg args[] = {{"normalized_shape", n.arg("normalized_shape")},
                           {"eps", Attr::real(n.f("eps"))}};
  return b.call_all("aten.native_layer_norm.default", operands, {}, results, args)[0];
}

Lowered lower_layer_norm(const Call& n, Builder& b) {
  return b.mode() == Builder::Mode::kRecord ? record_layer_norm(n, b)
                                            : lower_last_axes(n, b, true, false);
}

/// rms_norm as calls of kernels; the inverse root too where it is a result.
Lowered record_rms_norm(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const Shape& s = x->shape();
  const auto count = static_cast<int>(n.ints("normalized_shape").size());
  if (count < 1 || count > s.rank() || n.out().shape.rank() != s.rank()) {
    return reject(Code::kRejectShape, "{}: {} has fewer axes than are normalised",
                  n.schema().full_name, to_string(s));
  }
  std::vector<int64_t> axes;
  TensorType row = n.out();
  for (int axis = s.rank() - count; axis < s.rank(); ++axis) {
    axes.push_back(axis);
    row.shape[axis] = 1;
  }
  const double eps = n.has("eps") ? n.f("eps") : std::numeric_limits<float>::epsilon();
  Value* y = b.call("aten.mul.Tensor", {x, x}, n.out());
  y = b.call("aten.mean.dim", {y}, row,
             {{"dim", Attr::ints(axes)}, {"keepdim", Attr::boolean(true)}});
  y = b.call("aten.add.Scalar", {y}, row, {{"other", Attr::real(eps)}});
  Value* inverse = b.call("aten.rsqrt.default", {y}, row);
  y = b.call("aten.mul.Tensor", {x, inverse}, n.out());
  Value* weight = n.tensor("weight");
  if (weight != nullptr) y = b.call("aten.mul.Tensor", {y, weight}, n.out());
  if (n.results().size() == 1) return y;
  return std::vector<Value*>{y, call_view(b, inverse, n.out(1).shape)};
}

Lowered lower_rms_norm(const Call& n, Builder& b) {
  return b.mode() == Builder::Mode::kRecord ? record_rms_norm(n, b)
                                            : lower_last_axes(n, b, false, n.results().size() > 1);
}

// ---- Over groups of channels
// ----------------------------------------------------------------------

/// [N,C,…] as [N,groups,…]; weight and bias are per channel.
std::optional<Reject> norm_of_groups(const Call& n, int64_t groups, Norm& norm) {
  const Shape& s = n.in(0)->shape();
  if (s.rank() < 2 || groups < 1 || s[1] % groups != 0) {
    return reject(Code::kRejectShape, "{}: {} in {} groups of channels", n.schema().full_name,
                  to_string(s), groups);
  }
  int64_t pixels = 1;
  for (int axis = 2; axis < s.rank(); ++axis)
    pixels *= s[axis];
  norm.rows = {s[0], groups, s[1] / groups * pixels};
  norm.affine = {s[0], s[1], pixels};
  norm.parameters = {1, s[1], 1};
  norm.weight = n.tensor("weight");
  norm.bias = n.tensor("bias");
  norm.eps = n.f("eps");
  return check_parameters(n, norm, s[1]);
}

Value* record_groups(const Call& n, Builder& b, int64_t groups) {
  const Shape& s = n.in(0)->shape();
  const TensorType statistics{n.out().dtype, {s[0], groups}, nullptr};
  const TensorType results[] = {n.out(), statistics, statistics};
  Value* const operands[] = {n.in(0), n.tensor("weight"), n.tensor("bias")};
  const NamedArg args[] = {{"N", Attr::integer(s[0])},
                           {"C", Attr::integer(s[1])},
                           {"HxW", Attr::integer(s.num_elements() / (s[0] * s[1]))},
                           {"group", Attr::integer(groups)},
                           {"eps", Attr::real(n.f("eps"))}};
  return b.call_all("aten.native_group_norm.default", operands, {}, results, args)[0];
}

Lowered lower_or_record_groups(const Call& n, Builder& b, int64_t groups) {
  const bool has_elements = n.in(0)->shape().rank() >= 2 && n.out().shape.num_elements() > 0;
  if (b.mode() == Builder::Mode::kRecord && has_elements) return record_groups(n, b, groups);
  Norm norm;
  if (auto r = norm_of_groups(n, groups, norm)) return *r;
  return lower_norm(n, norm, b);
}

Lowered lower_instance_norm(const Call& n, Builder& b) {
  const Shape& s = n.in(0)->shape();
  if (!n.b("use_input_stats")) {  // those of the channel in all of the training
    return b.call("aten.batch_norm.default",
                  {n.in(0), n.tensor("weight"), n.tensor("bias"), n.tensor("running_mean"),
                   n.tensor("running_var")},
                  n.out(),
                  {{"training", Attr::boolean(false)},
                   {"momentum", n.arg("momentum")},
                   {"eps", n.arg("eps")},
                   {"cudnn_enabled", Attr::boolean(false)}});
  }
  return lower_or_record_groups(n, b, s.rank() < 2 ? 1 : s[1]);
}

Lowered lower_native_group_norm(const Call& n, Builder& b) {
  Norm norm;
  if (auto r = norm_of_groups(n, n.i("group"), norm)) return *r;
  return lower_with_statistics(n, norm, b);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(layer_norm) = {
    .schemas = schemas(
        "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
        "Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor"),
    .doc = "Normalisation over the last axes; quantised in int32.",
    .quant = {own(0), real(2), real(3), own(out(0))},
    .lower = lower_layer_norm,
};

TOSAIC_ATEN_OP(native_layer_norm) = {
    .schemas = schemas("aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, "
                       "Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)"),
    .doc = "layer_norm with mean and inverse deviation as further results.",
    .quant = {own(0), real(2), real(3), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_last_axes(n, b, true, true); },
    .cpu =
        "aten::native_layer_norm.out(Tensor input, SymInt[] normalized_shape, Tensor? weight, "
        "Tensor? bias, float eps, *, Tensor(a!) out0, Tensor(b!) out1, Tensor(c!) out2) -> "
        "(Tensor(a!), Tensor(b!), Tensor(c!))",
};

TOSAIC_ATEN_OP(rms_norm) = {
    .schemas = schemas("aten::rms_norm(Tensor input, SymInt[] normalized_shape, "
                       "Tensor? weight=None, float? eps=None) -> Tensor"),
    .doc = "Division by the root of the mean square over the last axes; quantised in int32.",
    .quant = {own(0), real(2), own(out(0))},
    .lower = lower_rms_norm,
};

TOSAIC_ATEN_OP(fused_rms_norm) = {
    .schemas = schemas("aten::_fused_rms_norm(Tensor input, int[] normalized_shape, "
                       "Tensor? weight, float? eps) -> (Tensor, Tensor)"),
    .doc = "rms_norm with the inverse root as a further result.",
    .quant = {own(0), real(2), own(out(0))},
    .lower = lower_rms_norm,
};

TOSAIC_ATEN_OP(group_norm) = {
    .schemas = schemas(
        "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
        "float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor"),
    .doc = "Normalisation over groups of channels; quantised in int32.",
    .quant = {own(0), real(2), real(3), own(out(0))},
    .lower = [](const Call& n,
                Builder& b) { return lower_or_record_groups(n, b, n.i("num_groups")); },
};

TOSAIC_ATEN_OP(native_group_norm) = {
    .schemas = schemas(
        "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, "
        "SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)"),
    .doc = "group_norm with mean and inverse deviation as further results.",
    .quant = {own(0), real(1), real(2), own(out(0))},
    .lower = lower_native_group_norm,
    .cpu =
        "aten::native_group_norm.out(Tensor input, Tensor? weight, Tensor? bias, SymInt N, "
        "SymInt C, SymInt HxW, int group, float eps, *, Tensor(a!) out0, Tensor(b!) out1, "
        "Tensor(c!) out2) -> (Tensor(a!), Tensor(b!), Tensor(c!))",
};

TOSAIC_ATEN_OP(instance_norm) = {
    .schemas = schemas(
        "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
        "Tensor? running_var, bool use_input_stats, float momentum, float eps, "
        "bool cudnn_enabled) -> Tensor"),
    .doc = "Normalisation over each channel by itself; quantised in int32.",
    .quant = {own(0), real(1), real(2), real(3), real(4), own(out(0))},
    .lower = lower_instance_norm,
};
