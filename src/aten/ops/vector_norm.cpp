// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "aten/broadcast_calls.h"
#include "aten/calls.h"

// Lengths of vectors and distances between them: calls of abs, pow, sum and others.

namespace tosaic::aten {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<Reject> read_dims(const Call& n, std::vector<int64_t>& axes) {
  const int rank = n.in(0)->shape().rank();
  if (n.schema().find("dim") != nullptr && n.has("dim")) axes = n.ints("dim");
  for (int64_t& axis : axes) {
    if (normalise_axis(axis, rank)) continue;
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  if (n.in(0)->shape().num_elements() > 0) return std::nullopt;
  return reject(Code::kRejectShape, "{}: the input has no elements", n.schema().full_name);
}

/// (sum of |x|^order)^(1 / order), with what that tends to for 0 and infinity.
Value* norm_of(const Call& n, Builder& b, Value* x, double order, std::span<const int64_t> axes,
               bool keeps_axes) {
  BroadcastCalls c(b, n);
  const auto sum = [&](Value* v) { return c.reduce("aten.sum.dim_IntList", v, axes, keeps_axes); };
  if (order == 2) return c.unary("aten.sqrt.default", sum(c.mul(x, x)));
  Value* size = c.unary("aten.abs.default", x);
  if (order == 1) return sum(size);
  if (order == kInfinity) return c.reduce("aten.amax.default", size, axes, keeps_axes);
  if (order == -kInfinity) return c.reduce("aten.amin.default", size, axes, keeps_axes);
  if (order == 0) {
    Value* counted = b.call("aten.ne.Scalar", {x}, {DType::kBool, x->shape(), nullptr},
                            {{"other", Attr::integer(0)}});
    return sum(call_to(b, counted, n.out().dtype));
  }
  return c.power(sum(c.power(size, order)), 1 / order);
}

Lowered lower_norm_of(const Call& n, Builder& b, double order) {
  if (auto r = check_floats(n)) return *r;
  std::vector<int64_t> axes;
  if (auto r = read_dims(n, axes)) return *r;
  const bool keeps_axes = n.schema().find("keepdim") != nullptr && n.b("keepdim");
  return norm_of(n, b, n.in(0), order, axes, keeps_axes);
}

/// Of vectors: with an order and two axes, or of a matrix, it is a norm of matrices.
Lowered lower_linalg_norm(const Call& n, Builder& b) {
  const size_t num_axes =
      n.has("dim") ? n.ints("dim").size() : static_cast<size_t>(n.in(0)->shape().rank());
  if (n.has("ord") && num_axes != 1) {
    return reject(Code::kRejectAttribute, "{}: order {} of a matrix", n.schema().full_name,
                  n.f("ord"));
  }
  return lower_norm_of(n, b, n.has("ord") ? n.f("ord") : 2);
}

/// The products' sum over the root of the product of the squares' sums.
Lowered lower_cosine_similarity(const Call& n, Builder& b) {
  if (auto r = check_floats(n)) return *r;
  Value* x = n.in(0);
  Value* y = n.in(1);
  BroadcastCalls c(b, n);
  Value* product = c.mul(x, y);
  int64_t axis = n.i("dim");
  const int rank = product->shape().rank();
  if (x->shape().rank() != rank || y->shape().rank() != rank || !normalise_axis(axis, rank)) {
    return reject(Code::kRejectShape, "{}: {} and {} along axis {}", n.schema().full_name,
                  to_string(x->shape()), to_string(y->shape()), axis);
  }
  const int64_t axes[] = {axis};
  const double eps = n.f("eps");
  const auto length = [&](Value* v) {
    Value* root =
        c.unary("aten.sqrt.default", c.reduce("aten.sum.dim_IntList", c.mul(v, v), axes, false));
    return b.call("aten.clamp.default", {root}, root->type(), {{"min", Attr::real(eps)}});
  };
  Value* lengths = c.mul(length(x), length(y));
  return c.div(c.reduce("aten.sum.dim_IntList", product, axes, false), lengths);
}

Lowered lower_pairwise_distance(const Call& n, Builder& b) {
  if (auto r = check_floats(n)) return *r;
  BroadcastCalls c(b, n);
  Value* difference = c.add(c.sub(n.in(0), n.in(1)), n.f("eps"));
  if (difference->shape().rank() == 0) {
    return reject(Code::kRejectShape, "{}: two numbers", n.schema().full_name);
  }
  const int64_t axes[] = {difference->shape().rank() - 1};
  return norm_of(n, b, difference, n.f("p"), axes, n.b("keepdim"));
}

/// Distances between each row of one matrix and each of another.
Lowered lower_cdist(const Call& n, Builder& b) {
  if (auto r = check_floats(n)) return *r;
  const auto with_axis = [&](Value* x, int from_end) {
    std::vector<int64_t> sizes(x->shape().begin(), x->shape().end());
    sizes.insert(sizes.end() - from_end, 1);
    const int64_t place = static_cast<int64_t>(sizes.size()) - 1 - from_end;
    return b.call("aten.unsqueeze.default", {x}, {x->dtype(), Shape(sizes), nullptr},
                  {{"dim", Attr::integer(place)}});
  };
  for (const Value* x : {n.in(0), n.in(1)}) {
    if (x->shape().rank() >= 2 && x->shape().rank() < kMaxRank) continue;
    return reject(Code::kRejectShape, "{}: {} is no matrix", n.schema().full_name,
                  to_string(x->shape()));
  }
  BroadcastCalls c(b, n);
  Value* difference = c.sub(with_axis(n.in(0), 1), with_axis(n.in(1), 2));
  const int64_t axes[] = {difference->shape().rank() - 1};
  return norm_of(n, b, difference, n.f("p"), axes, false);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(linalg_vector_norm) = {
    .schemas = schemas("aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, "
                       "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    .doc = "Length of vectors along axes: mul, sum and sqrt, or abs, pow, sum, amax, amin.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return lower_norm_of(n, b, n.f("ord")); },
};

TOSAIC_ATEN_OP(linalg_norm) = {
    .schemas = schemas("aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, "
                       "bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"),
    .doc = "linalg_vector_norm, of vectors.",
    .traits = Trait::kAlias,
    .lower = lower_linalg_norm,
};

TOSAIC_ATEN_OP(norm) = {
    .schemas = schemas(
        "aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor",
        "aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> "
        "Tensor"),
    .doc = "linalg_vector_norm.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n,
                Builder& b) { return lower_norm_of(n, b, n.has("p") ? n.f("p") : 2); },
};

TOSAIC_ATEN_OP(cosine_similarity) = {
    .schemas = schemas("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, "
                       "float eps=1e-08) -> Tensor"),
    .doc = "Cosine of the angle between vectors: mul, sum, sqrt and div.",
    .traits = Trait::kAlias,
    .lower = lower_cosine_similarity,
};

TOSAIC_ATEN_OP(pairwise_distance) = {
    .schemas = schemas("aten::pairwise_distance(Tensor x1, Tensor x2, float p=2, "
                       "float eps=1e-06, bool keepdim=False) -> Tensor"),
    .doc = "Length of the difference of vectors: sub and linalg_vector_norm.",
    .traits = Trait::kAlias,
    .lower = lower_pairwise_distance,
};

TOSAIC_ATEN_OP(cdist) = {
    .schemas =
        schemas("aten::cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
                "aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor"),
    .doc = "Distances between the rows of two matrices: sub and linalg_vector_norm.",
    .traits = Trait::kAlias,
    .lower = lower_cdist,
};
