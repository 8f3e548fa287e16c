// SPDX-License-Identifier: Apache-2.0
#include "aten/calls.h"

// Core ATen's one operator for convolutions of any number of axes, transposed or not.

namespace tosaic::aten {
namespace {

/// The overload for a weight of so many axes; empty for those that no row serves.
std::string_view overload_of(int weight_rank, bool transposed) {
  if (weight_rank == 3) return transposed ? "aten.conv_transpose1d.default" : "aten.conv1d.default";
  if (weight_rank == 5 && !transposed) return "aten.conv3d.default";
  if (weight_rank == 4) return transposed ? "aten.conv_transpose2d.input" : "aten.conv2d.default";
  return {};
}

Lowered call_convolution(const Call& n, Builder& b) {
  const int rank = n.tensor("weight")->shape().rank();
  const bool transposed = n.b("transposed");
  const std::string_view overload = overload_of(rank, transposed);
  if (overload.empty()) {
    return reject(Code::kRejectShape,
                  "{}: the weight has {} axes; 3 to 5 are taken, transposed 3 and 4",
                  n.schema().full_name, rank);
  }
  std::vector<NamedArg> args;
  for (std::string_view name : {"stride", "padding", "dilation", "groups"})
    args.push_back({name, n.arg(name)});
  if (transposed) args.push_back({"output_padding", n.arg("output_padding")});
  return b.call_all(overload, n.operands(), n.segments(), n.results(), args);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(convolution) = {
    .schemas = schemas(
        "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
        "SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, "
        "SymInt groups) -> Tensor"),
    .doc = "conv1d, conv2d, conv3d, conv_transpose1d or conv_transpose2d.",
    .traits = Trait::kAlias,
    .lower = call_convolution,
};
