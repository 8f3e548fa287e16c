// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"
#include "tosa/op.h"

namespace tosaic::tosa {

/// A tensor in memory: C order, elements as element_bytes() says (i4 a byte, i48 eight bytes).
struct HostTensor {
  DType dtype = DType::kUnknown;
  Shape shape;
  std::vector<std::byte> storage;  ///< empty when it only views somebody's bytes
  std::span<const std::byte> bytes;

  HostTensor() = default;
  HostTensor(const HostTensor& other);
  HostTensor(HostTensor&& other) noexcept = default;
  HostTensor& operator=(HostTensor other) noexcept;
  ~HostTensor() = default;

  static HostTensor allocate(DType dtype, const Shape& shape);
  static HostTensor view(DType dtype, const Shape& shape, std::span<const std::byte> bytes);
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
  template <typename T>
  T* mutable_data() {
    return reinterpret_cast<T*>(storage.data());
  }
};

/// One node under execution.
struct RefCall {
  const Node& node;
  std::span<const HostTensor* const> in;
  std::span<HostTensor> out;  ///< allocated, to be filled
  /// Set by an operation whose REQUIRE does not hold for these values: the result is then wrapped,
  /// as the reference model returns it. The first reason is kept.
  std::string unpredictable;
  /// Set by an operation whose int32 result is less than the number that it computed: its low 32
  /// bits, or of a float the nearest int32.
  bool wraps = false;

  template <typename A>
  A get() const {
    return read_attrs<A>(node);
  }
  void set_unpredictable(std::string why) {
    if (unpredictable.empty()) unpredictable = std::move(why);
  }
};

/// Executes TOSA graphs node by node with exact integer semantics, and fp32 arithmetic in the order
/// of the specification (products and sums rounded one by one, ky, kx, ic).
class Reference {
 public:
  /// The graph must be verified and outlive the object. Constants are materialised once.
  explicit Reference(const Graph& graph);
  ~Reference();

  /// Inputs and outputs in the graph's order; dtypes and shapes must be the graph's (E0310). What a
  /// run writes to variables, the next one reads.
  Expected<std::vector<HostTensor>> run(std::span<const HostTensor> inputs);
  /// "node: reason" of the last run when its result is unpredictable; else empty.
  const std::string& unpredictable() const;
  /// A product, shift or cast of the last run gave what int32 holds of a number that it does not
  /// hold, as the specification says it does.
  bool wrapped() const;
  /// Called with each node's results, in order (per-operator comparisons). May be empty.
  void observe(std::function<void(const Node&, std::span<const HostTensor>)> observer);

 private:
  struct State;
  struct Variables;
  Reference(const Graph& graph, std::shared_ptr<Variables> variables);
  std::unique_ptr<State> state_;
};

/// Computes one node of constants (constant folding); operands must all be constants.
Expected<std::vector<HostTensor>> evaluate(const Node& node);

}  // namespace tosaic::tosa
