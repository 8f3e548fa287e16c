// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/broadcast_calls.h"
#include "aten/calls.h"

// Products of vectors and tensors as calls of mul, mm and addmm between views, and what is close to
// them: differences along an axis, weights as a direction and a length.

namespace tosaic::aten {
namespace {

/// Names the shapes of all operands; some may be absent.
Reject wrong_shapes(const Call& n) {
  std::vector<std::string> shapes;
  for (const Value* v : n.operands())
    if (v != nullptr) shapes.push_back(to_string(v->shape()));
  return reject(Code::kRejectShape, "{}: operands of {}", n.schema().full_name,
                fmt::join(shapes, ", "));
}

std::vector<int64_t> sizes_of(const Value* x) {
  return {x->shape().begin(), x->shape().end()};
}

/// A vector as a matrix of one column or one row.
Value* column(Builder& b, Value* x) {
  return call_view(b, x, {x->shape().num_elements(), 1});
}
Value* row(Builder& b, Value* x) {
  return call_view(b, x, {1, x->shape().num_elements()});
}

Lowered lower_outer(const Call& n, Builder& b) {
  if (n.in(0)->shape().rank() != 1 || n.in(1)->shape().rank() != 1) return wrong_shapes(n);
  return b.call("aten.mul.Tensor", {column(b, n.in(0)), row(b, n.in(1))}, n.out());
}

/// Sums of products over axes of both: mm of what is left by what is summed.
Lowered contract(const Call& n, Builder& b, std::vector<int64_t> axes_x,
                 std::vector<int64_t> axes_y) {
  Value* x = n.in(0);
  Value* y = n.in(1);
  if (axes_x.size() != axes_y.size()) return wrong_shapes(n);
  for (size_t i = 0; i < axes_x.size(); ++i) {
    if (!normalise_axis(axes_x[i], x->shape().rank()) ||
        !normalise_axis(axes_y[i], y->shape().rank()) ||
        x->shape()[static_cast<int>(axes_x[i])] != y->shape()[static_cast<int>(axes_y[i])]) {
      return wrong_shapes(n);
    }
  }
  const auto others = [](const Value* v, const std::vector<int64_t>& axes) {
    std::vector<int64_t> left;
    for (int64_t axis = 0; axis < v->shape().rank(); ++axis) {
      if (std::ranges::find(axes, axis) == axes.end()) left.push_back(axis);
    }
    return left;
  };
  std::vector<int64_t> order_x = others(x, axes_x);
  const std::vector<int64_t> left_y = others(y, axes_y);
  int64_t depth = 1;
  for (int64_t axis : axes_x)
    depth *= x->shape()[static_cast<int>(axis)];
  if (depth == 0 || n.out().shape.num_elements() == 0) return wrong_shapes(n);
  const int64_t rows = x->shape().num_elements() / depth;
  const int64_t columns = y->shape().num_elements() / depth;
  order_x.insert(order_x.end(), axes_x.begin(), axes_x.end());
  std::vector<int64_t> order_y = axes_y;
  order_y.insert(order_y.end(), left_y.begin(), left_y.end());
  const auto permuted = [&](Value* v, std::span<const int64_t> order) {
    return std::ranges::is_sorted(order) ? v : call_permute(b, v, order);
  };
  Value* left = call_view(b, permuted(x, order_x), {rows, depth});
  Value* right = call_view(b, permuted(y, order_y), {depth, columns});
  const TensorType type{n.out().dtype, {rows, columns}, nullptr};
  return call_view(b, b.call("aten.mm.default", {left, right}, type), n.out().shape);
}

Lowered lower_inner(const Call& n, Builder& b) {
  if (n.in(0)->shape().rank() == 0 || n.in(1)->shape().rank() == 0) {
    return b.call("aten.mul.Tensor", {n.in(0), n.in(1)}, n.out());
  }
  return contract(n, b, {-1}, {-1});
}

/// Each element of the first times the whole of the second: mul of views whose axes alternate.
Lowered lower_kron(const Call& n, Builder& b) {
  Value* x = n.in(0);
  Value* y = n.in(1);
  const int rank = std::max(x->shape().rank(), y->shape().rank());
  if (rank < 1 || 2 * rank > kMaxRank) return wrong_shapes(n);
  std::vector<int64_t> xs = sizes_of(x);
  std::vector<int64_t> ys = sizes_of(y);
  xs.insert(xs.begin(), static_cast<size_t>(rank) - xs.size(), 1);
  ys.insert(ys.begin(), static_cast<size_t>(rank) - ys.size(), 1);
  std::vector<int64_t> left;
  std::vector<int64_t> right;
  for (size_t i = 0; i < xs.size(); ++i) {
    left.insert(left.end(), {xs[i], 1});
    right.insert(right.end(), {1, ys[i]});
  }
  BroadcastCalls c(b, n);
  return call_view(b, c.mul(call_view(b, x, Shape(left)), call_view(b, y, Shape(right))),
                   n.out().shape);
}

/// beta * self + alpha * (left times right), as addmm says it.
Value* call_addmm(const Call& n, Builder& b, Value* self, Value* left, Value* right) {
  const Shape shape{left->shape()[0], right->shape()[1]};
  return b.call("aten.addmm.default", {self, left, right}, {n.out().dtype, shape, nullptr},
                {{"beta", n.arg("beta")}, {"alpha", n.arg("alpha")}});
}

Lowered lower_addmv(const Call& n, Builder& b) {
  Value* self = n.in(0);
  if (n.in(1)->shape().rank() != 2 || n.in(2)->shape().rank() != 1) return wrong_shapes(n);
  if (self->shape().rank() == 1) self = column(b, self);
  return call_view(b, call_addmm(n, b, self, n.in(1), column(b, n.in(2))), n.out().shape);
}

Lowered lower_addr(const Call& n, Builder& b) {
  if (n.in(1)->shape().rank() != 1 || n.in(2)->shape().rank() != 1) return wrong_shapes(n);
  return call_addmm(n, b, n.in(0), column(b, n.in(1)), row(b, n.in(2)));
}

/// The sum over pairs of matrices is one product of the first side by side and the second one below
/// the other.
Lowered lower_addbmm(const Call& n, Builder& b) {
  const Shape& x = n.in(1)->shape();
  const Shape& y = n.in(2)->shape();
  if (x.rank() != 3 || y.rank() != 3) return wrong_shapes(n);
  constexpr int64_t kRowsFirst[] = {1, 0, 2};
  Value* left = call_view(b, call_permute(b, n.in(1), kRowsFirst), {x[1], x[0] * x[2]});
  return call_addmm(n, b, n.in(0), left, call_view(b, n.in(2), {y[0] * y[1], y[2]}));
}

Lowered lower_trace(const Call& n, Builder& b) {
  const Shape& s = n.in(0)->shape();
  if (s.rank() != 2) return wrong_shapes(n);
  BroadcastCalls c(b, n);
  Value* diagonal = b.call("aten.diagonal.default", {n.in(0)},
                           {n.in(0)->dtype(), {std::min(s[0], s[1])}, nullptr});
  constexpr int64_t kAxis[] = {0};
  return c.reduce("aten.sum.dim_IntList", diagonal, kAxis, false);
}

/// Elements less those before them, `n` times.
Lowered lower_diff(const Call& n, Builder& b) {
  Value* x = n.in(0);
  int64_t axis = n.i("dim");
  if (!normalise_axis(axis, x->shape().rank())) return wrong_shapes(n);
  const int at = static_cast<int>(axis);
  std::vector<Value*> parts;
  int64_t size = 0;
  for (Value* part : {n.tensor("prepend"), x, n.tensor("append")}) {
    if (part == nullptr) continue;
    if (part->shape().rank() != x->shape().rank()) return wrong_shapes(n);
    parts.push_back(part);
    size += part->shape()[at];
  }
  Shape shape = x->shape();
  shape[at] = size;
  if (parts.size() > 1) x = call_cat(b, parts, at, {n.out().dtype, shape, nullptr});
  BroadcastCalls c(b, n);
  const int64_t times = n.i("n");
  if (times < 0 || times >= size) return wrong_shapes(n);
  for (int64_t i = 0; i < times; ++i) {
    const int64_t left = x->shape()[at] - 1;
    x = c.sub(call_slice(b, x, at, 1, left), call_slice(b, x, at, 0, left));
  }
  return x;
}

/// The product of two vectors of three elements that is normal to both.
Lowered lower_cross(const Call& n, Builder& b) {
  Value* x = n.in(0);
  Value* y = n.in(1);
  const int rank = x->shape().rank();
  int64_t axis = -1;
  if (n.has("dim")) {
    axis = n.i("dim");
  } else {  // the first axis of three elements
    for (int i = rank - 1; i >= 0; --i)
      axis = x->shape()[i] == 3 ? i : axis;
  }
  if (y->shape().rank() != rank || !normalise_axis(axis, rank)) return wrong_shapes(n);
  const int at = static_cast<int>(axis);
  if (x->shape()[at] != 3 || y->shape()[at] != 3) return wrong_shapes(n);
  constexpr int64_t kNext[] = {1, 2, 0};
  constexpr int64_t kBefore[] = {2, 0, 1};
  const auto taken = [&](Value* v, std::span<const int64_t> order) {
    return call_take(b, v, at, order);
  };
  BroadcastCalls c(b, n);
  return c.sub(c.mul(taken(x, kNext), taken(y, kBefore)),
               c.mul(taken(x, kBefore), taken(y, kNext)));
}

/// A direction times a length of its own along `dim`: constants, as a rule, and one in the end.
Lowered lower_weight_norm(const Call& n, Builder& b) {
  Value* v = n.in(0);
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < v->shape().rank(); ++axis) {
    if (axis != n.i("dim")) axes.push_back(axis);
  }
  if (axes.size() + 1 != static_cast<size_t>(v->shape().rank())) return wrong_shapes(n);
  BroadcastCalls c(b, n);
  Value* length =
      c.unary("aten.sqrt.default", c.reduce("aten.sum.dim_IntList", c.mul(v, v), axes, true));
  return c.mul(v, c.div(n.in(1), length));
}

enum Reduction : int64_t { kNone, kMean, kSum };

/// Of all elements, or none.
Lowered reduce(const Call& n, Builder& b, Value* x) {
  const int64_t reduction = n.i("reduction");
  if (reduction == kNone) return x;
  if (reduction != kMean && reduction != kSum) {
    return reject(Code::kRejectAttribute, "{}: reduction {}; 0, 1 and 2 are known",
                  n.schema().full_name, reduction);
  }
  return b.call(reduction == kMean ? "aten.mean.default" : "aten.sum.default", {x}, n.out());
}

Lowered lower_mse_loss(const Call& n, Builder& b) {
  BroadcastCalls c(b, n);
  Value* difference = c.sub(n.in(0), n.in(1));
  return reduce(n, b, c.mul(difference, difference));
}

Lowered lower_l1_loss(const Call& n, Builder& b) {
  BroadcastCalls c(b, n);
  return reduce(n, b, c.unary("aten.abs.default", c.sub(n.in(0), n.in(1))));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(outer) = {
    .schemas = schemas("aten::outer(Tensor self, Tensor vec2) -> Tensor",
                       "aten::ger(Tensor self, Tensor vec2) -> Tensor"),
    .doc = "Products of each element of one vector and each of another: mul of views.",
    .traits = Trait::kAlias,
    .lower = lower_outer,
};

TOSAIC_ATEN_OP(inner) = {
    .schemas = schemas("aten::inner(Tensor self, Tensor other) -> Tensor"),
    .doc = "Sums of products over the last axes: mm between views.",
    .traits = Trait::kAlias,
    .lower = lower_inner,
};

TOSAIC_ATEN_OP(tensordot) = {
    .schemas = schemas("aten::tensordot(Tensor self, Tensor other, int[] dims_self, "
                       "int[] dims_other) -> Tensor"),
    .doc = "Sums of products over given axes: mm between permutations and views.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n,
                Builder& b) { return contract(n, b, n.ints("dims_self"), n.ints("dims_other")); },
};

TOSAIC_ATEN_OP(vdot) = {
    .schemas = schemas("aten::vdot(Tensor self, Tensor other) -> Tensor"),
    .doc = "Sum of the products of two vectors: dot.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return b.call("aten.dot.default", {n.in(0), n.in(1)}, n.out());
    },
};

