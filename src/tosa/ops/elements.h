// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "numeric/reduced_float.h"
#include "tosa/reference.h"

/// Elements of tensors as the reference computes with them: integers as themselves, floating point
/// as float, rounded to the stored type whenever a result is written.
namespace tosaic::tosa {

template <typename T>
struct PlainElement {
  using Stored = T;
  using Value = T;
  static T load(T stored) { return stored; }
  static T store(T value) { return value; }
};
struct F16Element {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t stored) { return numeric::f16_to_f32(stored); }
  static uint16_t store(float value) { return numeric::f32_to_f16(value); }
};
struct BF16Element {
  using Stored = uint16_t;
  using Value = float;
  static float load(uint16_t stored) { return numeric::bf16_to_f32(stored); }
  static uint16_t store(float value) { return numeric::f32_to_bf16(value); }
};

template <numeric::Float8 kFormat>
struct Float8Element {
  using Stored = uint8_t;
  using Value = float;
  static float load(uint8_t stored) { return numeric::f8_to_f32(stored, kFormat); }
  static uint8_t store(float value) { return numeric::f32_to_f8(value, kFormat); }
};

/// The dtype is one that the reference does not compute with.
Diagnostic no_reference(const Node& node, DType dtype);

/// Calls `fn` with the element type of a floating-point dtype.
template <typename Fn>
Status visit_float(const Node& node, DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kF16:
      fn(F16Element{});
      return ok();
    case DType::kBF16:
      fn(BF16Element{});
      return ok();
    case DType::kF8E4M3:
      fn(Float8Element<numeric::kF8E4M3>{});
      return ok();
    case DType::kF8E5M2:
      fn(Float8Element<numeric::kF8E5M2>{});
      return ok();
    case DType::kF32:
      fn(PlainElement<float>{});
      return ok();
    default:
      return no_reference(node, dtype);
  }
}

/// Calls `fn` with the element type of a number.
template <typename Fn>
Status visit_number(const Node& node, DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kI4:
    case DType::kI8:
      fn(PlainElement<int8_t>{});
      return ok();
    case DType::kI16:
      fn(PlainElement<int16_t>{});
      return ok();
    case DType::kI32:
      fn(PlainElement<int32_t>{});
      return ok();
    case DType::kI48:
      fn(PlainElement<int64_t>{});
      return ok();
    default:
      return visit_float(node, dtype, fn);
  }
}

/// A floating-point tensor as floats; `buffer` holds them when they are not stored so.
std::span<const float> as_floats(const HostTensor& tensor, std::vector<float>& buffer);
/// Rounds floats to the dtype of `tensor` and stores them from `offset` on.
void store_floats(HostTensor& tensor, int64_t offset, std::span<const float> values);

/// The single value of an i8 tensor of sizes [1]; 0 for every other dtype, whose zero points are 0.
int32_t zero_point_of(const HostTensor& tensor);

/// One loop over the last axis of an elementwise operation: `count` results from `out` on; operand
/// i starts at in[i] and goes on by step[i], which is 0 or 1.
template <size_t N>
struct Row {
  int64_t out = 0;
  std::array<int64_t, N> in{};
  std::array<int64_t, N> step{};
  int64_t count = 1;
};

/// Axes of an elementwise operation after leaving out axes of size 1 and merging neighbours that
/// lie in the same way in all operands.
template <size_t N>
struct MergedAxes {
  struct Axis {
    int64_t size = 1;
    std::array<int64_t, N> stride{};
  };
  std::array<Axis, kMaxRank> axes{};
  int count = 0;

  MergedAxes(const Shape& out, const std::array<const Shape*, N>& in) {
    std::array<int64_t, N> next{};
    next.fill(1);
    for (int axis = out.rank() - 1; axis >= 0; --axis) {  // innermost first
      Axis a{out[axis], {}};
      for (size_t i = 0; i < N; ++i) {
        const int64_t size = (*in[i])[axis];
        a.stride[i] = size == 1 ? 0 : next[i];
        next[i] *= size;
      }
      if (a.size != 1) add(a);
    }
  }

 private:
  void add(const Axis& outer) {
    if (count > 0) {
      Axis& inner = axes[static_cast<size_t>(count - 1)];
      bool merges = true;
      for (size_t i = 0; i < N; ++i) {
        merges = merges && outer.stride[i] == inner.stride[i] * inner.size;
      }
      if (merges) {
        inner.size *= outer.size;
        return;
      }
    }
    axes[static_cast<size_t>(count++)] = outer;
  }
};

/// Calls `fn(Row<N>)` until all of `out` is covered. Operands have out's rank and broadcast to it.
template <size_t N, typename Fn>
void for_each_row(const Shape& out, const std::array<const Shape*, N>& in, Fn&& fn) {
  const MergedAxes<N> merged(out, in);
  Row<N> row;
  if (merged.count > 0) {
    row.count = merged.axes[0].size;
    row.step = merged.axes[0].stride;
  }
  std::array<int64_t, kMaxRank> index{};
  while (true) {
    fn(static_cast<const Row<N>&>(row));
    row.out += row.count;
    int axis = 1;
    for (; axis < merged.count; ++axis) {
      const auto& a = merged.axes[static_cast<size_t>(axis)];
      int64_t& position = index[static_cast<size_t>(axis)];
      for (size_t i = 0; i < N; ++i)
        row.in[i] += a.stride[i];
      if (++position < a.size) break;
      for (size_t i = 0; i < N; ++i)
        row.in[i] -= a.stride[i] * a.size;
      position = 0;
    }
    if (axis >= merged.count) return;
  }
}

/// out = fn(a) elementwise, with elements In and Out.
template <typename In, typename Out, typename Fn>
void map_elements(RefCall& call, Fn&& fn) {
  const auto* in = call.in[0]->data<typename In::Stored>();
  auto* out = call.out[0].mutable_data<typename Out::Stored>();
  const int64_t count = call.out[0].shape.num_elements();
  for (int64_t i = 0; i < count; ++i)
    out[i] = Out::store(fn(In::load(in[i])));
}

/// out = fn(a, b) with broadcasting.
template <typename In, typename Out, typename Fn>
void map_pairs(RefCall& call, Fn&& fn) {
  const auto* a = call.in[0]->data<typename In::Stored>();
  const auto* b = call.in[1]->data<typename In::Stored>();
  auto* out = call.out[0].mutable_data<typename Out::Stored>();
  for_each_row<2>(call.out[0].shape, {&call.in[0]->shape, &call.in[1]->shape},
                  [&](const Row<2>& row) {
                    for (int64_t i = 0; i < row.count; ++i) {
                      out[row.out + i] = Out::store(fn(In::load(a[row.in[0] + i * row.step[0]]),
                                                       In::load(b[row.in[1] + i * row.step[1]])));
                    }
                  });
}

/// Sizes before, along and after an axis.
struct AxisSplit {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
  AxisSplit(const Shape& shape, int64_t axis);
};

}  // namespace tosaic::tosa
