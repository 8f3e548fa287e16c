// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "aten/arithmetic.h"
#include "aten/integers.h"

// softmax(query keyᵀ · scale + mask) value. In float calls of other rows; quantised int32 from the
// first product to the result (docs/composites.md).

namespace tosaic::aten {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sizes. With grouped queries each of the `count` matrices of keys serves `groups` of queries,
/// which follow each other: they are rows of one matrix.
struct Heads {
  int64_t count = 1;
  int64_t groups = 1;
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t depth = 1;
  int64_t width = 1;  ///< of values
  Shape scores;       ///< of all queries, as masks broadcast against them

  int64_t rows() const { return groups * queries; }
};

Reject wrong_sizes(const Call& n) {
  return reject(Code::kRejectShape, "{}: query {}, key {} and value {} do not fit each other",
                n.schema().full_name, to_string(n.tensor("query")->shape()),
                to_string(n.tensor("key")->shape()), to_string(n.tensor("value")->shape()));
}

std::optional<Reject> read_heads(const Call& n, Heads& h) {
  const Shape& q = n.tensor("query")->shape();
  const Shape& k = n.tensor("key")->shape();
  const Shape& v = n.tensor("value")->shape();
  const int rank = q.rank();
  if (rank < 2 || k.rank() != rank || v.rank() != rank) return wrong_sizes(n);
  std::vector<int64_t> scores(q.begin(), q.end());
  for (int axis = 0; axis < rank - 2; ++axis) {
    const bool grouped =
        axis == rank - 3 && n.b("enable_gqa") && k[axis] > 0 && q[axis] % k[axis] == 0;
    if (k[axis] != v[axis] || (k[axis] != q[axis] && !grouped)) return wrong_sizes(n);
    h.count *= k[axis];
    if (grouped) h.groups = q[axis] / k[axis];
  }
  h.queries = q[rank - 2];
  h.keys = k[rank - 2];
  h.depth = q[rank - 1];
  h.width = v[rank - 1];
  if (k[rank - 1] != h.depth || v[rank - 2] != h.keys || h.depth < 1 || h.keys < 1 ||
      h.count * h.rows() < 1 || n.out().shape.num_elements() != h.count * h.rows() * h.width) {
    return wrong_sizes(n);
  }
  scores.back() = h.keys;
  h.scores = Shape(scores);
  return std::nullopt;
}

double scale_of(const Call& n, const Heads& h) {
  return n.has("scale") ? n.f("scale") : 1 / std::sqrt(static_cast<double>(h.depth));
}

/// What is_causal adds: each query sees the keys up to its own place.
std::vector<double> causal_mask(const Heads& h) {
  std::vector<double> mask(static_cast<size_t>(h.queries * h.keys), 0);
  for (int64_t i = 0; i < h.queries; ++i) {
    for (int64_t j = i + 1; j < h.keys; ++j)
      mask[static_cast<size_t>(i * h.keys + j)] = -kInfinity;
  }
  return mask;
}

// ---- Float
// ---------------------------------------------------------------------------------------

/// Calls on values of one float dtype.
class Calls {
 public:
  Calls(Builder& b, DType dtype) : b_(b), dtype_(dtype) {}
  Value* view(Value* x, const Shape& shape) {
    if (x->shape() == shape) return x;
    return b_.call("aten.view.default", {x}, type(shape), {{"size", Attr::ints(shape.sizes())}});
  }
  Value* transposed(Value* x) {
    const Shape& s = x->shape();
    return b_.call("aten.transpose.int", {x}, type({s[0], s[2], s[1]}),
                   {{"dim0", Attr::integer(1)}, {"dim1", Attr::integer(2)}});
  }
  Value* product(Value* x, Value* y) {
    return b_.call("aten.bmm.default", {x, y}, type({x->shape()[0], x->shape()[1], y->shape()[2]}));
  }
  Value* scaled(Value* x, double factor) {
    return b_.call("aten.mul.Scalar", {x}, type(x->shape()), {{"other", Attr::real(factor)}});
  }
  Value* sum(Value* x, Value* y) { return b_.call("aten.add.Tensor", {x, y}, type(x->shape())); }
  Value* chosen(Value* condition, Value* x, double otherwise) {
    return b_.call("aten.where.self", {condition, x, b_.scalar_float(dtype_, otherwise, 0)},
                   type(x->shape()));
  }
  Value* softmax(Value* x, bool safe) {
    return b_.call(safe ? "aten._safe_softmax.default" : "aten.softmax.int", {x}, type(x->shape()),
                   {{"dim", Attr::integer(-1)}});
  }

