// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>

#include "ir/graph.h"

/// Tensors with a name that live as long as their executor: what one run writes, the next reads.
namespace tosaic::tosa {

/// `variable(initial or none) {name, var_shape, type}`: declares it for all graphs of the module.
extern const OpDef variable;
/// `variable_read() {name}`
extern const OpDef variable_read;
/// `variable_write(value) {name}`
extern const OpDef variable_write;

/// Whether the node is one of the three.
bool is_of_variable(const Node& node);
/// Which variable a node of the three declares, reads or writes.
std::string_view variable_name(const Node& node);
/// What a `variable` declares.
TensorType variable_type(const Node& declaration);
/// Where the module's variables are declared, by name; of several the first.
std::unordered_map<std::string_view, const Node*> find_variables(const Module& module);

}  // namespace tosaic::tosa
