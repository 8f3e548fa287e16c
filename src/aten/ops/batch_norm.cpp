// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/arithmetic.h"

// Normalisation with stored statistics: x * k + c per channel, with constants
//
//   k = weight / sqrt(running_var + eps),  c = bias - running_mean * k.
//
// Where it follows a convolution, passes/fold_batch_norm has moved it into the weights.

namespace tosaic::aten {
namespace {

/// Values of an optional constant with one value per channel; none when it is not one.
std::optional<std::vector<double>> channel_values(const Value* v, size_t channels, double missing) {
  if (v == nullptr) return std::vector<double>(channels, missing);
  if (!v->is_constant() || !is_float(v->dtype())) return std::nullopt;
  std::vector<double> values = float_values(*v->constant());
  if (values.size() != channels) return std::nullopt;
  return values;
}

Lowered lower_batch_norm(const Call& n, Builder& b) {
  if (n.b("training")) {
    Reject r = reject(Code::kRejectAttribute, "{}: training is true", n.schema().full_name);
    r.hint = "call model.eval() before exporting";
    return r;
  }
  Value* x = n.in(0);
  const int rank = x->shape().rank();
  if (n.any_quantised()) {
    return reject(Code::kRejectQuantParams,
                  "{}: a quantised batch_norm that no convolution takes in", n.schema().full_name);
  }
  if (rank < 2) {
    return reject(Code::kRejectShape, "{}: the input has {} axes; channels are axis 1",
                  n.schema().full_name, rank);
  }
  if (n.tensor("running_mean") == nullptr || n.tensor("running_var") == nullptr) {
    return reject(Code::kRejectAttribute, "{}: there are no running statistics",
                  n.schema().full_name);
  }
  const auto channels = static_cast<size_t>(x->shape()[1]);
  const auto gamma = channel_values(n.tensor("weight"), channels, 1);
  const auto beta = channel_values(n.tensor("bias"), channels, 0);
  const auto mean = channel_values(n.tensor("running_mean"), channels, 0);
  const auto var = channel_values(n.tensor("running_var"), channels, 1);
  if (!gamma || !beta || !mean || !var) {
    return reject(Code::kRejectNotConstant, "{}: parameters and statistics must be constants",
                  n.schema().full_name);
  }
  std::vector<double> factor(channels);
  std::vector<double> offset(channels);
  for (size_t i = 0; i < channels; ++i) {
    factor[i] = (*gamma)[i] / std::sqrt((*var)[i] + n.f("eps"));
    offset[i] = (*beta)[i] - (*mean)[i] * factor[i];
  }
  Shape shape = n.out().shape;
  for (int axis = 0; axis < rank; ++axis)
    shape[axis] = axis == 1 ? shape[1] : 1;
  Value* product =
      b.call("aten.mul.Tensor", {x, b.constant_floats(x->dtype(), shape, factor)}, n.out());
  return b.call("aten.add.Tensor", {product, b.constant_floats(x->dtype(), shape, offset)},
                n.out());
}

/// The results after the first are empty at inference.
Lowered call_batch_norm(const Call& n, Builder& b) {
  Value* y = b.call("aten.batch_norm.default",
                    {n.tensor("input"), n.tensor("weight"), n.tensor("bias"),
                     n.tensor("running_mean"), n.tensor("running_var")},
                    n.out(),
                    {{"training", Attr::boolean(false)},
                     {"momentum", n.arg("momentum")},
                     {"eps", n.arg("eps")},
                     {"cudnn_enabled", Attr::boolean(false)}});
  return std::vector<Value*>{y, nullptr, nullptr};
}

/// Statistics of the input itself are those of each channel alone, where there is one image: what
/// becomes of instance_norm in core ATen.
Lowered call_instance_norm(const Call& n, Builder& b) {
  const Shape& shape = n.in(0)->shape();
  if (!n.b("training") || shape.rank() < 2 || shape[0] != 1) {
    Reject r = reject(Code::kRejectAttribute,
                      "{}: statistics of a batch of {}; those of one image are taken",
                      n.schema().full_name, to_string(shape));
    r.hint = "call model.eval() before exporting";
    return r;
  }
  Value* y =
      b.call("aten.instance_norm.default",
             {n.tensor("input"), n.tensor("weight"), n.tensor("bias"), nullptr, nullptr}, n.out(),
             {{"use_input_stats", Attr::boolean(true)},
              {"momentum", n.arg("momentum")},
              {"eps", n.arg("eps")},
              {"cudnn_enabled", Attr::boolean(false)}});
  return std::vector<Value*>{y, nullptr, nullptr};
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(batch_norm) = {
    .schemas = schemas(
        "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
        "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> "
        "Tensor"),
    .doc = "Normalisation per channel with stored statistics: mul and add of constants.",
    .quant = {own(0), own(out(0))},
    .lower = lower_batch_norm,
};

TOSAIC_ATEN_OP(native_batch_norm_no_training) = {
    .schemas = schemas(
        "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, "
        "Tensor running_mean, Tensor running_var, float momentum, float eps) -> "
        "(Tensor, Tensor, Tensor)"),
    .doc = "Core ATen's form of batch_norm.",
    .traits = Trait::kAlias,
    .lower = call_batch_norm,
};

TOSAIC_ATEN_OP(native_batch_norm_no_stats) = {
    .schemas = schemas(
        "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, "
        "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"),
    .doc = "Core ATen's form of instance_norm.",
    .traits = Trait::kAlias,
    .lower = call_instance_norm,
};