 private:
  TensorType type(const Shape& shape) const { return {dtype_, shape, nullptr}; }
  Builder& b_;
  DType dtype_;
};

Lowered float_attention(const Call& n, const Heads& h, Builder& b) {
  Calls call(b, n.out().dtype);
  Value* q = call.view(n.tensor("query"), {h.count, h.rows(), h.depth});
  Value* k = call.view(n.tensor("key"), {h.count, h.keys, h.depth});
  Value* v = call.view(n.tensor("value"), {h.count, h.keys, h.width});
  Value* scores = call.scaled(call.product(q, call.transposed(k)), scale_of(n, h));
  scores = call.view(scores, h.scores);
  Value* mask = n.tensor("attn_mask");
  if (n.b("is_causal")) {
    mask = b.constant_floats(n.out().dtype, {h.queries, h.keys}, causal_mask(h));
  }
  if (mask != nullptr) {
    scores = mask->dtype() == DType::kBool ? call.chosen(mask, scores, -kInfinity)
                                           : call.sum(scores, mask);
  }
  Value* shares = call.softmax(scores, mask != nullptr);
  shares = call.view(shares, {h.count, h.rows(), h.keys});
  return call.view(call.product(shares, v), n.out().shape);
}

// ---- Quantised
// -----------------------------------------------------------------------------------

/// Bits that the greatest intermediate values of int32 use.
constexpr int kBits = 29;
/// Maxima of scores are looked for in 16-bit steps of at most this, if need be in two rounds.
constexpr double kCoarsest = 0.25;
/// exp() of minus this is nothing.
constexpr double kNothing = 40;

/// What is added to scores.
struct Mask {
  Value* value = nullptr;        ///< not a constant: bool, or quantised
  std::vector<double> constant;  ///< empty: none
  Shape shape;
  double greatest = 0;  ///< of the numbers that are no masks, and 0
  double least = 0;
  double hidden = 0;  ///< what hides a key, and what stands for -inf
};

int ceil_log2(int64_t v) {
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(v, 1)) - 1);
}

std::optional<Reject> read_mask(const Call& n, const Heads& h, double bound, Mask& mask) {
  Value* given = n.tensor("attn_mask");
  if (n.b("is_causal")) {
    mask.constant = causal_mask(h);
    mask.shape = {h.queries, h.keys};
  } else if (given != nullptr && given->is_constant()) {
    mask.shape = given->shape();
    if (given->dtype() == DType::kBool) {
      for (int64_t seen : int_values(*given->constant()))
        mask.constant.push_back(seen != 0 ? 0 : -kInfinity);
    } else {
      mask.constant = float_values(*given->constant());
    }
  } else if (given != nullptr) {
    mask.value = given;
    if (given->dtype() != DType::kBool) {
      if (auto r = check_activation(n, given->type(), "the mask")) return r;
      const Quant& q = *given->quant();
      mask.greatest = std::max(0.0, q.scale() * static_cast<double>(q.qmax - q.zero_point()));
      mask.least = std::min(0.0, q.scale() * static_cast<double>(q.qmin - q.zero_point()));
    }
  }
  for (double v : mask.constant) {
    if (std::isnan(v) || v == kInfinity) {
      return reject(Code::kRejectAttribute, "{}: the mask has a value of {}", n.schema().full_name,
                    v);
    }
    mask.greatest = std::max(mask.greatest, v);
  }
  mask.hidden = -(2 * bound + mask.greatest + kNothing);
  for (double& v : mask.constant) {
    v = std::max(v, mask.hidden);
    if (v > mask.hidden) mask.least = std::min(mask.least, v);
  }
  return std::nullopt;
}

class IntegerAttention {
 public:
  IntegerAttention(const Call& n, const Heads& h, Builder& b) : n_(n), h_(h), b_(b), in_(b) {}

  Lowered lower() {
    const Value& q = *n_.tensor("query");
    const double largest_code = q.dtype() == DType::kI8 ? 0x1p8 : 0x1p15;
    bound_ = static_cast<double>(h_.depth) * largest_code * largest_code * q.quant()->scale() *
             n_.tensor("key")->quant()->scale() * scale_of(n_, h_);
    if (auto r = read_mask(n_, h_, bound_, mask_)) return *r;
    Scaled x = scores();
    x.value = masked(x);
    const Scaled terms = exponentials(x);
    Value* sum = in_.sum(terms.value, terms.value->shape().rank() - 1);
    // Rows of nothing but masks have a sum of 0.
    Value* share = in_.reciprocal(is_masked() ? in_.at_least(sum, 1 << 15) : sum);
    return result(b_.reshape(terms.value, {h_.count, h_.rows(), h_.keys}),
                  b_.reshape(share, {h_.count, h_.rows(), 1}));
  }

