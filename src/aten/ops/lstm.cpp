// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"

// Long short-term memory over a whole sequence, unrolled, as calls of other rows:
//
//   i, f, g, o = split(W_ih·x_t + b_ih + W_hh·h + b_hh)        (PyTorch's order of gates)
//   c = sigmoid(f)·c + sigmoid(i)·tanh(g)
//   h = sigmoid(o)·tanh(c)
//
// W_ih·x is one linear for all steps of a layer; only W_hh·h is sequential.

namespace tosaic::aten {
namespace {

/// Calls with types worked out from shapes; everything is of one float dtype.
class Cell {
 public:
  Cell(Builder& b, DType dtype) : b_(b), dtype_(dtype) {}

  TensorType type(const Shape& shape) const { return {dtype_, shape, nullptr}; }
  Value* sum(Value* x, Value* y) { return b_.call("aten.add.Tensor", {x, y}, type(x->shape())); }
  Value* product(Value* x, Value* y) {
    return b_.call("aten.mul.Tensor", {x, y}, type(x->shape()));
  }
  Value* sigmoid(Value* x) { return b_.call("aten.sigmoid.default", {x}, type(x->shape())); }
  Value* tanh(Value* x) { return b_.call("aten.tanh.default", {x}, type(x->shape())); }
  Value* linear(Value* x, Value* w, Value* bias) {
    Shape shape = x->shape();
    shape[shape.rank() - 1] = w->shape()[0];
    return b_.call("aten.linear.default", {x, w, bias}, type(shape));
  }
  Value* select(Value* x, int64_t index) {  // along axis 0
    if (x->shape().rank() == 0) return x;   // what made it has failed
    const Shape shape(x->shape().sizes().subspan(1));
    return b_.call("aten.select.int", {x}, type(shape),
                   {{"dim", Attr::integer(0)}, {"index", Attr::integer(index)}});
  }
  /// Columns [first, first + count) of the last axis.
  Value* columns(Value* x, int64_t first, int64_t count) {
    Shape shape = x->shape();
    const int axis = shape.rank() - 1;
    shape[axis] = count;
    return b_.call("aten.slice.Tensor", {x}, type(shape),
                   {{"dim", Attr::integer(axis)},
                    {"start", Attr::integer(first)},
                    {"end", Attr::integer(first + count)}});
  }
  Value* swap_first_axes(Value* x) {
    const Shape& s = x->shape();
    return b_.call("aten.transpose.int", {x}, type({s[1], s[0], s[2]}),
                   {{"dim0", Attr::integer(0)}, {"dim1", Attr::integer(1)}});
  }
  Value* stack(std::span<Value* const> parts) {
    const Shape& s = parts[0]->shape();
    return list_call("aten.stack.default", parts, {static_cast<int64_t>(parts.size()), s[0], s[1]},
                     0);
  }
  Value* cat_last(Value* x, Value* y) {
    Shape shape = x->shape();
    const int axis = shape.rank() - 1;
    shape[axis] += y->shape()[axis];
    Value* const parts[] = {x, y};
    return list_call("aten.cat.default", parts, shape, axis);
  }

 private:
  Value* list_call(std::string_view name, std::span<Value* const> parts, const Shape& shape,
                   int64_t dim) {
    const int16_t segment = static_cast<int16_t>(parts.size());
    const TensorType result = type(shape);
    const NamedArg arg{"dim", Attr::integer(dim)};
    return b_.call_all(name, parts, std::span(&segment, 1), std::span(&result, 1),
                       std::span(&arg, 1))[0];
  }

