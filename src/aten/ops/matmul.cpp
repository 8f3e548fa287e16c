// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"
#include "aten/product.h"

// Products of matrices that are both activations: MATMUL of [N,H,C] and [N,C,W]. Other ranks are
// views of that form.

namespace tosaic::aten {
namespace {

std::optional<Reject> check_product(const Call& n, const Value& x, const Value& y) {
  if (!n.any_quantised()) {
    if (x.dtype() == y.dtype() && x.dtype() == n.out().dtype && is_float(x.dtype())) {
      return std::nullopt;
    }
    return reject(Code::kRejectDtype, "{}: {} times {}; floats of one type are taken",
                  n.schema().full_name, dtype_name(x.dtype()), dtype_name(y.dtype()));
  }
  if (auto r = check_activation(n, x.type(), "the first matrix")) return r;
  if (auto r = check_activation(n, y.type(), "the second matrix")) return r;
  if (auto r = check_activation(n, n.out(), "the output")) return r;
  if (x.dtype() == y.dtype()) return std::nullopt;
  return reject(Code::kRejectDtype, "{}: {} times {}; one type is taken", n.schema().full_name,
                dtype_name(x.dtype()), dtype_name(y.dtype()));
}

Value* float_product(Builder& b, Value* x, Value* y) {
  Value* zero = b.zero_point(x->dtype(), 0);
  return b.emit(tosa::matmul, {x, y, zero, zero});
}

Lowered lower_bmm(const Call& n, Builder& b) {
  Value* x = n.in(0);
  Value* y = n.in(1);
  if (auto r = check_product(n, *x, *y)) return *r;
  if (!n.any_quantised()) return float_product(b, x, y);
  const Scaled product = quantised_product(b, x, *x->quant(), y, *y->quant());
  const Quant& to = *n.out().quant;
  Value* z =
      b.rescale(product.value, n.out().dtype, product.scale / to.scale(), 0, to.zero_point());
  return clamp_to_range(b, z, n.out());
}

/// `x` under other sizes, and repeated along axes of size 1, as calls of other rows.
Value* view(Builder& b, Value* x, const Shape& shape) {
  if (x->shape() == shape) return x;
  return b.call("aten.view.default", {x}, {x->dtype(), shape, x->quant()},
                {{"size", Attr::ints(shape.sizes())}});
}
Value* expand(Builder& b, Value* x, const Shape& shape) {
  if (x->shape() == shape) return x;
  return b.call("aten.expand.default", {x}, {x->dtype(), shape, x->quant()},
                {{"size", Attr::ints(shape.sizes())}});
}

/// Sizes of the axes before the last two.
std::vector<int64_t> batch_of(const Shape& s) {
  return {s.begin(), s.begin() + std::max(s.rank() - 2, 0)};
}

Shape joined(std::vector<int64_t> batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return Shape(batch);
}

Lowered lower_matmul(const Call& n, Builder& b) {
  Value* x = n.in(0);
  Value* y = n.in(1);
  const int rank = std::max({x->shape().rank(), y->shape().rank(), 2});
  if (std::min(x->shape().rank(), y->shape().rank()) < 1 || rank > kMaxRank) {
    return reject(Code::kRejectShape, "{}: {} times {}", n.schema().full_name,
                  to_string(x->shape()), to_string(y->shape()));
  }
  // A vector is a row on the left and a column on the right.
  const Shape& xs = x->shape();
  const Shape& ys = y->shape();
  const int64_t rows = xs.rank() == 1 ? 1 : xs[xs.rank() - 2];
  const int64_t depth = xs[xs.rank() - 1];
  const int64_t columns = ys.rank() == 1 ? 1 : ys[ys.rank() - 1];
  if ((ys.rank() == 1 ? ys[0] : ys[ys.rank() - 2]) != depth) {
    return reject(Code::kRejectShape, "{}: {} times {}", n.schema().full_name, to_string(xs),
                  to_string(ys));
  }
  const Shape batch_x{batch_of(xs)};
  const Shape batch_y{batch_of(ys)};
  Shape batch;
  if (!broadcast(batch_x, batch_y, batch)) {
    return reject(Code::kRejectShape, "{}: {} times {}", n.schema().full_name, to_string(xs),
                  to_string(ys));
  }
  const auto product = [&](Value* left, Value* right) {
    const Shape& s = left->shape();
    return b.call("aten.bmm.default", {left, right},
                  {n.out().dtype, {s[0], s[1], columns}, n.out().quant});
  };
  if (batch_y.num_elements() == 1) {  // one matrix for all: their rows become one batch
    Value* left = view(b, x, {1, batch_x.num_elements() * rows, depth});
    return view(b, product(left, view(b, y, {1, depth, columns})), n.out().shape);
  }
  const std::vector<int64_t> sizes(batch.begin(), batch.end());
  Value* left = expand(b, xs.rank() == 1 ? view(b, x, {1, depth}) : x, joined(sizes, rows, depth));
  Value* right =
      expand(b, ys.rank() == 1 ? view(b, y, {depth, 1}) : y, joined(sizes, depth, columns));
  const int64_t count = batch.num_elements();
  Value* z = product(view(b, left, {count, rows, depth}), view(b, right, {count, depth, columns}));
  return view(b, z, n.out().shape);
}

// ---- Sum of a product and another value
// ----------------------------------------------------------

/// beta * input + alpha * product in int32, where neither leaves 2^30, then in the output's steps.
Lowered add_quantised(const Call& n, Builder& b, const Scaled& product, double largest) {
  Value* input = n.in(0);
  if (auto r = check_activation(n, input->type(), "the sum's first operand")) return *r;
  const double alpha = n.f("alpha");
  const double beta = n.f("beta");
  const double product_scale = product.scale * std::abs(alpha);
  const double input_scale = input->quant()->scale() * std::abs(beta);
  const double most = input->dtype() == DType::kI8 ? 0x1p8 : 0x1p16;
  const double unit =
      std::max(product_scale * std::max(1.0, largest / 0x1p29), input_scale * most / 0x1p29);
  if (!(unit > 0))
    return reject(Code::kRejectAttribute, "{}: alpha {}", n.schema().full_name, alpha);
  const Quant& to = *n.out().quant;
  const int rank = n.out().shape.rank();
  Value* y = b.rescale(product.value, DType::kI32, product_scale / unit, 0, 0);
  y = b.reshape(y, n.out().shape);
  if (alpha < 0) y = b.emit(tosa::sub, {b.scalar_int(DType::kI32, 0, rank), y});
  if (beta != 0) {
    Value* x = b.rescale(b.expand_rank(input, rank), DType::kI32, input_scale / unit,
                         input->quant()->zero_point(), 0);
    y = beta > 0 ? b.emit(tosa::add, {y, x}) : b.emit(tosa::sub, {y, x});
  }
  y = b.rescale(y, n.out().dtype, unit / to.scale(), 0, to.zero_point());
  return clamp_to_range(b, y, n.out());
}

/// beta * input + alpha * (x times y), of two or of three axes.
Lowered lower_sum(const Call& n, Builder& b) {
  Value* x = n.in(1);
  Value* y = n.in(2);
  if (auto r = check_product(n, *x, *y)) return *r;
  if (x->shape().rank() != y->shape().rank() || x->shape().rank() != n.out().shape.rank()) {
    return reject(Code::kRejectShape, "{}: {} times {} gives {}", n.schema().full_name,
                  to_string(x->shape()), to_string(y->shape()), to_string(n.out().shape));
  }
  if (n.any_quantised()) {
    const auto matrices = [&](Value* v) {
      return v->shape().rank() == 2 ? b.reshape(v, {1, v->shape()[0], v->shape()[1]}) : v;
    };
    Value* left = matrices(x);
    const Scaled product = quantised_product(b, left, *x->quant(), matrices(y), *y->quant());
    // A product of codes without zero points is at most 255 * 255, or 2^30.
    const double most = x->dtype() == DType::kI8 ? 0x1p16 : 0x1p30;
    const double largest = most * static_cast<double>(x->shape()[x->shape().rank() - 1]) *
                           x->quant()->scale() * y->quant()->scale() / product.scale;
    return add_quantised(n, b, product, largest);
  }
  const std::string_view name = x->shape().rank() == 2 ? "aten.mm.default" : "aten.bmm.default";
  Value* product = b.call(name, {x, y}, n.out());
  const auto scaled = [&](Value* v, std::string_view factor) {
    const TensorType type{n.out().dtype, v->shape(), nullptr};
    if (n.f(factor) == 1) return v;
    return b.call("aten.mul.Scalar", {v}, type, {{"other", Attr::real(n.f(factor))}});
  };
  product = scaled(product, "alpha");
  if (n.f("beta") == 0) return product;
  return b.call("aten.add.Tensor", {scaled(n.in(0), "beta"), product}, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(matmul) = {
    .schemas = schemas("aten::matmul(Tensor self, Tensor other) -> Tensor",
                       "aten::mv(Tensor self, Tensor vec) -> Tensor",
                       "aten::dot(Tensor self, Tensor tensor) -> Tensor"),
    .doc = "Product of matrices or vectors, with broadcast: bmm between views.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = lower_matmul,
};

TOSAIC_ATEN_OP(bmm) = {
    .schemas = schemas("aten::bmm(Tensor self, Tensor mat2) -> Tensor"),
    .doc = "Products of pairs of matrices: MATMUL; quantised one RESCALE behind it.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = lower_bmm,
    .cpu = "aten::bmm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(mm) = {
    .schemas = schemas("aten::mm(Tensor self, Tensor mat2) -> Tensor"),
    .doc = "Product of two matrices: bmm between views.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = lower_matmul,
    .cpu = "aten::mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(addmm) = {
    .schemas = schemas("aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
                       "Scalar alpha=1) -> Tensor"),
    .doc = "Sum of a value and a product of matrices: MATMUL and ADD, quantised in int32.",
    .quant = {own(0), own(1), own(2), own(out(0))},
    .lower = lower_sum,
    .cpu =
        "aten::addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
        "Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(baddbmm) = {
    .schemas = schemas("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, "
                       "Scalar beta=1, Scalar alpha=1) -> Tensor"),
    .doc = "Sum of a value and products of pairs of matrices: MATMUL and ADD, quantised in int32.",
    .quant = {own(0), own(1), own(2), own(out(0))},
    .lower = lower_sum,
};
