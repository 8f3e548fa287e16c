// SPDX-License-Identifier: Apache-2.0
// Writes TOSA flatbuffers. A flatbuffer grows from its end to its front and holds no gaps that must
// be filled later, so everything is written in one walk: constants, then nodes, then the
// containers.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "support/check.h"
#include "tosa/fb_fields.h"
#include "tosa/fb_storage.h"
#include "tosa/fb_version.h"
#include "tosa/flatbuffer.h"
#include "tosa/ops.h"
#include "tosa/ops/variables.h"

namespace tosaic::tosa {
namespace {

using flatbuffers::Offset;
using Name = Offset<flatbuffers::String>;
using Names = std::vector<Name>;

constexpr std::string_view kMain = "main";

/// Names that are all different.
class NamePool {
 public:
  /// `stem`, or `stem_2`, `stem_3`, … when that is taken.
  std::string unique(std::string_view stem) {
    std::string name(stem);
    if (taken_.insert(name).second) return name;
    int& next = next_.try_emplace(name, 2).first->second;
    do {
      name = fmt::format("{}_{}", stem, next++);
    } while (!taken_.insert(name).second);
    return name;
  }

  /// "t0", "t1", …
  std::string short_name() {
    std::string name;
    do {
      name = fmt::format("t{}", next_short_++);
    } while (!taken_.insert(name).second);
    return name;
  }

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;
  int next_short_ = 0;
};

std::string shown(const Value& value) {
  return value.name().empty() ? std::string("a value") : fmt::format("%{}", value.name());
}

/// The graph and all that its nodes run, each before those that only it needs. E0304 for a graph
/// "main" that is not the first: that name belongs to the entry.
Expected<std::vector<const Graph*>> reachable(const Graph& entry) {
  std::vector<const Graph*> graphs = {&entry};
  std::unordered_set<const Graph*> seen = {&entry};
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (const Node& node : graphs[i]->nodes()) {
      for (const NamedAttr& attr : node.attrs()) {
        if (attr.value.kind() != Attr::Kind::kGraph) continue;
        const Graph* graph = entry.module().find_graph(attr.value.as_string());
        TOSAIC_CHECK(graph != nullptr, "a graph of a module that was not verified");
        if (!seen.insert(graph).second) continue;
        if (graph->name() == kMain) {
          return error(Code::kUnsupportedFeature, "@{} runs @main, whose name is the entry's",
                       entry.name());
        }
        graphs.push_back(graph);
      }
    }
  }
  return graphs;
}

/// A variable of the file: its tensor has one name in all blocks, by which tools know it.
struct FileVariable {
  std::string_view name;
  std::string tensor;
  const Node* declaration = nullptr;
  const Graph* first = nullptr;  // its block holds the initial value
};

/// The variables of graphs, in the order of their declarations. Each belongs first to a graph that
/// reads or writes it, if there is one: the reference model refuses tensors that a block leaves
/// unused.
std::vector<FileVariable> find_file_variables(std::span<const Graph* const> graphs) {
  std::vector<FileVariable> variables;
  std::unordered_map<std::string_view, const Node*> declared;
  std::unordered_set<std::string_view> seen;
  NamePool names;
  const auto add = [&](const Graph& graph, const Node& node) {
    const std::string_view name = variable_name(node);
    if (!seen.insert(name).second) return;
    if (declared.empty()) declared = find_variables(graph.module());
    variables.push_back({name, names.unique(name), declared.at(name), &graph});
  };
  for (const Graph* graph : graphs) {
    for (const Value* input : graph->inputs())
      names.unique(input->name());
    for (const Value* output : graph->outputs())
      names.unique(output->name());
  }
  for (const bool is_declaration : {false, true}) {
    for (const Graph* graph : graphs) {
      for (const Node& node : graph->nodes()) {
        if (is_of_variable(node) && node.is(variable) == is_declaration) add(*graph, node);
      }
    }
  }
  // What is read again is declared in the order of the tensors.
  std::ranges::stable_sort(variables, {},
                           [](const FileVariable& v) { return v.declaration->order(); });
  return variables;
}

/// Bytes that the graph's constants take at most: equal ones are written once.
uint64_t constant_bytes(const Graph& graph) {
  uint64_t total = 0;
  for (const Value* value : graph.constants()) {
    const Constant& c = *value->constant();
    total += stored_bytes(c.dtype, static_cast<size_t>(c.shape.num_elements())) + kDataAlignment;
  }
  return total;
}

/// Writes one graph as a block.
class BlockWriter {
 public:
  BlockWriter(const Graph& graph, const FileVersion& version, const WriteOptions& options,
              std::span<const FileVariable> variables, flatbuffers::FlatBufferBuilder& fbb)
      : graph_(graph), version_(version), options_(options), variables_(variables), fbb_(fbb) {}

