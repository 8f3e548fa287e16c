// SPDX-License-Identifier: Apache-2.0
// Graphs from text IR: recursive descent over docs/ir.md. The text may come from anybody;
// everything that the graph classes check is checked here first.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <vector>

#include "ir/scanner.h"
#include "ir/text.h"

namespace tosaic {
namespace {

constexpr int64_t kMaxSymbol = 1 << 20;
constexpr size_t kMaxAttrs = 256;
/// A few characters can ask for any amount of memory with splat(…).
constexpr int64_t kMaxSplatBytes = int64_t{1} << 28;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

template <typename T>
void append_bytes(std::vector<std::byte>& out, T value) {
  const size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

/// Elements of one constant on their way from text to memory. Narrow floats are kept as doubles,
/// which Module::constant_floats() converts.
struct Elements {
  std::vector<std::byte> bytes;
  std::vector<double> narrow;
  int64_t count = 0;
};

bool is_narrow_float(DType dtype) {
  return is_float(dtype) && element_bytes(dtype) < 4;
}

/// What the text says about a value before the value exists.
struct Definition {
  std::string_view id;  ///< without %
  TensorType type;
  std::string_view name;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view file_name, Module& module)
      : in_(text, file_name), module_(module) {}

  Status parse() {
    while (!in_.at_end())
      TOSAIC_CHECK_OK(graph());
    return ok();
  }

 private:
  // graphs
  Status graph();
  Expected<std::string_view> graph_name();
  Status inputs(Graph& graph);
  Status statement(Graph& graph);
  Status constant(Graph& graph, std::string_view id, size_t begin);
  Status node(Graph& graph);
  Status return_statement(Graph& graph);

  // values
  Expected<std::string_view> value_id();
  Status rest_of_definition(Definition& definition);
  Status define(const Definition& definition, Value& value, size_t begin);
  Expected<Value*> use();
  Status operands(std::string_view end);
  Status operand_list();

  // types
  Status type(TensorType& type);
  Status shape(Shape& shape);
  Status quantisation(TensorType& type);

  // constants
  Status content(const TensorType& type, const Constant*& constant);
  Status hex_content(const TensorType& type, Elements& elements);
  Status splat_content(const TensorType& type, Elements& elements);
  Status listed_content(const TensorType& type, int depth, Elements& elements);
  Status element(DType dtype, Elements& elements);
  Status integer_element(DType dtype, Elements& elements);

  // attributes
  Status attributes(std::vector<NamedAttr>& attrs);
  Status attribute_value(Attr& value);
  Status number_value(std::string_view text, size_t begin, Attr& value);
  Status word_value(Attr& value);
  Status number_list(Attr& value, bool is_real);
  Status bool_list(Attr& value);
  Status rest_of_bool_list(Attr& value);
  Status location(Loc& loc);

  Diagnostic unknown_operator(std::string_view name, size_t begin) const;
  Diagnostic undefined_value(std::string_view id, size_t begin) const;

  Scanner in_;
  Module& module_;
  std::unordered_map<std::string_view, Value*> values_;  // of the graph being parsed
  std::unordered_map<std::string_view, Loc> locs_;       // by their text
  std::vector<Value*> operands_;                         // of the node being parsed
  std::vector<int16_t> segments_;
  bool has_lists_ = false;
  int64_t splat_bytes_ = 0;
};

Status Parser::graph() {
  const size_t begin = in_.mark();
  Dialect dialect = Dialect::kMixed;
  for (Dialect d : {Dialect::kAten, Dialect::kTosa, Dialect::kMixed, Dialect::kBuiltin}) {
    if (in_.accept_word(dialect_name(d))) {
      dialect = d;
      break;
    }
  }
  if (!in_.accept_word("graph")) return in_.expected("'graph'");
  TOSAIC_TRY(const std::string_view name, graph_name());
  if (module_.find_graph(name) != nullptr) {
    return in_.error_at(begin, fmt::format("graph @{} is defined twice", name));
  }
  Graph& graph = module_.add_graph(name, dialect);
  values_.clear();
  TOSAIC_CHECK_OK(inputs(graph));
  TOSAIC_CHECK_OK(in_.expect("{", "before the nodes of a graph"));
  while (!in_.accept_word("return"))
    TOSAIC_CHECK_OK(statement(graph));
  TOSAIC_CHECK_OK(return_statement(graph));
  return in_.expect("}", "after the return of a graph");
}

Expected<std::string_view> Parser::graph_name() {
  TOSAIC_CHECK_OK(in_.expect("@", "before the name of a graph"));
  if (in_.peek() == '"') {
    TOSAIC_TRY(const std::string text, in_.string());
    return module_.intern(text);
  }
  const std::string_view name = in_.word();
  if (name.empty()) return in_.expected("the name of a graph");
  return module_.intern(name);
}

Status Parser::inputs(Graph& graph) {
  TOSAIC_CHECK_OK(in_.expect("(", "before the inputs of a graph"));
  if (in_.accept(")")) return ok();
  do {
    Definition definition;
    const size_t begin = in_.mark();
    TOSAIC_TRY(definition.id, value_id());
    TOSAIC_CHECK_OK(in_.expect(":", "and a type after the name of an input"));
    TOSAIC_CHECK_OK(rest_of_definition(definition));
    Value& value = graph.add_input(definition.type, definition.name);
    TOSAIC_CHECK_OK(define(definition, value, begin));
  } while (in_.accept(","));
  return in_.expect(")", "after the inputs of a graph");
}

Status Parser::statement(Graph& graph) {
  if (in_.at_end()) return in_.expected("a node, a constant or 'return'");
  return node(graph);
}

Status Parser::constant(Graph& graph, std::string_view id, size_t begin) {
  Definition definition{.id = id};
  TOSAIC_CHECK_OK(rest_of_definition(definition));
  const Constant* constant = nullptr;
  TOSAIC_CHECK_OK(content(definition.type, constant));
  Value& value = graph.add_constant(*constant, definition.type, definition.name);
  return define(definition, value, begin);
}

Status Parser::node(Graph& graph) {
  const size_t begin = in_.mark();
  std::vector<Definition> results;
  if (in_.peek() == '%') {
    do {
      Definition& result = results.emplace_back();
      TOSAIC_TRY(result.id, value_id());
      if (results.size() == 1 && in_.accept("=")) {
        if (!in_.accept_word("const")) return in_.expected("'const', or ': TYPE' before '='");
        return constant(graph, result.id, begin);
      }
      TOSAIC_CHECK_OK(in_.expect(":", "and a type after the name of a result"));
      TOSAIC_CHECK_OK(rest_of_definition(result));
    } while (in_.accept(","));
    TOSAIC_CHECK_OK(in_.expect("=", "after the results of a node"));
  }
  const size_t op_begin = in_.mark();
  const std::string_view op_name = in_.word();
  if (op_name.empty()) return in_.expected("a node, a constant or 'return'");
  const OpVariant op = find_op(op_name);
  if (op.op == nullptr || op.op == &kReturnOp) return unknown_operator(op_name, op_begin);
  TOSAIC_CHECK_OK(in_.expect("(", "before the operands of a node"));
  TOSAIC_CHECK_OK(operands(")"));
  std::vector<NamedAttr> attrs;
  TOSAIC_CHECK_OK(attributes(attrs));
  Loc loc = nullptr;
  TOSAIC_CHECK_OK(location(loc));
  std::vector<TensorType> types;
  for (const Definition& result : results)
    types.push_back(result.type);
  Node& node = graph.insert({.op = op.op,
                             .variant = op.variant,
                             .operands = operands_,
                             .segments = segments_,
                             .results = types,
                             .attrs = attrs,
                             .loc = loc});
  for (size_t i = 0; i < results.size(); ++i) {
    Value& value = node.result(static_cast<int>(i));
    value.set_name(results[i].name);
    TOSAIC_CHECK_OK(define(results[i], value, begin));
  }
  return ok();
}

Status Parser::return_statement(Graph& graph) {
  const size_t begin = in_.mark();
  operands_.clear();
  segments_.clear();
  has_lists_ = false;
  if (in_.peek() != '}') TOSAIC_CHECK_OK(operands(""));
  if (has_lists_) return in_.error_at(begin, "a graph returns values, not lists");
  Loc loc = nullptr;
  TOSAIC_CHECK_OK(location(loc));
  graph.set_outputs(operands_);
  graph.return_node().set_loc(loc);
  return ok();
}

Expected<std::string_view> Parser::value_id() {
  if (!in_.accept("%")) return in_.expected("'%' and the name of a value");
  const std::string_view id = in_.tail_of_name();
  const bool is_number = id.find_first_not_of("0123456789") == std::string_view::npos;
  if (id.empty() || (!is_number && !is_identifier(id))) {
    return in_.error("%{} is not a name: letters, digits, '_' and '.', or a number", id);
  }
  return id;
}

/// `TYPE ["name"]`
Status Parser::rest_of_definition(Definition& definition) {
  TOSAIC_CHECK_OK(type(definition.type));
  if (in_.peek() == '"') {
    TOSAIC_TRY(const std::string name, in_.string());
    definition.name = module_.intern(name);
  } else if (is_identifier(definition.id)) {
    definition.name = module_.intern(definition.id);
  }
  return ok();
}

Status Parser::define(const Definition& definition, Value& value, size_t begin) {
  if (values_.emplace(definition.id, &value).second) return ok();
  return in_.error_at(begin, fmt::format("%{} is defined twice in its graph", definition.id));
}

/// `%name` or `none`.
Expected<Value*> Parser::use() {
  if (in_.accept_word("none")) return static_cast<Value*>(nullptr);
  const size_t begin = in_.mark();
  TOSAIC_TRY(const std::string_view id, value_id());
  const auto it = values_.find(id);
  if (it == values_.end()) return undefined_value(id, begin);
  return it->second;
}

/// Operands up to `end` ("": until no comma follows), into operands_ and segments_.
Status Parser::operands(std::string_view end) {
  operands_.clear();
  segments_.clear();
  has_lists_ = false;
  if (!end.empty() && in_.accept(end)) return ok();
  do {
    if (in_.accept("[")) {
      TOSAIC_CHECK_OK(operand_list());
      continue;
    }
    TOSAIC_TRY(Value* const value, use());
    operands_.push_back(value);
    segments_.push_back(-1);
  } while (in_.accept(","));
  if (!has_lists_) segments_.clear();
  return end.empty() ? ok() : in_.expect(end, "after the operands of a node");
}

Status Parser::operand_list() {
  has_lists_ = true;
  const size_t first = operands_.size();
  if (!in_.accept("]")) {
    do {
      TOSAIC_TRY(Value* const value, use());
      operands_.push_back(value);
    } while (in_.accept(","));
    TOSAIC_CHECK_OK(in_.expect("]", "after a list of operands"));
  }
  const size_t count = operands_.size() - first;
  if (count > size_t{std::numeric_limits<int16_t>::max()}) {
    return in_.error("a list of operands has {} values, more than 32767", count);
  }
  segments_.push_back(static_cast<int16_t>(count));
  return ok();
}

Status Parser::type(TensorType& type) {
  const size_t begin = in_.mark();
  const std::string_view name = in_.word();
  const auto dtype = parse_dtype(name);
  if (!dtype && name != dtype_name(DType::kUnknown)) {
    if (name.empty()) return in_.expected("a type");
    return in_.error_at(begin, fmt::format("'{}' is not an element type", name.substr(0, 32)));
  }
  type.dtype = dtype.value_or(DType::kUnknown);
  if (in_.accept("<")) TOSAIC_CHECK_OK(quantisation(type));
  return shape(type.shape);
}

Status Parser::shape(Shape& shape) {
  TOSAIC_CHECK_OK(in_.expect("[", "before the sizes of a type"));
  if (in_.accept("]")) return ok();
  std::vector<int64_t> sizes;
  do {
    if (sizes.size() == kMaxRank) return in_.error("a type has more than {} sizes", kMaxRank);
    const size_t begin = in_.mark();
    if (std::string_view symbol = in_.word(); !symbol.empty()) {
      int64_t index = -1;
      const char* const end = symbol.data() + symbol.size();
      const auto parsed = std::from_chars(symbol.data() + 1, end, index);
      if (symbol[0] != 's' || parsed.ec != std::errc() || parsed.ptr != end || index < 0 ||
          index > kMaxSymbol) {
        return in_.error_at(begin, "a size is a number or a symbol s0, s1, …");
      }
      sizes.push_back(-1 - index);
    } else {
      TOSAIC_TRY(const int64_t size, in_.integer("a size", 0, std::numeric_limits<int64_t>::max()));
      sizes.push_back(size);
    }
  } while (in_.accept(","));
  shape = Shape(std::span<const int64_t>(sizes));
  return in_.expect("]", "after the sizes of a type");
}

/// `[axis N:] SCALE,ZERO_POINT[,QMIN..QMAX]; SCALE[,ZERO_POINT]; …>`
Status Parser::quantisation(TensorType& type) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();
  const size_t begin = in_.mark();
  int64_t axis = -1;
  if (in_.accept_word("axis")) {
    TOSAIC_TRY(axis, in_.integer("the axis of a quantisation", 0, kMaxRank - 1));
    TOSAIC_CHECK_OK(in_.expect(":", "after the axis of a quantisation"));
  }
  const bool has_limits = is_integer(type.dtype) && type.dtype != DType::kU64;
  bool has_range = has_limits;
  int64_t qmin = has_limits ? integer_min(type.dtype) : 0;
  int64_t qmax = has_limits ? integer_max(type.dtype) : 0;
  std::vector<double> scales;
  std::vector<int32_t> zero_points;
  do {
    TOSAIC_TRY(const double scale, in_.real("a scale"));
    const bool is_first = scales.empty();
    scales.push_back(scale);
    if (!in_.accept(",")) {
      if (is_first) return in_.expected("',' and a zero point after the scale");
      zero_points.push_back(zero_points.back());
      continue;
    }
    TOSAIC_TRY(const int64_t zero_point,
               in_.integer("a zero point", std::numeric_limits<int32_t>::min(),
                           std::numeric_limits<int32_t>::max()));
    zero_points.push_back(static_cast<int32_t>(zero_point));
    if (is_first && in_.accept(",")) {
      TOSAIC_TRY(qmin, in_.integer("the least stored value", kLeast, kGreatest));
      TOSAIC_CHECK_OK(in_.expect("..", "between the least and the greatest stored value"));
      TOSAIC_TRY(qmax, in_.integer("the greatest stored value", kLeast, kGreatest));
      has_range = true;
    }
  } while (axis >= 0 && in_.accept(";"));
  if (!has_range) {
    return in_.error_at(begin,
                        fmt::format("{} is no type of quantised values", dtype_name(type.dtype)));
  }
  type.quant = module_.quant(scales, zero_points, static_cast<int>(axis), qmin, qmax);
  return in_.expect(">", "after quantisation parameters");
}

Status Parser::content(const TensorType& type, const Constant*& constant) {
  const size_t begin = in_.mark();
  if (!type.shape.is_static() || element_bytes(type.dtype) == 0) {
    return in_.error_at(begin, "a constant has a known type and known sizes");
  }
  // Strides are computed from all sizes, even when one is zero.
  int64_t extent = 1;
  for (int64_t size : type.shape) {
    if (__builtin_mul_overflow(extent, std::max<int64_t>(size, 1), &extent)) {
      return in_.error_at(begin, "the sizes of a constant do not fit 64 bits");
    }
  }
  Elements elements;
  if (in_.accept("x\"")) {
    TOSAIC_CHECK_OK(hex_content(type, elements));
  } else if (in_.accept_word("splat")) {
    TOSAIC_CHECK_OK(splat_content(type, elements));
  } else if (in_.accept_word("elided")) {
    return in_.error_at(begin, "the content of this constant was left out when it was printed");
  } else if (in_.accept("[")) {
    TOSAIC_CHECK_OK(listed_content(type, 0, elements));
  } else {
    return in_.expected("the elements of a constant: [1, 2], splat(0) or x\"0a0b\"");
  }
  if (elements.count != type.shape.num_elements()) {
    return in_.error_at(begin, fmt::format("{} elements for a constant of {}", elements.count,
                                           type.shape.num_elements()));
  }
  constant = elements.narrow.empty()
                 ? &module_.constant(type.dtype, type.shape, elements.bytes)
                 : &module_.constant_floats(type.dtype, type.shape, elements.narrow);
  return ok();
}

Status Parser::hex_content(const TensorType& type, Elements& elements) {
  const size_t begin = in_.mark();
  const std::string_view digits = in_.tail_of_name();
  if (!in_.accept("\"")) return in_.expected("hexadecimal digits and '\"'");
  const size_t size = element_bytes(type.dtype);
  if (digits.size() % (2 * size) != 0) {
    return in_.error_at(
        begin, fmt::format("{} hexadecimal digits for elements of {} bytes", digits.size(), size));
  }
  elements.bytes.reserve(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_value(digits[i]);
    const int low = hex_value(digits[i + 1]);
    if (high < 0 || low < 0) return in_.error_at(begin, "a hexadecimal digit is 0-9 or a-f");
    elements.bytes.push_back(static_cast<std::byte>(high * 16 + low));
  }
  elements.count = static_cast<int64_t>(elements.bytes.size() / size);
  return ok();
}

Status Parser::splat_content(const TensorType& type, Elements& elements) {
  const size_t begin = in_.mark();
  TOSAIC_CHECK_OK(in_.expect("(", "after splat"));
  TOSAIC_CHECK_OK(element(type.dtype, elements));
  TOSAIC_CHECK_OK(in_.expect(")", "after the element of splat"));
  const int64_t count = type.shape.num_elements();
  // Narrow floats pass through doubles.
  if (count > (kMaxSplatBytes - splat_bytes_) / 8) {
    return in_.error_at(
        begin, fmt::format("splat asks for {} elements; a text may ask for {} bytes", count,
                           kMaxSplatBytes));
  }
  splat_bytes_ += count * 8;
  const size_t size = elements.bytes.size();
  elements.bytes.resize(size * static_cast<size_t>(count));
  for (size_t i = size; i < elements.bytes.size(); ++i) {
    elements.bytes[i] = elements.bytes[i - size];
  }
  if (!elements.narrow.empty()) {
    elements.narrow.resize(static_cast<size_t>(count), elements.narrow[0]);
  }
  elements.count = count;
  return ok();
}

/// After '['. Flat, or nested as the shape is.
Status Parser::listed_content(const TensorType& type, int depth, Elements& elements) {
  if (in_.accept("]")) return ok();
  const bool is_nested = in_.peek() == '[';
  if (is_nested && depth + 1 >= type.shape.rank()) {
    return in_.error("elements are nested deeper than the constant's rank, {}", type.shape.rank());
  }
  if (!is_nested && depth > 0 && depth + 1 != type.shape.rank()) {
    return in_.error("elements are nested {} deep, neither flat nor as deep as the rank, {}",
                     depth + 1, type.shape.rank());
  }
  int64_t count = 0;
  do {
    if (is_nested) {
      TOSAIC_CHECK_OK(in_.expect("[", "before an inner list of elements"));
      TOSAIC_CHECK_OK(listed_content(type, depth + 1, elements));
    } else {
      TOSAIC_CHECK_OK(element(type.dtype, elements));
      ++elements.count;
    }
    ++count;
  } while (in_.accept(","));
  if ((is_nested || depth > 0) && count != type.shape[depth]) {
    return in_.error("a list has {} members where axis {} has size {}", count, depth,
                     type.shape[depth]);
  }
  return in_.expect("]", "after the elements of a list");
}

Status Parser::element(DType dtype, Elements& elements) {
  if (dtype == DType::kF32) {
    const size_t begin = in_.mark();
    const std::string_view text = in_.number();
    if (text.empty()) return in_.expected("an element");
    float value = 0;  // straight from text: by way of double it would be rounded twice
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc()) return in_.error_at(begin, "an element is outside f32's range");
    append_bytes(elements.bytes, value);
    return ok();
  }
  if (is_float(dtype)) {
    TOSAIC_TRY(const double value, in_.real("an element"));
    if (is_narrow_float(dtype)) {
      elements.narrow.push_back(value);
    } else {
      append_bytes(elements.bytes, value);
    }
    return ok();
  }
  if (dtype == DType::kBool && (in_.peek() == 't' || in_.peek() == 'f')) {
    const bool value = in_.accept_word("true");
    if (!value && !in_.accept_word("false")) return in_.expected("true or false");
    append_bytes(elements.bytes, uint8_t{value});
    return ok();
  }
  return integer_element(dtype, elements);
}

