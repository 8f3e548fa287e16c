// SPDX-License-Identifier: Apache-2.0
// From 1.0 on an operator's union type is its number, its table holds the attributes of its
// definition, and all operands are inputs; 1.1 only appends. 0.80 has other numbers, tables that
// operators share, and fields for what became operands.
#include "tosa/fb_version.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/check.h"
#include "tosa/ops/variables.h"

namespace tosaic::tosa {
namespace {

// Types by number; those that the IR lacks are unknown.
constexpr DType kDTypesOfOne[] = {
    DType::kUnknown,
    DType::kBool,
    DType::kI4,
    DType::kI8,
    DType::kI16,
    DType::kI32,
    DType::kI48,
    DType::kF32,
    DType::kF16,
    DType::kBF16,
    DType::kShape,
    DType::kF8E4M3,
    DType::kF8E5M2,
    // 1.1: FP6E2M3, FP6E3M2, FP4E2M1, FP8UE8M0, INT64, MXINT8.
    DType::kUnknown,
    DType::kUnknown,
    DType::kUnknown,
    DType::kUnknown,
    DType::kI64,
    DType::kUnknown,
};
constexpr size_t kNumDTypesOf10 = 13;
constexpr DType kDTypesOf080[] = {
    DType::kUnknown, DType::kBool, DType::kU8,    DType::kI4,  DType::kI8,
    DType::kI16,     DType::kI32,  DType::kI48,   DType::kF32, DType::kU16,
    DType::kF16,     DType::kBF16, DType::kShape,
};

constexpr uint8_t kConst = 67;
constexpr uint8_t kConstShape = 75;
/// Operators above this number came with 1.1.
constexpr uint32_t kLastOpOf10 = 75;
/// Their names, for messages about those that have no definition.
constexpr std::string_view kNamesOf11[] = {
    "matmul_t_block_scaled",
    "cast_from_block_scaled",
    "cast_to_block_scaled",
    "dim",
    "concat_shape",
    "add_shape",
    "sub_shape",
    "mul_shape",
    "slice_shape",
    "exp2_shape",
    "log2_ceil_shape",
    "log2_floor_shape",
    "max_shape",
    "min_shape",
    "mod_shape",
    "div_ceil_shape",
    "div_floor_shape",
    "assert_equal_shape",
    "conv2d_block_scaled",
    "max_pool2d_adaptive",
    "avg_pool2d_adaptive",
    "reshape_block_scaled",
    "row_gather_block_scaled",
    "row_gather",
    "matmul_t",
};

// The tables of 0.80 (schema 0.80.1), each with its number in the union.

using enum FieldKind;

struct Table {
  uint8_t number = 0;
  std::span<const AttrField> fields;
};

constexpr AttrField kPoolFields[] = {{"pad", kInts32},      {"kernel", kInts32},
                                     {"stride", kInts32},   {"input_zp", kInt32},
                                     {"output_zp", kInt32}, {"acc_type", kDType}};
constexpr AttrField kConvFields[] = {{"pad", kInts32},      {"stride", kInts32},
                                     {"dilation", kInts32}, {"input_zp", kInt32},
                                     {"weight_zp", kInt32}, {"local_bound", kBool}};
constexpr AttrField kTransposeConvFields[] = {
    {"out_pad", kInts32}, {"stride", kInts32},   {"output_shape", kResultShape},
    {"input_zp", kInt32}, {"weight_zp", kInt32}, {"local_bound", kBool}};
constexpr AttrField kPadFields[] = {
    {"padding", kInts32}, {"pad_const", kIntScalar}, {"pad_const", kFloatScalar}};
constexpr AttrField kAxisFields[] = {{"axis", kInt32}};
constexpr AttrField kReshapeFields[] = {{"shape", kInts32}};
constexpr AttrField kSliceFields[] = {{"start", kInts32}, {"size", kInts32}};
constexpr AttrField kTileFields[] = {{"multiples", kInts32}};
constexpr AttrField kResizeFields[] = {
    {"scale", kInts16}, {"offset", kInts16}, {"border", kInts16}, {"mode", kResizeMode}};
constexpr AttrField kClampFields[] = {{"min_val", kIntScalar},
                                      {"max_val", kIntScalar},
                                      {"min_val", kFloatScalar},
                                      {"max_val", kFloatScalar}};
constexpr AttrField kRescaleFields[] = {
    {"input_zp", kInt32},   {"output_zp", kInt32},     {"multiplier", kInts32},
    {"shift", kInts32},     {"scale32", kBool},        {"rounding_mode", kDoubleRound},
    {"per_channel", kBool}, {"input_unsigned", kBool}, {"output_unsigned", kBool}};
constexpr AttrField kMulFields[] = {{"shift", kInt32}};
constexpr AttrField kRightShiftFields[] = {{"round", kBool}};
constexpr AttrField kCondIfFields[] = {{"then_graph", kGraph}, {"else_graph", kGraph}};
constexpr AttrField kWhileLoopFields[] = {{"cond_graph", kGraph}, {"body_graph", kGraph}};
constexpr AttrField kTransposeFields[] = {{"perms", kInts32}};
constexpr AttrField kTableFields[] = {{"table", kInts16}};
constexpr AttrField kMatMulFields[] = {{"A_zp", kInt32}, {"B_zp", kInt32}};
constexpr AttrField kFullyConnectedFields[] = {{"input_zp", kInt32}, {"weight_zp", kInt32}};
constexpr AttrField kNegateFields[] = {{"input1_zp", kInt32}, {"output_zp", kInt32}};
constexpr AttrField kCustomFields[] = {
    {"operator_name", kString}, {"domain_name", kString}, {"implementation_attrs", kBytes}};
constexpr AttrField kFftFields[] = {{"inverse", kBool}, {"local_bound", kBool}};
constexpr AttrField kRfftFields[] = {{"local_bound", kBool}};

constexpr Table kNone;
constexpr Table kPool{1, kPoolFields};
constexpr Table kConv{2, kConvFields};
constexpr Table kTransposeConv{3, kTransposeConvFields};
constexpr Table kPad{4, kPadFields};
constexpr Table kAxis{5, kAxisFields};
constexpr Table kReshape{6, kReshapeFields};
constexpr Table kSlice{7, kSliceFields};
constexpr Table kTile{8, kTileFields};
constexpr Table kResize{9, kResizeFields};
constexpr Table kClamp{10, kClampFields};
constexpr Table kRescale{11, kRescaleFields};
constexpr Table kMul{12, kMulFields};
constexpr Table kRightShift{13, kRightShiftFields};
constexpr Table kCondIf{14, kCondIfFields};
constexpr Table kWhileLoop{15, kWhileLoopFields};
constexpr Table kTranspose{16, kTransposeFields};
constexpr Table kTable{17, kTableFields};
constexpr Table kMatMul{18, kMatMulFields};
constexpr Table kFullyConnected{19, kFullyConnectedFields};
constexpr Table kNegate{20, kNegateFields};
constexpr Table kCustom{21, kCustomFields};
constexpr Table kFft{22, kFftFields};
constexpr Table kRfft{23, kRfftFields};

struct Row {
  std::string_view name;
  uint8_t number;
  const Table& table;
};

constexpr uint8_t kConstOf080 = 64;
constexpr Row kOpsOf080[] = {
    {"argmax", 1, kAxis},
    {"avg_pool2d", 2, kPool},
    {"conv2d", 3, kConv},
    {"conv3d", 4, kConv},
    {"depthwise_conv2d", 5, kConv},
    {"fully_connected", 6, kFullyConnected},
    {"matmul", 7, kMatMul},
    {"max_pool2d", 8, kPool},
    {"transpose_conv2d", 9, kTransposeConv},
    {"clamp", 10, kClamp},
    {"sigmoid", 12, kNone},
    {"tanh", 13, kNone},
    {"add", 14, kNone},
    {"arithmetic_right_shift", 15, kRightShift},
    {"bitwise_and", 16, kNone},
    {"bitwise_or", 17, kNone},
    {"bitwise_xor", 18, kNone},
    {"intdiv", 19, kNone},
    {"logical_and", 20, kNone},
    {"logical_left_shift", 21, kNone},
    {"logical_right_shift", 22, kNone},
    {"logical_or", 23, kNone},
    {"logical_xor", 24, kNone},
    {"maximum", 25, kNone},
    {"minimum", 26, kNone},
    {"mul", 27, kMul},
    {"pow", 28, kNone},
    {"sub", 29, kNone},
    {"table", 30, kTable},
    {"abs", 31, kNone},
    {"bitwise_not", 32, kNone},
    {"ceil", 33, kNone},
    {"clz", 34, kNone},
    {"exp", 35, kNone},
    {"floor", 36, kNone},
    {"log", 37, kNone},
    {"logical_not", 38, kNone},
    {"negate", 39, kNegate},
    {"reciprocal", 40, kNone},
    {"rsqrt", 41, kNone},
    {"select", 42, kNone},
    {"equal", 43, kNone},
    {"greater", 44, kNone},
    {"greater_equal", 45, kNone},
    {"reduce_any", 46, kAxis},
    {"reduce_all", 47, kAxis},
    {"reduce_max", 48, kAxis},
    {"reduce_min", 49, kAxis},
    {"reduce_product", 50, kAxis},
    {"reduce_sum", 51, kAxis},
    {"concat", 52, kAxis},
    {"pad", 53, kPad},
    {"reshape", 54, kReshape},
    {"reverse", 55, kAxis},
    {"slice", 56, kSlice},
    {"tile", 57, kTile},
    {"transpose", 58, kTranspose},
    {"gather", 59, kNone},
    {"scatter", 60, kNone},
    {"resize", 61, kResize},
    {"cast", 62, kNone},
    {"rescale", 63, kRescale},
    {"const", kConstOf080, kNone},
    {"identity", 65, kNone},
    {"custom", 66, kCustom},
    {"cond_if", 67, kCondIf},
    {"while_loop", 68, kWhileLoop},
    {"fft2d", 69, kFft},
    {"rfft2d", 70, kRfft},
    {"erf", 71, kNone},
    {"dim", 72, kAxis},
};

}  // namespace

bool StoredOp::has_field(std::string_view field_name) const {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const AttrField& field) { return field.name == field_name; });
}

