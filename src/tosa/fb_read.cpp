// SPDX-License-Identifier: Apache-2.0
// Reads TOSA flatbuffers. FlatBuffers' verifier answers for the containers; each operator's table
// of attributes is checked here, field by field as its definition says. Then names are resolved,
// operators sorted, and the graph is built and verified.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "ir/verify.h"
#include "tosa/fb_fields.h"
#include "tosa/fb_storage.h"
#include "tosa/fb_version.h"
#include "tosa/flatbuffer.h"
#include "tosa/ops.h"
#include "tosa/ops/control_flow.h"
#include "tosa/ops/custom.h"
#include "tosa/ops/variables.h"

namespace tosaic::tosa {
namespace {

using Bytes = flatbuffers::Vector<uint8_t>;
using Strings = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;

/// Flatbuffers align numbers relative to their beginning, so that must be aligned too.
constexpr size_t kBufferAlignment = 16;
constexpr flatbuffers::uoffset_t kMaxDepth = 16;
/// The level's limits (tosa::Level), which must hold before a Shape can be made.
constexpr size_t kMaxTensorRank = 6;
constexpr uint64_t kMaxTensorBytes = (uint64_t{1} << 32) - 1;
/// Of a shape value; PAD needs 2 * 6.
constexpr uint32_t kMaxShapeRank = 32;
constexpr size_t kNoOperator = SIZE_MAX;
/// The operation of 0.80 that 1.0 has no counterpart of.
constexpr std::string_view kFullyConnected = "fully_connected";

std::string_view view(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

template <typename T>
size_t size_of(const flatbuffers::Vector<T>* vector) {
  return vector == nullptr ? 0 : vector->size();
}

std::span<const std::byte> span_of(const Bytes* bytes) {
  if (bytes == nullptr) return {};
  return {reinterpret_cast<const std::byte*>(bytes->data()), bytes->size()};
}

/// A name of the block: a tensor or a shape value.
struct Entry {
  std::string_view name;
  const fb::Tensor* tensor = nullptr;
  std::string_view variable;  // of which the tensor is; empty: none
  const fb::ShapeValue* shape = nullptr;
  bool is_input = false;
  bool is_unsigned = false;  // UINT8 and UINT16 of 0.80: signed here, and RESCALE knows
  size_t producer = kNoOperator;
  TensorType type;
  Value* value = nullptr;  // once it is made
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
         const std::string& file_name)
      : bytes_(bytes), owner_(std::move(owner)), file_name_(file_name) {}

  Expected<std::unique_ptr<Module>> run() {
    module_ = std::make_unique<Module>();
    TOSAIC_CHECK_OK(find_blocks());
    TOSAIC_CHECK_OK(declare_variables());
    for (const auto& [graph, block] : blocks_) {
      graph_ = graph;
      block_ = block;
      TOSAIC_CHECK_OK(read_block());
    }
    if (Status status = verify(*module_); !status) {
      Diagnostic d = std::move(status).error();
      if (d.where.file.empty()) d.where.file = file_name_;
      return d;
    }
    return std::move(module_);
  }

  const TosaVersion& version() const { return version_->number(); }  ///< after run()

 private:
  template <typename... Args>
  Diagnostic fail(fmt::format_string<Args...> format, Args&&... args) const {
    return error(Code::kTosaContent, format, std::forward<Args>(args)...)
        .at({.file = file_name_, .line = 0, .source = {}, .scope = {}});
  }

  Diagnostic damaged(std::string_view what) const {
    return error(Code::kFlatbuffer, "{}", what)
        .at({.file = file_name_, .line = 0, .source = {}, .scope = {}});
  }

  // The containers.

  /// Bytes that lie as numbers need it; copied when they do not.
  void align() {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.data());
    if (address % kBufferAlignment != 0) {
      auto* copy = module_->arena().allocate(bytes_.size(), kBufferAlignment);
      std::memcpy(copy, bytes_.data(), bytes_.size());
      bytes_ = {static_cast<const std::byte*>(copy), bytes_.size()};
    } else if (owner_ != nullptr) {
      module_->keep_alive(owner_);
    }
  }

