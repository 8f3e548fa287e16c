// SPDX-License-Identifier: Apache-2.0
#include "aten/calls.h"

// Elements by their order. TOSA has no operation for it: ExecuTorch's kernel of topk computes all
// of them on the CPU. Where elements are equal, the places of sort may be others than PyTorch's,
// which leaves them open too.

namespace tosaic::aten {
namespace {

struct Axis {
  int64_t at = 0;
  int64_t size = 1;
};

std::optional<Reject> read_axis(const Call& n, int64_t dim, Axis& axis) {
  const Shape& s = n.in(0)->shape();
  if (!normalise_axis(dim, s.rank())) {
    return reject(Code::kRejectShape, "{}: axis {} of {}", n.schema().full_name, dim, to_string(s));
  }
  axis = {dim, s[static_cast<int>(dim)]};
  return std::nullopt;
}

/// The `count` greatest or least elements of an axis, in order, and their places.
std::vector<Value*> call_topk(const Call& n, Builder& b, const Axis& axis, int64_t count,
                              bool largest) {
  Shape shape = n.in(0)->shape();
  shape[static_cast<int>(axis.at)] = count;
  const TensorType results[] = {{n.in(0)->dtype(), shape, nullptr}, {DType::kI64, shape, nullptr}};
  Value* const operands[] = {n.in(0)};
  const NamedArg args[] = {{"k", Attr::integer(count)},
                           {"dim", Attr::integer(axis.at)},
                           {"largest", Attr::boolean(largest)},
                           {"sorted", Attr::boolean(true)}};
  return b.call_all("aten.topk.default", operands, {}, results, args);
}

Lowered lower_sort(const Call& n, Builder& b) {
  if (n.schema().find("stable") != nullptr && n.has("stable") && n.b("stable")) {
    return reject(
        Code::kRejectAttribute,
        "{}: stable is true; ExecuTorch's kernel does not keep the order of equal elements",
        n.schema().full_name);
  }
  Axis axis;
  if (auto r = read_axis(n, n.i("dim"), axis)) return *r;
  return call_topk(n, b, axis, axis.size, n.b("descending"));
}

Lowered lower_argsort(const Call& n, Builder& b) {
  Lowered both = lower_sort(n, b);
  return both.ok() ? Lowered(both.values()[1]) : both;
}

Lowered lower_msort(const Call& n, Builder& b) {
  Axis axis;
  if (auto r = read_axis(n, 0, axis)) return *r;
  return call_topk(n, b, axis, axis.size, false)[0];
}

/// The k-th least element of an axis and its place.
Lowered lower_kth(const Call& n, Builder& b, const Axis& axis, int64_t k) {
  if (k < 1 || k > axis.size) {
    return reject(Code::kRejectAttribute, "{}: element {} of {}", n.schema().full_name, k,
                  axis.size);
  }
  std::vector<Value*> results = call_topk(n, b, axis, k, false);
  for (size_t i = 0; i < results.size(); ++i) {
    Value* last = call_slice(b, results[i], static_cast<int>(axis.at), k - 1, 1);
    results[i] = call_view(b, last, n.out(i).shape);
  }
  return results;
}

Lowered lower_kthvalue(const Call& n, Builder& b) {
  Axis axis;
  if (auto r = read_axis(n, n.i("dim"), axis)) return *r;
  return lower_kth(n, b, axis, n.i("k"));
}

/// Of an even number of elements the lower one of the middle two.
Lowered lower_median(const Call& n, Builder& b) {
  Axis axis;
  if (auto r = read_axis(n, n.i("dim"), axis)) return *r;
  return lower_kth(n, b, axis, (axis.size + 1) / 2);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(topk) = {
    .schemas = schemas("aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, "
                       "bool sorted=True) -> (Tensor values, Tensor indices)"),
    .doc = "The greatest or least elements of an axis and their places; of no form in TOSA.",
    .cpu =
        "aten::topk.values(Tensor self, SymInt k, int dim=-1, bool largest=True, "
        "bool sorted=True, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, "
        "Tensor(b!) indices)",
};

TOSAIC_ATEN_OP(sort) = {
    .schemas =
        schemas("aten::sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, "
                "Tensor indices)",
                "aten::sort.stable(Tensor self, *, bool? stable, int dim=-1, "
                "bool descending=False) -> (Tensor values, Tensor indices)"),
    .doc = "The elements of an axis in order, and their places: topk.",
    .traits = Trait::kAlias,
    .lower = lower_sort,
};

TOSAIC_ATEN_OP(argsort) = {
    .schemas = schemas("aten::argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor",
                       "aten::argsort.stable(Tensor self, *, bool stable, int dim=-1, "
                       "bool descending=False) -> Tensor"),
    .doc = "The places of an axis's elements in order: topk.",
    .traits = Trait::kAlias,
    .lower = lower_argsort,
};

TOSAIC_ATEN_OP(msort) = {
    .schemas = schemas("aten::msort(Tensor self) -> Tensor"),
    .doc = "The elements of the first axis in order: topk.",
    .traits = Trait::kAlias,
    .lower = lower_msort,
};

TOSAIC_ATEN_OP(kthvalue) = {
    .schemas = schemas("aten::kthvalue(Tensor self, SymInt k, int dim=-1, bool keepdim=False) -> "
                       "(Tensor values, Tensor indices)"),
    .doc = "The k-th least element of an axis and its place: topk and slice.",
    .traits = Trait::kAlias,
    .lower = lower_kthvalue,
};

TOSAIC_ATEN_OP(median_dim) = {
    .schemas = schemas("aten::median.dim(Tensor self, int dim, bool keepdim=False) -> "
                       "(Tensor values, Tensor indices)"),
    .doc = "The middle element of an axis in order, and its place: topk and slice.",
    .traits = Trait::kAlias,
    .lower = lower_median,
};
