// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "ir/pass.h"

namespace tosaic {

/// Passes over a program as it was read, before partitioning.
std::span<const Pass* const> prepare_pipeline();
/// What our own quantisation needs of a float program.
std::span<const Pass* const> prepare_float_pipeline();
/// Inputs and outputs become the quantised values themselves; then int8 ones become uint8.
std::span<const Pass* const> integer_io_pipeline();
std::span<const Pass* const> unsigned_io_pipeline();
/// Passes over a TOSA graph, before it is verified and written.
std::span<const Pass* const> tosa_pipeline();

}  // namespace tosaic
