// SPDX-License-Identifier: Apache-2.0
// Text IR from graphs. The grammar is in docs/ir.md; the forms of types and attributes are those of
// their to_string().
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/text.h"

namespace tosaic {
namespace {

/// Longer constants are written as hexadecimal bytes.
constexpr size_t kMaxListed = 64;

std::string quoted(std::string_view text) {
  return to_string(Attr::string(text));
}

/// `text` with everything that an identifier cannot hold replaced.
std::string as_identifier(std::string_view text) {
  std::string result;
  for (char c : text) {
    const char one[] = {'_', c, 0};
    result.push_back(is_identifier(std::string_view(one, 2)) ? c : '_');
  }
  if (!is_identifier(result)) result.insert(result.begin(), '_');
  return result;
}

/// The %names of a graph's values: the value's own name where it is an identifier and nobody before
/// has it; a similar new one where it is not; a number for values without a name. Names depend only
/// on the values' own names and order, so parsing and printing gives the same ones.
class Names {
 public:
  explicit Names(const Graph& graph) : constants_(graph.constants()) {
    std::vector<const Value*> renamed;
    for_each_value(graph, [&](const Value& value) {
      if (value.name().empty()) {
        names_.emplace(&value, fmt::format("{}", num_unnamed_++));
      } else if (is_identifier(value.name()) && taken_.insert(std::string(value.name())).second) {
        names_.emplace(&value, value.name());
      } else {
        renamed.push_back(&value);
      }
    });
    for (const Value* value : renamed)
      names_.emplace(value, fresh(as_identifier(value->name())));
  }

  std::span<Value* const> constants() const { return constants_; }

  /// A value that does not belong to the graph (the verifier prints such nodes) has the name `?`.
  std::string_view of(const Value& value) const {
    const auto it = names_.find(&value);
    return it == names_.end() ? std::string_view("?") : std::string_view(it->second);
  }

 private:
  template <typename Visit>
  void for_each_value(const Graph& graph, Visit visit) {
    for (const Value* input : graph.inputs())
      visit(*input);
    for (const Value* constant : constants_)
      visit(*constant);
    for (const Node& node : graph.nodes()) {
      for (const Value& result : node.results())
        visit(result);
    }
  }

  std::string fresh(const std::string& stem) {
    if (taken_.insert(stem).second) return stem;
    int& suffix = suffixes_[stem];
    std::string name;
    do {
      name = fmt::format("{}_{}", stem, ++suffix);
    } while (!taken_.insert(name).second);
    return name;
  }