 private:
  bool is_masked() const { return mask_.value != nullptr || !mask_.constant.empty(); }

  /// query keyᵀ in int32, masks included below 2^29 of its scale.
  Scaled scores() {
    Value* q = n_.tensor("query");
    Value* k = n_.tensor("key");
    constexpr int64_t kSwap[] = {0, 2, 1};
    Value* left = b_.reshape(q, {h_.count, h_.rows(), h_.depth});
    Value* right = b_.transpose(b_.reshape(k, {h_.count, h_.keys, h_.depth}), kSwap);
    const Scaled product = quantised_product(b_, left, *q->quant(), right, *k->quant());
    const double step = product.scale * scale_of(n_, h_);
    const double most = bound_ + std::max(mask_.greatest, -std::min(mask_.hidden, mask_.least));
    const double scale = std::max(step, std::ldexp(most, -kBits));
    return {b_.rescale(product.value, DType::kI32, step / scale, 0, 0), scale};
  }

  Value* masked(const Scaled& x) {
    if (!is_masked()) return x.value;
    Value* y = b_.reshape(x.value, h_.scores);
    const int rank = h_.scores.rank();
    if (mask_.value == nullptr) {
      std::vector<int64_t> steps;
      for (double v : mask_.constant)
        steps.push_back(std::llrint(v / x.scale));
      Value* constant = b_.constant_ints(DType::kI32, mask_.shape, steps);
      return in_.add(y, b_.expand_rank(constant, rank));
    }
    Value* mask = b_.expand_rank(mask_.value, rank);
    if (mask_.value->dtype() == DType::kBool) {
      Value* hidden = b_.scalar_int(DType::kI32, std::llrint(mask_.hidden / x.scale), rank);
      return b_.emit(tosa::select, {mask, y, hidden});
    }
    const Quant& quant = *mask_.value->quant();
    return in_.add(y, in_.centred(mask, quant, quant.scale() / x.scale));
  }

  /// exp(x - m), where m is at most a step of 16-bit scores above the row's maximum: any m near it
  /// gives the same shares. (Ethos-U55 has no maximum of int32.)
  Scaled exponentials(const Scaled& x) {
    double step = 0;
    double reach = bound_ + std::max(mask_.greatest, -mask_.least);
    Value* difference = x.value;
    for (int round = 0; round < 2 && (round == 0 || step > kCoarsest); ++round) {
      if (round > 0) reach = 2 * step;
      // What cannot be the maximum may count as what is just out of reach.
      Value* near =
          round == 0 ? difference : in_.at_least(difference, -std::llrint(reach / x.scale));
      step = std::max(reach / 32767, x.scale);
      difference = in_.sub(difference, above_maximum(near, step / x.scale));
    }
    return in_.exp(difference, x.scale);
  }

  /// The greatest element of each row, or what is above it by 1.5 `step` at most.
  Value* above_maximum(Value* x, double step) {
    const int axis = x->shape().rank() - 1;
    Value* coarse = b_.rescale(x, DType::kI16, 1 / step, 0, 0);
    Value* max = b_.emit(tosa::reduce_max, {coarse}, tosa::AxisNanAttrs{.axis = axis});
    max = b_.rescale(max, DType::kI32, step, 0, 0);
    return step == 1 ? max : in_.add(max, std::llrint(std::ceil(step / 2)));
  }

