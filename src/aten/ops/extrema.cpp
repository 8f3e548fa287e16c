// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Greatest and least element along axes: REDUCE_MAX and REDUCE_MIN, which take quantised values as
// they are.

namespace tosaic::aten {
namespace {

Lowered lower_extremum(const Call& n, Builder& b, const OpDef& op) {
  Value* x = n.in(0);
  if (x->dtype() != n.out().dtype && !n.any_quantised()) {
    return reject(Code::kRejectDtype, "{}: {} to {}", n.schema().full_name, dtype_name(x->dtype()),
                  dtype_name(n.out().dtype));
  }
  if (x->shape().rank() == 0) return with_parameters(n, b, x, n.out());
  std::vector<int64_t> axes;
  if (auto r = read_axes(n, axes)) return *r;
  const Quant* quant = x->quant();
  for (int64_t axis : axes)
    x = b.emit(op, {x}, tosa::AxisNanAttrs{.axis = static_cast<int32_t>(axis)});
  x = b.reshape(x, n.out().shape);
  if (quant == n.out().quant) return x;
  TensorType type = x->type();
  type.quant = quant;
  x->set_type(type);
  return with_parameters(n, b, x, n.out());
}

/// amax or amin of the same operand, of the axis `dim` where there is one.
Value* call_extremum(const Call& n, Builder& b, std::string_view full_name) {
  const bool has_dim = n.schema().find("dim") != nullptr && n.has("dim");
  const int64_t dim[] = {has_dim ? n.i("dim") : 0};
  const bool keeps_axis = n.schema().find("keepdim") != nullptr && n.b("keepdim");
  return b.call(full_name, {n.in(0)}, n.out(),
                {{"dim", Attr::ints(std::span(dim, has_dim ? 1 : 0))},
                 {"keepdim", Attr::boolean(keeps_axis)}});
}

/// With where the element was, which amax does not tell.
Lowered call_with_place(const Call& n, Builder& b, std::string_view full_name) {
  return std::vector<Value*>{call_extremum(n, b, full_name), nullptr};
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(amax) = {
    .schemas = schemas("aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    .doc = "Greatest element along axes: REDUCE_MAX.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_extremum(n, b, tosa::reduce_max); },
    .cpu =
        "aten::amax.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(amin) = {
    .schemas = schemas("aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    .doc = "Least element along axes: REDUCE_MIN.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_extremum(n, b, tosa::reduce_min); },
    .cpu =
        "aten::amin.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(max) = {
    .schemas = schemas("aten::max(Tensor self) -> Tensor"),
    .doc = "Greatest element: amax.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return call_extremum(n, b, "aten.amax.default");
    },
};

TOSAIC_ATEN_OP(min) = {
    .schemas = schemas("aten::min(Tensor self) -> Tensor"),
    .doc = "Least element: amin.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return call_extremum(n, b, "aten.amin.default");
    },
};

TOSAIC_ATEN_OP(max_dim) = {
    .schemas = schemas("aten::max.dim(Tensor self, int dim, bool keepdim=False) -> "
                       "(Tensor values, Tensor indices)"),
    .doc = "Greatest element along an axis and where it is: amax, without the place.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_with_place(n, b, "aten.amax.default"); },
    .cpu =
        "aten::max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, "
        "Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)",
};

TOSAIC_ATEN_OP(min_dim) = {
    .schemas = schemas("aten::min.dim(Tensor self, int dim, bool keepdim=False) -> "
                       "(Tensor values, Tensor indices)"),
    .doc = "Least element along an axis and where it is: amin, without the place.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_with_place(n, b, "aten.amin.default"); },
    .cpu =
        "aten::min.dim_min(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) min, "
        "Tensor(b!) min_indices) -> (Tensor(a!) values, Tensor(b!) indices)",
};

TOSAIC_ATEN_OP(aminmax) = {
    .schemas = schemas("aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> "
                       "(Tensor min, Tensor max)"),
    .doc = "Least and greatest element: amin and amax.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return std::vector<Value*>{call_extremum(n, b, "aten.amin.default"),
                                 call_extremum(n, b, "aten.amax.default")};
    },
};
