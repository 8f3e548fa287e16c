// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Other sizes for the same elements in the same order: RESHAPE to the sizes that the program states
// for the result.

namespace tosaic::aten {
namespace {

Lowered lower_reshape(const Call& n, Builder& b) {
  return b.reshape(with_parameters(n, b, n.in(0), n.out()), n.out().shape);
}

/// ExecuTorch has one kernel for all of them.
Lowered lower_or_record_reshape(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kLower) return lower_reshape(n, b);
  return b.call("aten.view_copy.default", {n.in(0)}, n.out(),
                {{"size", Attr::ints(n.out().shape.sizes())}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(view) = {
    .schemas = schemas("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
                       "aten::view_copy(Tensor self, SymInt[] size) -> Tensor",
                       "aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor"),
    .doc = "The same elements under other sizes: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_reshape,
    .cpu = "aten::view_copy.out(Tensor self, SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(reshape) = {
    .schemas = schemas("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)"),
    .doc = "The same elements under other sizes: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_or_record_reshape,
};

TOSAIC_ATEN_OP(flatten) = {
    .schemas = schemas("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) "
                       "-> Tensor(a)"),
    .doc = "Several axes as one: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_or_record_reshape,
};

TOSAIC_ATEN_OP(unsqueeze) = {
    .schemas = schemas("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
                       "aten::unsqueeze_copy(Tensor self, int dim) -> Tensor"),
    .doc = "One more axis, of size 1: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_reshape,
    .cpu = "aten::unsqueeze_copy.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(squeeze) = {
    .schemas = schemas("aten::squeeze(Tensor(a) self) -> Tensor(a)",
                       "aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
                       "aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)",
                       "aten::squeeze_copy(Tensor self) -> Tensor",
                       "aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor",
                       "aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor"),
    .doc = "Without axes of size 1: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_or_record_reshape,
};

TOSAIC_ATEN_OP(unflatten) = {
    .schemas = schemas("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)"),
    .doc = "One axis as several: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_or_record_reshape,
};

TOSAIC_ATEN_OP(view_as) = {
    .schemas = schemas("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
                       "aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)"),
    .doc = "The same elements under another tensor's sizes: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_or_record_reshape,
};

TOSAIC_ATEN_OP(ravel) = {
    .schemas = schemas("aten::ravel(Tensor(a) self) -> Tensor(a)",
                       "aten::atleast_1d(Tensor self) -> Tensor",
                       "aten::atleast_2d(Tensor self) -> Tensor",
                       "aten::atleast_3d(Tensor self) -> Tensor"),
    .doc = "The same elements in one axis, or in more axes of size 1: RESHAPE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_or_record_reshape,
};
