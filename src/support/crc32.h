// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tosaic {

/// CRC-32 of zip and PNG (polynomial 0x04c11db7, reflected). `crc` continues an earlier call.
uint32_t crc32(std::span<const std::byte> data, uint32_t crc = 0);

}  // namespace tosaic