Status Parser::integer_element(DType dtype, Elements& elements) {
  if (dtype == DType::kU64) {
    const size_t begin = in_.mark();
    const std::string_view text = in_.number();
    uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
      return in_.error_at(begin, "an element of u64 is an integer from 0 to 18446744073709551615");
    }
    append_bytes(elements.bytes, value);
    return ok();
  }
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t greatest = std::numeric_limits<int64_t>::max();
  if (dtype == DType::kBool) {
    least = 0;
    greatest = 1;
  } else if (is_integer(dtype)) {
    least = integer_min(dtype);
    greatest = integer_max(dtype);
  }
  TOSAIC_TRY(const int64_t value, in_.integer("an element", least, greatest));
  // Little-endian, so that the low bytes are the narrower integer.
  const size_t at = elements.bytes.size();
  elements.bytes.resize(at + element_bytes(dtype));
  std::memcpy(elements.bytes.data() + at, &value, element_bytes(dtype));
  return ok();
}

Status Parser::attributes(std::vector<NamedAttr>& attrs) {
  if (!in_.accept("{") || in_.accept("}")) return ok();
  do {
    const size_t begin = in_.mark();
    const std::string_view name = in_.word();
    if (name.empty()) return in_.expected("the name of an attribute");
    if (find_attr(attrs, name) != nullptr) {
      return in_.error_at(begin, fmt::format("attribute {} is given twice", name));
    }
    if (attrs.size() == kMaxAttrs) return in_.error("a node has more than 256 attributes");
    TOSAIC_CHECK_OK(in_.expect("=", "after the name of an attribute"));
    Attr value;
    TOSAIC_CHECK_OK(attribute_value(value));
    attrs.push_back({module_.intern(name), value});
  } while (in_.accept(","));
  return in_.expect("}", "after the attributes of a node");
}

