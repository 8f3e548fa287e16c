// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"
#include "aten/calls.h"

// x * weight^T + bias over the last axis: a 1x1 CONV2D whose pixels are the rows of x.

namespace tosaic::aten {
namespace {

Lowered lower_linear(const Call& n, Builder& b) {
  Value* x = n.tensor("input");
  Value* w = n.tensor("weight");
  Value* bias = n.tensor("bias");
  if (w->shape().rank() != 2 || x->shape().rank() < 1 || w->shape().num_elements() == 0) {
    return reject(Code::kRejectShape, "{}: the weight has sizes {}; two axes are taken",
                  n.schema().full_name, to_string(w->shape()));
  }
  if (auto r = check_conv_operands(n, *x, *w, bias, 0)) return *r;
  const int64_t num_outputs = w->shape()[0];
  const int64_t num_inputs = w->shape()[1];
  const int64_t num_rows = n.out().shape.num_elements() / num_outputs;
  const int64_t input_zp = x->quant() == nullptr ? 0 : x->quant()->zero_point();
  Value* pixels = b.reshape(x, {num_rows, 1, 1, num_inputs});
  Value* kernel = b.reshape(w, {num_outputs, 1, 1, num_inputs});
  Value* acc = b.emit(tosa::conv2d,
                      {pixels, kernel, conv_bias(n, b, bias, *x, *w, num_outputs),
                       b.zero_point(x->dtype(), input_zp), b.zero_point(w->dtype(), 0)},
                      tosa::Conv2dAttrs{.acc_type = accumulator_type(x->dtype())});
  return b.reshape(finish_accumulator(b, acc, *x, *w, n.out()), n.out().shape);
}

/// ExecuTorch's kernel takes rows.
bool has_rows(const Call& n) {
  return n.tensor("input")->shape().rank() > 1;
}

Lowered lower_or_record(const Call& n, Builder& b) {
  const bool record = b.mode() == Builder::Mode::kRecord && !has_rows(n);
  return record ? call_with_batch(n, b) : lower_linear(n, b);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(linear) = {
    .schemas = schemas("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"),
    .doc =
        "Product with a transposed weight over the last axis, plus bias: CONV2D with a 1x1 "
        "kernel.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), weight(1, 0), bias(2, 0, 1), own(out(0))},
    .lower = lower_or_record,
    .cpu =
        "aten::linear.out(Tensor input, Tensor weight, Tensor? bias=None, *, "
        "Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = has_rows,
};
