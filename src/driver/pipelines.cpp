// SPDX-License-Identifier: Apache-2.0
#include "driver/pipelines.h"

#include "passes/passes.h"

// Every pipeline, in order. A pass that stands before what it needs does not compile.

namespace tosaic {
namespace {

constexpr const Pass* kPrepare[] = {&kRemoveNoOps, &kFoldBatchNorm, &kFoldQdq, &kRemoveDeadNodes};
static_assert(pipeline_is_ordered(kPrepare, Property::kNone));

constexpr const Pass* kPrepareInteger[] = {&kRemoveNoOps, &kFoldBatchNorm, &kFoldQdq, &kQuantiseIo,
                                           &kRemoveDeadNodes};
static_assert(pipeline_is_ordered(kPrepareInteger, Property::kNone));

constexpr const Pass* kPrepareFloat[] = {&kRemoveNoOps, &kFoldBatchNorm, &kRemoveDeadNodes};
static_assert(pipeline_is_ordered(kPrepareFloat, Property::kNone));

constexpr const Pass* kFinishQuantised[] = {&kRemoveDeadNodes};
constexpr const Pass* kFinishInteger[] = {&kQuantiseIo, &kRemoveDeadNodes};
static_assert(pipeline_is_ordered(kFinishInteger, Property::kQdqFolded));

constexpr const Pass* kTosa[] = {&kCanonicalise, &kChooseLayout,    &kCanonicalise,
                                 &kFoldRescale,  &kRemoveDeadNodes, &kShareConstants};
static_assert(pipeline_is_ordered(kTosa, Property::kTosa));

}  // namespace

std::span<const Pass* const> prepare_pipeline() {
  return kPrepare;
}
std::span<const Pass* const> prepare_integer_pipeline() {
  return kPrepareInteger;
}
std::span<const Pass* const> prepare_float_pipeline() {
  return kPrepareFloat;
}
std::span<const Pass* const> finish_quantised_pipeline(bool integer_io) {
  if (integer_io) return kFinishInteger;
  return kFinishQuantised;
}
std::span<const Pass* const> tosa_pipeline() {
  return kTosa;
}

}  // namespace tosaic
