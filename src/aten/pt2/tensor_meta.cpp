// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/tensor_meta.h"

#include <fmt/format.h>

namespace tosaic::aten::pt2 {
namespace {

constexpr int64_t kStridedLayout = 7;
/// More elements than any memory holds; products and byte counts below it do not overflow.
constexpr int64_t kMaxElements = int64_t{1} << 48;

struct ScalarType {
  std::string_view name;
  DType dtype = DType::kUnknown;
};

/// schema.ScalarType of torch 2.13, by number.
constexpr ScalarType kScalarTypes[] = {
    {"unknown"},
    {"uint8", DType::kU8},
    {"int8", DType::kI8},
    {"int16", DType::kI16},
    {"int32", DType::kI32},
    {"int64", DType::kI64},
    {"float16", DType::kF16},
    {"float32", DType::kF32},
    {"float64", DType::kF64},
    {"complex32"},
    {"complex64"},
    {"complex128"},
    {"bool", DType::kBool},
    {"bfloat16", DType::kBF16},
    {},
    {},
    {},
    {},
    {},
    {},
    {},
    {},
    {},
    {},
    {},
    {},
    {},
    {},
    {"uint16", DType::kU16},
    {"float8_e4m3fn", DType::kF8E4M3},
    {"float8_e5m2", DType::kF8E5M2},
    {"float8_e4m3fnuz"},
    {"float8_e5m2fnuz"},
    {"float8_e8m0fnu"},
    {"uint32", DType::kU32},
    {"uint64", DType::kU64},
};

ScalarType scalar_type(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(std::size(kScalarTypes))) return {};
  return kScalarTypes[number];
}

/// A SymInt: {"as_int": 3} or {"as_expr": {"expr_str": …, "hint": …}}.
Expected<int64_t> parse_size(const Json& json, Symbols* symbols) {
  const auto u = union_of(json);
  if (u && u->kind == "as_int") {
    const auto size = value_as<int64_t>(u->value);
    if (size && *size >= 0 && *size <= kMaxElements) return *size;
    return error(Code::kPt2Content, "size {} is not a size of a tensor",
                 std::string(simdjson::minify(u->value)));
  }
  if (u && u->kind == "as_expr" && symbols != nullptr) {
    if (const auto text = string_at(u->value, "expr_str")) return symbols->size_of(*text);
  }
  return error(Code::kJson, "a size must be {{\"as_int\": …}}, found {}",
               std::string(simdjson::minify(json)));
}

}  // namespace

DType dtype_of(int64_t number) {
  return scalar_type(number).dtype;
}

std::string dtype_text(int64_t number) {
  const std::string_view name = scalar_type(number).name;
  return name.empty() ? fmt::format("number {}", number) : std::string(name);
}

Expected<int64_t> Symbols::size_of(std::string_view expression) {
  if (!values_.empty()) {
    TOSAIC_TRY(const std::optional<int64_t> value, evaluate_size(expression, values_));
    if (value && (*value < 0 || *value > kMaxElements)) {
      return error(Code::kPt2Content, "size {} is not a size of a tensor", *value);
    }
    if (value) return *value;
  }
  const int64_t next = -1 - static_cast<int64_t>(expressions_.size());
  const auto [it, is_new] = sizes_.emplace(expression, next);
  if (is_new) expressions_.push_back(expression);
  return it->second;
}

std::string_view symbol_name(std::string_view expression) {
  constexpr std::string_view kOpen = "Symbol('";
  const size_t begin = expression.find(kOpen);
  if (begin == std::string_view::npos) return expression;
  const std::string_view rest = expression.substr(begin + kOpen.size());
  return rest.substr(0, rest.find('\''));
}

Expected<TensorType> parse_type(const Json& meta, Symbols* symbols) {
  const auto number = member_as<int64_t>(meta, "dtype");
  const auto sizes = member_as<JsonArray>(meta, "sizes");
  if (!number || !sizes) return error(Code::kJson, "a tensor lacks dtype or sizes");
  TensorType type;
  type.dtype = dtype_of(*number);
  if (type.dtype == DType::kUnknown) {
    Diagnostic d =
        error(Code::kUnsupportedFeature, "dtype {} is not supported", dtype_text(*number));
    if (d.message.find("complex") != d.message.npos) {
      d.hint =
          "TOSA has no complex numbers: compute a spectrum as two products with constant cosines "
          "and sines, or before the program";
    }
    return d;
  }
  if (const auto layout = member_as<int64_t>(meta, "layout"); layout && *layout != kStridedLayout) {
    return error(Code::kUnsupportedFeature, "a tensor has layout {}; only strided ones are read",
                 *layout);
  }
  std::array<int64_t, kMaxRank> dims{};
  size_t rank = 0;
  int64_t elements = 1;
  for (const Json json : *sizes) {
    if (rank == dims.size()) {
      return error(Code::kUnsupportedFeature, "a tensor of rank above {} is not supported",
                   kMaxRank);
    }
    TOSAIC_TRY(const int64_t size, parse_size(json, symbols));
    dims[rank++] = size;
    // Zero elements do not hide a product that is too large: views of the tensor may drop the zero.
    if (size > 1) {
      if (elements > kMaxElements / size) {
        return error(Code::kPt2Content, "a tensor has more elements than any memory holds");
      }
      elements *= size;
    }
  }
  type.shape = Shape(std::span<const int64_t>(dims.data(), rank));
  return type;
}

Expected<StoredLayout> parse_layout(const Json& meta, uint64_t storage_bytes) {
  StoredLayout layout;
  TOSAIC_TRY(layout.type, parse_type(meta, nullptr));
  const Shape& shape = layout.type.shape;
  const auto strides = member_as<JsonArray>(meta, "strides");
  const auto offset = member(meta, "storage_offset");
  if (!strides || !offset) return error(Code::kJson, "it lacks strides or storage_offset");
  if (static_cast<int>(strides->size()) != shape.rank()) {
    return error(Code::kPt2Content, "it has {} strides and {} sizes", strides->size(),
                 shape.rank());
  }
  TOSAIC_TRY(layout.offset, parse_size(*offset, nullptr));
  const uint64_t storage = storage_bytes / element_bytes(layout.type.dtype);
  // One past the last element. Each term is below 2^48 * 2^48, so they are summed up with a limit.
  uint64_t end = static_cast<uint64_t>(layout.offset) + 1;
  size_t axis = 0;
  for (const Json json : *strides) {
    TOSAIC_TRY(const int64_t stride, parse_size(json, nullptr));
    layout.strides[axis] = stride;
    const int64_t size = shape[static_cast<int>(axis++)];
    if (size <= 1 || stride == 0) continue;
    const auto steps = static_cast<uint64_t>(size - 1);
    if (steps > storage / static_cast<uint64_t>(stride)) {
      end = storage + 1;
    } else if (end <= storage) {
      end += steps * static_cast<uint64_t>(stride);
    }
  }
  if (shape.num_elements() > 0 && end > storage) {
    return error(Code::kPt2Content,
                 "its elements reach outside its storage of {} bytes: {}, strides [{}], offset {}",
                 storage_bytes, to_string(layout.type),
                 fmt::join(layout.strides.begin(), layout.strides.begin() + shape.rank(), ","),
                 layout.offset);
  }
  return layout;
}

}  // namespace tosaic::aten::pt2
