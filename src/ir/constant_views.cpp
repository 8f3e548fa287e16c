// SPDX-License-Identifier: Apache-2.0
// Constants of a module as other views of the same bytes.
#include <algorithm>
#include <optional>

#include "ir/graph.h"
#include "support/check.h"

namespace tosaic {
namespace {

using Strides = std::array<int64_t, kMaxRank>;

/// Strides under which `to` names the same elements in the same order, or nothing when there are
/// none. Axes are taken in groups of equal products; a group of old axes must lie without gaps.
std::optional<Strides> strides_of_reshaped(const Constant& source, const Shape& to) {
  if (to.num_elements() == 0) return contiguous_strides(to);
  std::array<int64_t, kMaxRank> sizes{};
  Strides old{};
  size_t rank = 0;
  for (int axis = 0; axis < source.shape.rank(); ++axis) {
    if (source.shape[axis] == 1) continue;
    sizes[rank] = source.shape[axis];
    old[rank++] = source.strides[static_cast<size_t>(axis)];
  }
  Strides strides{};
  size_t from = 0;
  for (int axis = 0; axis < to.rank();) {
    if (to[axis] == 1) {
      ++axis;
      continue;
    }
    size_t from_end = from + 1;
    int axis_end = axis + 1;
    int64_t old_product = sizes[from];
    int64_t new_product = to[axis];
    while (old_product != new_product) {
      if (new_product < old_product) {
        new_product *= to[axis_end++];
      } else {
        if (old[from_end - 1] != old[from_end] * sizes[from_end]) return std::nullopt;
        old_product *= sizes[from_end++];
      }
    }
    int64_t stride = old[from_end - 1];
    for (int i = axis_end - 1; i >= axis; --i) {
      strides[static_cast<size_t>(i)] = stride;
      stride *= to[i];
    }
    from = from_end;
    axis = axis_end;
  }
  return strides;
}

int64_t product(std::span<const int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// The axis of `to` that counts what `axis` of `from` counts; -1 when there is none.
int axis_of_reshaped(const Shape& from, int axis, const Shape& to) {
  const int64_t outer = product(from.sizes().first(static_cast<size_t>(axis)));
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] == from[axis] && product(to.sizes().first(static_cast<size_t>(i))) == outer) return i;
  }
  return -1;
}

Constant plain_constant(DType dtype, const Shape& shape, const std::byte* data) {
  Constant constant;
  constant.dtype = dtype;
  constant.stored_dtype = dtype;
  constant.shape = shape;
  constant.strides = contiguous_strides(shape);
  constant.data = data;
  return constant;
}

/// As numpy arrays are, so that kernels may load whole vectors.
constexpr size_t kDataAlignment = 16;

}  // namespace

const Constant& Module::constant(DType dtype, const Shape& shape,
                                 std::span<const std::byte> content) {
  auto* data = static_cast<std::byte*>(arena_.allocate(content.size(), kDataAlignment));
  std::copy(content.begin(), content.end(), data);
  const Constant* made = arena_.make<Constant>(plain_constant(dtype, shape, data));
  TOSAIC_CHECK(made->num_bytes() == content.size(), "a constant has the bytes of its type");
  return *made;
}

const Constant& Module::constant_view(DType dtype, const Shape& shape,
                                      std::span<const int64_t> strides, const std::byte* data) {
  TOSAIC_CHECK(strides.size() == static_cast<size_t>(shape.rank()), "a stride for each axis");
  Constant* view = arena_.make<Constant>(plain_constant(dtype, shape, data));
  std::copy(strides.begin(), strides.end(), view->strides.begin());
  return *view;
}

const Constant& Module::materialised(const Constant& source) {
  if (source.is_plain()) return source;
  const size_t num_bytes = source.num_bytes();
  auto* data = static_cast<std::byte*>(arena_.allocate(num_bytes, kDataAlignment));
  source.materialise({data, num_bytes});
  return *arena_.make<Constant>(plain_constant(source.dtype, source.shape, data));
}

void Module::renumber_stage(Constant& view, std::span<const int> axis_of) {
  if (view.stage == nullptr) return;
  ConstantStage stage = *view.stage;
  if (stage.axis >= 0) stage.axis = axis_of[static_cast<size_t>(stage.axis)];
  if (stage.quant != nullptr && !stage.quant->per_tensor()) {
    stage.quant = with_axis(*stage.quant, axis_of[static_cast<size_t>(stage.quant->axis)]);
  }
  view.stage = arena_.make<ConstantStage>(stage);
}