  Expected<Offset<fb::Block>> run(Name name) {
    name_inputs_and_outputs();
    TOSAIC_CHECK_OK(add_variables());
    for (const Value* input : graph_.inputs())
      TOSAIC_CHECK_OK(add_tensor(*input));
    find_tensor_constants();
    find_equal_constants();
    for (const Value* value : constants_)
      TOSAIC_CHECK_OK(add_constant(*value));
    if (options_.num_constant_operators != nullptr) {
      *options_.num_constant_operators = operators_.size();
    }
    for (const Node& node : graph_.nodes())
      TOSAIC_CHECK_OK(add_node(node));
    TOSAIC_CHECK_OK(add_outputs());
    return finish(name);
  }

 private:
  // Names. Those of inputs and outputs come first: they are the program's interface.

  void name_inputs_and_outputs() {
    for (const Value* input : graph_.inputs()) {
      texts_.emplace(input, names_.unique(input->name().empty() ? "input" : input->name()));
    }
    for (const Value* output : graph_.outputs()) {
      std::string name = names_.unique(output->name().empty() ? "output" : output->name());
      const bool has_own_tensor = output->def() != nullptr && texts_.emplace(output, name).second;
      if (!has_own_tensor) copy_names_.push_back(std::move(name));
    }
  }

  /// The string of a new tensor for `value`.
  Name new_name(const Value& value) {
    const auto it = texts_.find(&value);
    const Name name = fbb_.CreateString(it == texts_.end() ? names_.short_name() : it->second);
    strings_.emplace(&value, name);
    return name;
  }

  Name name_of(const Value& value) const {
    const auto it = strings_.find(&value);
    TOSAIC_CHECK(it != strings_.end(), "a value of a graph that was not verified");
    return it->second;
  }

  // Tensors.

  Status check_type(const Value& value, std::string_view what) {
    if (!version_.number_of(value.dtype())) {
      return error(Code::kUnsupportedFeature, "{} {} has type {}, which {} lacks", what,
                   shown(value), dtype_name(value.dtype()), version_.name());
    }
    for (const int64_t size : value.shape()) {
      if (size >= 0 && size <= std::numeric_limits<int32_t>::max()) continue;
      return error(Code::kDynamicShape, "{} {} has sizes {}, and TOSA needs 32-bit numbers", what,
                   shown(value), to_string(value.shape()));
    }
    return ok();
  }

  void add_tensor(Name name, const TensorType& type, Offset<flatbuffers::Vector<uint8_t>> data = 0,
                  Name variable_name = 0) {
    std::vector<int32_t> sizes;
    for (const int64_t size : type.shape)
      sizes.push_back(static_cast<int32_t>(size));
    const auto shape = fbb_.CreateVector(sizes);
    tensors_.push_back(fb::CreateTensor(fbb_, name, shape, *version_.number_of(type.dtype), data,
                                        !variable_name.IsNull(), false, variable_name));
  }

  Status add_tensor(const Value& value) {
    TOSAIC_CHECK_OK(check_type(value, value.is_input() ? "input" : "result"));
    if (value.dtype() == DType::kShape) {
      return error(Code::kUnsupportedFeature, "{} is a shape that is no constant", shown(value));
    }
    add_tensor(new_name(value), value.type());
    return ok();
  }

  // Variables.

  Status add_variables() {
    std::unordered_set<std::string_view> used;
    for (const Node& node : graph_.nodes()) {
      if (is_of_variable(node) && !node.is(variable)) used.insert(variable_name(node));
    }
    for (const FileVariable& variable : variables_) {
      const bool is_first = variable.first == &graph_;
      if (!is_first && !used.contains(variable.name)) continue;
      const TensorType type = variable_type(*variable.declaration);
      if (!version_.number_of(type.dtype)) {
        return error(Code::kUnsupportedFeature, "variable \"{}\" has type {}, which {} lacks",
                     variable.name, dtype_name(type.dtype), version_.name());
      }
      names_.unique(variable.tensor);
      const Name tensor = fbb_.CreateString(variable.tensor);
      const Value* initial = is_first ? variable.declaration->operand(0) : nullptr;
      Offset<flatbuffers::Vector<uint8_t>> data = 0;
      if (initial != nullptr) data = store(*initial->constant(), fbb_);
      add_tensor(tensor, type, data, fbb_.CreateString(variable.name));
      variable_tensors_.emplace(variable.name, tensor);
    }
    return ok();
  }

