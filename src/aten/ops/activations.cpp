// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/arithmetic.h"

// Activations that limit a value to an interval. Quantisation is monotonic, so that
// q(clamp(x)) = clamp(q(x), q(lo), q(hi)): the quantised form is a CLAMP on the output's codes, and
// nothing where these are the whole range.

namespace tosaic::aten {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Lowered lower_clamp(const Call& n, Builder& b, double lo, double hi) {
  Value* x = n.in(0);
  lo = std::min(lo, hi);  // PyTorch: where the limits cross, everything is `hi`
  if (!n.any_quantised()) {
    if (is_float(x->dtype())) return b.clamp_float(x, lo, hi);
    if (x->dtype() == DType::kI32 && n.out().dtype == DType::kI32) {
      using Limits = std::numeric_limits<int32_t>;
      if (lo > Limits::max() || hi < Limits::min()) {
        return reject(Code::kRejectAttribute, "{}: limits of {} and {} are outside int32",
                      n.schema().full_name, lo, hi);
      }
      const auto whole = [](double limit) {
        return static_cast<int64_t>(std::clamp<double>(limit, Limits::min(), Limits::max()));
      };
      return b.clamp_int(x, whole(std::ceil(lo)), whole(std::floor(hi)));
    }
    return reject(Code::kRejectDtype, "{}: no form for {}", n.schema().full_name,
                  dtype_name(x->dtype()));
  }
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const Quant& from = *x->quant();
  const Quant& to = *n.out().quant;
  Value* y =
      b.rescale(x, n.out().dtype, from.scale() / to.scale(), from.zero_point(), to.zero_point());
  return b.clamp_int(y, quantised_value(lo, to), quantised_value(hi, to));
}

double limit(const Call& n, std::string_view name, double missing) {
  return n.has(name) ? n.f(name) : missing;
}

Lowered lower_clamp_args(const Call& n, Builder& b) {
  const double lo = limit(n, "min", -kInfinity);
  const double hi = limit(n, "max", kInfinity);
  if (std::isnan(lo) || std::isnan(hi)) {
    return reject(Code::kRejectAttribute, "{}: a limit is not a number", n.schema().full_name);
  }
  return lower_clamp(n, b, lo, hi);
}

/// x where it is positive, else slope * x. For slopes in (0, 1] that is the greater of the two.
Lowered lower_leaky_relu(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const int rank = x->shape().rank();
  const double slope = n.f("negative_slope");
  Value* factor = b.scalar_float(x->dtype(), slope, rank);
  if (slope > 0 && slope <= 1) {
    return b.emit(tosa::maximum, {x, b.mul(x, factor)}, tosa::NanModeAttrs{});
  }
  Value* zero = b.scalar_float(x->dtype(), 0, rank);
  Value* positive = b.emit(tosa::maximum, {x, zero}, tosa::NanModeAttrs{});
  Value* negative = b.emit(tosa::minimum, {x, zero}, tosa::NanModeAttrs{});
  return b.emit(tosa::add, {positive, b.mul(negative, factor)});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(relu) = {
    .schemas = schemas("aten::relu(Tensor self) -> Tensor",
                       "aten::relu_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "The value, 0 where it is negative: CLAMP.",
    .traits = Trait::kActivation,
    .quant = {own(0), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_clamp(n, b, 0, kInfinity); },
    .cpu = "aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(relu6) = {
    .schemas = schemas("aten::relu6(Tensor self) -> Tensor",
                       "aten::relu6_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "The value limited to 0 to 6: CLAMP.",
    .traits = Trait::kActivation,
    .quant = {own(0), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_clamp(n, b, 0, 6); },
    .cpu =
        "aten::hardtanh.out(Tensor self, Scalar min_val=0, Scalar max_val=6, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(hardtanh) = {
    .schemas = schemas(
        "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
        "aten::hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)"),
    .doc = "The value limited to min_val to max_val: CLAMP.",
    .traits = Trait::kActivation,
    .quant = {own(0), own(out(0))},
    .lower = [](const Call& n,
                Builder& b) { return lower_clamp(n, b, n.f("min_val"), n.f("max_val")); },
    .cpu =
        "aten::hardtanh.out(Tensor self, Scalar min_val=-1, Scalar max_val=1, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(clamp) = {
    .schemas =
        schemas("aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
                "aten::clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)",
                "aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor",
                "aten::clip_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)"),
    .doc = "The value limited to min and max, of which one may be missing: CLAMP.",
    .traits = Trait::kActivation,
    .quant = {own(0), own(out(0))},
    .lower = lower_clamp_args,
    .cpu =
        "aten::clamp.out(Tensor self, Scalar? min=None, Scalar? max=None, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(clamp_min) = {
    .schemas = schemas("aten::clamp_min(Tensor self, Scalar min) -> Tensor",
                       "aten::clamp_min_(Tensor(a!) self, Scalar min) -> Tensor(a!)"),
    .doc = "The value, at least min: clamp.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return b.call("aten.clamp.default", {n.in(0)}, n.out(), {{"min", n.arg("min")}});
    },
};

TOSAIC_ATEN_OP(clamp_max) = {
    .schemas = schemas("aten::clamp_max(Tensor self, Scalar max) -> Tensor",
                       "aten::clamp_max_(Tensor(a!) self, Scalar max) -> Tensor(a!)"),
    .doc = "The value, at most max: clamp.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return b.call("aten.clamp.default", {n.in(0)}, n.out(), {{"max", n.arg("max")}});
    },
};

TOSAIC_ATEN_OP(leaky_relu) = {
    .schemas =
        schemas("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
                "aten::leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)"),
    .doc =
        "The value, multiplied by negative_slope where it is negative: MUL and MAXIMUM in float, "
        "TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table =
        [](double x, const Call& n) {
          // PyTorch multiplies in float32.
          const auto slope = static_cast<float>(n.f("negative_slope"));
          return x > 0 ? x : static_cast<double>(static_cast<float>(x) * slope);
        },
    .lower = lower_leaky_relu,
    .cpu =
        "aten::leaky_relu.out(Tensor self, Scalar negative_slope=0.01, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};
