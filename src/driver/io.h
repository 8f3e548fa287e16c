// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "driver/report.h"
#include "ir/graph.h"
#include "support/expected.h"

namespace tosaic {

/// What the program's own inputs and outputs are.
struct IoOptions {
  /// f32, i8, u8 or i16; kUnknown: f32 in a .pte, the quantised values themselves for tosa-int.
  DType dtype = DType::kUnknown;
  bool channels_last = false;  ///< rank-4 ones in NHWC
};

/// The dtype of --io-dtype; E0104 for a text that names none of them.
Expected<DType> parse_io_dtype(std::string_view text);

/// After quantise_io: E0104 when a quantised input or output has other integers than `dtype` asks
/// for, a warning for those that stay float.
Status check_io_dtype(const Graph& main, DType dtype, DiagnosticSink& sink);

/// A C header with dtype, sizes, scale and zero point of every input and output, for firmware that
/// converts by itself. `program` is the file that it describes.
std::string io_header(std::string_view program, const CompileReport& report);

}  // namespace tosaic