  Status find_blocks() {
    constexpr size_t kLeastBytes = 8;
    const auto* data = reinterpret_cast<const uint8_t*>(bytes_.data());
    if (bytes_.size() < kLeastBytes ||
        !flatbuffers::BufferHasIdentifier(data, fb::RootIdentifier())) {
      return damaged("is no TOSA flatbuffer: bytes 4 to 7 must be \"TOSA\"");
    }
    if (bytes_.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) {
      return damaged("has more than the 2 GiB of a flatbuffer");
    }
    align();
    data = reinterpret_cast<const uint8_t*>(bytes_.data());
    // A table and the offset that leads to it take 8 bytes; so shared tables cost no more time than
    // honest ones.
    const auto max_tables = static_cast<flatbuffers::uoffset_t>(bytes_.size() / 8 + 1);
    flatbuffers::Verifier verifier(data, bytes_.size(), kMaxDepth, max_tables);
    if (!fb::VerifyRootBuffer(verifier)) {
      return damaged("is truncated or damaged: an offset or a length leads out of the file");
    }
    const fb::Root& root = *fb::GetRoot(data);
    TOSAIC_CHECK_OK(read_version(root.version()));
    for (size_t i = 0; i < size_of(root.regions()); ++i) {
      const fb::Region& region = *root.regions()->Get(static_cast<uint32_t>(i));
      for (size_t k = 0; k < size_of(region.blocks()); ++k)
        TOSAIC_CHECK_OK(declare_graph(region, k));
    }
    if (blocks_.empty()) return fail("has no block");
    return ok();
  }

  /// Operators name regions, or blocks where a region has several. The first block is the program.
  Status declare_graph(const fb::Region& region, size_t index) {
    const fb::Block* block = region.blocks()->Get(static_cast<uint32_t>(index));
    const std::string_view own_name =
        view(size_of(region.blocks()) == 1 ? region.name() : block->name());
    const std::string_view name = blocks_.empty() ? std::string_view("main") : own_name;
    if (name.empty()) return fail("block {} has no name", blocks_.size());
    if (module_->find_graph(name) != nullptr) {
      return fail("block {}: the name '{}' is used twice", blocks_.size(), name);
    }
    blocks_.emplace_back(&module_->add_graph(module_->intern(name), Dialect::kTosa), block);
    return ok();
  }

  /// A variable is a tensor that is marked so, in each block that uses it; one of them may hold the
  /// initial value. The program declares all.
  Status declare_variables() {
    std::unordered_map<std::string_view, Value*> initial;
    std::vector<Entry> variables;
    for (const auto& [graph, block] : blocks_) {
      for (size_t i = 0; i < size_of(block->tensors()); ++i) {
        const fb::Tensor& tensor = *block->tensors()->Get(static_cast<uint32_t>(i));
        if (!tensor.variable()) continue;
        Entry entry;
        entry.tensor = &tensor;
        TOSAIC_CHECK_OK(read_type(tensor, i, entry));
        if (entry.is_unsigned) return fail("variable '{}' has an unsigned type", entry.variable);
        const auto [it, is_new] = initial.try_emplace(entry.variable, nullptr);
        if (is_new) variables.push_back(entry);
        if (size_of(tensor.data()) == 0 || it->second != nullptr) continue;
        TOSAIC_TRY(const Constant* constant,
                   read_constant(entry.type, span_of(tensor.data()), view(tensor.name())));
        it->second = &blocks_.front().first->add_constant(*constant);
      }
    }
    for (const Entry& entry : variables) {
      const std::array<Value*, 1> operands = {initial.at(entry.variable)};
      std::vector<int64_t> sizes(entry.type.shape.begin(), entry.type.shape.end());
      const std::array<NamedAttr, 3> attrs = {
          NamedAttr{"name", Attr::string(entry.variable)},
          NamedAttr{"var_shape", Attr::ints(sizes)},
          NamedAttr{"type", Attr::dtype(entry.type.dtype)},
      };
      blocks_.front().first->insert({.op = &variable, .operands = operands, .attrs = attrs});
    }
    has_effects_ = !variables.empty() || has_custom();
    return ok();
  }

  bool has_custom() const {
    return std::ranges::any_of(blocks_, [this](const auto& entry) {
      const auto* operators = entry.second->operators();
      return operators != nullptr &&
             std::any_of(operators->begin(), operators->end(), [this](const fb::Operator* op) {
               const auto* stored = version_->by_number(op->op());
               return stored != nullptr && stored->op == &custom;
             });
    });
  }

  Status read_block() {
    by_name_.clear();
    order_.clear();
    TOSAIC_CHECK_OK(declare_tensors());
    TOSAIC_CHECK_OK(declare_shapes());
    TOSAIC_CHECK_OK(find_producers());
    TOSAIC_CHECK_OK(add_inputs());
    TOSAIC_CHECK_OK(sort_operators());
    for (const size_t index : order_)
      TOSAIC_CHECK_OK(add_node(index));
    return add_outputs();
  }

  Status read_version(const fb::Version* stored) {
    if (stored == nullptr) return fail("does not say which TOSA version it has");
    const TosaVersion version{stored->number_major(), stored->number_minor(),
                              stored->number_patch()};
    if (!FileVersion::is_known(version)) {
      return fail("has TOSA version {}.{}.{}, and 0.80, 1.0 and 1.1 are read", version.major,
                  version.minor, version.patch);
    }
    version_.emplace(version);
    return ok();
  }

  // Names.

