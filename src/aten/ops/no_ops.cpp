// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// What gives its first operand unchanged in an inference program.

namespace tosaic::aten {
namespace {

Lowered lower_no_op(const Call& n, Builder& b) {
  return with_parameters(n, b, n.in(0), n.out());
}

Lowered lower_dropout(const Call& n, Builder& b) {
  if (n.b("train") && n.f("p") != 0) {
    Reject r = reject(Code::kRejectAttribute, "{}: train is true", n.schema().full_name);
    r.hint = "call model.eval() before exporting";
    return r;
  }
  if (b.mode() == Builder::Mode::kLower) return lower_no_op(n, b);
  return b.call("aten.clone.default", {n.in(0)}, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(clone) = {
    .schemas = schemas(
        "aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
        "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
        "aten::detach(Tensor(a) self) -> Tensor(a)", "aten::detach_(Tensor(a!) self) -> Tensor(a!)",
        "aten::detach_copy(Tensor self) -> Tensor", "aten::alias(Tensor(a) self) -> Tensor(a)",
        "aten::alias_copy(Tensor self) -> Tensor", "aten::lift_fresh(Tensor(a) self) -> Tensor(a)",
        "aten::lift_fresh_copy(Tensor self) -> Tensor"),
    .doc = "The operand, under another name or in other memory.",
    .traits = Trait::kNoOp,
    .quant = {same({0, out(0)})},
    .lower = lower_no_op,
    .cpu =
        "aten::clone.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(dropout) = {
    .schemas =
        schemas("aten::dropout(Tensor input, float p, bool train) -> Tensor",
                "aten::dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
                "aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                "aten::alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
                "aten::feature_dropout(Tensor input, float p, bool train) -> Tensor",
                "aten::feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
                "aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor",
                "aten::feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)"),
    .doc = "At inference the operand itself.",
    .traits = Trait::kNoOp,
    .quant = {same({0, out(0)})},
    .lower = lower_dropout,
};

TOSAIC_ATEN_OP(native_dropout) = {
    .schemas = schemas("aten::native_dropout(Tensor input, float p, bool? train) -> "
                       "(Tensor, Tensor)"),
    .doc = "At inference the operand itself, without what was kept.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder&) -> Lowered {
      if (!n.has("train") || n.b("train")) {
        Reject r = reject(Code::kRejectAttribute, "{}: train is true", n.schema().full_name);
        r.hint = "call model.eval() before exporting";
        return r;
      }
      return std::vector<Value*>{n.in(0), nullptr};
    },
};

TOSAIC_ATEN_OP(real_part) = {
    .schemas = schemas("aten::real(Tensor(a) self) -> Tensor(a)"),
    .doc = "Real numbers are their own real part.",
    .traits = Trait::kNoOp,
    .quant = {same({0, out(0)})},
    .lower = lower_no_op,
};