const Constant& Module::permuted(const Constant& source, std::span<const int64_t> perm) {
  const int rank = source.shape.rank();
  TOSAIC_CHECK(perm.size() == static_cast<size_t>(rank), "a permutation names each axis");
  Constant view = source;
  std::array<int, kMaxRank> axis_of{};
  uint32_t seen = 0;
  for (int i = 0; i < rank; ++i) {
    const int64_t from = perm[static_cast<size_t>(i)];
    TOSAIC_CHECK(from >= 0 && from < rank, "axis of a permutation");
    seen |= 1u << from;
    view.shape[i] = source.shape[static_cast<int>(from)];
    view.strides[static_cast<size_t>(i)] = source.strides[static_cast<size_t>(from)];
    axis_of[static_cast<size_t>(from)] = i;
  }
  TOSAIC_CHECK(seen == (1u << rank) - 1, "a permutation names each axis once");
  renumber_stage(view, axis_of);
  return *arena_.make<Constant>(view);
}

const Constant& Module::sliced(const Constant& source, int axis, int64_t first, int64_t count) {
  TOSAIC_CHECK(axis >= 0 && axis < source.shape.rank() && first >= 0 && count >= 0 &&
                   first + count <= source.shape[axis],
               "a slice lies inside its constant");
  // A stage with an entry per index of the axis would have to be cut too; it is applied instead.
  Constant view = source.stage == nullptr ? source : materialised(source);
  const auto a = static_cast<size_t>(axis);
  view.shape[axis] = count;
  view.data += static_cast<ptrdiff_t>(element_bytes(view.stored_dtype)) * view.strides[a] * first;
  return *arena_.make<Constant>(view);
}

const Constant& Module::reshaped(const Constant& source, const Shape& shape) {
  TOSAIC_CHECK(shape.num_elements() == source.shape.num_elements(),
               "a reshaped constant keeps its number of elements");
  if (shape == source.shape) return source;
  const std::optional<Strides> strides = strides_of_reshaped(source, shape);
  Constant view = source;
  view.shape = shape;
  bool is_view = strides.has_value();
  if (is_view && source.stage != nullptr) {
    std::array<int, kMaxRank> axis_of{};
    for (int axis = 0; axis < source.shape.rank(); ++axis) {
      axis_of[static_cast<size_t>(axis)] = axis_of_reshaped(source.shape, axis, shape);
    }
    const auto is_kept = [&](int axis) {
      return axis < 0 || axis_of[static_cast<size_t>(axis)] >= 0;
    };
    const Quant* quant = source.stage->quant;
    is_view = is_kept(source.stage->axis) && (quant == nullptr || is_kept(quant->axis));
    if (is_view) renumber_stage(view, axis_of);
  }
  if (!is_view) {
    const Constant& copy = materialised(source);
    return *arena_.make<Constant>(plain_constant(copy.dtype, shape, copy.data));
  }
  view.strides = *strides;
  return *arena_.make<Constant>(view);
}

const Constant& Module::staged(const Constant& source, const ConstantStage& stage, DType dtype) {
  const auto fits = [&](int axis, size_t count) {
    return axis < 0
               ? count == 1
               : axis < source.shape.rank() && static_cast<int64_t>(count) == source.shape[axis];
  };
  TOSAIC_CHECK(stage.scales.empty() || fits(stage.axis, stage.scales.size()),
               "a stage has a scale for each index of its axis");
  const Quant* quant = stage.quant;
  TOSAIC_CHECK(quant == nullptr || fits(quant->axis, quant->scales.size()),
               "a stage has a quantisation for each index of its axis");
  TOSAIC_CHECK(quant == nullptr ? dtype == DType::kF32 || dtype == DType::kF64 : is_integer(dtype),
               "a stage gives integers when it quantises, else f32 or f64");
  // A pending scale in float32 is rounded before the quantisation, as two stages would do it.
  const bool joins = source.stage != nullptr && source.stage->quant == nullptr &&
                     source.dtype == DType::kF32 && stage.scales.empty();
  Constant view = source.stage == nullptr || joins ? source : materialised(source);
  TOSAIC_CHECK(view.stored_dtype == DType::kF32 || view.stored_dtype == DType::kF64,
               "a stage applies to f32 or f64");
  ConstantStage made = stage;
  if (joins) {
    made.axis = source.stage->axis;
    made.scales = source.stage->scales;
  } else {
    made.scales = arena_.copy(stage.scales);
  }
  if (made.scales.empty()) made.axis = -1;
  if (quant != nullptr) made.quant = with_axis(*quant, quant->axis);
  view.stage = arena_.make<ConstantStage>(made);
  view.dtype = dtype;
  return *arena_.make<Constant>(view);
}

}  // namespace tosaic
