// SPDX-License-Identifier: Apache-2.0
#include "aten/broadcast_calls.h"

// Products, truth of any or all elements, and the logarithm of a sum of exponentials, along axes.

namespace tosaic::aten {
namespace {

/// The axes that `dim` names, one of them or a list; all when it names none.
std::optional<Reject> read_dims(const Call& n, std::vector<int64_t>& axes) {
  const int rank = n.in(0)->shape().rank();
  if (n.schema().find("dim") != nullptr && n.has("dim")) axes = n.ints("dim");
  if (axes.empty()) {
    for (int axis = 0; axis < rank; ++axis)
      axes.push_back(axis);
  }
  for (int64_t& axis : axes) {
    if (rank > 0 && normalise_axis(axis, rank)) continue;
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  if (n.in(0)->shape().num_elements() > 0) return std::nullopt;
  return reject(Code::kRejectShape, "{}: the input has no elements", n.schema().full_name);
}

Lowered emit_reductions(const Call& n, Builder& b, const OpDef& op, Value* x) {
  std::vector<int64_t> axes;
  if (auto r = read_dims(n, axes)) return *r;
  for (int64_t axis : axes)
    x = b.emit(op, {x}, tosa::AxisAttrs{static_cast<int32_t>(axis)});
  return b.reshape(x, n.out().shape);
}

Lowered lower_product(const Call& n, Builder& b) {
  const Value* x = n.in(0);
  if (n.any_quantised() || !is_float(x->dtype()) || x->dtype() != n.out().dtype) {
    return reject(Code::kRejectDtype, "{}: {} to {}; floats of one type are taken",
                  n.schema().full_name, dtype_name(x->dtype()), dtype_name(n.out().dtype));
  }
  return emit_reductions(n, b, tosa::reduce_product, n.in(0));
}

Lowered lower_truth(const Call& n, Builder& b, const OpDef& op) {
  if (n.out().dtype != DType::kBool) {
    return reject(Code::kRejectDtype, "{}: a result of {}", n.schema().full_name,
                  dtype_name(n.out().dtype));
  }
  Value* x = n.in(0);
  if (x->dtype() != DType::kBool) {
    x = b.call("aten.ne.Scalar", {x}, {DType::kBool, x->shape(), nullptr},
               {{"other", Attr::integer(0)}});
  }
  return emit_reductions(n, b, op, x);
}

/// all: not any that is not. ExecuTorch has a kernel of any alone.
Lowered lower_all(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kLower) return lower_truth(n, b, tosa::reduce_all);
  const auto inverse = [&](Value* x) {
    return b.call("aten.logical_not.default", {x}, {DType::kBool, x->shape(), nullptr});
  };
  std::vector<int64_t> axes;
  if (auto r = read_dims(n, axes)) return *r;
  const bool keeps_axes = n.schema().find("keepdim") != nullptr && n.b("keepdim");
  return inverse(b.call("aten.any.dims", {inverse(n.in(0))}, n.out(),
                        {{"dim", Attr::ints(axes)}, {"keepdim", Attr::boolean(keeps_axes)}}));
}

/// log(sum(exp(x - max))) + max; a maximum that is infinite is not subtracted.
Lowered lower_logsumexp(const Call& n, Builder& b) {
  if (auto r = check_floats(n)) return *r;
  std::vector<int64_t> axes;
  if (auto r = read_dims(n, axes)) return *r;
  BroadcastCalls c(b, n);
  Value* x = n.in(0);
  constexpr double kLargest = 3e38;
  const auto finite = [&](Value* v) {
    return b.call("aten.hardtanh.default", {v}, v->type(),
                  {{"min_val", Attr::real(-kLargest)}, {"max_val", Attr::real(kLargest)}});
  };
  Value* centre = finite(c.reduce("aten.amax.default", x, axes, true));
  Value* sum =
      c.reduce("aten.sum.dim_IntList", c.unary("aten.exp.default", c.sub(x, centre)), axes, true);
  Value* y = c.add(c.unary("aten.log.default", sum), centre);
  if (y->shape() == n.out().shape) return y;
  return b.call("aten.view_copy.default", {y}, n.out(),
                {{"size", Attr::ints(n.out().shape.sizes())}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(prod) = {
    .schemas = schemas("aten::prod(Tensor self, *, ScalarType? dtype=None) -> Tensor"),
    .doc = "Product of all elements, in float: REDUCE_PRODUCT.",
    .lower = lower_product,
    .cpu = "aten::prod.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(prod_dim) = {
    .schemas = schemas("aten::prod.dim_int(Tensor self, int dim, bool keepdim=False, *, "
                       "ScalarType? dtype=None) -> Tensor"),
    .doc = "Product along an axis, in float: REDUCE_PRODUCT.",
    .lower = lower_product,
    .cpu =
        "aten::prod.int_out(Tensor self, int dim, bool keepdim=False, *, "
        "ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(any) = {
    .schemas = schemas("aten::any(Tensor self) -> Tensor",
                       "aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                       "aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> "
                       "Tensor"),
    .doc = "Whether some element is true or other than 0: REDUCE_ANY.",
    .lower = [](const Call& n, Builder& b) { return lower_truth(n, b, tosa::reduce_any); },
    .cpu =
        "aten::any.dims_out(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor(a!) out) "
        "-> Tensor(a!)",
};

TOSAIC_ATEN_OP(all) = {
    .schemas = schemas("aten::all(Tensor self) -> Tensor",
                       "aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
                       "aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> "
                       "Tensor"),
    .doc = "Whether all elements are true or other than 0: REDUCE_ALL.",
    .lower = lower_all,
};

TOSAIC_ATEN_OP(logsumexp) = {
    .schemas = schemas("aten::logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor"),
    .doc = "Logarithm of the sum of exponentials: amax, exp, sum and log.",
    .traits = Trait::kAlias,
    .lower = lower_logsumexp,
};
