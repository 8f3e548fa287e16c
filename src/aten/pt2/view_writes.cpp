// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/view_writes.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "aten/call.h"
#include "aten/row.h"

TOSAIC_USE_ATEN_OP(unknown);

namespace tosaic::aten::pt2 {
namespace {

// Of one tensor, and never a copy.
constexpr std::array<std::string_view, 6> kRelabels = {"view",      "unsqueeze", "squeeze",
                                                       "unflatten", "view_as",   "_unsafe_view"};
constexpr std::array<std::string_view, 8> kMoves = {"select",   "slice",    "permute", "transpose",
                                                    "swapaxes", "swapdims", "t",       "narrow"};

/// "slice" of "aten.slice.Tensor".
std::string_view base_name(const Node& node) {
  const std::string_view name = node.full_name();
  const size_t begin = name.find('.') + 1;
  return name.substr(begin, name.find('.', begin) - begin);
}

bool is_relabel(std::string_view name) {
  return std::ranges::find(kRelabels, name) != kRelabels.end();
}

Value* insert(Graph& graph, std::string_view full_name, std::initializer_list<Value*> operands,
              const TensorType& result, std::span<const NamedAttr> attrs, Loc loc) {
  const OpVariant op = find_op(full_name);
  if (op.op == nullptr) return nullptr;
  return &graph
              .insert({.op = op.op,
                       .variant = op.variant,
                       .operands = std::span(operands.begin(), operands.size()),
                       .segments = {},
                       .results = std::span(&result, 1),
                       .attrs = attrs,
                       .loc = loc})
              .result();
}

/// permute and its kin the other way round.
Value* permuted_back(const Node& view, const Call& call, Value& base, Value& written) {
  const int rank = base.shape().rank();
  std::vector<int64_t> from(static_cast<size_t>(rank));
  for (int i = 0; i < rank; ++i)
    from[static_cast<size_t>(i)] = i;
  if (base_name(view) == "permute") {
    const auto dims = call.ints("dims");
    if (static_cast<int>(dims.size()) != rank) return nullptr;
    for (int i = 0; i < rank; ++i) {
      int64_t axis = dims[static_cast<size_t>(i)];
      if (!normalise_axis(axis, rank)) return nullptr;
      from[static_cast<size_t>(axis)] = i;
    }
  } else if (rank > 1) {
    int64_t a = 0;
    int64_t b = 1;
    if (base_name(view) != "t") {
      const bool has_axes = call.schema().find("axis0") != nullptr;
      a = call.i(has_axes ? "axis0" : "dim0");
      b = call.i(has_axes ? "axis1" : "dim1");
    }
    if (!normalise_axis(a, rank) || !normalise_axis(b, rank)) return nullptr;
    std::swap(from[static_cast<size_t>(a)], from[static_cast<size_t>(b)]);
  }
  const NamedAttr dims{
      "dims", Attr::ints(view.graph().module().arena().copy(std::span<const int64_t>(from)))};
  return insert(view.graph(), "aten.permute.default", {&written}, base.type(), {&dims, 1},
                written.def() != nullptr ? written.def()->loc() : view.loc());
}

}  // namespace

bool can_replay(const Node& view) {
  const std::string_view name = base_name(view);
  return view.num_results() == 1 && !view.is(unknown) &&
         (is_relabel(name) || std::ranges::find(kMoves, name) != kMoves.end());
}

Value* write_through(const Node& view, Value& base, Value& written) {
  if (!can_replay(view) || written.type() != view.result().type()) return nullptr;
  const std::string_view name = base_name(view);
  Graph& graph = view.graph();
  const NodeCall seen(view);
  const Call& call = seen.call;
  const Loc loc = written.def() != nullptr ? written.def()->loc() : view.loc();
  if (is_relabel(name)) {
    const NamedAttr size{
        "size",
        Attr::ints(graph.module().arena().copy(std::span<const int64_t>(base.shape().sizes())))};
    return insert(graph, "aten.view_copy.default", {&written}, base.type(), {&size, 1}, loc);
  }
  if (name == "select") {
    const NamedAttr attrs[] = {{"dim", call.arg("dim")}, {"index", call.arg("index")}};
    return insert(graph, "aten.select_scatter.default", {&base, &written}, base.type(), attrs, loc);
  }
  if (name == "narrow") {
    if (call.schema().find("start") == nullptr || call.tensor("start") != nullptr) return nullptr;
    int64_t axis = call.i("dim");
    if (!normalise_axis(axis, base.shape().rank())) return nullptr;
    int64_t start = call.i("start");
    if (start < 0) start += base.shape()[static_cast<int>(axis)];
    const NamedAttr attrs[] = {{"dim", Attr::integer(axis)},
                               {"start", Attr::integer(start)},
                               {"end", Attr::integer(start + call.i("length"))}};
    return insert(graph, "aten.slice_scatter.default", {&base, &written}, base.type(), attrs, loc);
  }
  if (name == "slice") {
    std::vector<NamedAttr> attrs;
    for (const std::string_view arg : {"dim", "start", "end", "step"}) {
      if (!call.arg(arg).is_none()) attrs.push_back({arg, call.arg(arg)});
    }
    return insert(graph, "aten.slice_scatter.default", {&base, &written}, base.type(), attrs, loc);
  }
  return permuted_back(view, call, base, written);
}

Node& replay_view(const Node& view, Value& base) {
  std::vector<Value*> operands;
  for (const Use& use : view.operands())
    operands.push_back(use.value());
  operands[0] = &base;
  std::vector<TensorType> results;
  for (const Value& v : view.results())
    results.push_back(v.type());
  return view.graph().insert({.op = &view.op(),
                              .variant = view.variant(),
                              .operands = operands,
                              .segments = view.segments(),
                              .results = results,
                              .attrs = view.attrs(),
                              .loc = view.loc()});
}

}  // namespace tosaic::aten::pt2
