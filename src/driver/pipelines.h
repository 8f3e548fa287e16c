// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ir/pass.h"

namespace tosaic {

/// Passes over a program as it was read, before partitioning.
std::span<const Pass* const> prepare_pipeline();
/// The same, then inputs and outputs become the quantised values themselves: for `tosa-int`.
std::span<const Pass* const> prepare_integer_pipeline();
/// Passes over a TOSA graph, before it is verified and written.
std::span<const Pass* const> tosa_pipeline();

}  // namespace tosaic