bool StoredOp::is_used(const AttrField& field) const {
  if (op == nullptr) return true;
  const auto has_name = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& item) { return item.name == field.name; });
  };
  return has_name(spec(*op).attrs) || has_name(spec(*op).operands);
}

bool FileVersion::is_known(const TosaVersion& version) {
  if (version.patch < 0) return false;
  return (version.major == 0 && version.minor == 80) ||
         (version.major == 1 && (version.minor == 0 || version.minor == 1));
}

FileVersion::FileVersion(const TosaVersion& version) : version_(version) {
  TOSAIC_CHECK(is_known(version), "a version without tables");
  is_one() ? fill_one() : fill_zero_eighty();
}

std::string FileVersion::name() const {
  return fmt::format("TOSA {}.{}", version_.major, version_.minor);
}

void FileVersion::add(const StoredOp& stored) {
  ops_.at(stored.number) = stored;
  if (stored.op != nullptr) {
    by_definition_.at(spec(*stored.op).number) = static_cast<uint8_t>(stored.number);
  }
}

void FileVersion::fill_one() {
  const bool is_10 = version_.minor == 0;
  dtypes_ = std::span(kDTypesOfOne).first(is_10 ? kNumDTypesOf10 : std::size(kDTypesOfOne));
  add({.name = "const", .number = const_ = kConst, .table = kConst});
  add({.name = "const_shape", .number = const_shape_ = kConstShape, .table = kConstShape});
  for (size_t i = 0; !is_10 && i < std::size(kNamesOf11); ++i) {
    add({.name = kNamesOf11[i], .number = static_cast<uint32_t>(kLastOpOf10 + 1 + i)});
  }
  for (const OpDef* op : all_ops()) {
    if (op->dialect != Dialect::kTosa) continue;
    const OpSpec& s = spec(*op);
    if (is_10 && s.number > kLastOpOf10) continue;
    // Variables are named by their tensors, and no attribute of the definition is in the table.
    if (op == &variable || op == &variable_read || op == &variable_write) {
      add({.name = op->name, .number = s.number, .table = static_cast<uint8_t>(s.number)});
      continue;
    }
    add({.op = op,
         .name = op->name,
         .number = s.number,
         .table = static_cast<uint8_t>(s.number),
         .fields = {s.attrs.begin(), s.attrs.count}});
  }
}

