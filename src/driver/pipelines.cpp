// SPDX-License-Identifier: Apache-2.0
#include "driver/pipelines.h"

#include "passes/passes.h"

// Every pipeline, in order. A pass that stands before what it needs does not compile.

namespace tosaic {
namespace {

constexpr const Pass* kPrepare[] = {&kRemoveNoOps,   &kExpandAliases,  &kWidenUnsigned,
                                    &kFoldConstants, &kFuseDecomposed, &kFoldBatchNorm,
                                    &kFoldQdq,       &kRemoveDeadNodes};
static_assert(pipeline_is_ordered(kPrepare, Property::kNone));

constexpr const Pass* kPrepareFloat[] = {&kRemoveNoOps,    &kExpandAliases,  &kWidenUnsigned,
                                         &kFoldConstants,  &kFuseDecomposed, &kFoldBatchNorm,
                                         &kRemoveDeadNodes};
static_assert(pipeline_is_ordered(kPrepareFloat, Property::kNone));

constexpr const Pass* kIntegerIo[] = {&kQuantiseIo, &kRemoveDeadNodes};
static_assert(pipeline_is_ordered(kIntegerIo, Property::kQdqFolded));
constexpr const Pass* kUnsignedIo[] = {&kUnsignIo};
static_assert(pipeline_is_ordered(kUnsignedIo, Property::kQdqFolded));

constexpr const Pass* kTosa[] = {&kCanonicalise, &kChooseLayout,    &kCanonicalise,  &kMergeAxes,
                                 &kFoldRescale,  &kRemoveDeadNodes, &kShareConstants};
static_assert(pipeline_is_ordered(kTosa, Property::kTosa));

}  // namespace

std::span<const Pass* const> prepare_pipeline() {
  return kPrepare;
}
std::span<const Pass* const> prepare_float_pipeline() {
  return kPrepareFloat;
}
std::span<const Pass* const> integer_io_pipeline() {
  return kIntegerIo;
}
std::span<const Pass* const> unsigned_io_pipeline() {
  return kUnsignedIo;
}
std::span<const Pass* const> tosa_pipeline() {
  return kTosa;
}

}  // namespace tosaic
