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
/// What our own quantisation needs of a float program, and what follows it.
std::span<const Pass* const> prepare_float_pipeline();
std::span<const Pass* const> finish_quantised_pipeline(bool integer_io);
std::span<const Pass* const> tosa_pipeline();

}  // namespace tosaic
