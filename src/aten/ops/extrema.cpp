// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"
#include "aten/gathers.h"

// Greatest and least element along axes: REDUCE_MAX and REDUCE_MIN, which take quantised values as
// they are. Where they are: ARGMAX, which like PyTorch gives the first of equal ones. Without
// REDUCE_MIN the least element is what REDUCE_MAX finds of -1 - x, whose order is the opposite and
// which no integer is too large for.

namespace tosaic::aten {
namespace {

/// -1 - x of an int8 or int16.
Value* complement(Builder& b, Value* x) {
  const DType dtype = x->dtype();
  if (dtype == DType::kI8)
    return b.emit(tosa::negate, {x, b.zero_point(dtype, 0), b.zero_point(dtype, -1)});
  Value* wide = b.rescale(x, DType::kI32, 1, 0, 0);
  Value* minus_one = b.scalar_int(DType::kI32, -1, x->shape().rank());
  return b.rescale(b.emit(tosa::sub, {minus_one, wide}), dtype, 1, 0, 0);
}

Value* reduce(Builder& b, Value* x, std::span<const int64_t> axes, const OpDef& op) {
  for (int64_t axis : axes)
    x = b.emit(op, {x}, tosa::AxisNanAttrs{.axis = static_cast<int32_t>(axis)});
  return x;
}

bool has_reduction(Builder& b, Value* x, std::span<const int64_t> axes, const OpDef& op) {
  if (axes.empty() || !is_integer(x->dtype()) || x->dtype() == DType::kI32) return true;
  const tosa::AxisNanAttrs attrs{.axis = static_cast<int32_t>(axes[0])};
  return b.legal(op, std::span(&x, 1), tosa::write_attrs(attrs, b.module().arena()));
}

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
  if (has_reduction(b, x, axes, op)) {
    x = reduce(b, x, axes, op);
  } else {
    x = complement(b, reduce(b, complement(b, x), axes, tosa::reduce_max));
  }
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

/// A value whose greatest element is where the least of `x` is: no two become equal.
Value* reversed(Builder& b, Value* x) {
  if (is_float(x->dtype())) {
    Value* zero = b.zero_point(x->dtype(), 0);
    return b.emit(tosa::negate, {x, zero, zero});
  }
  Value* operands[] = {x};
  if (b.legal(tosa::bitwise_not, operands)) return b.emit(tosa::bitwise_not, operands);
  Value* wide = b.rescale(x, DType::kI32, 1, 0, 0);
  Value* minus_one = b.scalar_int(DType::kI32, -1, x->shape().rank());
  return b.rescale(b.emit(tosa::sub, {minus_one, wide}), x->dtype(), 1, 0, 0);
}

/// ARGMAX as it is where the target has it along this axis, else along the last of rows.
Value* first_greatest(Builder& b, Value* x, int axis) {
  const tosa::ArgMaxAttrs attrs{axis};
  Value* operands[] = {x};
  const Shape s = x->shape();
  if (s.rank() == 0) return x;  // which could not be made
  if (b.legal(tosa::argmax, operands, tosa::write_attrs(attrs, b.module().arena()))) {
    return b.emit(tosa::argmax, {x}, attrs);
  }
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i)
    outer *= s[i];
  const int64_t inner = s.num_elements() / (outer * s[axis]);
  constexpr int64_t kSwapLast[] = {0, 2, 1};
  x = b.reshape(x, {outer, s[axis], inner});
  if (inner > 1) x = b.transpose(x, kSwapLast);
  x = b.reshape(x, {1, outer * inner, s[axis]});
  return b.emit(tosa::argmax, {x}, tosa::ArgMaxAttrs{2});
}

/// The int64 of PyTorch is int32 here.
Lowered lower_place(const Call& n, Builder& b, bool of_least) {
  Value* x = n.in(0);
  const Shape& s = x->shape();
  int64_t axis = n.has("dim") ? n.i("dim") : 0;
  if (s.num_elements() == 0 || (n.has("dim") && !normalise_axis(axis, s.rank()))) {
    return reject(Code::kRejectShape, "{}: axis {} of {}", n.schema().full_name, axis,
                  to_string(s));
  }
  if (!n.has("dim") || s.rank() == 0) {
    x = b.reshape(x, {1, s.num_elements()});
    axis = 1;
  }
  if (of_least) x = reversed(b, x);
  return reshape_places(b, first_greatest(b, x, static_cast<int>(axis)), n.out().shape);
}

/// With where the element was, which amax does not tell.
Lowered call_with_place(const Call& n, Builder& b, std::string_view full_name, bool of_least) {
  Value* value = call_extremum(n, b, full_name);
  if (b.mode() == Builder::Mode::kRecord) return std::vector<Value*>{value, nullptr};
  const TensorType places[] = {n.out(1)};
  Value* place = b.call_all(of_least ? "aten.argmin.default" : "aten.argmax.default", n.operands(),
                            {}, places, n.attrs())[0];
  return std::vector<Value*>{value, place};
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
    .doc = "Greatest element along an axis and where it is: amax, and ARGMAX where that is used.",
    .traits = Trait::kAlias | Trait::kIndices,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return call_with_place(n, b, "aten.amax.default", false); },
    .cpu =
        "aten::max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, "
        "Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)",
};

TOSAIC_ATEN_OP(min_dim) = {
    .schemas = schemas("aten::min.dim(Tensor self, int dim, bool keepdim=False) -> "
                       "(Tensor values, Tensor indices)"),
    .doc = "Least element along an axis and where it is: amin, and ARGMAX where that is used.",
    .traits = Trait::kAlias | Trait::kIndices,
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n,
                Builder& b) { return call_with_place(n, b, "aten.amin.default", true); },
    .cpu =
        "aten::min.dim_min(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) min, "
        "Tensor(b!) min_indices) -> (Tensor(a!) values, Tensor(b!) indices)",
};

TOSAIC_ATEN_OP(argmax) = {
    .schemas = schemas("aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"),
    .doc = "Where the greatest element is, along an axis or in all: ARGMAX.",
    .traits = Trait::kIndices,
    .quant = {own(0)},
    .lower = [](const Call& n, Builder& b) { return lower_place(n, b, false); },
    .cpu =
        "aten::argmax.out(Tensor self, int? dim=None, bool keepdim=False, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(argmin) = {
    .schemas = schemas("aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"),
    .doc = "Where the least element is, along an axis or in all: ARGMAX of the reverse.",
    .traits = Trait::kIndices,
    .quant = {own(0)},
    .lower = [](const Call& n, Builder& b) { return lower_place(n, b, true); },
    .cpu =
        "aten::argmin.out(Tensor self, int? dim=None, bool keepdim=False, *, Tensor(a!) out) -> "
        "Tensor(a!)",
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