TOSAIC_ATEN_OP(kron) = {
    .schemas = schemas("aten::kron(Tensor self, Tensor other) -> Tensor"),
    .doc = "Products of each element of one tensor and the whole of another: mul of views.",
    .traits = Trait::kAlias,
    .lower = lower_kron,
};

TOSAIC_ATEN_OP(addmv) = {
    .schemas = schemas("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
                       "Scalar alpha=1) -> Tensor"),
    .doc = "Sum of a vector and the product of a matrix and a vector: addmm.",
    .traits = Trait::kAlias,
    .lower = lower_addmv,
};

TOSAIC_ATEN_OP(addr) = {
    .schemas = schemas("aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, "
                       "Scalar alpha=1) -> Tensor"),
    .doc = "Sum of a matrix and the products of two vectors' elements: addmm.",
    .traits = Trait::kAlias,
    .lower = lower_addr,
};

TOSAIC_ATEN_OP(addbmm) = {
    .schemas = schemas("aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, "
                       "Scalar beta=1, Scalar alpha=1) -> Tensor"),
    .doc = "Sum of a matrix and the products of pairs of matrices: addmm.",
    .traits = Trait::kAlias,
    .lower = lower_addbmm,
};

TOSAIC_ATEN_OP(trace) = {
    .schemas = schemas("aten::trace(Tensor self) -> Tensor"),
    .doc = "Sum of a matrix's diagonal.",
    .traits = Trait::kAlias,
    .lower = lower_trace,
};