Status Parser::attribute_value(Attr& value) {
  switch (in_.peek()) {
    case '"': {
      TOSAIC_TRY(const std::string text, in_.string());
      value = Attr::string(module_.intern(text));
      return ok();
    }
    case '@': {
      TOSAIC_TRY(const std::string_view name, graph_name());
      value = Attr::graph(name);
      return ok();
    }
    case '[':
      return number_list(value, false);
    default:
      break;
  }
  const size_t begin = in_.mark();
  const std::string_view number = in_.number();
  return number.empty() ? word_value(value) : number_value(number, begin, value);
}

Status Parser::number_value(std::string_view text, size_t begin, Attr& value) {
  const char* const end = text.data() + text.size();
  if (is_integer_text(text)) {
    int64_t number = 0;
    if (std::from_chars(text.data(), end, number).ec != std::errc()) {
      return in_.error_at(begin, "an integer does not fit 64 bits");
    }
    value = Attr::integer(number);
    return ok();
  }
  double number = 0;
  if (std::from_chars(text.data(), end, number).ec != std::errc()) {
    return in_.error_at(begin, "a number does not fit a double");
  }
  value = Attr::real(number);
  return ok();
}

Status Parser::word_value(Attr& value) {
  const size_t begin = in_.mark();
  const std::string_view word = in_.word();
  if (word == "none") {
    value = Attr();
  } else if (word == "true" || word == "false") {
    value = Attr::boolean(word == "true");
  } else if (word == "floats") {
    return number_list(value, true);
  } else if (word == "bools") {
    return bool_list(value);
  } else if (const auto dtype = parse_dtype(word)) {
    value = Attr::dtype(*dtype);
  } else if (word == dtype_name(DType::kUnknown)) {
    value = Attr::dtype(DType::kUnknown);
  } else if (word.empty()) {
    return in_.expected("the value of an attribute");
  } else {
    return in_.error_at(begin, fmt::format("'{}' is not the value of an attribute; text is quoted",
                                           word.substr(0, 32)));
  }
  return ok();
}