void FileVersion::fill_zero_eighty() {
  dtypes_ = kDTypesOf080;
  const_ = kConstOf080;
  for (const Row& row : kOpsOf080) {
    StoredOp stored{.op = find_op(fmt::format("tosa.{}", row.name)).op,
                    .name = row.name,
                    .number = row.number,
                    .table = row.table.number,
                    .fields = row.table.fields};
    if (stored.op != nullptr) {
      const ArgList& operands = spec(*stored.op).operands;
      for (size_t i = 0; i < operands.count; ++i) {
        if (stored.has_field(operands[i].name)) stored.inputs &= static_cast<uint8_t>(~(1U << i));
      }
    }
    add(stored);
  }
}

const StoredOp* FileVersion::stored(const OpDef& op) const {
  if (op.dialect != Dialect::kTosa) return nullptr;
  const uint32_t number = by_definition_.at(spec(op).number);
  return number == 0 ? nullptr : &ops_[number];
}

const StoredOp* FileVersion::by_number(uint32_t number) const {
  if (number == 0 || number >= ops_.size() || ops_[number].number == 0) return nullptr;
  return &ops_[number];
}

std::optional<uint32_t> FileVersion::number_of(DType dtype) const {
  const auto it = std::find(dtypes_.begin() + 1, dtypes_.end(), dtype);
  if (it == dtypes_.end() || dtype == DType::kUnknown) return std::nullopt;
  return static_cast<uint32_t>(it - dtypes_.begin());
}

DType FileVersion::dtype(uint32_t number) const {
  return number < dtypes_.size() ? dtypes_[number] : DType::kUnknown;
}

Attr unsaid_value(const AttrField& field, DType result) {
  if (field.kind == FieldKind::kNanMode) return Attr::string(name(NanMode::kPropagate));
  TOSAIC_CHECK(field.kind == FieldKind::kDType, "an attribute that a version's tables lost");
  return Attr::dtype(result);
}

}  // namespace tosaic::tosa
