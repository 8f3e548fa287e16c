// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Conversion to another dtype: nothing when it is the same, else CAST. From float to integers
// PyTorch cuts the fraction off and CAST rounds: that is refused.

namespace tosaic::aten {
namespace {

Lowered lower_to(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const DType from = x->dtype();
  const DType to = n.out().dtype;
  if (n.any_quantised()) return with_parameters(n, b, x, n.out());
  if (from == to) return x;
  if (is_float(from) && !is_float(to)) {
    return reject(Code::kRejectDtype, "{}: {} to {}: PyTorch truncates and TOSA's CAST rounds",
                  n.schema().full_name, dtype_name(from), dtype_name(to));
  }
  return b.cast(x, to);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(to) = {
    .schemas = schemas(
        "aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, "
        "bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        "aten::to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
        "MemoryFormat? memory_format=None) -> Tensor(a)",
        "aten::to.device(Tensor(a) self, Device device, ScalarType dtype, "
        "bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
        "aten::_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, bool non_blocking=False, "
        "MemoryFormat? memory_format=None) -> Tensor",
        "dim_order_ops::_to_dim_order_copy(Tensor self, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
        "bool non_blocking=False, int[]? dim_order=None) -> Tensor"),
    .doc = "Another dtype: CAST; the operand itself when it has that dtype.",
    .traits = Trait::kNoOp,
    .quant = {same({0, out(0)})},
    .lower = lower_to,
    .cpu =
        "aten::_to_copy.out(Tensor self, *, bool non_blocking=False, "
        "MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
};
