// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ethosu/vela.h"
#include "support/expected.h"

namespace tosaic {

/// An input or output as the payload stores it (36 bytes).
struct PayloadTensor {
  std::array<int32_t, 6> shape{};
  int32_t element_size = 0;  ///< bytes
  int32_t offset = 0;        ///< bytes from the start of the scratch buffer
  int32_t region = 0;        ///< not used at run time
  uint64_t num_bytes = 0;    ///< shape × element_size; not stored
};

/// The parts of a payload; spans point into it.
struct VelaPayload {
  std::span<const std::byte> command_stream;  ///< begins with "COP1" or "COP2"
  std::span<const std::byte> weights;
  std::string command_stream_key;  ///< when not empty, the bytes are named data of the program
  std::string weights_key;
  uint32_t scratch_bytes = 0;
  std::vector<PayloadTensor> inputs;  ///< in the order of the delegate call's arguments
  std::vector<PayloadTensor> outputs;
};

/// Writes the `vela_bin_stream` that ExecuTorch's EthosUBackend takes. The bytes are those that
/// ExecuTorch's own flow writes for the same results of Vela. Errors: kVelaOutput when a number
/// does not fit the format.
Expected<std::vector<std::byte>> write_vela_bin_stream(const VelaResult& result);

/// Reads and checks a payload. Everything that the runtime would trust is checked: each block
/// stands once, sizes stay within the payload, inputs and outputs lie within the scratch buffer.
/// The bytes must be 16-byte aligned in memory. Errors: kPayload.
Expected<VelaPayload> parse_vela_bin_stream(std::span<const std::byte> bytes);

}  // namespace tosaic
