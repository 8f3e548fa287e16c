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
#include "tosa/fb_storage.h"
#include "tosa/flatbuffer.h"
#include "tosa/op.h"

namespace tosaic::tosa {
namespace {

using flatbuffers::Offset;
using Name = Offset<flatbuffers::String>;
using Names = std::vector<Name>;

constexpr size_t kDataAlignment = 16;
/// Operators above this number came with 1.1.
constexpr uint16_t kLastOpOf10 = static_cast<uint16_t>(fb::Op::CONST_SHAPE);

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

/// Bytes that the graph's constants take at most: equal ones are written once.
uint64_t constant_bytes(const Graph& graph) {
  uint64_t total = 0;
  for (const Value* value : graph.constants()) {
    const Constant& c = *value->constant();
    total += stored_bytes(c.dtype, static_cast<size_t>(c.shape.num_elements())) + kDataAlignment;
  }
  return total;
}

class Writer {
 public:
  Writer(const Graph& graph, const TosaVersion& version, const WriteOptions& options,
         uint64_t data_bytes)
      : graph_(graph),
        version_(version),
        options_(options),
        fbb_(data_bytes + kContainerBytes + graph.num_nodes() * kNodeBytes) {}

  Expected<std::vector<std::byte>> run() {
    name_inputs_and_outputs();
    for (const Value* input : graph_.inputs())
      TOSAIC_CHECK_OK(add_tensor(*input));
    find_equal_constants();
    for (const Value* value : graph_.constants())
      TOSAIC_CHECK_OK(add_constant(*value));
    if (options_.num_constant_operators != nullptr) {
      *options_.num_constant_operators = operators_.size();
    }
    for (const Node& node : graph_.nodes())
      TOSAIC_CHECK_OK(add_node(node));
    TOSAIC_CHECK_OK(add_outputs());
    finish();
    const auto* begin = reinterpret_cast<const std::byte*>(fbb_.GetBufferPointer());
    return std::vector<std::byte>(begin, begin + fbb_.GetSize());
  }

 private:
  // A buffer of the right size is never copied to a larger one.
  static constexpr size_t kContainerBytes = 4096;
  static constexpr size_t kNodeBytes = 512;

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
    if (!stored_dtype(value.dtype())) {
      return error(Code::kUnsupportedFeature, "{} {} has type {}, which TOSA {}.{} lacks", what,
                   shown(value), dtype_name(value.dtype()), version_.major, version_.minor);
    }
    for (const int64_t size : value.shape()) {
      if (size >= 0 && size <= std::numeric_limits<int32_t>::max()) continue;
      return error(Code::kDynamicShape, "{} {} has sizes {}, and TOSA needs 32-bit numbers", what,
                   shown(value), to_string(value.shape()));
    }
    return ok();
  }

  void add_tensor(Name name, const TensorType& type,
                  Offset<flatbuffers::Vector<uint8_t>> data = 0) {
    std::vector<int32_t> sizes;
    for (const int64_t size : type.shape)
      sizes.push_back(static_cast<int32_t>(size));
    const auto shape = fbb_.CreateVector(sizes);
    tensors_.push_back(fb::CreateTensor(fbb_, name, shape, *stored_dtype(type.dtype), data));
  }

  Status add_tensor(const Value& value) {
    TOSAIC_CHECK_OK(check_type(value, value.is_input() ? "input" : "result"));
    if (value.dtype() == DType::kShape) {
      return error(Code::kUnsupportedFeature, "{} is a shape that is no constant", shown(value));
    }
    add_tensor(new_name(value), value.type());
    return ok();
  }

  // Constants.