  Expected<Entry*> declare(const flatbuffers::String* string, std::string_view what, size_t index) {
    const std::string_view name = view(string);
    if (name.empty()) return fail("{} {} has no name", what, index);
    const auto [it, is_new] = by_name_.try_emplace(name);
    if (!is_new) return fail("{} {}: the name '{}' is used twice", what, index, name);
    it->second.name = name;
    return &it->second;
  }

  Status declare_tensors() {
    for (size_t i = 0; i < size_of(block_->tensors()); ++i) {
      const fb::Tensor& tensor = *block_->tensors()->Get(static_cast<uint32_t>(i));
      TOSAIC_TRY(Entry * entry, declare(tensor.name(), "tensor", i));
      entry->tensor = &tensor;
      TOSAIC_CHECK_OK(read_type(tensor, i, *entry));
    }
    return ok();
  }

  Status read_type(const fb::Tensor& tensor, size_t index, Entry& entry) const {
    const auto name = view(tensor.name());
    TensorType& type = entry.type;
    type.dtype = version_->dtype(tensor.type());
    if (type.dtype == DType::kUnknown || type.dtype == DType::kShape) {
      return fail("tensor {} '{}' has type number {}, which is no supported tensor type of {}",
                  index, name, tensor.type(), version_->name());
    }
    entry.is_unsigned = type.dtype == DType::kU8 || type.dtype == DType::kU16;
    if (entry.is_unsigned) type.dtype = type.dtype == DType::kU8 ? DType::kI8 : DType::kI16;
    if (tensor.variable()) {
      const auto variable = view(tensor.variable_name());
      entry.variable = variable.empty() ? name : variable;
      if (entry.variable.empty()) return fail("tensor {} is a variable without a name", index);
    }
    if (tensor.is_unranked()) return fail("tensor {} '{}' has no rank", index, name);
    if (tensor.offset() > 1) {
      return fail("tensor {} '{}' has its data outside of the flatbuffer", index, name);
    }
    const size_t rank = size_of(tensor.shape());
    if (rank > kMaxTensorRank) {
      return error(Code::kVerifyLevel, "tensor {} '{}' has rank {}, and the level allows {}", index,
                   name, rank, kMaxTensorRank)
          .at({.file = file_name_, .line = 0, .source = {}, .scope = {}});
    }
    std::array<int64_t, kMaxTensorRank> sizes{};
    uint64_t num_bytes = element_bytes(type.dtype);
    for (size_t axis = 0; axis < rank; ++axis) {
      const int32_t size = tensor.shape()->Get(static_cast<uint32_t>(axis));
      if (size < 1) {
        return error(Code::kVerifyRank,
                     "tensor {} '{}' has size {} along axis {}, and TOSA needs 1 or more", index,
                     name, size, axis)
            .at({.file = file_name_, .line = 0, .source = {}, .scope = {}});
      }
      sizes[axis] = size;
      num_bytes *= static_cast<uint64_t>(size);
      if (num_bytes > kMaxTensorBytes) {
        return fail("tensor {} '{}' is larger than the 4 GiB that TOSA's level 8K allows", index,
                    name);
      }
    }
    type.shape = Shape(std::span(sizes).first(rank));
    return ok();
  }

  Status declare_shapes() {
    for (size_t i = 0; i < size_of(block_->shapes()); ++i) {
      const fb::ShapeValue& shape = *block_->shapes()->Get(static_cast<uint32_t>(i));
      TOSAIC_TRY(Entry * entry, declare(shape.name(), "shape", i));
      if (shape.rank() > kMaxShapeRank) {
        return fail("shape {} '{}' has {} numbers, and {} are allowed", i, entry->name,
                    shape.rank(), kMaxShapeRank);
      }
      entry->shape = &shape;
      entry->type = {DType::kShape, Shape{shape.rank()}, nullptr};
    }
    return ok();
  }

  Expected<Entry*> find(std::string_view name, size_t user) {
    const auto it = by_name_.find(name);
    if (it == by_name_.end()) return fail("{}: there is no tensor '{}'", shown(user), name);
    return &it->second;
  }

  const fb::Operator& op_at(size_t index) const {
    return *block_->operators()->Get(static_cast<uint32_t>(index));
  }

