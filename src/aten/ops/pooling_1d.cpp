// SPDX-License-Identifier: Apache-2.0
#include "aten/calls.h"

// Pooling over the last axis: the two-dimensional operators on images of one row.

namespace tosaic::aten {
namespace {

/// [.., L] -> [.., 1, L]
Shape with_row(const Shape& shape) {
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  sizes.insert(sizes.end() - 1, 1);
  return Shape(sizes);
}

std::optional<Reject> check_rank(const Call& n) {
  const int rank = n.in(0)->shape().rank();
  if ((rank == 2 || rank == 3) && n.out().shape.rank() == rank) return std::nullopt;
  return reject(Code::kRejectShape, "{}: the input has {} axes; 2 and 3 are taken",
                n.schema().full_name, rank);
}

/// The argument's one number for the last axis, `across` for the row's; an empty list stays empty.
std::vector<int64_t> for_rows(const Call& n, std::string_view name, int64_t across) {
  std::vector<int64_t> values = n.ints(name);
  if (values.size() == 1) values.insert(values.begin(), across);
  return values;
}

Lowered call_pool2d(const Call& n, Builder& b, std::string_view full_name,
                    std::initializer_list<NamedArg> args) {
  const TensorType& out = n.out();
  Value* x = call_view(b, n.in(0), with_row(n.in(0)->shape()));
  Value* y = b.call(full_name, {x}, {out.dtype, with_row(out.shape), out.quant}, args);
  return call_view(b, y, out);
}

Lowered lower_max_pool1d(const Call& n, Builder& b) {
  if (auto r = check_rank(n)) return *r;
  return call_pool2d(n, b, "aten.max_pool2d.default",
                     {{"kernel_size", Attr::ints(for_rows(n, "kernel_size", 1))},
                      {"stride", Attr::ints(for_rows(n, "stride", 1))},
                      {"padding", Attr::ints(for_rows(n, "padding", 0))},
                      {"dilation", Attr::ints(for_rows(n, "dilation", 1))},
                      {"ceil_mode", n.arg("ceil_mode")}});
}

Lowered lower_avg_pool1d(const Call& n, Builder& b) {
  if (auto r = check_rank(n)) return *r;
  return call_pool2d(n, b, "aten.avg_pool2d.default",
                     {{"kernel_size", Attr::ints(for_rows(n, "kernel_size", 1))},
                      {"stride", Attr::ints(for_rows(n, "stride", 1))},
                      {"padding", Attr::ints(for_rows(n, "padding", 0))},
                      {"ceil_mode", n.arg("ceil_mode")},
                      {"count_include_pad", n.arg("count_include_pad")}});
}

Lowered lower_adaptive_max_pool1d(const Call& n, Builder& b) {
  if (auto r = check_rank(n)) return *r;
  const int64_t size[] = {1, n.out().shape[n.out().shape.rank() - 1]};
  const TensorType results[] = {{n.out().dtype, with_row(n.out().shape), n.out().quant},
                                {DType::kI64, with_row(n.out().shape), nullptr}};
  Value* const x = call_view(b, n.in(0), with_row(n.in(0)->shape()));
  const NamedArg args[] = {{"output_size", Attr::ints(size)}};
  Value* y = b.call_all("aten.adaptive_max_pool2d.default", {&x, 1}, {}, results, args)[0];
  return std::vector<Value*>{call_view(b, y, n.out()), nullptr};
}

Lowered lower_adaptive_avg_pool1d(const Call& n, Builder& b) {
  if (auto r = check_rank(n)) return *r;
  return call_pool2d(n, b, "aten.adaptive_avg_pool2d.default",
                     {{"output_size", Attr::ints(for_rows(n, "output_size", 1))}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(max_pool1d) = {
    .schemas = schemas(
        "aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
        "int[1] dilation=[1], bool ceil_mode=False) -> Tensor"),
    .doc = "Greatest elements of windows of the last axis: max_pool2d over images of one row.",
    .quant = {same({0, out(0)})},
    .lower = lower_max_pool1d,
};

TOSAIC_ATEN_OP(avg_pool1d) = {
    .schemas = schemas(
        "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], "
        "bool ceil_mode=False, bool count_include_pad=True) -> Tensor"),
    .doc = "Averages of windows of the last axis: avg_pool2d over images of one row.",
    .quant = {same({0, out(0)})},
    .lower = lower_avg_pool1d,
};

TOSAIC_ATEN_OP(adaptive_avg_pool1d) = {
    .schemas = schemas("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor"),
    .doc = "Averages of as many windows as the output has elements: adaptive_avg_pool2d.",
    .quant = {same({0, out(0)})},
    .lower = lower_adaptive_avg_pool1d,
};

TOSAIC_ATEN_OP(max_pool1d_with_indices) = {
    .schemas = schemas(
        "aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], "
        "int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)"),
    .doc = "max_pool1d, without the indices.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_alias(n, b, "aten.max_pool1d.default"); },
};

TOSAIC_ATEN_OP(adaptive_max_pool1d) = {
    .schemas =
        schemas("aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)"),
    .doc = "adaptive_max_pool2d over images of one row, without the indices.",
    .quant = {same({0, out(0)})},
    .lower = lower_adaptive_max_pool1d,
};
