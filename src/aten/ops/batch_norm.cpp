// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/arithmetic.h"

// Inference batch_norm that no convolution takes in (see passes/fold_batch_norm.cpp): one product and
// one sum with constants, written as calls, so that the CPU can run it too.

namespace tosaic::aten {
namespace {

/// A constant per channel, or `absent` for all.
std::vector<double> per_channel(const Value* v, size_t channels, double absent) {
  return v == nullptr ? std::vector<double>(channels, absent) : float_values(*v->constant());
}

Lowered lower_batch_norm(const Call& n, Builder& b) {
  const Shape& shape = n.out().shape;
  if (shape.rank() < 2) {
    return reject(Code::kRejectShape, "{}: input {} has no channel axis", n.schema().full_name,
                  to_string(shape));
  }
  if (n.schema().find("training") != nullptr && n.b("training")) {
    return reject(Code::kRejectAttribute, "{}: the program was exported in training mode",
                  n.schema().full_name);
  }
  for (std::string_view name : {"weight", "bias", "running_mean", "running_var"}) {
    const Value* v = n.tensor(name);
    if (v != nullptr && !v->is_constant()) {
      return reject(Code::kRejectNotConstant, "{}: {} must be a constant", n.schema().full_name,
                    name);
    }
  }
  const auto channels = static_cast<size_t>(shape[1]);
  std::vector<double> scale = per_channel(n.tensor("weight"), channels, 1);
  std::vector<double> shift = per_channel(n.tensor("bias"), channels, 0);
  const std::vector<double> mean = per_channel(n.tensor("running_mean"), channels, 0);
  const std::vector<double> var = per_channel(n.tensor("running_var"), channels, 1);
  for (size_t c = 0; c < channels; ++c) {
    scale[c] /= std::sqrt(var[c] + n.f("eps"));
    shift[c] -= mean[c] * scale[c];
  }
  Shape sizes = shape;
  for (int axis = 0; axis < sizes.rank(); ++axis) sizes[axis] = axis == 1 ? shape[1] : 1;
  const DType dtype = n.out().dtype;
  Value* y = b.call("aten.mul.Tensor", {n.in(0), b.constant_floats(dtype, sizes, scale)}, n.out());
  return b.call("aten.add.Tensor", {y, b.constant_floats(dtype, sizes, shift)}, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(batch_norm) = {
    .schemas = schemas(
        "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
        "Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> "
        "Tensor"),
    .doc = "Inference batch normalisation: MUL and ADD with constants.",
    .lower = lower_batch_norm,
};
