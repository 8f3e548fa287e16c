// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "aten/elementwise.h"

// A smooth ramp: log(1 + exp(z)) / beta, where z = beta * x; but x itself where z is above the
// threshold. The function jumps there: by less than float32 shows at the default of 20, by 0.3
// at 1.
//
// Computed as max(z, 0) + log(1 + exp(-|z|)), whose exponential does not overflow.

namespace tosaic::aten {
namespace {

double log1p_exp(double z) {
  return std::max(z, 0.0) + std::log1p(std::exp(-std::abs(z)));
}

/// Whether the jump at the threshold is above half a step of float32.
bool has_jump(const Call& n) {
  const double threshold = n.f("threshold");
  return std::log1p(std::exp(-threshold)) > threshold * 0x1p-24;
}

/// PyTorch chooses the side of the threshold in float32.
double softplus_value(double x, const Call& n) {
  const double beta = n.f("beta");
  const float z = static_cast<float>(x) * static_cast<float>(beta);
  return z > static_cast<float>(n.f("threshold")) ? x : log1p_exp(beta * x) / beta;
}

Lowered lower_softplus(const Call& n, Builder& b) {
  const double beta = n.f("beta");
  if (beta == 0) {
    return reject(Code::kRejectAttribute, "{}: beta is 0; any other number is taken",
                  n.schema().full_name);
  }
  if (n.any_quantised()) {
    return has_jump(n) ? lower_step_table(n, b, softplus_value) : lower_table(n, b, softplus_value);
  }
  FloatCalls f(b, n.out());
  const auto scaled = [&](Value* x, double by) { return by == 1 ? x : f.mul(x, by); };
  Value* x = n.in(0);
  Value* z = scaled(x, beta);
  Value* magnitude = f.unary("aten.abs.default", z);
  Value* power = f.unary("aten.exp.default", f.unary("aten.neg.default", magnitude));
  Value* y = f.add(f.unary("aten.relu.default", z), f.unary("aten.log1p.default", power));
  y = scaled(y, 1 / beta);
  if (!has_jump(n)) return y;
  const TensorType truth{DType::kBool, n.out().shape};
  Value* above = b.call("aten.gt.Scalar", {z}, truth, {{"other", n.arg("threshold")}});
  return b.call("aten.where.self", {above, x, y}, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(softplus) = {
    .schemas = schemas("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor"),
    .doc =
        "log(1 + exp(beta * x)) / beta, x above a threshold: EXP and LOG in float, TABLE when "
        "quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_softplus,
};
