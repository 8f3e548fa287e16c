// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "aten/row.h"
#include "ir/pass.h"
#include "tosa/spec.h"

namespace tosaic {

/// Where one node runs, and why not on the NPU.
struct Placement {
  Node* node = nullptr;
  bool on_target = false;
  int partition = -1;              ///< of on_target nodes
  std::optional<Reject> reason{};  ///< of the others; none for the q/dq nodes at borders
};

/// What becomes of values that the program has in int64, which TOSA lacks. Results of indices are
/// int32 anyway; arithmetic on them is refused, since it might overflow, unless somebody looks.
enum class Int64 : uint8_t { kRefused, kAsInt32 };

/// Runs the row's own lowering of one node in a scratch graph and asks the target about every TOSA
/// operation it emits. Nothing when the target takes the node.
std::optional<Reject> try_lower(const Node& node, const Target& target,
                                Int64 int64 = Int64::kRefused);

/// A constant of an ATen graph in a TOSA graph.
Value& add_held_constant(Graph& to, const Value& v, Int64 int64);

/// Why a lowering does not do for a node: it lacks a result that somebody uses.
std::optional<Reject> missing_result(const Node& node, const aten::Lowered& lowered);

/// The nodes that have no lowering for a target, and those that read results of such nodes, each
/// with the reason.
std::unordered_map<const Node*, Reject> without_form(const Graph& graph, const Target& target,
                                                     Int64 int64 = Int64::kRefused);

/// Decides where each node of an ATen graph runs. Partitions are as few as the data dependencies
/// permit (nodes of one stage form one partition) and acyclic by construction. Nodes in `evicted`
/// stay on the CPU, for the reason given there. Partitions of nothing but no-ops are dissolved.
/// Linear in the graph's size.
std::vector<Placement> place(Graph& graph, const Target& target,
                             const std::unordered_map<const Node*, Reject>& evicted = {});

/// Moves each partition into a graph of its own ("part0", "part1", …; dialect aten), leaving a
/// `call` in its place. Names of the graph's inputs and outputs are those of the values.
Status outline(Graph& graph, std::span<const Placement> placements);

/// Copies some nodes into a graph of their own beside `graph`, which stays as it is: what they read
/// from others becomes inputs, and what others read, outputs.
Graph& extract(Graph& graph, std::span<Node* const> nodes, std::string_view name);

/// The same numbers as integers of another size, by ExecuTorch's kernel.
Value* converted(Graph& graph, Value& v, DType dtype, Node* before, Loc loc);

/// Replaces a composite by the calls of other operators that its row makes, which come to stand in
/// its place. The reason, and no change, for a node that is no composite.
std::optional<Reject> expand(Node& node);

/// Makes what stays in `graph` executable by ExecuTorch's kernels: nodes on quantised values get
/// float operands and results (unfold), composites without a kernel are expanded into their calls.
/// E0308 for a node that no kernel computes, with why it is not on the NPU out of `placements`.
Status prepare_cpu(Graph& graph, const Target& target, std::span<const Placement> placements);

/// Makes rank-4 inputs and outputs of the program NHWC, where only partitions read and write them
/// (`--io-layout channels_last`): of a mixed graph after outline, or of an ATen graph that is one
/// partition. Returns the values of `main` that hold NHWC from now on.
std::vector<const Value*> make_channels_last(Graph& main);

/// Lowers an ATen graph whose nodes the target takes (a partition, or a whole float program) into a
/// TOSA graph that replaces it under the same name.
Expected<Graph*> lower_to_tosa(Graph& graph, const Target& target);

/// Told of each result of a call that another value stands for from now on.
using MovedValue = std::function<void(const Value& from, const Value& to)>;
/// Takes results that nothing reads out of a call and out of the ATen graph that it names. Returns
/// the call, which may be a new one.
Node& drop_unread_results(Node& call, Graph& callee, const MovedValue& moved = {});
/// Takes inputs that nothing reads (an operand may only give its shape) out of a TOSA graph and of
/// the call that names it. When none is left, the results are computed and become constants, and
/// the call is gone.
Status drop_unread_inputs(Node& call, Graph& callee, const MovedValue& moved = {});

/// From values of an ATen graph to the values of a TOSA graph that hold the same numbers.
using LoweredValues = std::unordered_map<const Value*, Value*>;
/// The same into a graph beside `graph`, which stays as it is; `values` gets every input and every
/// result of a node. Values that fold lead to constants. Nodes in `left_out`, which no other node
/// may read, are passed over, and the graph's outputs that they make.
Expected<Graph*> lower_beside(const Graph& graph, const Target& target, LoweredValues& values,
                              const std::unordered_map<const Node*, Reject>& left_out = {},
                              Int64 int64 = Int64::kRefused);

}  // namespace tosaic