  /// Reads and writes are copies from and to the variable's tensor, which every tool understands;
  /// operators of their own came with 1.0.
  Status add_access(const Node& node) {
    if (node.is(variable)) return ok();
    const Name tensor = variable_tensors_.at(variable_name(node));
    const StoredOp& copy = *version_.stored(identity);
    const auto table = empty_table(copy);
    if (node.is(variable_write)) {
      add_operator(copy, table, {name_of(*node.operand(0))}, {tensor}, add_location(node));
      return ok();
    }
    if (Status s = add_tensor(node.result()); !s) return s;
    add_operator(copy, table, {tensor}, {name_of(node.result())}, add_location(node));
    return ok();
  }

  // Constants.

  /// Fills constants_ with those that are tensors (or shape values) in this version; others are
  /// fields of the operators that use them.
  void find_tensor_constants() {
    const auto is_tensor = [this](const Use& use) {
      if (use.user().is(variable)) return false;
      const StoredOp* stored = version_.stored(use.user().op());
      return stored == nullptr || stored->is_input(static_cast<size_t>(use.index()));
    };
    for (const Value* value : graph_.constants()) {
      const Use* use = value->first_use();
      while (use != nullptr && !is_tensor(*use))
        use = use->next();
      if (use != nullptr) constants_.push_back(value);
    }
  }

  /// Fills first_equal_. Contents are only read when two constants have one type.
  void find_equal_constants() {
    const auto type_key = [](const Value* v) {
      return to_string(TensorType{v->dtype(), v->shape()});
    };
    std::unordered_map<std::string, int> num_of_type;
    for (const Value* value : constants_)
      ++num_of_type[type_key(value)];
    std::unordered_multimap<uint64_t, const Value*> by_content;
    for (const Value* value : constants_) {
      if (num_of_type[type_key(value)] == 1) continue;
      const uint64_t hash = value->constant()->content_hash();
      const auto [begin, end] = by_content.equal_range(hash);
      const auto it = std::find_if(begin, end, [value](const auto& entry) {
        return entry.second->constant()->equals(*value->constant());
      });
      if (it == end) {
        by_content.emplace(hash, value);
      } else {
        first_equal_.emplace(value, it->second);
      }
    }
  }

  Status add_constant(const Value& value) {
    if (const auto it = first_equal_.find(&value); it != first_equal_.end()) {
      strings_.emplace(&value, name_of(*it->second));
      return ok();
    }
    TOSAIC_CHECK_OK(check_type(value, "constant"));
    const auto data = store(*value.constant(), fbb_);
    const Name name = new_name(value);
    if (value.dtype() == DType::kShape && version_.is_one()) {
      const auto rank = static_cast<uint32_t>(value.shape().num_elements());
      shapes_.push_back(fb::CreateShapeValue(fbb_, name, rank, data));
      add_operator(version_.constant_shape(), empty_table(version_.constant_shape()), {}, {name});
    } else {
      add_tensor(name, value.type(), data);
      add_operator(version_.constant(), empty_table(version_.constant()), {}, {name});
    }
    return ok();
  }

  // Operators.

  /// The table of an operator without attributes: from 1.0 on it has one.
  Offset<fb::Attributes> empty_table(const StoredOp& stored) {
    return stored.table == 0 ? Offset<fb::Attributes>(0) : fb::CreateAttributes(fbb_);
  }

  void add_operator(const StoredOp& stored, Offset<fb::Attributes> attributes, const Names& inputs,
                    const Names& outputs, Offset<fb::Location> location = 0) {
    const auto in = fbb_.CreateVector(inputs);
    const auto out = fbb_.CreateVector(outputs);
    operators_.push_back(
        fb::CreateOperator(fbb_, stored.number, stored.table, attributes, in, out, location));
  }

  Status add_node(const Node& node) {
    if (is_of_variable(node)) return add_access(node);
    const StoredOp* stored = version_.stored(node.op());
    if (stored == nullptr) {
      return error(Code::kUnsupportedFeature, "{} is no operation of {}", node.full_name(),
                   version_.name())
          .at(resolve(node.loc()));
    }
    auto fields = write_fields(node, *stored, version_, fbb_);
    if (!fields) return std::move(fields).error().at(resolve(node.loc()));
    Names inputs;
    for (const Use& use : node.operands()) {
      if (stored->is_input(static_cast<size_t>(use.index())))
        inputs.push_back(name_of(*use.value()));
    }
    Names outputs;
    for (const Value& result : node.results()) {
      if (Status s = add_tensor(result); !s) return std::move(s).error().at(resolve(node.loc()));
      outputs.push_back(name_of(result));
    }
    add_operator(*stored, *fields, inputs, outputs, add_location(node));
    return ok();
  }

  Offset<fb::Location> add_location(const Node& node) {
    if (!options_.locations || !version_.is_one() || node.loc() == nullptr) return 0;
    const Location where = resolve(node.loc());
    std::string text = where.file;
    if (where.line != 0) text += fmt::format(":{}", where.line);
    if (!where.scope.empty()) text += "/" + where.scope;
    return fb::CreateLocation(fbb_, fbb_.CreateString(text));
  }