  /// "operator 3 (tosa.conv2d)", "operator 0 (CONST)"; for kNoOperator the graph's own inputs and
  /// outputs.
  std::string shown(size_t index) const {
    if (index == kNoOperator) return "the graph";
    const uint32_t number = op_at(index).op();
    const StoredOp* stored = version_->by_number(number);
    if (stored == nullptr) return fmt::format("operator {} (number {})", index, number);
    if (stored->op != nullptr) return fmt::format("operator {} (tosa.{})", index, stored->name);
    std::string name(stored->name);
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    });
    return fmt::format("operator {} ({})", index, name);
  }

  Status find_producers() {
    for (size_t i = 0; i < size_of(block_->inputs()); ++i) {
      const auto name = view(block_->inputs()->Get(static_cast<uint32_t>(i)));
      TOSAIC_TRY(Entry * entry, find(name, kNoOperator));
      if (entry->tensor == nullptr) return fail("input '{}' is a shape", name);
      if (entry->is_input) return fail("input '{}' stands twice", name);
      if (!entry->variable.empty()) return fail("input '{}' is a variable", name);
      entry->is_input = true;
    }
    for (size_t index = 0; index < size_of(block_->operators()); ++index) {
      const Strings* outputs = op_at(index).outputs();
      for (size_t i = 0; i < size_of(outputs); ++i) {
        TOSAIC_TRY(Entry * entry, find(view(outputs->Get(static_cast<uint32_t>(i))), index));
        if (entry->is_input) {
          return fail("{}: gives '{}', which is an input", shown(index), entry->name);
        }
        // A variable is no value: it may be written by many, and reads come in the order of the
        // file.
        if (!entry->variable.empty()) continue;
        if (entry->producer != kNoOperator) {
          return fail("{}: gives '{}', which operator {} gives as well", shown(index), entry->name,
                      entry->producer);
        }
        entry->producer = index;
      }
    }
    return ok();
  }

  // Order.

  /// Fills order_: the order of the file where that defines values before their uses, else each
  /// operator as late as its first user needs it.
  Status sort_operators() {
    enum class Mark : uint8_t { kNew, kOpen, kDone };
    struct Step {
      size_t index;
      size_t next_input;
    };
    const size_t count = size_of(block_->operators());
    std::vector<Mark> marks(count, Mark::kNew);
    std::vector<Step> open;
    for (size_t root = 0; root < count; ++root) {
      if (marks[root] != Mark::kNew) continue;
      open.push_back({root, 0});
      marks[root] = Mark::kOpen;
      while (!open.empty()) {
        Step& step = open.back();
        const Strings* inputs = op_at(step.index).inputs();
        if (step.next_input == size_of(inputs)) {
          marks[step.index] = Mark::kDone;
          order_.push_back(step.index);
          open.pop_back();
          continue;
        }
        const auto name = view(inputs->Get(static_cast<uint32_t>(step.next_input++)));
        TOSAIC_TRY(const Entry* entry, find(name, step.index));
        const size_t producer = entry->producer;
        if (producer == kNoOperator || marks[producer] == Mark::kDone) continue;
        if (marks[producer] == Mark::kOpen) {
          return fail("{}: needs '{}', which needs its result", shown(step.index), name);
        }
        marks[producer] = Mark::kOpen;
        open.push_back({producer, 0});
      }
    }
    return check_order_of_effects();
  }

  /// Whether an operator reads or writes variables or may do so.
  bool may_have_effects(size_t index) const {
    const fb::Operator& op = op_at(index);
    const StoredOp* stored = version_->by_number(op.op());
    const OpDef* def = stored == nullptr ? nullptr : stored->op;
    if (def == &custom) return true;
    if (has_effects_ && (def == &cond_if || def == &while_loop)) return true;
    const auto any_variable = [this](const Strings* names) {
      for (size_t i = 0; i < size_of(names); ++i) {
        const auto it = by_name_.find(view(names->Get(static_cast<uint32_t>(i))));
        if (it != by_name_.end() && !it->second.variable.empty()) return true;
      }
      return false;
    };
    return any_variable(op.inputs()) || any_variable(op.outputs());
  }

  Status check_order_of_effects() const {
    size_t last = 0;
    for (const size_t index : order_) {
      if (!may_have_effects(index)) continue;
      if (index < last) {
        return fail("{}: is needed before operator {}, and the order of the two matters",
                    shown(last), index);
      }
      last = index;
    }
    return ok();
  }

  // Values.

  Status add_inputs() {
    for (size_t i = 0; i < size_of(block_->inputs()); ++i) {
      Entry& entry = by_name_.find(view(block_->inputs()->Get(static_cast<uint32_t>(i))))->second;
      entry.value = &graph_->add_input(entry.type, module_->intern(entry.name));
    }
    return ok();
  }

  /// The value of a name. CONST operators are optional: a tensor with data is a constant too.
  Expected<Value*> value_of(std::string_view name, size_t user) {
    TOSAIC_TRY(Entry * entry, find(name, user));
    if (!entry->variable.empty()) return &read_variable(*entry, user);
    if (entry->value != nullptr) return entry->value;
    const Bytes* data = entry->tensor != nullptr ? entry->tensor->data() : entry->shape->data();
    if (size_of(data) == 0 && entry->type.shape.num_elements() > 0) {
      return fail("{}: nothing gives '{}' a value", shown(user), name);
    }
    TOSAIC_TRY(const Constant* constant, read_constant(entry->type, span_of(data), name));
    entry->value = &graph_->add_constant(*constant);
    return entry->value;
  }

  /// What a variable holds where the next node will stand.
  Value& read_variable(const Entry& entry, size_t user) {
    const NamedAttr name{"name", Attr::string(entry.variable)};
    return graph_
        ->insert({.op = &variable_read,
                  .results = {&entry.type, 1},
                  .attrs = {&name, 1},
                  .loc = user == kNoOperator ? nullptr : location(user)})
        .result();
  }

  /// Gives a result to what the file calls it: a value, or a variable.
  void set_result(Entry& entry, Value& value, size_t index) {
    if (entry.variable.empty()) {
      entry.value = &value;
      return;
    }
    const std::array<Value*, 1> operands = {&value};
    const NamedAttr name{"name", Attr::string(entry.variable)};
    graph_->insert(
        {.op = &variable_write, .operands = operands, .attrs = {&name, 1}, .loc = location(index)});
  }

  Expected<const Constant*> read_constant(const TensorType& type, std::span<const std::byte> data,
                                          std::string_view name) {
    const auto count = static_cast<size_t>(type.shape.num_elements());
    const size_t num_bytes = stored_bytes(type.dtype, count);
    if (data.size() < num_bytes) {
      return fail("'{}' has {} bytes of data, and {} needs {}", name, data.size(), to_string(type),
                  num_bytes);
    }
    data = data.first(num_bytes);
    if (type.dtype == DType::kBool &&
        std::any_of(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; })) {
      return fail("'{}' has a bool that is neither 0 nor 1", name);
    }
    if (!stored_as_in_memory(type.dtype)) {
      std::vector<std::byte> values(element_bytes(type.dtype) * count);
      unpack(type.dtype, data, values);
      return &module_->constant(type.dtype, type.shape, values);
    }
    if (reinterpret_cast<uintptr_t>(data.data()) % element_bytes(type.dtype) != 0) {
      return &module_->constant(type.dtype, type.shape, data);
    }
    const auto strides = contiguous_strides(type.shape);
    return &module_->constant_view(type.dtype, type.shape,
                                   std::span(strides).first(static_cast<size_t>(type.shape.rank())),
                                   data.data());
  }

  Status add_outputs() {
    std::vector<Value*> outputs;
    for (size_t i = 0; i < size_of(block_->outputs()); ++i) {
      const auto name = view(block_->outputs()->Get(static_cast<uint32_t>(i)));
      TOSAIC_TRY(Value * value, value_of(name, kNoOperator));
      if (value->dtype() == DType::kShape) return fail("output '{}' is a shape", name);
      if (value->name().empty()) value->set_name(module_->intern(name));
      outputs.push_back(value);
    }
    graph_->set_outputs(outputs);
    return ok();
  }

  // Operators.

  Status add_node(size_t index) {
    const fb::Operator& op = op_at(index);
    const StoredOp* stored = version_->by_number(op.op());
    if (stored == nullptr) return fail("{}: is not supported", shown(index));
    const bool is_constant =
        stored == &version_->constant() || stored == &version_->constant_shape();
    const bool is_fully_connected = stored->name == kFullyConnected;
    if (FileVersion::is_declaration(*stored)) return check_declaration(index, *stored);
    if (FileVersion::is_access(*stored) && (stored->op == nullptr || may_have_effects(index))) {
      return add_access(index, *stored);
    }
    if (stored->op == nullptr && !is_constant && !is_fully_connected) {
      return fail("{}: is not supported", shown(index));
    }
    TOSAIC_CHECK_OK(check_table(index, *stored));
    if (is_constant) return add_constant(index, *stored);
    Parts parts;
    TOSAIC_CHECK_OK(read_inputs(index, *stored, parts));
    TOSAIC_CHECK_OK(read_fields(index, *stored, parts));
    if (is_fully_connected) return add_fully_connected(index, parts);
    TOSAIC_CHECK_OK(complete(index, *stored, parts));
    const Node& node = graph_->insert({.op = stored->op,
                                       .operands = parts.operands,
                                       .results = parts.types,
                                       .attrs = parts.attrs,
                                       .loc = location(index)});
    for (size_t i = 0; i < parts.results.size(); ++i)
      set_result(*parts.results[i], node.result(static_cast<int>(i)), index);
    return ok();
  }

  /// VARIABLE says nothing that its tensor does not.
  Status check_declaration(size_t index, const StoredOp& stored) {
    TOSAIC_CHECK_OK(check_table(index, stored));
    const Strings* outputs = op_at(index).outputs();
    for (size_t i = 0; i < size_of(outputs); ++i) {
      const auto name = view(outputs->Get(static_cast<uint32_t>(i)));
      TOSAIC_TRY(const Entry* entry, find(name, index));
      if (entry->variable.empty()) return fail("{}: '{}' is no variable", shown(index), name);
    }
    return ok();
  }

  /// A copy between a variable and a value is a read or a write.
  Status add_access(size_t index, const StoredOp& stored) {
    TOSAIC_CHECK_OK(check_table(index, stored));
    const fb::Operator& op = op_at(index);
    if (size_of(op.inputs()) != 1 || size_of(op.outputs()) != 1) {
      return fail("{}: has {} inputs and {} outputs, and needs one and one", shown(index),
                  size_of(op.inputs()), size_of(op.outputs()));
    }
    if (!may_have_effects(index)) {
      return fail("{}: neither its input nor its output is a variable", shown(index));
    }
    TOSAIC_TRY(Value * value, value_of(view(op.inputs()->Get(0)), index));
    Entry& entry = by_name_.find(view(op.outputs()->Get(0)))->second;
    if (entry.tensor == nullptr) return fail("{}: '{}' is a shape", shown(index), entry.name);
    if (value->dtype() != entry.type.dtype || !(value->shape() == entry.type.shape)) {
      return fail("{}: copies {} to '{}', which is {}", shown(index), to_string(value->type()),
                  entry.name, to_string(entry.type));
    }
    set_result(entry, *value, index);
    return ok();
  }

  /// Made here and not at its first use, so that constants keep their order.
  Status add_constant(size_t index, const StoredOp& stored) {
    const fb::Operator& op = op_at(index);
    const bool is_shape = &stored == &version_->constant_shape();
    if (may_have_effects(index)) return fail("{}: gives a variable", shown(index));
    if (size_of(op.inputs()) != 0 || size_of(op.outputs()) != 1) {
      return fail("{}: has {} inputs and {} outputs, and needs none and one", shown(index),
                  size_of(op.inputs()), size_of(op.outputs()));
    }
    const Entry& entry = by_name_.find(view(op.outputs()->Get(0)))->second;
    if ((entry.shape != nullptr) != is_shape) {
      return fail("{}: '{}' is a {}", shown(index), entry.name, is_shape ? "tensor" : "shape");
    }
    TOSAIC_CHECK_OK(value_of(entry.name, index));
    return ok();
  }

  /// An operator's table must be that of its version. One without fields may be left out: it says
  /// nothing.
  Status check_table(size_t index, const StoredOp& stored) const {
    const fb::Operator& op = op_at(index);
    const bool is_right = op.attribute_type() == stored.table;
    if (is_right && (stored.table == 0 || op.attribute() != nullptr)) return ok();
    if (op.attribute_type() == 0 && stored.fields.empty()) return ok();
    return fail("{}: its attributes are of table {}, and {} has table {} there", shown(index),
                op.attribute_type(), version_->name(), stored.table);
  }

  /// What a node is made of. Operands that the version has as fields are nullptr at first.
  struct Parts {
    std::vector<Value*> operands;
    std::vector<Entry*> inputs;
    std::vector<Entry*> results;
    std::vector<TensorType> types;                          // of the results
    std::vector<NamedAttr> attrs;                           // in the definition's order
    std::vector<std::pair<std::string_view, Attr>> fields;  // by the definition's name
  };

  Status read_inputs(size_t index, const StoredOp& stored, Parts& parts) {
    const fb::Operator& op = op_at(index);
    for (size_t i = 0; i < size_of(op.inputs()); ++i) {
      const auto name = view(op.inputs()->Get(static_cast<uint32_t>(i)));
      while (!stored.is_input(parts.operands.size()))
        parts.operands.push_back(nullptr);
      TOSAIC_TRY(parts.operands.emplace_back(), value_of(name, index));
      parts.inputs.push_back(&by_name_.find(name)->second);
    }
    TOSAIC_CHECK_OK(check_num_inputs(index, stored, parts));
    for (size_t i = 0; i < size_of(op.outputs()); ++i) {
      Entry& entry = by_name_.find(view(op.outputs()->Get(static_cast<uint32_t>(i))))->second;
      parts.results.push_back(&entry);
      parts.types.push_back(entry.type);
    }
    return ok();
  }

  /// Where all operands are inputs, verification counts them.
  Status check_num_inputs(size_t index, const StoredOp& stored, const Parts& parts) const {
    if (stored.op == nullptr || stored.inputs == StoredOp().inputs) return ok();
    size_t wanted = 0;
    for (size_t i = 0; i < spec(*stored.op).operands.count; ++i)
      wanted += stored.is_input(i) ? 1 : 0;
    if (parts.inputs.size() == wanted) return ok();
    return fail("{}: has {} inputs and needs {}", shown(index), parts.inputs.size(), wanted);
  }

  Status read_fields(size_t index, const StoredOp& stored, Parts& parts) {
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(op_at(index).attribute());
    const DType dtype = parts.inputs.empty() ? DType::kUnknown : parts.inputs[0]->type.dtype;
    const FieldReader reader(bytes_, *version_, *module_);
    for (size_t i = 0; i < stored.fields.size(); ++i) {
      const AttrField& field = stored.fields[i];
      if (!stored.is_used(field)) continue;
      Expected<Attr> value = reader.read(*table, i, field.kind, dtype);
      if (!value) {
        Diagnostic d =
            fail("{}: attribute {}: {}", shown(index), field.name, value.error().message);
        d.code = value.error().code;
        return d;
      }
      if (!value->is_none()) parts.fields.emplace_back(field.name, *value);
    }
    return ok();
  }

  static const Attr* find_field(const Parts& parts, std::string_view name) {
    const auto it = std::find_if(parts.fields.begin(), parts.fields.end(),
                                 [&](const auto& field) { return field.first == name; });
    return it == parts.fields.end() ? nullptr : &it->second;
  }

  /// Makes the definition's attributes and operands of the fields.
  Status complete(size_t index, const StoredOp& stored, Parts& parts) {
    const OpSpec& s = spec(*stored.op);
    const DType result = parts.types.empty() ? DType::kUnknown : parts.types[0].dtype;
    for (const AttrField& field : s.attrs) {
      const Attr* attr = find_field(parts, field.name);
      parts.attrs.push_back({field.name, attr != nullptr ? *attr : unsaid_value(field, result)});
    }
    TOSAIC_CHECK_OK(mark_unsigned(index, stored, parts));
    for (size_t i = 0; i < s.operands.count; ++i) {
      if (stored.is_input(i)) continue;
      if (i >= parts.operands.size()) parts.operands.push_back(nullptr);
      TOSAIC_TRY(parts.operands[i], operand_of_field(index, *stored.op, i, parts));
    }
    return ok();
  }

  /// UINT8 and UINT16 are RESCALE's only.
  Status mark_unsigned(size_t index, const StoredOp& stored, Parts& parts) const {
    const auto mark = [&](const std::vector<Entry*>& entries, std::string_view name) -> Status {
      for (const Entry* entry : entries) {
        if (!entry->is_unsigned) continue;
        const auto it = std::find_if(parts.attrs.begin(), parts.attrs.end(),
                                     [&](const NamedAttr& attr) { return attr.name == name; });
        if (it == parts.attrs.end()) {
          return fail("{}: '{}' has an unsigned type, which only tosa.rescale takes and gives",
                      shown(index), entry->name);
        }
        it->value = Attr::boolean(true);
      }
      return ok();
    };
    if (stored.op == nullptr) return ok();
    TOSAIC_CHECK_OK(mark(parts.inputs, "input_unsigned"));
    return mark(parts.results, "output_unsigned");
  }

  /// Dtype of a type variable that no input or result has (TABLE's): that of the first signature in
  /// which the first input has its dtype.
  static DType signature_dtype(const OpSpec& s, uint8_t type, const Parts& parts) {
    const uint8_t known = s.operands[0].type;
    if (parts.inputs.empty() || known >= kAnyOperand) return DType::kUnknown;
    for (const Signature& signature : s.signatures) {
      if (signature.types[known] == parts.inputs[0]->type.dtype) return signature.types[type];
    }
    return DType::kUnknown;
  }

  /// Dtype of an operand that is a field: that of a type variable is what inputs or results have.
  static DType field_dtype(const OpDef& op, size_t operand, const Parts& parts) {
    const OpSpec& s = spec(op);
    switch (const uint8_t type = s.operands[operand].type) {
      case kI8Operand:
        return DType::kI8;
      case kShapeOperand:
        return DType::kShape;
      case kAnyOperand: {  // a multiplier
        const Attr* scale32 = find_attr(parts.attrs, "scale32");
        return scale32 != nullptr && scale32->as_bool() ? DType::kI32 : DType::kI16;
      }
      default:
        for (size_t i = 0; i < std::min<size_t>(parts.operands.size(), s.operands.count); ++i) {
          if (s.operands[i].type == type && parts.operands[i] != nullptr) {
            return parts.operands[i]->dtype();
          }
        }
        for (size_t i = 0; i < std::min<size_t>(parts.types.size(), s.results.count); ++i) {
          if (s.results[i].type == type) return parts.types[i].dtype;
        }
        return signature_dtype(s, type, parts);
    }
  }

  Expected<Value*> operand_of_field(size_t index, const OpDef& op, size_t operand,
                                    const Parts& parts) {
    const std::string_view name = spec(op).operands[operand].name;
    const Attr* attr = find_field(parts, name);
    const DType dtype = field_dtype(op, operand, parts);
    if (attr == nullptr || dtype == DType::kUnknown) {
      return fail("{}: nothing says which type {} has", shown(index), name);
    }
    return constant_of(index, name, *attr, dtype, is_unsigned_zero_point(parts.attrs, name));
  }

  Expected<Value*> constant_of(size_t index, std::string_view name, const Attr& attr, DType dtype,
                               bool is_unsigned) {
    if (is_float(dtype)) {
      const double value = attr.as_real();
      return &graph_->add_constant(module_->constant_floats(dtype, Shape{1}, {&value, 1}));
    }
    std::vector<int64_t> values;
    if (attr.kind() == Attr::Kind::kInts) {
      values.assign(attr.as_ints().begin(), attr.as_ints().end());
    } else {
      values.push_back(attr.as_int());
    }
    if (is_integer(dtype)) {
      const int64_t least = integer_min(dtype);
      const int64_t greatest = integer_max(dtype);
      const int64_t shift = is_unsigned ? -least : 0;
      for (int64_t& value : values) {
        if (value < least + shift || value > greatest + shift) {
          return fail("{}: attribute {}: {} is not in {} to {}", shown(index), name, value,
                      least + shift, greatest + shift);
        }
        if (value > greatest) value -= greatest - least + 1;
      }
    }
    const Shape shape{static_cast<int64_t>(values.size())};
    return &graph_->add_constant(module_->constant_ints(dtype, shape, values));
  }

  /// 0.80 only: a convolution of 1 x 1 pixels.
  Status add_fully_connected(size_t index, Parts& parts) {
    const auto has_rank = [](const Value& value, int rank) { return value.shape().rank() == rank; };
    if (parts.operands.size() != 3 || parts.results.size() != 1 ||
        !has_rank(*parts.operands[0], 2) || !has_rank(*parts.operands[1], 2)) {
      return fail("{}: must have an input and weights of rank 2, a bias and one result",
                  shown(index));
    }
    const Shape& in = parts.operands[0]->shape();
    const Shape& weight = parts.operands[1]->shape();
    const TensorType& result = parts.types[0];
    const Loc loc = location(index);
    const auto reshaped = [&](Value& value, DType dtype, const Shape& shape) -> Value* {
      const std::vector<int64_t> sizes(shape.begin(), shape.end());
      const Shape count{static_cast<int64_t>(sizes.size())};
      Value& target = graph_->add_constant(module_->constant_ints(DType::kShape, count, sizes));
      const std::array<Value*, 2> operands = {&value, &target};
      const TensorType type{dtype, shape, nullptr};
      return &graph_
                  ->insert(
                      {.op = &reshape, .operands = operands, .results = {&type, 1}, .loc = loc})
                  .result();
    };
    std::vector<Value*> operands = parts.operands;
    operands[0] = reshaped(*operands[0], operands[0]->dtype(), {in[0], 1, 1, in[1]});
    const Shape kernel{weight[0], 1, 1, weight[1]};
    operands[1] = operands[1]->is_constant()
                      ? &graph_->add_constant(module_->reshaped(*operands[1]->constant(), kernel))
                      : reshaped(*operands[1], operands[1]->dtype(), kernel);
    for (const size_t i : {0, 1}) {
      const auto& [name, attr] = parts.fields[i];
      TOSAIC_TRY(operands.emplace_back(),
                 constant_of(index, name, attr, operands[i]->dtype(), false));
    }
    Conv2dAttrs attrs;
    attrs.acc_type = result.dtype;
    const TensorType type{result.dtype, Shape{in[0], 1, 1, weight[0]}, nullptr};
    const Node& node = graph_->insert({.op = &conv2d,
                                       .operands = operands,
                                       .results = {&type, 1},
                                       .attrs = write_attrs(attrs, module_->arena()),
                                       .loc = loc});
    set_result(*parts.results[0], *reshaped(node.result(), result.dtype, result.shape), index);
    return ok();
  }

  /// The verifier has no line numbers of a .tosa file to show, but it can name the operator.
  Loc location(size_t index) {
    LocInfo* loc = module_->arena().make<LocInfo>();
    loc->file = module_->intern(file_name_);
    const fb::Location* stored = op_at(index).location();
    const std::string_view text = stored == nullptr ? std::string_view() : view(stored->text());
    loc->scope = module_->intern(text.empty() ? fmt::format("operator {}", index) : text);
    return loc;
  }

  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  const std::string& file_name_;
  std::unique_ptr<Module> module_;
  Graph* graph_ = nullptr;
  bool has_effects_ = false;  // of any block
  std::optional<FileVersion> version_;
  std::vector<std::pair<Graph*, const fb::Block*>> blocks_;
  const fb::Block* block_ = nullptr;  // the one that is being read
  std::unordered_map<std::string_view, Entry> by_name_;
  std::vector<size_t> order_;
};

}  // namespace

Expected<std::unique_ptr<Module>> read_flatbuffer(std::span<const std::byte> bytes,
                                                  std::shared_ptr<const void> owner,
                                                  const std::string& file_name,
                                                  TosaVersion* version) {
  Reader reader(bytes, std::move(owner), file_name);
  TOSAIC_TRY(auto module, reader.run());
  if (version != nullptr) *version = reader.version();
  return module;
}

}  // namespace tosaic::tosa
