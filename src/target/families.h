// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "ir/graph.h"
#include "support/diagnostic.h"
#include "tosa/spec.h"

namespace tosaic {

/// Limits of a family on one TOSA node beyond profile and level: measured with Vela 5.2.0 over
/// TOSA's conformance tests (docs/targets.md says which rule comes from where).
std::optional<Reject> ethos_u55_rows(const Node& node, const Target& target);  ///< U65 as well
std::optional<Reject> ethos_u85_rows(const Node& node, const Target& target);
/// Windows that Vela computes one by one, on every Ethos-U.
int64_t ethos_u_pieces(const Node& node);

}  // namespace tosaic