  // Containers.

  Status add_outputs() {
    std::unordered_set<const Value*> seen;
    auto copy_name = copy_names_.begin();
    for (const Value* output : graph_.outputs()) {
      if (output->def() != nullptr && seen.insert(output).second) {
        outputs_.push_back(name_of(*output));
        continue;
      }
      if (output->dtype() == DType::kShape) {
        return error(Code::kUnsupportedFeature, "output {} is a shape", shown(*output));
      }
      const Name name = fbb_.CreateString(*copy_name++);
      add_tensor(name, output->type());
      const StoredOp& copy = *version_.stored(identity);
      add_operator(copy, empty_table(copy), {name_of(*output)}, {name});
      outputs_.push_back(name);
    }
    return ok();
  }

  Offset<fb::Block> finish(Name name) {
    Names inputs;
    for (const Value* input : graph_.inputs())
      inputs.push_back(name_of(*input));
    const auto operators = fbb_.CreateVector(operators_);
    const auto tensors = fbb_.CreateVector(tensors_);
    const auto in = fbb_.CreateVector(inputs);
    const auto out = fbb_.CreateVector(outputs_);
    Offset<flatbuffers::Vector<Offset<fb::ShapeValue>>> shapes = 0;
    if (version_.is_one()) shapes = fbb_.CreateVector(shapes_);
    return fb::CreateBlock(fbb_, name, operators, tensors, in, out, shapes);
  }

  const Graph& graph_;
  const FileVersion& version_;
  const WriteOptions& options_;
  std::span<const FileVariable> variables_;
  flatbuffers::FlatBufferBuilder& fbb_;
  NamePool names_;
  std::unordered_map<const Value*, std::string> texts_;  // of inputs and outputs
  std::vector<std::string> copy_names_;                  // of outputs that need an IDENTITY
  std::unordered_map<const Value*, Name> strings_;
  std::unordered_map<std::string_view, Name> variable_tensors_;
  std::vector<const Value*> constants_;  // that are written
  std::unordered_map<const Value*, const Value*> first_equal_;
  std::vector<Offset<fb::Operator>> operators_;
  std::vector<Offset<fb::Tensor>> tensors_;
  std::vector<Offset<fb::ShapeValue>> shapes_;
  Names outputs_;
};

}  // namespace

Expected<std::vector<std::byte>> write_flatbuffer(const Graph& graph, const TosaVersion& version,
                                                  const WriteOptions& options) {
  if (!FileVersion::is_known(version)) {
    return error(Code::kUnsupportedFeature, "TOSA {}.{}.{} is not written, only 0.80, 1.0 and 1.1",
                 version.major, version.minor, version.patch);
  }
  TOSAIC_TRY(const auto graphs, reachable(graph));
  uint64_t data_bytes = 0;
  size_t num_nodes = 0;
  for (const Graph* g : graphs) {
    data_bytes += constant_bytes(*g);
    num_nodes += g->num_nodes();
  }
  // What is not constant data takes some hundred bytes for a node.
  constexpr uint64_t kMaxDataBytes = FLATBUFFERS_MAX_BUFFER_SIZE - (uint64_t{1} << 28);
  if (data_bytes > kMaxDataBytes) {
    return error(Code::kUnsupportedFeature, "constants of {} bytes do not fit into a .tosa file",
                 data_bytes);
  }
  // A buffer of the right size is never copied to a larger one.
  constexpr size_t kContainerBytes = 4096;
  constexpr size_t kNodeBytes = 512;
  flatbuffers::FlatBufferBuilder fbb(data_bytes + kContainerBytes * graphs.size() +
                                     num_nodes * kNodeBytes);
  const FileVersion tables(version);
  const auto variables = find_file_variables(graphs);
  std::vector<Offset<fb::Region>> regions;
  for (const Graph* g : graphs) {
    const bool is_entry = g == &graph;
    WriteOptions own = options;
    if (!is_entry) own.num_constant_operators = nullptr;
    const Name name = fbb.CreateString(is_entry ? kMain : g->name());
    TOSAIC_TRY(const auto block, BlockWriter(*g, tables, own, variables, fbb).run(name));
    regions.push_back(fb::CreateRegion(fbb, name, fbb.CreateVector(&block, 1)));
  }
  const auto number =
      fb::CreateVersion(fbb, version.major, version.minor, version.patch, tables.is_draft());
  fb::FinishRootBuffer(fbb, fb::CreateRoot(fbb, number, fbb.CreateVector(regions)));
  const auto* begin = reinterpret_cast<const std::byte*>(fbb.GetBufferPointer());
  return std::vector<std::byte>(begin, begin + fbb.GetSize());
}

}  // namespace tosaic::tosa
