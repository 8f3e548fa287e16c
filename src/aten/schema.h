// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attr.h"
#include "support/expected.h"

namespace tosaic::aten {

/// Kind of a schema argument, as far as we tell kinds apart.
enum class ArgKind : uint8_t {
  kTensor,
  kOptionalTensor,
  kTensorList,          ///< Tensor[]
  kOptionalTensorList,  ///< Tensor?[]
  kInt,                 ///< int, SymInt
  kFloat,
  kBool,
  kScalar,  ///< Scalar: keeps the kind that the program wrote (int, float, bool)
  kString,
  kDType,  ///< ScalarType
  kInts,   ///< int[], SymInt[], also with a fixed length (int[2])
  kFloats,
  kBools,
  kOther,  ///< Layout, Device, MemoryFormat, Generator, Dimname: read and dropped
};

struct SchemaArg {
  std::string_view name;
  ArgKind kind = ArgKind::kTensor;
  bool optional = false;  ///< "int?": none is allowed
  bool keyword_only = false;
  bool is_out = false;        ///< "Tensor(a!) out" of an out-variant
  bool written = false;       ///< "(a!)": the operator writes to it
  uint8_t fixed_length = 0;   ///< int[2]: a single number stands for the whole list
  std::optional<Attr> value;  ///< default; lists already expanded
};

/// A parsed schema of PyTorch, "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) ->
/// Tensor".
struct Schema {
  std::string full_name;  ///< "aten.add.Tensor"; the overload "default" is written out
  std::vector<SchemaArg> args;
  int num_returns = 0;        ///< a list counts as one
  bool returns_list = false;  ///< "Tensor[]": as many results as the program says
  bool in_place = false;      ///< writes to its first argument and returns it

  const SchemaArg* find(std::string_view name) const;
  bool is_tensor_arg(size_t i) const;
};

/// Parses the text. Its views point into `text`, which must outlive the schema.
Expected<Schema> parse_schema(std::string_view text);

}  // namespace tosaic::aten
