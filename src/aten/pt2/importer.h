// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aten/pt2/archive.h"
#include "aten/pt2/functionalise.h"
#include "aten/pt2/reader.h"
#include "aten/pt2/tensor_meta.h"
#include "aten/pt2/weights.h"
#include "aten/schema.h"
#include "ir/graph.h"

namespace tosaic::aten::pt2 {

/// What a node is made of besides its operator.
struct Arguments {
  std::vector<Value*> operands;
  std::vector<int16_t> segments;  ///< one per tensor argument of the schema
  std::vector<NamedAttr> attrs;
  bool has_list = false;
};

/// Builds graph "main" out of one program of an archive. Used once.
class Importer {
 public:
  Importer(const Archive& archive, const Json& root, TensorStore weights, TensorStore constants,
           Module& module, std::span<const InputSizes> sizes);
  Status run();

 private:
  /// A size that is no tensor: a number, or an expression of symbols.
  struct SymInt {
    std::optional<int64_t> value;
    std::string_view expression;
  };

  // importer.cpp: the program as a whole.
  Status read_tables(const Json& graph);
  // bind_sizes.cpp: --shape.
  Status bind_sizes(const JsonArray& specs);
  Status read_inputs(const JsonArray& specs);
  Status read_stored_input(const Union& spec);
  Status read_user_input(const Json& spec);
  Status read_outputs(const JsonArray& specs);
  Status read_user_output(const Json& spec, std::vector<Value*>& outputs);
  Expected<TensorType> type_of(std::string_view name);
  /// The present content of a tensor; stored data become constants here, when first used.
  Expected<Value*> value_of(std::string_view name);
  SymInt sym_int(std::string_view name) const;
  /// E0306, with the input and axis that the expression comes from.
  Diagnostic symbolic_size_error(std::string_view expression) const;

  // importer_subgraph.cpp: a graph that a node holds.
  Status read_subgraph(const Json& node, const JsonArray& inputs);
  Status bind_subgraph(const Json& graph, std::span<const Union> arguments,
                       TensorTable::Names& names);

  // importer_node.cpp: one node.
  Status read_node(const Json& node, int index);
  Status read_call(const Json& node, std::string_view target, int index);
  Status make_node(const Json& node, std::string_view target, OpVariant op, const JsonArray& inputs,
                   int index);
  OpVariant choose_overload(OpVariant op, std::string_view name, const JsonArray& inputs) const;
  Expected<Arguments> read_arguments(const Schema& schema, const JsonArray& inputs);
  Expected<Arguments> read_unknown_arguments(std::string_view target, const JsonArray& inputs);
  Status read_tensor_argument(const SchemaArg& arg, const std::optional<Json>& json, Arguments& to);
  Expected<Value*> read_operand(const SchemaArg& arg, const Json& json);
  Expected<Value*> scalar_operand(const Union& scalar);
  Expected<Attr> read_attr(const SchemaArg& arg, const Union& u);
  Expected<Attr> read_number(const SchemaArg& arg, const Union& u);
  Expected<Attr> read_list(const SchemaArg& arg, const Union& u);
  Expected<int64_t> read_int(const Json& json);
  Expected<std::vector<std::string_view>> output_names(const Json& node);
  Status name_results(Node& made, std::span<const std::string_view> names, std::string_view target,
                      const JsonArray& inputs, int index);

  const Archive& archive_;
  const Json& root_;
  TensorStore weights_;
  TensorStore constants_;
  Module& module_;
  Graph& graph_;
  Symbols symbols_;
  TensorTable tensors_;
  JsonArray nodes_;
  JsonArray output_specs_;
  std::span<const InputSizes> sizes_;
  std::unordered_map<std::string_view, Json> metas_;     // of every tensor
  std::unordered_map<std::string_view, Json> sym_ints_;  // of every size that is a value
  std::optional<LastUses> uses_;                         // made by the first in-place operator
  int depth_ = 0;                                        // of graphs that nodes hold
  DType first_operand_dtype_ = DType::kUnknown;          // of the node being read
  DType first_result_dtype_ = DType::kUnknown;
};

}  // namespace tosaic::aten::pt2
