// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tosaic::standin {

/// What a payload stands for: the TOSA graph of its partition, ready to run by the scalar
/// reference. No header of tosaic is included here, so that ExecuTorch's headers meet none of ours.
class Partition {
 public:
  /// Looks for DIR/NAME.payload with these bytes and reads DIR/NAME.tosa. Null, and a text in
  /// `why`, when there is none or it is damaged.
  static std::unique_ptr<Partition> find(const std::string& dir, std::span<const std::byte> payload,
                                         std::string& why);
  virtual ~Partition() = default;

  virtual size_t num_inputs() const = 0;
  virtual size_t num_outputs() const = 0;
  /// Bytes are those of the graph's inputs and outputs, in its order; their numbers must be the
  /// graph's and the payload's. Returns "" or what is wrong.
  virtual std::string run(std::span<const std::span<const std::byte>> inputs,
                          std::span<const std::span<std::byte>> outputs) = 0;
};

}  // namespace tosaic::standin
