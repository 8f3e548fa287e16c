// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"

// Recurrent layers over a whole sequence, unrolled, as calls of other rows. With PyTorch's order of
// gates, x for W_ih·x_t + b_ih and h for W_hh·h + b_hh:
//
//   LSTM   i, f, g, o = split(x + h)       c = sigmoid(f)·c + sigmoid(i)·tanh(g)
//                                          h = sigmoid(o)·tanh(c)
//   GRU    r, z, n = split(x), split(h)    n = tanh(x_n + sigmoid(x_r + h_r)·h_n)
//                                          h = n + sigmoid(x_z + h_z)·(h - n)
//   RNN                                    h = tanh(x + h), or relu
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
  Value* difference(Value* x, Value* y) {
    return b_.call("aten.sub.Tensor", {x, y}, type(x->shape()));
  }
  Value* product(Value* x, Value* y) {
    return b_.call("aten.mul.Tensor", {x, y}, type(x->shape()));
  }
  Value* sigmoid(Value* x) { return b_.call("aten.sigmoid.default", {x}, type(x->shape())); }
  Value* tanh(Value* x) { return b_.call("aten.tanh.default", {x}, type(x->shape())); }
  Value* relu(Value* x) { return b_.call("aten.relu.default", {x}, type(x->shape())); }
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

/// What goes from step to step; `c` of an LSTM only.
struct State {
  Value* h = nullptr;
  Value* c = nullptr;
};

/// One step: `x` is W_ih·x_t + b_ih.
using Step = State (*)(Cell& cell, Value* x, const Weights& w, State s);

State lstm_step(Cell& cell, Value* x, const Weights& w, State s) {
  const int64_t hidden = w.w_hh->shape()[1];
  Value* gates = cell.sum(x, cell.linear(s.h, w.w_hh, w.b_hh));
  Value* i = cell.sigmoid(cell.columns(gates, 0, hidden));
  Value* f = cell.sigmoid(cell.columns(gates, hidden, hidden));
  Value* g = cell.tanh(cell.columns(gates, 2 * hidden, hidden));
  Value* o = cell.sigmoid(cell.columns(gates, 3 * hidden, hidden));
  Value* c = cell.sum(cell.product(f, s.c), cell.product(i, g));
  return {cell.product(o, cell.tanh(c)), c};
}

State gru_step(Cell& cell, Value* x, const Weights& w, State s) {
  const int64_t hidden = w.w_hh->shape()[1];
  Value* from_h = cell.linear(s.h, w.w_hh, w.b_hh);
  const auto gate = [&](int64_t index) {
    return cell.sigmoid(cell.sum(cell.columns(x, index * hidden, hidden),
                                 cell.columns(from_h, index * hidden, hidden)));
  };
  Value* r = gate(0);
  Value* z = gate(1);
  Value* n = cell.tanh(cell.sum(cell.columns(x, 2 * hidden, hidden),
                                cell.product(r, cell.columns(from_h, 2 * hidden, hidden))));
  return {cell.sum(n, cell.product(z, cell.difference(s.h, n)))};
}

State rnn_tanh_step(Cell& cell, Value* x, const Weights& w, State s) {
  return {cell.tanh(cell.sum(x, cell.linear(s.h, w.w_hh, w.b_hh)))};
}

State rnn_relu_step(Cell& cell, Value* x, const Weights& w, State s) {
  return {cell.relu(cell.sum(x, cell.linear(s.h, w.w_hh, w.b_hh)))};
}

struct Result {
  std::vector<Value*> outputs;  // per step, in the order of time
  State last;
};

/// One layer in one direction over x [T, N, I].
Result run_layer(Cell& cell, Value* x, const Weights& w, State state, Step step, bool backwards) {
  const int64_t steps = x->shape()[0];
  Value* from_input = cell.linear(x, w.w_ih, w.b_ih);
  Result result;
  result.outputs.resize(static_cast<size_t>(steps));
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = backwards ? steps - 1 - i : i;
    state = step(cell, cell.select(from_input, t), w, state);
    result.outputs[static_cast<size_t>(t)] = state.h;
  }
  result.last = state;
  return result;
}

/// Longer sequences are refused: each step is some ten to twenty operations.
constexpr int64_t kMaxSteps = 4096;

std::optional<Reject> check(const Call& n, size_t num_states) {
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
  constexpr int64_t kMaxLayers = 1024;
  const int64_t num_layers = n.i("num_layers");
  if (num_layers < 1 || num_layers > kMaxLayers) {
    return reject(Code::kRejectAttribute, "{}: {} layers; 1 to {} are taken", name, num_layers,
                  kMaxLayers);
  }
  const auto expected = static_cast<size_t>(num_layers * directions * per_layer);
  if (n.tensors("params").size() != expected || n.tensors("hx").size() != num_states) {
    return reject(Code::kRejectAttribute, "{}: {} weights, {} are needed (no projections)", name,
                  n.tensors("params").size(), expected);
  }
  for (size_t i = 0; i < expected; ++i) {
    const auto place = static_cast<int64_t>(i) % per_layer;
    const Shape& shape = n.tensors("params")[i]->shape();
    if (shape.rank() == (place < 2 ? 2 : 1)) continue;
    return reject(Code::kRejectShape, "{}: weight {} is {}", name, i, to_string(shape));
  }
  for (const Value* state : n.tensors("hx")) {
    if (state->shape().rank() == 3) continue;
    return reject(Code::kRejectShape, "{}: a state is {}", name, to_string(state->shape()));
  }
  return std::nullopt;
}