  Builder& b_;
  DType dtype_;
};

/// Weights of one layer and direction, as they follow each other in `params`.
struct Weights {
  Value* w_ih = nullptr;
  Value* w_hh = nullptr;
  Value* b_ih = nullptr;
  Value* b_hh = nullptr;
};

struct Result {
  std::vector<Value*> outputs;  // per step, in the order of time
  Value* h = nullptr;
  Value* c = nullptr;
};

/// One layer in one direction over x [T, N, I].
Result run_layer(Cell& cell, Value* x, const Weights& w, Value* h, Value* c, bool backwards) {
  const int64_t steps = x->shape()[0];
  const int64_t hidden = w.w_hh->shape()[1];
  Value* from_input = cell.linear(x, w.w_ih, w.b_ih);
  Result result;
  result.outputs.resize(static_cast<size_t>(steps));
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t t = backwards ? steps - 1 - step : step;
    Value* gates = cell.sum(cell.select(from_input, t), cell.linear(h, w.w_hh, w.b_hh));
    Value* i = cell.sigmoid(cell.columns(gates, 0, hidden));
    Value* f = cell.sigmoid(cell.columns(gates, hidden, hidden));
    Value* g = cell.tanh(cell.columns(gates, 2 * hidden, hidden));
    Value* o = cell.sigmoid(cell.columns(gates, 3 * hidden, hidden));
    c = cell.sum(cell.product(f, c), cell.product(i, g));
    h = cell.product(o, cell.tanh(c));
    result.outputs[static_cast<size_t>(t)] = h;
  }
  result.h = h;
  result.c = c;
  return result;
}

/// Longer sequences are refused: each step is some twenty operations.
constexpr int64_t kMaxSteps = 4096;

std::optional<Reject> check(const Call& n) {
  const std::string& name = n.schema().full_name;
  if (n.any_quantised()) {
    return reject(Code::kRejectQuantParams, "{}: quantised sequences are not supported", name);
  }
  if (n.tensor("input")->shape().rank() != 3) {
    return reject(Code::kRejectShape, "{}: input {} has no batch axis", name,
                  to_string(n.tensor("input")->shape()));
  }
  const int64_t steps = n.tensor("input")->shape()[n.b("batch_first") ? 1 : 0];
  if (steps < 1 || steps > kMaxSteps) {
    return reject(Code::kRejectShape, "{}: {} steps; 1 to {} are taken", name, steps, kMaxSteps);
  }
  if (n.b("train") && n.f("dropout") != 0) {
    return reject(Code::kRejectAttribute, "{}: the program was exported in training mode", name);
  }
  const int64_t directions = n.b("bidirectional") ? 2 : 1;
  const int64_t per_layer = n.b("has_biases") ? 4 : 2;
  const auto expected = static_cast<size_t>(n.i("num_layers") * directions * per_layer);
  if (n.tensors("params").size() != expected || n.tensors("hx").size() != 2) {
    return reject(Code::kRejectAttribute, "{}: {} weights, {} are needed (no projections)", name,
                  n.tensors("params").size(), expected);
  }
  return std::nullopt;
}

Lowered lower_lstm(const Call& n, Builder& b) {
  if (auto r = check(n)) return *r;
  Cell cell(b, n.out().dtype);
  const bool biases = n.b("has_biases");
  const int64_t directions = n.b("bidirectional") ? 2 : 1;
  const auto params = n.tensors("params");
  const auto state = n.tensors("hx");
  Value* x = n.tensor("input");
  if (n.b("batch_first")) x = cell.swap_first_axes(x);
  size_t next = 0;
  std::vector<Value*> last_h;
  std::vector<Value*> last_c;
  for (int64_t layer = 0; layer < n.i("num_layers"); ++layer) {
    Value* y = nullptr;
    for (int64_t direction = 0; direction < directions; ++direction) {
      Weights w{params[next], params[next + 1]};
      if (biases) {
        w.b_ih = params[next + 2];
        w.b_hh = params[next + 3];
      }
      next += biases ? 4 : 2;
      const int64_t index = layer * directions + direction;
      const Result r = run_layer(cell, x, w, cell.select(state[0], index),
                                 cell.select(state[1], index), direction == 1);
      Value* sequence = cell.stack(r.outputs);
      y = y == nullptr ? sequence : cell.cat_last(y, sequence);
      last_h.push_back(r.h);
      last_c.push_back(r.c);
    }
    x = y;
  }
  if (n.b("batch_first")) x = cell.swap_first_axes(x);
  return std::vector<Value*>{x, cell.stack(last_h), cell.stack(last_c)};
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(lstm) = {
    .schemas = schemas(
        "aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, "
        "int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
        "(Tensor, Tensor, Tensor)"),
    .doc = "Long short-term memory over a sequence, unrolled into calls of other rows.",
    .lower = lower_lstm,
};