  std::vector<Value*> constants_;
  std::unordered_map<const Value*, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> suffixes_;
  size_t num_unnamed_ = 0;
};

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// The plain content of a constant: its own bytes, or a copy with strides and stage applied.
class Content {
 public:
  explicit Content(const Constant& constant) {
    if (constant.is_plain()) {
      bytes_ = constant.plain_bytes();
      return;
    }
    copy_.resize(constant.num_bytes());
    constant.materialise(copy_);
    bytes_ = copy_;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> copy_;
  std::span<const std::byte> bytes_;
};

/// Decimal text says nothing about the payload of a NaN.
bool has_odd_nan(DType dtype, std::span<const std::byte> bytes) {
  const size_t size = element_bytes(dtype);
  for (size_t i = 0; i < bytes.size(); i += size) {
    const std::byte* at = bytes.data() + i;
    if (dtype == DType::kF32) {
      const auto bits = load<uint32_t>(at);
      const auto quiet = std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN());
      if (std::isnan(std::bit_cast<float>(bits)) && bits != quiet) return true;
    } else if (dtype == DType::kF64) {
      const auto bits = load<uint64_t>(at);
      const auto quiet = std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
      if (std::isnan(std::bit_cast<double>(bits)) && bits != quiet) return true;
    }
  }
  return false;
}

/// Floats without a C++ type; they are read through float_values().
bool is_narrow_float(DType dtype) {
  return is_float(dtype) && element_bytes(dtype) < 4;
}

void append_element(fmt::memory_buffer& out, DType dtype, const std::byte* at) {
  auto end = std::back_inserter(out);
  switch (dtype) {
    case DType::kBool:
      fmt::format_to(end, "{}", load<uint8_t>(at) != 0);
      break;
    case DType::kI4:
    case DType::kI8:
      fmt::format_to(end, "{}", int{load<int8_t>(at)});
      break;
    case DType::kU8:
      fmt::format_to(end, "{}", unsigned{load<uint8_t>(at)});
      break;
    case DType::kI16:
      fmt::format_to(end, "{}", load<int16_t>(at));
      break;
    case DType::kU16:
      fmt::format_to(end, "{}", load<uint16_t>(at));
      break;
    case DType::kI32:
      fmt::format_to(end, "{}", load<int32_t>(at));
      break;
    case DType::kU32:
      fmt::format_to(end, "{}", load<uint32_t>(at));
      break;
    case DType::kU64:
      fmt::format_to(end, "{}", load<uint64_t>(at));
      break;
    case DType::kF32:
      fmt::format_to(end, "{}", load<float>(at));
      break;
    case DType::kF64:
      fmt::format_to(end, "{}", load<double>(at));
      break;
    default:
      fmt::format_to(end, "{}", load<int64_t>(at));
      break;
  }
}

void append_hex(fmt::memory_buffer& out, std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out.append(std::string_view("x\""));
  out.reserve(out.size() + 2 * bytes.size() + 1);
  for (std::byte b : bytes) {
    out.push_back(kDigits[std::to_integer<size_t>(b) >> 4]);
    out.push_back(kDigits[std::to_integer<size_t>(b) & 15]);
  }
  out.push_back('"');
}

bool all_elements_equal(std::span<const std::byte> bytes, size_t size) {
  // Overlapping comparison: each element equals the one before it.
  return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

/// Prints graphs of one module into one buffer.
class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  void graph(const Graph& graph) {
    const Names names(graph);
    format("{} graph {}(", dialect_name(graph.dialect()), to_string(Attr::graph(graph.name())));
    bool first = true;
    for (const Value* input : graph.inputs()) {
      if (!first) text(", ");
      first = false;
      definition(*input, names);
    }
    text(") {\n");
    for (const Value* value : names.constants()) {
      text("  ");
      constant(*value, names);
      text("\n");
    }
    for (const Node& n : graph.nodes()) {
      text("  ");
      node(n, names);
      text("\n");
    }
    text("  ");
    node(graph.return_node(), names);
    text("\n}\n");
  }

  void node(const Node& node, const Names& names) {
    for (int i = 0; i < node.num_results(); ++i) {
      if (i > 0) text(", ");
      definition(node.result(i), names);
    }
    if (node.num_results() > 0) text(" = ");
    text(node.full_name());
    if (node.is(kReturnOp)) {
      if (node.num_operands() > 0) text(" ");
      operands(node, names);
    } else {
      text("(");
      operands(node, names);
      text(")");
    }
    attributes(node.attrs());
    if (options_.locs) location(node.loc());
  }

  std::string take() { return fmt::to_string(out_); }
  void text(std::string_view text) { out_.append(text); }

 private:
  template <typename... Args>
  void format(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  void name_as_written(const Value& value, std::string_view shown) {
    if (!value.name().empty() && value.name() != shown) format(" {}", quoted(value.name()));
  }

  void definition(const Value& value, const Names& names) {
    const std::string_view name = names.of(value);
    format("%{}: {}", name, to_string(value.type()));
    name_as_written(value, name);
  }

  void constant(const Value& value, const Names& names) {
    const std::string_view name = names.of(value);
    format("%{} = const {}", name, to_string(value.type()));
    name_as_written(value, name);
    text(" ");
    content(*value.constant());
  }

  void content(const Constant& constant) {
    const auto num_elements = static_cast<size_t>(constant.shape.num_elements());
    if (options_.max_constant_elements > 0 && num_elements > options_.max_constant_elements) {
      format("elided #{:016x}", constant.content_hash());
      return;
    }
    const Content content(constant);
    const std::span<const std::byte> bytes = content.bytes();
    const size_t size = element_bytes(constant.dtype);
    if (num_elements == 0) return text("[]");
    const bool is_splat = num_elements > 1 && all_elements_equal(bytes, size);
    const auto shown = is_splat ? bytes.first(size) : bytes;
    if (is_narrow_float(constant.dtype)) return narrow_floats(constant, shown, is_splat);
    if ((!is_splat && num_elements > kMaxListed) || has_odd_nan(constant.dtype, shown)) {
      return append_hex(out_, bytes);
    }
    text(is_splat ? "splat(" : "[");
    for (size_t i = 0; i < shown.size(); i += size) {
      if (i > 0) text(", ");
      append_element(out_, constant.dtype, shown.data() + i);
    }
    text(is_splat ? ")" : "]");
  }

  void narrow_floats(const Constant& constant, std::span<const std::byte> shown, bool is_splat) {
    const std::vector<double> values = float_values(constant);
    const size_t count = shown.size() / element_bytes(constant.dtype);
    const bool has_nan = std::any_of(values.begin(), values.begin() + static_cast<int64_t>(count),
                                     [](double v) { return std::isnan(v); });
    if (has_nan || (!is_splat && count > kMaxListed)) {
      const Content content(constant);
      return append_hex(out_, content.bytes());
    }
    text(is_splat ? "splat(" : "[");
    for (size_t i = 0; i < count; ++i) {
      // Every narrow float is a float, whose shortest text is shorter than that of the double.
      format("{}{}", i > 0 ? ", " : "", static_cast<float>(values[i]));
    }
    text(is_splat ? ")" : "]");
  }

  void operand(const Node& node, int index, const Names& names) {
    const Value* value = node.operand(index);
    if (value == nullptr) return text("none");
    format("%{}", names.of(*value));
  }

  void operands(const Node& node, const Names& names) {
    int next = 0;
    const int count = node.num_operands();
    bool first = true;
    for (int16_t segment : node.segments()) {
      if (!first) text(", ");
      first = false;
      if (segment < 0) {
        if (next < count) operand(node, next++, names);
        continue;
      }
      text("[");
      for (int i = 0; i < segment && next < count; ++i) {
        if (i > 0) text(", ");
        operand(node, next++, names);
      }
      text("]");
    }
    for (; next < count; ++next) {
      if (!first) text(", ");
      first = false;
      operand(node, next, names);
    }
  }

  void attributes(AttrList attrs) {
    if (attrs.empty()) return;
    text(" {");
    bool first = true;
    for (const NamedAttr& attr : attrs) {
      format("{}{} = {}", first ? "" : ", ", attr.name, to_string(attr.value));
      first = false;
    }
    text("}");
  }

  void location(Loc loc) {
    if (loc == nullptr) return;
    const Location where = resolve(loc);
    format(" loc({}", quoted(where.file));
    if (where.line != 0) format(":{}", where.line);
    if (!where.scope.empty() || !where.source.empty()) format(" {}", quoted(where.scope));
    if (!where.source.empty()) format(" {}", quoted(where.source));
    text(")");
  }

  const PrintOptions& options_;
  fmt::memory_buffer out_;
};

}  // namespace

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_inner = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; };
  return !text.empty() && is_letter(text[0]) && std::ranges::all_of(text, is_inner);
}

std::string print(const Module& module, const PrintOptions& options) {
  Printer printer(options);
  bool first = true;
  for (const auto& graph : module.graphs()) {
    if (!first) printer.text("\n");
    first = false;
    printer.graph(*graph);
  }
  return printer.take();
}

std::string print(const Graph& graph, const PrintOptions& options) {
  Printer printer(options);
  printer.graph(graph);
  return printer.take();
}

std::string print(const Node& node) {
  const PrintOptions options{.locs = false};
  Printer printer(options);
  printer.node(node, Names(node.graph()));
  return printer.take();
}

}  // namespace tosaic
