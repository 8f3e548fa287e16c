// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tosaic {

/// Element types with the numbers of a .pte (those of c10; a .pt2 has others).
enum class PteDtype : int8_t {
  kUint8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kFloat16 = 5,
  kFloat32 = 6,
  kFloat64 = 7,
  kBool = 11,
  kBfloat16 = 15,
  kUint16 = 27,
  kUint32 = 28,
  kUint64 = 29,
};

/// Bytes of an element; 0 for numbers that are not in the list.
size_t pte_element_bytes(PteDtype dtype);
/// "int8"; "dtype 12" for numbers that are not in the list.
std::string pte_dtype_name(PteDtype dtype);

/// Where a tensor's bytes are.
enum class PteStorage : uint8_t {
  kUnplanned,  ///< the caller sets the pointer
  kPlanned,    ///< at `offset` of memory `memory_id`
  kConstant,   ///< constant number `constant`
  kExternal,   ///< in a data file, under `name`
  kState,      ///< planned, with an initial value in the file (read only: not written)
};

enum class PteDynamism : uint8_t { kStatic = 0, kBounded = 1 };

struct PteTensor {
  PteDtype dtype = PteDtype::kFloat32;
  std::vector<int32_t> sizes;      ///< upper bounds when not static
  std::vector<uint8_t> dim_order;  ///< dimensions from outer to inner in memory; empty = 0, 1, 2, …
  PteDynamism dynamism = PteDynamism::kStatic;
  PteStorage storage = PteStorage::kPlanned;
  uint32_t memory_id = 1;  ///< from 1 on
  uint64_t offset = 0;     ///< bytes; set by plan_memory()
  uint32_t constant = 0;   ///< index into PteProgram::constants
  std::string name;        ///< of external data

  /// Bytes of all elements. Sizes are those of a checked tensor.
  uint64_t num_bytes() const;
};

/// Lists hold indices of values, not the values.
struct PteIntList {
  std::vector<int64_t> items;
};
struct PteDoubleList {
  std::vector<double> items;
};
struct PteBoolList {
  std::vector<bool> items;
};
struct PteTensorList {
  std::vector<int32_t> items;
};
struct PteOptionalTensorList {
  std::vector<int32_t> items;
};  ///< -1 = none

using PteValue =
    std::variant<std::monostate, int64_t, bool, double, PteTensor, std::string, PteIntList,
                 PteDoubleList, PteBoolList, PteTensorList, PteOptionalTensorList>;

struct PteOperator {
  std::string name;      ///< "quantized_decomposed::quantize_per_tensor"
  std::string overload;  ///< "out"
};

struct PteCompileSpec {
  std::string key;
  std::vector<std::byte> value;
};

struct PteDelegate {
  std::string id;  ///< "EthosUBackend"
  std::span<const std::byte> payload;
  std::vector<PteCompileSpec> specs;
};

/// Arguments are indices of values: those of the schema with the outputs, then the returned one
/// again.
struct PteKernelCall {
  int32_t op = 0;
  std::vector<int32_t> args;
};
/// Arguments are the inputs, then the outputs, in the order of the payload.
struct PteDelegateCall {
  int32_t delegate = 0;
  std::vector<int32_t> args;
};
struct PteMoveCall {
  int32_t from = 0, to = 0;
};
struct PteJumpFalseCall {
  int32_t condition = 0, destination = 0;
};
struct PteFreeCall {
  int32_t value = 0;
};
using PteInstruction =
    std::variant<PteKernelCall, PteDelegateCall, PteMoveCall, PteJumpFalseCall, PteFreeCall>;

/// One method of a program.
struct PtePlan {
  std::string name = "forward";
  std::vector<PteValue> values;
  std::vector<int32_t> inputs;  ///< indices of values
  std::vector<int32_t> outputs;
  std::vector<PteOperator> operators;
  std::vector<PteDelegate> delegates;
  std::vector<PteInstruction> instructions;
  /// Bytes of each memory; entry 0 is reserved and 0. Set by plan_memory().
  std::vector<int64_t> buffer_sizes = {0};
};

struct PteNamedData {
  std::string key;
  std::span<const std::byte> bytes;
};

/// A .pte file. Spans are not copied: their owner must outlive the program.
struct PteProgram {
  std::vector<PtePlan> plans;
  std::vector<std::span<const std::byte>> constants;
  std::vector<PteNamedData> named_data;
};

/// The segment that begins at a multiple of this many bytes of the file.
inline constexpr size_t kPteSegmentAlignment = 128;
/// Constants and planned tensors; payloads need it too.
inline constexpr size_t kPteDataAlignment = 16;
inline constexpr std::string_view kPteIdentifier = "ET12";
inline constexpr std::string_view kPteExtendedHeader = "eh00";
inline constexpr size_t kPteExtendedHeaderBytes = 32;
inline constexpr size_t kPteMaxRank = 16;

}  // namespace tosaic
