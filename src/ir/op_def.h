// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "support/expected.h"

namespace tosaic {

class Graph;
class Module;
class Node;
struct OpDef;

enum class Dialect : uint8_t {
  kBuiltin,  ///< call, return: allowed in every graph
  kAten,     ///< PyTorch operators, composite, core or edge, and quantized_decomposed
  kTosa,
  kMixed,  ///< of a graph only: any of them
};
std::string_view dialect_name(Dialect dialect);

/// What a node does besides computing its results. State is what a run leaves to the next one and
/// what nodes tell each other without a value; see Effects for nodes that run other graphs.
enum class Effect : uint8_t {
  kNone,    ///< may be removed when unused, made one with its equal, computed early, or moved
  kReads,   ///< its results depend on where among the writes it stands; unused, it may be removed
  kWrites,  ///< stays, in its order among reads and writes; also what nothing is known of
};

/// In how many graphs each graph of a module is nested at most; 0: nobody runs it.
using CallDepths = std::unordered_map<const Graph*, size_t>;

/// What a dialect tells the IR about its operators.
struct DialectHooks {
  /// Full name of a variant (an overload): "aten.add.Tensor", "tosa.add".
  std::string_view (*variant_name)(const OpDef& op, int variant);
  int (*num_variants)(const OpDef& op);
  /// Checks everything that concerns one node: operands, attributes, types. V-codes.
  Status (*verify)(const Node& node);
  /// Checks what nodes of several graphs need of each other; once for a module that has a node with
  /// these hooks, when the nodes are right and no graph runs itself. nullptr: nothing to check.
  Status (*verify_module)(const Module& module, const CallDepths& depths) = nullptr;
};

/// An operator. Its identity is its address; no two definitions stand for the same operator.
/// Defined by the macros of each dialect (TOSAIC_TOSA_OP, TOSAIC_ATEN_OP), which also put its
/// address into a linker section: there is no registration code and no list of operators.
struct OpDef {
  std::string_view name;  ///< "add": unique within its dialect
  Dialect dialect;
  const DialectHooks* hooks;
  const void* spec;  ///< tosa::OpSpec or aten::Row; ask the dialect's accessor
  Effect effect = Effect::kNone;
};

/// Every operator of the program, in no particular order.
std::span<const OpDef* const> all_ops();

/// An operator and which of its variants.
struct OpVariant {
  const OpDef* op = nullptr;
  int variant = 0;
};

/// The operator with that full name ("tosa.conv2d", "aten.add.Tensor"); op is nullptr when there is
/// none. Constant time.
OpVariant find_op(std::string_view full_name);

/// `call {callee = @graph}`: operands and results are those of the graph it names.
extern const OpDef kCallOp;
/// Ends each graph; its operands are the graph's outputs.
extern const OpDef kReturnOp;

}  // namespace tosaic

/// Puts the address of an OpDef into the section that all_ops() reads.
#define TOSAIC_REGISTER_OP(def)         \
  __attribute__((section("tosaic_ops"), \
                 used)) static const ::tosaic::OpDef* const registered_##def = &def