TOSAIC_ATEN_OP(diff) = {
    .schemas = schemas("aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, "
                       "Tensor? append=None) -> Tensor"),
    .doc = "Differences of neighbours along an axis: slice and sub.",
    .traits = Trait::kAlias,
    .lower = lower_diff,
};

TOSAIC_ATEN_OP(cross) = {
    .schemas = schemas("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
                       "aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor"),
    .doc = "Vectors normal to two others of three elements: index_select, mul and sub.",
    .traits = Trait::kAlias,
    .lower = lower_cross,
};

TOSAIC_ATEN_OP(weight_norm) = {
    .schemas = schemas("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor"),
    .doc = "A weight of a direction and a length: mul, sum, sqrt and div, as a rule of constants.",
    .traits = Trait::kAlias,
    .lower = lower_weight_norm,
};

TOSAIC_ATEN_OP(mse_loss) = {
    .schemas = schemas("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor"),
    .doc = "Squares of differences, their mean or their sum.",
    .traits = Trait::kAlias,
    .lower = lower_mse_loss,
};

TOSAIC_ATEN_OP(l1_loss) = {
    .schemas = schemas("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor"),
    .doc = "Magnitudes of differences, their mean or their sum.",
    .traits = Trait::kAlias,
    .lower = lower_l1_loss,
};
