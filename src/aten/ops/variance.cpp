// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/arithmetic.h"
#include "aten/moments.h"

// Variance and standard deviation over axes. Quantised, sums of squares in int32 that are rounded
// once (docs/composites.md).

namespace tosaic::aten {
namespace {

/// The operand as [before, reduced, after].
struct Rows {
  Value* value = nullptr;
  double divisor = 1;
};

double correction_of(const Call& n) {
  if (n.schema().find("unbiased") != nullptr) return n.b("unbiased") ? 1 : 0;
  return n.has("correction") ? n.f("correction") : 1;
}

/// Axes that are not neighbours are moved to the end.
Value* merged(Builder& b, Value* x, const std::vector<int64_t>& axes) {
  const Shape s = x->shape();
  const auto size = [&](int64_t axis) { return s[static_cast<int>(axis)]; };
  int64_t reduced = 1;
  for (int64_t axis : axes)
    reduced *= size(axis);
  if (axes.empty()) return b.reshape(x, {1, 1, s.num_elements()});
  if (axes.back() - axes.front() + 1 == static_cast<int64_t>(axes.size())) {
    int64_t before = 1;
    for (int64_t axis = 0; axis < axes.front(); ++axis)
      before *= size(axis);
    return b.reshape(x, {before, reduced, s.num_elements() / (before * reduced)});
  }
  std::vector<int64_t> perm;
  for (int64_t axis = 0; axis < s.rank(); ++axis) {
    if (std::ranges::find(axes, axis) == axes.end()) perm.push_back(axis);
  }
  perm.insert(perm.end(), axes.begin(), axes.end());
  return b.reshape(b.transpose(x, perm), {s.num_elements() / reduced, reduced, 1});
}

std::optional<Reject> read_rows(const Call& n, Builder& b, Rows& rows) {
  Value* x = n.in(0);
  if (n.any_quantised()) {
    if (auto r = check_activation(n, x->type(), "the input")) return r;
    if (auto r = check_activation(n, n.out(), "the output")) return r;
  } else if (!is_float(x->dtype()) || x->dtype() != n.out().dtype) {
    return reject(Code::kRejectDtype, "{}: {} to {}; floats of one type are taken",
                  n.schema().full_name, dtype_name(x->dtype()), dtype_name(n.out().dtype));
  }
  std::vector<int64_t> axes;
  if (auto r = read_axes(n, axes)) return r;
  if (x->shape().num_elements() == 0) {
    return reject(Code::kRejectShape, "{}: the input is empty", n.schema().full_name);
  }
  rows.value = merged(b, x, axes);
  if (b.failure()) return *b.failure();
  rows.divisor = static_cast<double>(rows.value->shape()[1]) - correction_of(n);
  if (rows.divisor > 0) return std::nullopt;
  return reject(Code::kRejectShape, "{}: {} elements with a correction of {}", n.schema().full_name,
                rows.value->shape()[1], correction_of(n));
}

Value* float_variance(Builder& b, const Rows& rows) {
  Value* x = rows.value;
  const auto sum_over = [&](Value* v, double divisor) {
    Value* sum = b.emit(tosa::reduce_sum, {v}, tosa::AxisAttrs{1});
    return b.mul(sum, b.scalar_float(x->dtype(), 1 / divisor, 3));
  };
  x = b.emit(tosa::sub, {x, sum_over(x, static_cast<double>(x->shape()[1]))});
  return sum_over(b.mul(x, x), rows.divisor);
}

/// The variance, or its root.
Lowered integer_variance(const Call& n, Builder& b, const Rows& rows, bool root) {
  const auto m = moments(b, rows.value, *n.in(0)->quant(), 1, true, 0);
  if (!m) {
    return reject(Code::kRejectShape, "{}: {} elements have sums that leave int32",
                  n.schema().full_name, rows.value->shape()[1]);
  }
  Value* y = m->squares;
  double scale = m->squares_scale / rows.divisor;
  if (root) {  // x / sqrt(x)
    Integers in(b);
    constexpr int kShift = 15;
    y = in.mul(y, in.rsqrt(in.at_least(y, 1), true), kShift);
    scale = std::sqrt(scale) * std::exp2(kShift - Integers::kRsqrtBits);
  }
  const Quant& to = *n.out().quant;
  y = b.rescale(y, n.out().dtype, scale / to.scale(), 0, to.zero_point());
  return clamp_to_range(b, b.reshape(y, n.out().shape), n.out());
}

Lowered lower_variance(const Call& n, Builder& b) {
  Rows rows;
  if (auto r = read_rows(n, b, rows)) return *r;
  if (n.any_quantised()) return integer_variance(n, b, rows, false);
  return b.reshape(float_variance(b, rows), n.out().shape);
}

/// The root of the variance, for ExecuTorch's kernels.
Lowered record_deviation(const Call& n, Builder& b) {
  const bool has_dim = n.schema().find("dim") != nullptr;
  Value* variance = b.call("aten.var.correction", {n.in(0)}, n.out(),
                           {{"dim", has_dim ? n.arg("dim") : Attr()},
                            {"correction", Attr::real(correction_of(n))},
                            {"keepdim", Attr::boolean(has_dim && n.b("keepdim"))}});
  return b.call("aten.sqrt.default", {variance}, n.out());
}

Lowered lower_deviation(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kRecord) return record_deviation(n, b);
  Rows rows;
  if (auto r = read_rows(n, b, rows)) return *r;
  if (n.any_quantised()) return integer_variance(n, b, rows, true);
  Value* variance = b.reshape(float_variance(b, rows), n.out().shape);
  return b.call("aten.sqrt.default", {variance}, n.out());
}

/// `full_name` is var or std with a correction; the mean is of the same axes.
Lowered call_with_mean(const Call& n, Builder& b, std::string_view full_name) {
  const bool has_dim = n.schema().find("dim") != nullptr;
  const NamedArg keepdim{"keepdim", Attr::boolean(has_dim && n.b("keepdim"))};
  const Attr dim = has_dim ? n.arg("dim") : Attr();
  Value* spread = b.call(full_name, {n.in(0)}, n.out(),
                         {{"dim", dim}, {"correction", Attr::real(correction_of(n))}, keepdim});
  Value* mean = b.call("aten.mean.dim", {n.in(0)}, n.out(1), {{"dim", dim}, keepdim});
  return std::vector<Value*>{spread, mean};
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(var) = {
    .schemas = schemas("aten::var(Tensor self, bool unbiased=True) -> Tensor",
                       "aten::var.dim(Tensor self, int[1]? dim, bool unbiased=True, "
                       "bool keepdim=False) -> Tensor"),
    .doc = "Variance over axes; quantised in int32.",
    .quant = {own(0), own(out(0))},
    .lower = lower_variance,
    .cpu =
        "aten::var.out(Tensor self, int[1]? dim=None, bool unbiased=True, bool keepdim=False, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(var_correction) = {
    .schemas = schemas("aten::var.correction(Tensor self, int[1]? dim=None, *, "
                       "Scalar? correction=None, bool keepdim=False) -> Tensor"),
    .doc = "Variance over axes, divided by the number of elements less a correction.",
    .quant = {own(0), own(out(0))},
    .lower = lower_variance,
    .cpu =
        "aten::var.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, "
        "bool keepdim=False, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(std) = {
    .schemas = schemas("aten::std(Tensor self, bool unbiased=True) -> Tensor",
                       "aten::std.dim(Tensor self, int[1]? dim, bool unbiased=True, "
                       "bool keepdim=False) -> Tensor",
                       "aten::std.correction(Tensor self, int[1]? dim=None, *, "
                       "Scalar? correction=None, bool keepdim=False) -> Tensor"),
    .doc = "Standard deviation over axes: the root of var; quantised in int32.",
    .quant = {own(0), own(out(0))},
    .lower = lower_deviation,
};

TOSAIC_ATEN_OP(var_mean) = {
    .schemas = schemas("aten::var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
                       "aten::var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, "
                       "bool keepdim=False) -> (Tensor, Tensor)",
                       "aten::var_mean.correction(Tensor self, int[1]? dim=None, *, "
                       "Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"),
    .doc = "Variance and mean over axes: var and mean.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_with_mean(n, b, "aten.var.correction"); },
};

TOSAIC_ATEN_OP(std_mean) = {
    .schemas = schemas("aten::std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)",
                       "aten::std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, "
                       "bool keepdim=False) -> (Tensor, Tensor)",
                       "aten::std_mean.correction(Tensor self, int[1]? dim=None, *, "
                       "Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"),
    .doc = "Standard deviation and mean over axes: std and mean.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_with_mean(n, b, "aten.std.correction"); },
};