  /// Sums of terms times values, in int32 below 2^30.
  Scaled products(Value* terms) {
    Value* v = n_.tensor("value");
    const Quant& quant = *v->quant();
    Value* values = b_.reshape(v, {h_.count, h_.keys, h_.width});
    const int bits = ceil_log2(h_.keys);
    if (v->dtype() == DType::kI8) {
      // The bytes of the terms, each times the values.
      const double unit = std::ldexp(1.0, std::max(0, bits + 24 - kBits));
      Value* high = b_.rescale(in_.add(terms, -128), DType::kI8, 1.0 / 256, 0, kByteZero);
      Value* low = in_.sub(terms, b_.rescale(high, DType::kI32, 256, kByteZero, 0));
      low = b_.rescale(low, DType::kI8, 1, 0, kByteZero);
      const auto part = [&](Value* bytes, double weight) {
        Value* sum = b_.emit(tosa::matmul, {bytes, values, b_.zero_point(DType::kI8, kByteZero),
                                            b_.zero_point(DType::kI8, quant.zero_point())});
        return b_.rescale(sum, DType::kI32, weight / unit, 0, 0);
      };
      return {in_.add(part(high, 256), part(low, 1)), unit};
    }
    const Quant& halves = *b_.module().quant(2, 0, -32768, 32767);
    const Quant& codes = *b_.module().quant(1, 0, -32768, 32767);
    Value* half_terms = b_.rescale(terms, DType::kI16, 0.5, 0, 0);
    const Scaled product = quantised_product(b_, half_terms, halves, values, codes);
    if (product.value->dtype() != DType::kI48) return product;
    const double unit = std::ldexp(1.0, std::max(0, bits + 31 - kBits));
    return {b_.rescale(product.value, DType::kI32, product.scale / unit, 0, 0), unit};
  }

  Lowered result(Value* terms, Value* share) {
    const Scaled sums = products(terms);
    const Value& v = *n_.tensor("value");
    // A sum of terms times codes is at most their sum times the greatest code.
    const int code_bits = v.dtype() == DType::kI8 ? 8 : 15;
    const double power = Integers::kReciprocalBits + code_bits - std::log2(sums.scale);
    const int shift = std::max(0, static_cast<int>(std::ceil(power)) - kBits);
    Value* y = in_.mul(sums.value, share, shift);
    const Quant& to = *n_.out().quant;
    const double scale = std::ldexp(sums.scale, shift - Integers::kReciprocalBits);
    y = b_.rescale(y, n_.out().dtype, scale * v.quant()->scale() / to.scale(), 0, to.zero_point());
    return clamp_to_range(b_, b_.reshape(y, n_.out().shape), n_.out());
  }

  static constexpr int64_t kByteZero = -128;
  const Call& n_;
  const Heads& h_;
  Builder& b_;
  Integers in_;
  double bound_ = 0;  ///< of a score's magnitude
  Mask mask_;
};

std::optional<Reject> check(const Call& n, const Heads& h) {
  const std::string& name = n.schema().full_name;
  if (n.f("dropout_p") != 0) {
    Reject r = reject(Code::kRejectAttribute, "{}: dropout_p is {}", name, n.f("dropout_p"));
    r.hint = "call model.eval() before exporting";
    return r;
  }
  const Value* mask = n.tensor("attn_mask");
  if (mask != nullptr) {
    Shape both;
    if (n.b("is_causal")) return reject(Code::kRejectAttribute, "{}: two masks", name);
    if (!broadcast(h.scores, mask->shape(), both) || !(both == h.scores)) {
      return reject(Code::kRejectShape, "{}: a mask of {} for scores of {}", name,
                    to_string(mask->shape()), to_string(h.scores));
    }
  }
  if (!n.any_quantised()) return std::nullopt;
  for (std::string_view operand : {"query", "key", "value"}) {
    const TensorType& type = n.tensor(operand)->type();
    if (auto r = check_activation(n, type, operand)) return r;
    if (type.dtype == n.tensor("query")->dtype()) continue;
    return reject(Code::kRejectDtype, "{}: query and {} are {} and {}; one type is taken", name,
                  operand, dtype_name(n.tensor("query")->dtype()), dtype_name(type.dtype));
  }
  if (auto r = check_activation(n, n.out(), "the output")) return r;
  constexpr int64_t kMaxKeys = 32767;  // whose 16-bit terms have a sum within int32
  if (h.keys > kMaxKeys) {
    return reject(Code::kRejectShape, "{}: {} keys; {} are taken", name, h.keys, kMaxKeys);
  }
  if (scale_of(n, h) > 0) return std::nullopt;
  return reject(Code::kRejectAttribute, "{}: a scale of {}", name, scale_of(n, h));
}

Lowered lower_attention(const Call& n, Builder& b) {
  Heads h;
  if (auto r = read_heads(n, h)) return *r;
  if (auto r = check(n, h)) return *r;
  return n.any_quantised() ? IntegerAttention(n, h, b).lower() : float_attention(n, h, b);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(scaled_dot_product_attention) = {
    .schemas = schemas(
        "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, "
        "Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, "
        "bool enable_gqa=False) -> Tensor"),
    .doc = "softmax(query keyᵀ · scale + mask) value; quantised in int32.",
    .quant = {own(0), own(1), own(2), real(3), own(out(0))},
    .lower = lower_attention,
};
