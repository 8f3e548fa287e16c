// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ir/pass.h"

/// Every whole-graph pass: one file each, named after its verb. The head comment of each file shows
/// what it does. Pipelines are in driver/pipelines.cpp.
namespace tosaic {

// ATen graphs.
Status run_remove_no_ops(Graph& graph, PassContext& context);
Status run_expand_aliases(Graph& graph, PassContext& context);
Status run_widen_unsigned(Graph& graph, PassContext& context);
Status run_fold_constants(Graph& graph, PassContext& context);  // partition/fold_constants.cpp
Status run_fuse_decomposed(Graph& graph, PassContext& context);
Status run_fold_batch_norm(Graph& graph, PassContext& context);
Status run_fold_qdq(Graph& graph, PassContext& context);     // quant/fold_qdq.cpp
Status run_quantise_io(Graph& graph, PassContext& context);  // quant/quantise_io.cpp
Status run_unsign_io(Graph& graph, PassContext& context);    // quant/unsign_io.cpp

// TOSA graphs.
Status run_choose_layout(Graph& graph, PassContext& context);
Status run_canonicalise(Graph& graph, PassContext& context);
Status run_merge_axes(Graph& graph, PassContext& context);
Status run_fold_rescale(Graph& graph, PassContext& context);
Status run_share_constants(Graph& graph, PassContext& context);
Status run_remove_dead_nodes(Graph& graph, PassContext& context);

inline constexpr Pass kRemoveNoOps{
    .name = "remove_no_ops",
    .run = run_remove_no_ops,
    .gives = Property::kFunctional,
    .doc = "drops dropout, detach, alias, clone and asserts, which compute nothing"};
inline constexpr Pass kExpandAliases{.name = "expand_aliases",
                                     .run = run_expand_aliases,
                                     .doc = "gives operators that have several spellings one"};
inline constexpr Pass kWidenUnsigned{
    .name = "widen_unsigned",
    .run = run_widen_unsigned,
    .doc = "makes conversions of unsigned integers nodes of their own"};
inline constexpr Pass kFoldConstants{.name = "fold_constants",
                                     .run = run_fold_constants,
                                     .needs = Property::kFunctional,
                                     .doc = "computes what depends on no input"};
inline constexpr Pass kFuseDecomposed{
    .name = "fuse_decomposed",
    .run = run_fuse_decomposed,
    .needs = Property::kFunctional,
    .doc = "gives operators that core ATen writes out with selections their names back"};
inline constexpr Pass kFoldBatchNorm{
    .name = "fold_batch_norm",
    .run = run_fold_batch_norm,
    .needs = Property::kFunctional,
    .doc = "moves an inference batch_norm into the weights and bias of the convolution before it"};
inline constexpr Pass kFoldQdq{
    .name = "fold_qdq",
    .run = run_fold_qdq,
    .needs = Property::kFunctional,
    .gives = Property::kQdqFolded,
    .doc = "turns dequantize -> operator -> quantize into operators on quantised values"};
inline constexpr Pass kQuantiseIo{
    .name = "quantise_io",
    .run = run_quantise_io,
    .needs = Property::kQdqFolded,
    .doc = "makes inputs and outputs of the program the integers next to its borders"};
inline constexpr Pass kUnsignIo{.name = "unsign_io",
                                .run = run_unsign_io,
                                .needs = Property::kQdqFolded,
                                .doc = "makes int8 inputs and outputs of the program uint8"};
inline constexpr Pass kChooseLayout{
    .name = "choose_layout",
    .run = run_choose_layout,
    .needs = Property::kTosa,
    .gives = Property::kLayoutChosen,
    .doc = "moves transposes until as few elements as possible are moved"};
inline constexpr Pass kCanonicalise{
    .name = "canonicalise",
    .run = run_canonicalise,
    .needs = Property::kTosa,
    .doc = "removes identities and merges reshapes, transposes, slices and clamps in a row"};
inline constexpr Pass kMergeAxes{.name = "merge_axes",
                                 .run = run_merge_axes,
                                 .needs = Property::kLayoutChosen,
                                 .doc = "writes transposes with as few axes as they have"};
inline constexpr Pass kFoldRescale{
    .name = "fold_rescale",
    .run = run_fold_rescale,
    .needs = Property::kTosa,
    .doc =
        "merges RESCALE pairs and drops those that change nothing, where the bits stay the same"};
inline constexpr Pass kShareConstants{.name = "share_constants",
                                      .run = run_share_constants,
                                      .gives = Property::kConstantsShared,
                                      .doc = "makes constants of equal content one value"};
inline constexpr Pass kRemoveDeadNodes{.name = "remove_dead_nodes",
                                       .run = run_remove_dead_nodes,
                                       .doc = "erases nodes whose results nobody uses"};

inline constexpr const Pass* kAllPasses[] = {
    &kRemoveNoOps,   &kExpandAliases, &kWidenUnsigned, &kFoldConstants,  &kFuseDecomposed,
    &kFoldBatchNorm, &kFoldQdq,       &kQuantiseIo,    &kUnsignIo,       &kChooseLayout,
    &kCanonicalise,  &kMergeAxes,     &kFoldRescale,   &kShareConstants, &kRemoveDeadNodes,
};
inline std::span<const Pass* const> all_passes() {
  return kAllPasses;
}

}  // namespace tosaic