  /// Fills first_equal_. Contents are only read when two constants have one type.
  void find_equal_constants() {
    const std::vector<Value*> all = graph_.constants();
    const auto type_key = [](const Value* v) {
      return to_string(TensorType{v->dtype(), v->shape()});
    };
    std::unordered_map<std::string, int> num_of_type;
    for (const Value* value : all)
      ++num_of_type[type_key(value)];
    std::unordered_multimap<uint64_t, const Value*> by_content;
    for (const Value* value : all) {
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

  Offset<flatbuffers::Vector<uint8_t>> add_data(const Constant& constant) {
    const auto count = static_cast<size_t>(constant.shape.num_elements());
    const size_t num_bytes = stored_bytes(constant.dtype, count);
    fbb_.ForceVectorAlignment(num_bytes, 1, kDataAlignment);
    uint8_t* to = nullptr;
    const auto data = fbb_.CreateUninitializedVector<uint8_t>(num_bytes, &to);
    store(constant, {reinterpret_cast<std::byte*>(to), num_bytes});
    return data;
  }

  Status add_constant(const Value& value) {
    if (const auto it = first_equal_.find(&value); it != first_equal_.end()) {
      strings_.emplace(&value, name_of(*it->second));
      return ok();
    }
    TOSAIC_CHECK_OK(check_type(value, "constant"));
    const auto data = add_data(*value.constant());
    const Name name = new_name(value);
    if (value.dtype() == DType::kShape) {
      const auto rank = static_cast<uint32_t>(value.shape().num_elements());
      shapes_.push_back(fb::CreateShapeValue(fbb_, name, rank, data));
      add_operator(fb::Op::CONST_SHAPE, no_attributes(), {}, {name});
    } else {
      add_tensor(name, value.type(), data);
      add_operator(fb::Op::CONST, no_attributes(), {}, {name});
    }
    return ok();
  }

  // Operators.

  Offset<fb::Attributes> no_attributes() { return fb::CreateAttributes(fbb_); }

  void add_operator(fb::Op number, Offset<fb::Attributes> attributes, const Names& inputs,
                    const Names& outputs, Offset<fb::Location> location = 0) {
    const auto in = fbb_.CreateVector(inputs);
    const auto out = fbb_.CreateVector(outputs);
    operators_.push_back(fb::CreateOperator(fbb_, number, static_cast<uint8_t>(number), attributes,
                                            in, out, location));
  }

  Status add_node(const Node& node) {
    if (node.op().dialect != Dialect::kTosa || spec(node.op()).number > kLastOpOf10) {
      return error(Code::kUnsupportedFeature, "{} is no operation of TOSA {}.{}", node.full_name(),
                   version_.major, version_.minor)
          .at(resolve(node.loc()));
    }
    auto attributes = add_attributes(node);
    if (!attributes) return std::move(attributes).error().at(resolve(node.loc()));
    Names inputs;
    for (const Use& use : node.operands())
      inputs.push_back(name_of(*use.value()));
    Names outputs;
    for (const Value& result : node.results()) {
      if (Status s = add_tensor(result); !s) return std::move(s).error().at(resolve(node.loc()));
      outputs.push_back(name_of(result));
    }
    add_operator(static_cast<fb::Op>(spec(node.op()).number), *attributes, inputs, outputs,
                 add_location(node));
    return ok();
  }

  Offset<fb::Location> add_location(const Node& node) {
    if (!options_.locations || node.loc() == nullptr) return 0;
    const Location where = resolve(node.loc());
    std::string text = where.file;
    if (where.line != 0) text += fmt::format(":{}", where.line);
    if (!where.scope.empty()) text += "/" + where.scope;
    return fb::CreateLocation(fbb_, fbb_.CreateString(text));
  }

  /// The table of the node's attributes. What lies outside of it (lists, strings) comes first.
  Expected<Offset<fb::Attributes>> add_attributes(const Node& node) {
    const FieldList& fields = spec(node.op()).attrs;
    std::array<flatbuffers::uoffset_t, kMaxFields> outside{};
    for (size_t i = 0; i < fields.count; ++i) {
      TOSAIC_TRY(outside[i], add_outside(node, fields.fields[i]));
    }
    const auto start = fbb_.StartTable();
    for (size_t i = 0; i < fields.count; ++i) {
      const Attr& attr = *node.attr(fields.fields[i].name);
      if (outside[i] != 0) {
        fbb_.AddOffset(field_id(i), Offset<void>(outside[i]));
      } else {
        add_number(field_id(i), fields.fields[i].kind, attr);
      }
    }
    return Offset<fb::Attributes>(fbb_.EndTable(start));
  }

  /// 0 for fields that are numbers.
  Expected<flatbuffers::uoffset_t> add_outside(const Node& node, const AttrField& field) {
    const Attr& attr = *node.attr(field.name);
    switch (field.kind) {
      case FieldKind::kInts32: {
        std::vector<int32_t> values;
        for (const int64_t v : attr.as_ints())
          values.push_back(static_cast<int32_t>(v));
        return fbb_.CreateVector(values).o;
      }
      case FieldKind::kScalar:
        return add_scalar(attr, node.operand(0)->dtype());
      case FieldKind::kString:
        return fbb_.CreateString(attr.as_string()).o;
      case FieldKind::kBytes: {
        const std::string_view text = attr.as_string();
        return fbb_.CreateVector(reinterpret_cast<const uint8_t*>(text.data()), text.size()).o;
      }
      case FieldKind::kGraph:
        return error(Code::kUnsupportedFeature,
                     "{}: a .tosa file is written with one graph, so @{} has no place",
                     node.full_name(), attr.as_string());
      case FieldKind::kDType:
        if (!stored_dtype(attr.as_dtype())) {
          return error(Code::kUnsupportedFeature, "{}: {} is {}, which TOSA {}.{} lacks",
                       node.full_name(), field.name, dtype_name(attr.as_dtype()), version_.major,
                       version_.minor);
        }
        return flatbuffers::uoffset_t{0};
      default:
        return flatbuffers::uoffset_t{0};
    }
  }

  flatbuffers::uoffset_t add_scalar(const Attr& attr, DType dtype) {
    Module module;
    if (attr.kind() == Attr::Kind::kInt && !is_float(dtype)) {
      const int64_t value = attr.as_int();
      return add_data(module.constant_ints(dtype, Shape{}, {&value, 1})).o;
    }
    const double value = attr.as_real();
    return add_data(module.constant_floats(dtype, Shape{}, {&value, 1})).o;
  }

  void add_number(flatbuffers::voffset_t id, FieldKind kind, const Attr& attr) {
    switch (kind) {
      case FieldKind::kInt32:
        return fbb_.AddElement(id, static_cast<int32_t>(attr.as_int()), 0);
      case FieldKind::kBool:
        return fbb_.AddElement<uint8_t>(id, attr.as_bool() ? 1 : 0, 0);
      case FieldKind::kDType:
        return add_enum(id, *stored_dtype(attr.as_dtype()));
      case FieldKind::kNanMode:
        return add_enum(id, parse_nan_mode(attr.as_string()));
      case FieldKind::kRoundingMode:
        return add_enum(id, parse_rounding_mode(attr.as_string()));
      case FieldKind::kResizeMode:
        return add_enum(id, parse_resize_mode(attr.as_string()));
      default:
        TOSAIC_CHECK(false, "a field that lies outside of the table");
    }
  }

  template <typename Enum>
  void add_enum(flatbuffers::voffset_t id, Enum value) {
    fbb_.AddElement(id, static_cast<uint32_t>(value), uint32_t{0});
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
      add_operator(fb::Op::IDENTITY, no_attributes(), {name_of(*output)}, {name});
      outputs_.push_back(name);
    }
    return ok();
  }

  void finish() {
    Names inputs;
    for (const Value* input : graph_.inputs())
      inputs.push_back(name_of(*input));
    const auto operators = fbb_.CreateVector(operators_);
    const auto tensors = fbb_.CreateVector(tensors_);
    const auto in = fbb_.CreateVector(inputs);
    const auto out = fbb_.CreateVector(outputs_);
    const auto shapes = fbb_.CreateVector(shapes_);
    const Name name = fbb_.CreateString("main");
    const auto block = fb::CreateBlock(fbb_, name, operators, tensors, in, out, shapes);
    const auto region = fb::CreateRegion(fbb_, name, fbb_.CreateVector(&block, 1));
    const auto version =
        fb::CreateVersion(fbb_, version_.major, version_.minor, version_.patch, false);
    const auto regions = fbb_.CreateVector(&region, 1);
    fb::FinishRootBuffer(fbb_, fb::CreateRoot(fbb_, version, regions));
  }

  const Graph& graph_;
  const TosaVersion version_;
  const WriteOptions options_;
  flatbuffers::FlatBufferBuilder fbb_;
  NamePool names_;
  std::unordered_map<const Value*, std::string> texts_;  // of inputs and outputs
  std::vector<std::string> copy_names_;                  // of outputs that need an IDENTITY
  std::unordered_map<const Value*, Name> strings_;
  std::unordered_map<const Value*, const Value*> first_equal_;
  std::vector<Offset<fb::Operator>> operators_;
  std::vector<Offset<fb::Tensor>> tensors_;
  std::vector<Offset<fb::ShapeValue>> shapes_;
  Names outputs_;
};

}  // namespace

Expected<std::vector<std::byte>> write_flatbuffer(const Graph& graph, const TosaVersion& version,
                                                  const WriteOptions& options) {
  if (version.major != 1 || version.minor != 0 || version.patch < 0) {
    return error(Code::kUnsupportedFeature, "TOSA {}.{}.{} is not written, only 1.0.x",
                 version.major, version.minor, version.patch);
  }
  const uint64_t data_bytes = constant_bytes(graph);
  // What is not constant data takes some hundred bytes for a node.
  constexpr uint64_t kMaxDataBytes = FLATBUFFERS_MAX_BUFFER_SIZE - (uint64_t{1} << 28);
  if (data_bytes > kMaxDataBytes) {
    return error(Code::kUnsupportedFeature, "constants of {} bytes do not fit into a .tosa file",
                 data_bytes);
  }
  return Writer(graph, version, options, data_bytes).run();
}

}  // namespace tosaic::tosa