/// `num_states`: 2 when there is a c.
Lowered lower_sequence(const Call& n, Builder& b, Step step, size_t num_states) {
  if (auto r = check(n, num_states)) return *r;
  Cell cell(b, n.out().dtype);
  const bool biases = n.b("has_biases");
  const int64_t directions = n.b("bidirectional") ? 2 : 1;
  const auto params = n.tensors("params");
  const auto states = n.tensors("hx");
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
      const State first = {cell.select(states[0], index),
                           num_states == 2 ? cell.select(states[1], index) : nullptr};
      const Result r = run_layer(cell, x, w, first, step, direction == 1);
      Value* sequence = cell.stack(r.outputs);
      y = y == nullptr ? sequence : cell.cat_last(y, sequence);
      last_h.push_back(r.last.h);
      last_c.push_back(r.last.c);
    }
    x = y;
  }
  if (n.b("batch_first")) x = cell.swap_first_axes(x);
  std::vector<Value*> results = {x, cell.stack(last_h)};
  if (num_states == 2) results.push_back(cell.stack(last_c));
  return results;
}

/// One step over a batch: x [N, I], or [I].
Lowered lower_cell(const Call& n, Builder& b, Step step, size_t num_states) {
  const auto states = n.tensors("hx");
  if (n.any_quantised() || states.size() != num_states) {
    return reject(Code::kRejectQuantParams, "{}: quantised cells are not supported",
                  n.schema().full_name);
  }
  for (const Value* v : n.operands()) {
    const bool is_bias = v == n.tensor("b_ih") || v == n.tensor("b_hh");
    if (v == nullptr || is_bias || v->shape().rank() == 2) continue;
    return reject(Code::kRejectShape, "{}: an operand is {}; matrices are taken",
                  n.schema().full_name, to_string(v->shape()));
  }
  Cell cell(b, n.out().dtype);
  const Weights w{n.tensor("w_ih"), n.tensor("w_hh"), n.tensor("b_ih"), n.tensor("b_hh")};
  const State last = step(cell, cell.linear(n.tensor("input"), w.w_ih, w.b_ih), w,
                          {states[0], num_states == 2 ? states[1] : nullptr});
  if (num_states == 2) return std::vector<Value*>{last.h, last.c};
  return last.h;
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(lstm) = {
    .schemas = schemas(
        "aten::lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, "
        "int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
        "(Tensor, Tensor, Tensor)"),
    .doc = "Long short-term memory over a sequence, unrolled into calls of other rows.",
    .lower = [](const Call& n, Builder& b) { return lower_sequence(n, b, lstm_step, 2); },
};

TOSAIC_ATEN_OP(gru) = {
    .schemas = schemas(
        "aten::gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, "
        "int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
        "(Tensor, Tensor)"),
    .doc = "Gated recurrent units over a sequence, unrolled into calls of other rows.",
    .lower = [](const Call& n, Builder& b) { return lower_sequence(n, b, gru_step, 1); },
};

TOSAIC_ATEN_OP(rnn_tanh) = {
    .schemas = schemas(
        "aten::rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, "
        "int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
        "(Tensor, Tensor)"),
    .doc = "A recurrent layer with tanh over a sequence, unrolled into calls of other rows.",
    .lower = [](const Call& n, Builder& b) { return lower_sequence(n, b, rnn_tanh_step, 1); },
};

TOSAIC_ATEN_OP(rnn_relu) = {
    .schemas = schemas(
        "aten::rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, "
        "int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> "
        "(Tensor, Tensor)"),
    .doc = "A recurrent layer with relu over a sequence, unrolled into calls of other rows.",
    .lower = [](const Call& n, Builder& b) { return lower_sequence(n, b, rnn_relu_step, 1); },
};

TOSAIC_ATEN_OP(lstm_cell) = {
    .schemas = schemas("aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, "
                       "Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)"),
    .doc = "One step of long short-term memory, as calls of other rows.",
    .lower = [](const Call& n, Builder& b) { return lower_cell(n, b, lstm_step, 2); },
};

TOSAIC_ATEN_OP(gru_cell) = {
    .schemas = schemas("aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
                       "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"),
    .doc = "One step of gated recurrent units, as calls of other rows.",
    .lower = [](const Call& n, Builder& b) { return lower_cell(n, b, gru_step, 1); },
};

TOSAIC_ATEN_OP(rnn_tanh_cell) = {
    .schemas = schemas("aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
                       "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"),
    .doc = "One step of a recurrent layer with tanh, as calls of other rows.",
    .lower = [](const Call& n, Builder& b) { return lower_cell(n, b, rnn_tanh_step, 1); },
};

TOSAIC_ATEN_OP(rnn_relu_cell) = {
    .schemas = schemas("aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, "
                       "Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"),
    .doc = "One step of a recurrent layer with relu, as calls of other rows.",
    .lower = [](const Call& n, Builder& b) { return lower_cell(n, b, rnn_relu_step, 1); },
};