/// A list of integers, or of reals when one of them is or `is_real` says so.
Status Parser::number_list(Attr& value, bool is_real) {
  TOSAIC_CHECK_OK(in_.expect("[", "before a list"));
  const char next = in_.peek();
  if (next == 't' || next == 'f') return rest_of_bool_list(value);
  std::vector<int64_t> ints;
  std::vector<double> reals;
  if (!in_.accept("]")) {
    do {
      const size_t begin = in_.mark();
      const std::string_view text = in_.number();
      if (text.empty()) return in_.expected("a number");
      Attr number;
      TOSAIC_CHECK_OK(number_value(text, begin, number));
      is_real = is_real || number.kind() == Attr::Kind::kFloat;
      reals.push_back(number.as_real());
      if (!is_real) ints.push_back(number.as_int());
    } while (in_.accept(","));
    TOSAIC_CHECK_OK(in_.expect("]", "after a list"));
  }
  value = is_real ? module_.intern(Attr::reals(reals)) : module_.intern(Attr::ints(ints));
  return ok();
}

Status Parser::bool_list(Attr& value) {
  TOSAIC_CHECK_OK(in_.expect("[", "before a list"));
  return rest_of_bool_list(value);
}

Status Parser::rest_of_bool_list(Attr& value) {
  std::vector<uint8_t> bools;
  if (!in_.accept("]")) {
    do {
      const bool is_true = in_.accept_word("true");
      if (!is_true && !in_.accept_word("false")) return in_.expected("true or false");
      bools.push_back(is_true ? 1 : 0);
    } while (in_.accept(","));
    TOSAIC_CHECK_OK(in_.expect("]", "after a list"));
  }
  const std::span<bool> list = module_.arena().make_span<bool>(bools.size());
  for (size_t i = 0; i < bools.size(); ++i)
    list[i] = bools[i] != 0;
  value = Attr::bools(list);
  return ok();
}

