// SPDX-License-Identifier: Apache-2.0
// Reads TOSA flatbuffers. FlatBuffers' verifier answers for the containers; each operator's table
// of attributes is checked here, field by field as its definition says. Then names are resolved,
// operators sorted, and the graph is built and verified.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "ir/verify.h"
#include "tosa/fb_storage.h"
#include "tosa/flatbuffer.h"
#include "tosa/op.h"

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
/// A union type is a byte, so no operator has a higher number.
constexpr size_t kNumOperators = 256;

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
  const fb::ShapeValue* shape = nullptr;
  bool is_input = false;
  size_t producer = kNoOperator;
  TensorType type;
  Value* value = nullptr;  // once it is made
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
         const std::string& file_name)
      : bytes_(bytes), owner_(std::move(owner)), file_name_(file_name) {
    for (const OpDef* op : all_ops()) {
      if (op->dialect == Dialect::kTosa) definitions_.at(spec(*op).number) = op;
    }
  }

  Expected<std::unique_ptr<Module>> run() {
    module_ = std::make_unique<Module>();
    TOSAIC_CHECK_OK(find_block());
    TOSAIC_CHECK_OK(declare_tensors());
    TOSAIC_CHECK_OK(declare_shapes());
    TOSAIC_CHECK_OK(find_producers());
    graph_ = &module_->add_graph("main", Dialect::kTosa);
    TOSAIC_CHECK_OK(add_inputs());
    TOSAIC_CHECK_OK(sort_operators());
    for (const size_t index : order_)
      TOSAIC_CHECK_OK(add_node(index));
    TOSAIC_CHECK_OK(add_outputs());
    if (Status status = verify(*module_); !status) {
      Diagnostic d = std::move(status).error();
      if (d.where.file.empty()) d.where.file = file_name_;
      return d;
    }
    return std::move(module_);
  }

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

  Status find_block() {
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
    TOSAIC_CHECK_OK(check_version(root.version()));
    if (size_of(root.regions()) != 1) {
      return fail("has {} regions, and only files with one are read", size_of(root.regions()));
    }
    const auto* blocks = root.regions()->Get(0)->blocks();
    if (size_of(blocks) != 1) {
      return fail("has {} blocks, and only files with one are read", size_of(blocks));
    }
    block_ = blocks->Get(0);
    return ok();
  }

  Status check_version(const fb::Version* version) const {
    if (version == nullptr) return fail("does not say which TOSA version it has");
    const int major = version->number_major();
    const int minor = version->number_minor();
    if (major == 1 && (minor == 0 || minor == 1)) return ok();
    return fail(
        "has TOSA version {}.{}.{}, and 1.0 is read (1.1 where it uses nothing that 1.0 lacks)",
        major, minor, version->number_patch());
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
      TOSAIC_CHECK_OK(read_type(tensor, i, entry->type));
    }
    return ok();
  }

  Status read_type(const fb::Tensor& tensor, size_t index, TensorType& type) const {
    const auto name = view(tensor.name());
    type.dtype = dtype_of(tensor.type());
    if (type.dtype == DType::kUnknown || type.dtype == DType::kShape) {
      return fail("tensor {} '{}' has type number {}, which is no tensor type of TOSA 1.0", index,
                  name, static_cast<uint32_t>(tensor.type()));
    }
    if (tensor.variable()) return fail("tensor {} '{}' is a variable", index, name);
    if (tensor.is_unranked()) return fail("tensor {} '{}' has no rank", index, name);
    if (tensor.offset() > 1) {
      return fail("tensor {} '{}' has its data outside of the flatbuffer", index, name);
    }
    const size_t rank = size_of(tensor.shape());
    if (rank > kMaxTensorRank) {
      return fail("tensor {} '{}' has rank {}, and TOSA allows {}", index, name, rank,
                  kMaxTensorRank);
    }
    std::array<int64_t, kMaxTensorRank> sizes{};
    uint64_t num_bytes = element_bytes(type.dtype);
    for (size_t axis = 0; axis < rank; ++axis) {
      const int32_t size = tensor.shape()->Get(static_cast<uint32_t>(axis));
      if (size < 1) {
        return fail("tensor {} '{}' has size {} along axis {}, and TOSA needs 1 or more", index,
                    name, size, axis);
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

  /// "operator 3 (tosa.conv2d)"; for kNoOperator the graph's own inputs and outputs.
  std::string shown(size_t index) const {
    if (index == kNoOperator) return "the graph";
    const fb::Op number = op_at(index).op();
    if (number == fb::Op::CONST) return fmt::format("operator {} (CONST)", index);
    if (number == fb::Op::CONST_SHAPE) return fmt::format("operator {} (CONST_SHAPE)", index);
    const OpDef* op = definition(number);
    return op == nullptr
               ? fmt::format("operator {} (number {})", index, static_cast<uint32_t>(number))
               : fmt::format("operator {} (tosa.{})", index, op->name);
  }

  /// nullptr when there is none.
  const OpDef* definition(fb::Op number) const {
    const auto index = static_cast<size_t>(number);
    return index < definitions_.size() ? definitions_[index] : nullptr;
  }

  Status find_producers() {
    for (size_t i = 0; i < size_of(block_->inputs()); ++i) {
      const auto name = view(block_->inputs()->Get(static_cast<uint32_t>(i)));
      TOSAIC_TRY(Entry * entry, find(name, kNoOperator));
      if (entry->tensor == nullptr) return fail("input '{}' is a shape", name);
      if (entry->is_input) return fail("input '{}' stands twice", name);
      entry->is_input = true;
    }
    for (size_t index = 0; index < size_of(block_->operators()); ++index) {
      const Strings* outputs = op_at(index).outputs();
      for (size_t i = 0; i < size_of(outputs); ++i) {
        TOSAIC_TRY(Entry * entry, find(view(outputs->Get(static_cast<uint32_t>(i))), index));
        if (entry->is_input) {
          return fail("{}: gives '{}', which is an input", shown(index), entry->name);
        }
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
    if (entry->value != nullptr) return entry->value;
    const Bytes* data = entry->tensor != nullptr ? entry->tensor->data() : entry->shape->data();
    if (size_of(data) == 0 && entry->type.shape.num_elements() > 0) {
      return fail("{}: nothing gives '{}' a value", shown(user), name);
    }
    TOSAIC_TRY(const Constant* constant, read_constant(entry->type, span_of(data), name));
    entry->value = &graph_->add_constant(*constant);
    return entry->value;
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
    if (op.op() == fb::Op::CONST || op.op() == fb::Op::CONST_SHAPE) return add_constant(index);
    const OpDef* op_definition = definition(op.op());
    if (op_definition == nullptr) return fail("{}: is not supported", shown(index));
    TOSAIC_CHECK_OK(check_union(index));
    std::vector<Value*> operands;
    for (size_t i = 0; i < size_of(op.inputs()); ++i) {
      const auto name = view(op.inputs()->Get(static_cast<uint32_t>(i)));
      TOSAIC_TRY(Value * value, value_of(name, index));
      operands.push_back(value);
    }
    std::vector<Entry*> results;
    std::vector<TensorType> types;
    for (size_t i = 0; i < size_of(op.outputs()); ++i) {
      results.push_back(&by_name_.find(view(op.outputs()->Get(static_cast<uint32_t>(i))))->second);
      types.push_back(results.back()->type);
    }
    TOSAIC_TRY(const std::vector<NamedAttr> attrs,
               read_attributes(index, *op_definition, operands));
    const Node& node = graph_->insert({.op = op_definition,
                                       .operands = operands,
                                       .results = types,
                                       .attrs = attrs,
                                       .loc = location(index)});
    for (size_t i = 0; i < results.size(); ++i) {
      results[i]->value = &node.result(static_cast<int>(i));
    }
    return ok();
  }

  /// Made here and not at its first use, so that constants keep their order.
  Status add_constant(size_t index) {
    const fb::Operator& op = op_at(index);
    TOSAIC_CHECK_OK(check_union(index));
    const bool is_shape = op.op() == fb::Op::CONST_SHAPE;
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

  /// Every operator of 1.x has a table whose union type is the operator's number. One without
  /// fields may be left out: it says nothing.
  Status check_union(size_t index) const {
    const fb::Operator& op = op_at(index);
    const auto number = static_cast<uint32_t>(op.op());
    if (op.attribute_type() == number && op.attribute() != nullptr) return ok();
    const OpDef* op_definition = definition(op.op());
    const bool has_fields = op_definition != nullptr && spec(*op_definition).attrs.count > 0;
    if (op.attribute_type() == 0 && !has_fields) return ok();
    return fail("{}: its attributes are those of operator number {}", shown(index),
                op.attribute_type());
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

  // Attributes.

  Expected<std::vector<NamedAttr>> read_attributes(size_t index, const OpDef& op,
                                                   std::span<Value* const> operands) {
    std::vector<NamedAttr> attrs;
    const FieldList& fields = spec(op).attrs;
    const auto* table = reinterpret_cast<const flatbuffers::Table*>(op_at(index).attribute());
    for (size_t i = 0; i < fields.count; ++i) {
      const AttrField& field = fields.fields[i];
      const DType dtype = operands.empty() ? DType::kUnknown : operands[0]->dtype();
      Expected<Attr> attr = read_field(*table, field_id(i), field.kind, dtype);
      if (!attr) {
        Diagnostic d = std::move(attr).error();
        d.message = fmt::format("{}: attribute {}: {}", shown(index), field.name, d.message);
        return d;
      }
      attrs.push_back({field.name, *attr});
    }
    return attrs;
  }

  /// `dtype` is that of the first operand, whose values a scalar has.
  Expected<Attr> read_field(const flatbuffers::Table& table, flatbuffers::voffset_t id,
                            FieldKind kind, DType dtype) {
    switch (kind) {
      case FieldKind::kInt32: {
        TOSAIC_TRY(const int32_t value, number<int32_t>(table, id));
        return Attr::integer(value);
      }
      case FieldKind::kBool: {
        TOSAIC_TRY(const uint8_t value, number<uint8_t>(table, id));
        return Attr::boolean(value != 0);
      }
      case FieldKind::kDType: {
        TOSAIC_TRY(const uint32_t value, number<uint32_t>(table, id));
        const DType type = dtype_of(static_cast<fb::DType>(value));
        if (type == DType::kUnknown) return fail("{} is no type number of TOSA 1.0", value);
        return Attr::dtype(type);
      }
      case FieldKind::kNanMode:
        return mode<NanMode>(table, id, NanMode::kIgnore);
      case FieldKind::kRoundingMode:
        return mode<RoundingMode>(table, id, RoundingMode::kDouble);
      case FieldKind::kResizeMode:
        return mode<ResizeMode>(table, id, ResizeMode::kBilinear);
      case FieldKind::kInts32: {
        TOSAIC_TRY(const auto* list, vector<int32_t>(table, id));
        if (list == nullptr) return Attr::ints({});
        const std::span<int64_t> values = module_->arena().make_span<int64_t>(list->size());
        std::copy(list->begin(), list->end(), values.begin());
        return Attr::ints(values);
      }
      case FieldKind::kScalar: {
        TOSAIC_TRY(const auto* bytes, vector<uint8_t>(table, id));
        return scalar(span_of(bytes), dtype);
      }
      case FieldKind::kBytes: {
        TOSAIC_TRY(const auto* bytes, vector<uint8_t>(table, id));
        const auto span = span_of(bytes);
        return Attr::string({reinterpret_cast<const char*>(span.data()), span.size()});
      }
      case FieldKind::kGraph: {
        TOSAIC_TRY(const auto* text, vector<char>(table, id));
        return Attr::graph({text == nullptr ? nullptr : text->data(), size_of(text)});
      }
      case FieldKind::kString: {
        TOSAIC_TRY(const auto* text, vector<char>(table, id));
        return Attr::string({text == nullptr ? nullptr : text->data(), size_of(text)});
      }
    }
    return fail("has a kind that is not read");
  }

  flatbuffers::Verifier verifier() const {
    return {reinterpret_cast<const uint8_t*>(bytes_.data()), bytes_.size()};
  }

  template <typename T>
  Expected<T> number(const flatbuffers::Table& table, flatbuffers::voffset_t id) const {
    if (!table.VerifyField<T>(verifier(), id, sizeof(T))) {
      return damaged("leads out of the file");
    }
    return table.GetField<T>(id, 0);
  }

  /// nullptr when the field is absent.
  template <typename T>
  Expected<const flatbuffers::Vector<T>*> vector(const flatbuffers::Table& table,
                                                 flatbuffers::voffset_t id) const {
    if (!table.VerifyOffset(verifier(), id)) return damaged("leads out of the file");
    const auto* list = table.GetPointer<const flatbuffers::Vector<T>*>(id);
    if (!verifier().VerifyVector(list)) return damaged("leads out of the file");
    return list;
  }

  template <typename Mode>
  Expected<Attr> mode(const flatbuffers::Table& table, flatbuffers::voffset_t id, Mode last) const {
    TOSAIC_TRY(const uint32_t value, number<uint32_t>(table, id));
    if (value == 0 || value > static_cast<uint32_t>(last)) {
      return fail("has the value {}, and 1 to {} are known", value, static_cast<uint32_t>(last));
    }
    return Attr::string(name(static_cast<Mode>(value)));
  }

  Expected<Attr> scalar(std::span<const std::byte> bytes, DType dtype) {
    if (!is_integer(dtype) && !is_float(dtype)) {
      return fail("a {} operand has no such numbers", dtype_name(dtype));
    }
    TOSAIC_TRY(const Constant* constant,
               read_constant({dtype, Shape{}, nullptr}, bytes, "the number"));
    if (is_float(dtype)) return Attr::real(float_values(*constant)[0]);
    return Attr::integer(int_values(*constant)[0]);
  }

  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  const std::string& file_name_;
  std::unique_ptr<Module> module_;
  Graph* graph_ = nullptr;
  const fb::Block* block_ = nullptr;
  std::unordered_map<std::string_view, Entry> by_name_;
  std::vector<size_t> order_;
  std::array<const OpDef*, kNumOperators> definitions_{};  // by number
};

}  // namespace

Expected<std::unique_ptr<Module>> read_flatbuffer(std::span<const std::byte> bytes,
                                                  std::shared_ptr<const void> owner,
                                                  const std::string& file_name) {
  return Reader(bytes, std::move(owner), file_name).run();
}

}  // namespace tosaic::tosa
