// SPDX-License-Identifier: Apache-2.0
#include "aten/calls.h"

namespace tosaic::aten {

Value* call_view(Builder& b, Value* x, const Shape& shape) {
  return call_view(b, x, {x->dtype(), shape, x->quant()});
}

Value* call_view(Builder& b, Value* x, const TensorType& type) {
  if (x->shape() == type.shape && x->quant() == type.quant) return x;
  const bool is_same = x->shape().is_static() && type.shape.is_static() &&
                       x->shape().num_elements() == type.shape.num_elements();
  if (x->is_constant() && is_same) {
    return &b.graph().add_constant(b.module().reshaped(*x->constant(), type.shape),
                                   {x->dtype(), type.shape, x->quant()});
  }
  return b.call("aten.view_copy.default", {x}, type, {{"size", Attr::ints(type.shape.sizes())}});
}

Value* call_slice(Builder& b, Value* x, int axis, int64_t first, int64_t count) {
  return call_steps(b, x, axis, first, count, 1);
}

Value* call_steps(Builder& b, Value* x, int axis, int64_t first, int64_t count, int64_t step) {
  if (x->shape()[axis] == count) return x;
  TensorType type = x->type();
  type.shape[axis] = count;
  return b.call("aten.slice.Tensor", {x}, type,
                {{"dim", Attr::integer(axis)},
                 {"start", Attr::integer(first)},
                 {"end", Attr::integer(first + (count - 1) * step + 1)},
                 {"step", Attr::integer(step)}});
}

Value* call_take(Builder& b, Value* x, int axis, std::span<const int64_t> indices) {
  std::vector<Value*> parts;
  for (size_t i = 0; i < indices.size();) {
    size_t end = i + 1;
    while (end < indices.size() && indices[end] == indices[end - 1] + 1)
      ++end;
    parts.push_back(call_slice(b, x, axis, indices[i], static_cast<int64_t>(end - i)));
    i = end;
  }
  TensorType type = x->type();
  type.shape[axis] = static_cast<int64_t>(indices.size());
  return call_cat(b, parts, axis, type);
}

Value* call_to(Builder& b, Value* x, DType dtype) {
  if (x->dtype() == dtype) return x;
  return b.call("aten.to.dtype", {x}, {dtype, x->shape(), nullptr},
                {{"dtype", Attr::dtype(dtype)}});
}

Value* call_cat(Builder& b, std::span<Value* const> parts, int axis, const TensorType& type) {
  if (parts.size() == 1) return parts[0];
  const auto count = static_cast<int16_t>(parts.size());
  const NamedArg dim{"dim", Attr::integer(axis)};
  return b.call_all("aten.cat.default", parts, {&count, 1}, {&type, 1}, {&dim, 1})[0];
}

Value* call_permute(Builder& b, Value* x, std::span<const int64_t> perm) {
  TensorType type = x->type();
  for (int axis = 0; axis < type.shape.rank(); ++axis)
    type.shape[axis] = x->shape()[static_cast<int>(perm[static_cast<size_t>(axis)])];
  return b.call("aten.permute.default", {x}, type, {{"dims", Attr::ints(perm)}});
}

Lowered call_with_batch(const Call& call, Builder& b) {
  const auto with_one = [](const Shape& shape) {
    std::vector<int64_t> sizes(shape.begin(), shape.end());
    sizes.insert(sizes.begin(), 1);
    return Shape(sizes);
  };
  std::vector<Value*> operands(call.operands().begin(), call.operands().end());
  operands[0] = call_view(b, operands[0], with_one(operands[0]->shape()));
  const TensorType result{call.out().dtype, with_one(call.out().shape), call.out().quant};
  const auto made = b.call_all(call.schema().full_name, operands, call.segments(),
                               std::span(&result, 1), call.attrs());
  return call_view(b, made[0], call.out());
}

Lowered call_alias(const Call& call, Builder& b, std::string_view full_name) {
  std::vector<Value*> results(call.results().size(), nullptr);
  results[0] = b.call_all(full_name, call.operands(), call.segments(), call.results().first(1),
                          call.attrs())[0];
  return results;
}

}  // namespace tosaic::aten
