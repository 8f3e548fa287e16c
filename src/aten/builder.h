// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "aten/call.h"
#include "aten/row.h"
#include "tosa/builder.h"

namespace tosaic::aten {

/// An attribute of a call out of a composite.
using NamedArg = NamedAttr;

/// What a lowering writes to: TOSA operations for a target (tosa::Builder), and calls of other
/// rows. A call is either lowered at once, or recorded as a node of an ATen graph (`expand`): so a
/// composite is written once, and serves lowering, CPU kernels and reports alike.
class Builder : public tosa::Builder {
 public:
  enum class Mode : uint8_t { kLower, kRecord };
  Builder(Graph& graph, const Target& target, Mode mode = Mode::kLower, Loc loc = nullptr)
      : tosa::Builder(graph, target, loc), mode_(mode) {}

  Mode mode() const { return mode_; }

  /// Calls the overload `full_name` ("aten.sigmoid.default") of another row. Tensor operands in
  /// schema order; absent trailing optional tensors may be left out.
  Value* call(std::string_view full_name, std::initializer_list<Value*> operands,
              const TensorType& result, std::initializer_list<NamedArg> args = {});
  /// With list operands or several results.
  std::vector<Value*> call_all(std::string_view full_name, std::span<Value* const> operands,
                               std::span<const int16_t> segments,
                               std::span<const TensorType> results, std::span<const NamedArg> args);

 private:
  Mode mode_;
};

/// The type of the TOSA value that holds a value of an ATen graph. TOSA tensors have no unsigned
/// types: u8 and u16 are held as signed integers with the same bits, and without parameters.
TensorType held_as(const TensorType& type);
/// The same of what is computed when the program runs. TOSA has no 64-bit integers: rows with
/// Trait::kIndices, which alone may have such values, find int32 in their place.
TensorType held_at_run_time(const TensorType& type);
/// The bytes of a constant of an ATen graph under that type.
const Constant& held_constant(Module& module, const Value& value);

/// Lowers one call: the row's table or its lower(), by the kinds of operands. Float calls need the
/// target's float profile, quantised ones its integer profile. What the builder could not make is
/// the reason of the reject.
Lowered lower(const Call& call, Builder& b);

/// Quantised TABLE of a real function over operand 0 (8- and 16-bit), with the RESCALE that 16-bit
/// tables need. Used for rows with `.table`.
Lowered lower_table(const Call& call, Builder& b, double (*function)(double, const Call&));

}  // namespace tosaic::aten
