// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/graph.h"
#include "quant/choose_params.h"
#include "support/expected.h"
#include "tosa/spec.h"

namespace tosaic {

/// What a float node becomes on quantised values.
struct QuantisedForm {
  struct Operand {
    TensorType type;                     ///< of the value, or of `constant`
    const Constant* constant = nullptr;  ///< nullptr: a value of the graph
    bool changes = false;                ///< false: the operand stays what it is
  };
  std::vector<Operand> operands;
  std::vector<TensorType> results;
};

/// The type of an activation when it is quantised; nothing when it is not known.
using ActivationTypes = std::function<std::optional<TensorType>(const Value&)>;

/// A form, or why there is none; neither for a node without floats, which needs none.
struct Planned {
  std::optional<QuantisedForm> form{};
  std::optional<Reject> why_not{};
};

/// The form of a float node, with int8 weights and a float bias (which the row quantises), if it
/// has one that `target` takes: the node is lowered to find out, as its partition will be later.
/// E0305 for weights that are not finite.
Expected<Planned> quantised_form(const Node& node, const ActivationTypes& type_of,
                                 Precision precision, const Target& target);

/// Expands composites that the target does not take quantised, where it takes one of their calls:
/// an LSTM. Found out with parameters of [-1, 1] everywhere.
Status expand_composites(Graph& graph, Precision precision, const Target& target);

}  // namespace tosaic
