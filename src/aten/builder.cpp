// SPDX-License-Identifier: Apache-2.0
#include "aten/builder.h"

#include <algorithm>
#include <cmath>

#include "numeric/fixed_point.h"
#include "numeric/table.h"
#include "support/check.h"

namespace tosaic::aten {

Value* Builder::call(std::string_view full_name, std::initializer_list<Value*> operands,
                     const TensorType& result, std::initializer_list<NamedArg> args) {
  return call_all(full_name, std::span(operands.begin(), operands.size()), {},
                  std::span(&result, 1), std::span(args.begin(), args.size()))[0];
}

std::vector<Value*> Builder::call_all(std::string_view full_name, std::span<Value* const> operands,
                                      std::span<const int16_t> segments,
                                      std::span<const TensorType> results,
                                      std::span<const NamedArg> args) {
  const OpVariant found = find_op(full_name);
  TOSAIC_CHECK(found.op != nullptr && found.op->dialect == Dialect::kAten,
               fmt::format("a composite calls {}, which no row serves", full_name));
  // What could not be made is in no graph.
  const bool is_made = std::ranges::none_of(
      operands, [](const Value* v) { return v != nullptr && v->dtype() == DType::kUnknown; });
  if (!is_made) {
    fail(reject(Code::kRejectNoLowering, "{}: an operand could not be made", full_name));
  }
  if (mode_ == Mode::kRecord && is_made) {
    Node& node = graph().insert({.op = found.op,
                                 .variant = found.variant,
                                 .operands = operands,
                                 .segments = segments,
                                 .results = results,
                                 .attrs = args,
                                 .loc = loc()},
                                insertion_point());
    std::vector<Value*> values;
    for (Value& v : node.results())
      values.push_back(&v);
    return values;
  }
  if (mode_ == Mode::kLower && !failure()) {
    const AttrList attrs = module().copy_attrs(args);
    const Call call(*found.op, found.variant, operands, segments, attrs, results, loc());
    const Lowered lowered = lower(call, *this);
    if (lowered.ok()) return {lowered.values().begin(), lowered.values().end()};
    fail(lowered.reason());
  }
  // Of the stated sizes, so that the composite may go on reading them. Rows get to see none of
  // these values.
  std::vector<Value*> values;
  for (const TensorType& type : results) {
    values.push_back(poison());
    values.back()->set_type({DType::kUnknown, type.shape, nullptr});
  }
  return values;
}

namespace {

std::optional<Reject> check_profile(const Call& call, const Builder& b) {
  const bool quantised = call.any_quantised();
  bool has_float = false;
  for (const Value* v : call.operands()) {
    // A float constant beside quantised values is a bias, which the row quantises.
    const bool counts = v != nullptr && !(quantised && v->is_constant());
    has_float = has_float || (counts && is_float(v->dtype()));
  }
  for (const TensorType& t : call.results())
    has_float = has_float || is_float(t.dtype);
  if (has_float && !b.has(Feature::kFp)) {
    Reject r = reject(Code::kRejectNotQuantised, "{} computes in floating point, which {} lacks",
                      call.schema().full_name, b.target().display_name);
    r.hint = quantised ? "quantise all of its inputs and outputs alike"
                       : "quantise the program: give samples of its inputs with --calibrate";
    return r;
  }
  if (quantised && !b.has(Feature::kInt)) {
    return reject(Code::kRejectDtype, "{} is quantised and {} takes float programs only",
                  call.schema().full_name, b.target().display_name);
  }
  return std::nullopt;
}

}  // namespace

TensorType held_as(const TensorType& type) {
  if (type.dtype == DType::kU8) return {DType::kI8, type.shape, nullptr};
  if (type.dtype == DType::kU16) return {DType::kI16, type.shape, nullptr};
  return type;
}

TensorType held_at_run_time(const TensorType& type) {
  if (type.dtype == DType::kI64) return {DType::kI32, type.shape, nullptr};
  return held_as(type);
}

const Constant& held_constant(Module& module, const Value& value) {
  const TensorType type = held_as(value.type());
  if (type.dtype == value.dtype()) return *value.constant();
  const Constant& stored = module.materialised(*value.constant());
  return module.constant(type.dtype, type.shape, stored.plain_bytes());
}

Lowered lower(const Call& call, Builder& b) {
  const Row& row = call.row();
  if (row.lower == nullptr && row.table == nullptr) {
    return reject(Code::kRejectNoLowering, "{} has no lowering to TOSA", call.schema().full_name);
  }
  if (auto reason = check_profile(call, b)) return *std::move(reason);
  const bool use_table = row.table != nullptr && call.any_quantised();
  Lowered lowered = use_table ? lower_table(call, b, row.table) : row.lower(call, b);
  if (b.failure()) return *b.failure();
  if (!lowered.ok()) return lowered;
  if (!call.row().has(Trait::kIndices)) {
    for (size_t i = 0; i < lowered.values().size() && i < call.results().size(); ++i) {
      if (call.out(i).dtype != DType::kI64 || lowered.values()[i] == nullptr) continue;
      return reject(Code::kRejectDtype, "{}: its result is {}; TOSA has no 64-bit integers",
                    call.schema().full_name, to_string(call.out(i)));
    }
  }
  // Results carry the quantisation that the program states, for calls that read them and reports.
  std::vector<Value*> values(lowered.values().begin(), lowered.values().end());
  for (size_t i = 0; i < values.size() && i < call.results().size(); ++i) {
    const Quant* quant = held_as(call.out(i)).quant;
    if (values[i] == nullptr || values[i]->quant() != nullptr || quant == nullptr) continue;
    TensorType type = values[i]->type();
    type.quant = quant;
    if (values[i]->is_constant()) {  // which others may share
      values[i] = &b.graph().add_constant(*values[i]->constant(), type);
    } else if (values[i]->def() != nullptr) {
      values[i]->set_type(type);
    }
  }
  return values;
}

}  // namespace tosaic::aten
