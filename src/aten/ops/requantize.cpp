// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

namespace tosaic::aten {
namespace {

Lowered lower_requantize(const Call& n, Builder& b) {
  if (auto r = check_activation(n, n.in(0)->type(), "the input")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  return requantise(b, n.in(0), n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(requantize) = {
    .schemas = schemas("tosaic::requantize(Tensor self) -> Tensor"),
    .doc = "A quantised value under other parameters: what dequantize -> quantize means. RESCALE.",
    .quant = {own(0), own(out(0))},
    .lower = lower_requantize,
};
