// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "aten/broadcast_calls.h"
#include "aten/calls.h"

// Places among classes and borders, from comparisons with constants; sums that pass over what is no
// number.

namespace tosaic::aten {
namespace {

/// The operand with one axis more, and the numbers that it is compared with along that axis.
Value* compare_with_all(const Call& n, Builder& b, std::string_view full_name, Value* x,
                        Value* numbers) {
  std::vector<int64_t> sizes(x->shape().begin(), x->shape().end());
  sizes.push_back(1);
  Value* column = call_view(b, x, Shape(sizes));
  return BroadcastCalls(b, n).binary(full_name, column, numbers, DType::kBool);
}

Lowered lower_one_hot(const Call& n, Builder& b) {
  const Shape& out = n.out().shape;
  if (out.rank() != n.in(0)->shape().rank() + 1) {
    return reject(Code::kRejectShape, "{}: {} to {}", n.schema().full_name,
                  to_string(n.in(0)->shape()), to_string(out));
  }
  constexpr int64_t kMaxClasses = int64_t{1} << 24;
  const int64_t count = out[out.rank() - 1];
  if (count > kMaxClasses) {
    return reject(Code::kRejectShape, "{}: {} classes; up to {} are taken", n.schema().full_name,
                  count, kMaxClasses);
  }
  std::vector<int64_t> classes(static_cast<size_t>(count));
  std::iota(classes.begin(), classes.end(), 0);
  Value* numbers = b.constant_ints(n.in(0)->dtype(), {count}, classes);
  return call_to(b, compare_with_all(n, b, "aten.eq.Tensor", n.in(0), numbers), n.out().dtype);
}

/// How many borders lie before the value; with `right`, or on it.
Lowered count_borders(const Call& n, Builder& b, Value* x, Value* borders, bool right) {
  if (borders->shape().rank() != 1 || x->dtype() != borders->dtype()) {
    return reject(Code::kRejectShape, "{}: {} among {}; one row of the value's dtype is taken",
                  n.schema().full_name, to_string(x->type()), to_string(borders->type()));
  }
  Value* passed = compare_with_all(n, b, right ? "aten.ge.Tensor" : "aten.gt.Tensor", x, borders);
  const int64_t last[] = {passed->shape().rank() - 1};
  return b.call("aten.sum.dim_IntList", {call_to(b, passed, n.out().dtype)}, n.out(),
                {{"dim", Attr::ints(last)}, {"keepdim", Attr::boolean(false)}});
}

Lowered lower_searchsorted(const Call& n, Builder& b) {
  if (n.tensor("sorter") != nullptr) {
    return reject(Code::kRejectAttribute, "{}: a sorter is given", n.schema().full_name);
  }
  const bool right = n.has("side") ? n.s("side") == "right" : n.b("right");
  return count_borders(n, b, n.in(1), n.in(0), right);
}

Lowered lower_nansum(const Call& n, Builder& b) {
  Value* x = n.in(0);
  if (!is_float(x->dtype())) {
    return reject(Code::kRejectDtype, "{}: of {}; floats are taken", n.schema().full_name,
                  dtype_name(x->dtype()));
  }
  Value* is_nan = b.call("aten.ne.Tensor", {x, x}, {DType::kBool, x->shape(), nullptr});
  Value* zero = b.scalar_float(x->dtype(), 0, x->shape().rank());
  Value* counted = b.call("aten.where.self", {is_nan, zero, x}, x->type());
  return b.call(
      "aten.sum.dim_IntList", {counted}, n.out(),
      {{"dim", n.has("dim") ? n.arg("dim") : Attr()}, {"keepdim", Attr::boolean(n.b("keepdim"))}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(one_hot) = {
    .schemas = schemas("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor"),
    .doc = "1 at the place of a class, else 0: eq with every class.",
    .traits = Trait::kAlias,
    .lower = lower_one_hot,
};

TOSAIC_ATEN_OP(bucketize) = {
    .schemas = schemas("aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, "
                       "bool out_int32=False, bool right=False) -> Tensor"),
    .doc = "How many of some borders lie before a value: gt and sum.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n,
                Builder& b) { return count_borders(n, b, n.in(0), n.in(1), n.b("right")); },
};

TOSAIC_ATEN_OP(searchsorted) = {
    .schemas = schemas("aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, "
                       "bool out_int32=False, bool right=False, str? side=None, "
                       "Tensor? sorter=None) -> Tensor"),
    .doc = "How many of some borders lie before a value: gt and sum.",
    .traits = Trait::kAlias,
    .lower = lower_searchsorted,
};

TOSAIC_ATEN_OP(nansum) = {
    .schemas = schemas("aten::nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
                       "ScalarType? dtype=None) -> Tensor"),
    .doc = "Sum of what is a number: where and sum.",
    .traits = Trait::kAlias,
    .lower = lower_nansum,
};

TOSAIC_ATEN_OP(masked_scatter) = {
    .schemas = schemas("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor"),
    .doc = "Elements of one tensor, in order, where a mask holds; of no form in TOSA.",
    .cpu =
        "aten::masked_scatter.out(Tensor self, Tensor mask, Tensor source, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};