/// `loc("file"[:LINE] ["scope" ["source"]])`, or nothing.
Status Parser::location(Loc& loc) {
  const size_t begin = in_.mark();
  if (!in_.accept_word("loc")) return ok();
  LocInfo info;
  TOSAIC_CHECK_OK(in_.expect("(", "after loc"));
  TOSAIC_TRY(const std::string file, in_.string());
  info.file = module_.intern(file);
  if (in_.accept(":")) {
    TOSAIC_TRY(const int64_t line, in_.integer("a line", 0, std::numeric_limits<uint32_t>::max()));
    info.line = static_cast<uint32_t>(line);
  }
  for (std::string_view* field : {&info.scope, &info.source}) {
    if (in_.peek() != '"') break;
    TOSAIC_TRY(const std::string text, in_.string());
    *field = module_.intern(text);
  }
  TOSAIC_CHECK_OK(in_.expect(")", "after a place"));
  const auto [it, is_new] = locs_.emplace(in_.since(begin), nullptr);
  if (is_new) it->second = module_.arena().make<LocInfo>(info);
  loc = it->second;
  return ok();
}

Diagnostic Parser::unknown_operator(std::string_view name, size_t begin) const {
  std::vector<std::string_view> names;
  for (const OpDef* op : all_ops()) {
    for (int i = 0; i < op->hooks->num_variants(*op); ++i) {
      names.push_back(op->hooks->variant_name(*op, i));
    }
  }
  Diagnostic d = in_.error_at(begin, fmt::format("unknown operator {}", name.substr(0, 128)));
  if (const std::string_view near = nearest_name(name, names); !near.empty()) {
    d.hint = fmt::format("the nearest name is {}", near);
  }
  return d;
}

Diagnostic Parser::undefined_value(std::string_view id, size_t begin) const {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : values_)
    names.push_back(name);
  Diagnostic d = in_.error_at(
      begin, fmt::format("%{} is not defined before this line of its graph", id.substr(0, 128)));
  if (const std::string_view near = nearest_name(id, names); !near.empty()) {
    d.hint = fmt::format("the nearest name is %{}", near);
  }
  return d;
}

}  // namespace

Expected<std::unique_ptr<Module>> parse_module(std::string_view text, std::string_view file_name) {
  auto module = std::make_unique<Module>();
  TOSAIC_CHECK_OK(Parser(text, file_name, *module).parse());
  return module;
}

}  // namespace tosaic
