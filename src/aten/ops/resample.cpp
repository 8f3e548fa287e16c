// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "aten/calls.h"

// Interpolation that TOSA's RESIZE does not have (rows, volumes, cubic curves, antialiasing): along
// one axis it is a product with a matrix of constant weights, a linear layer. Axes are taken one
// after the other.

namespace tosaic::aten {
namespace {

/// One axis: sizes and PyTorch's step from one new element to the next, in old elements.
struct Axis {
  int at = 0;
  int64_t in = 1;
  int64_t out = 1;
  double step = 1;
  bool align_corners = false;

  /// Where a new element lies among the old ones.
  double place(int64_t o) const {
    return align_corners ? step * static_cast<double>(o)
                         : step * (static_cast<double>(o) + 0.5) - 0.5;
  }
};

/// Weights of `axis.out` rows and `axis.in` columns.
using Weights = std::vector<double>;
using Filter = double (*)(double distance);
/// More of them, of a file that is damaged or of an axis that is very long, are refused.
constexpr int64_t kMaxWeights = int64_t{1} << 24;

double triangle(double distance) {
  return std::max(0.0, 1 - std::abs(distance));
}

/// The cubic curve through neighbours whose tension is `a` (Keys).
double cubic(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return a * (((x - 5) * x + 8) * x - 4);
  return 0;
}
double cubic_between(double distance) {
  return cubic(distance, -0.75);
}
double cubic_antialiased(double distance) {
  return cubic(distance, -0.5);
}

/// Each new element is a sum of the `2 * reach` old ones around it; the first and the last one
/// stand for those beyond the border.
Weights between_neighbours(const Axis& axis, int64_t reach, Filter filter) {
  Weights weights(static_cast<size_t>(axis.in * axis.out));
  for (int64_t o = 0; o < axis.out; ++o) {
    double place = axis.place(o);
    if (reach == 1) place = std::max(place, 0.0);
    const auto before = static_cast<int64_t>(std::floor(place));
    for (int64_t i = before - reach + 1; i <= before + reach; ++i) {
      const int64_t from = std::clamp<int64_t>(i, 0, axis.in - 1);
      weights[static_cast<size_t>(o * axis.in + from)] += filter(place - static_cast<double>(i));
    }
  }
  return weights;
}

/// Where the result is smaller the filter is wider, so that each old element counts.
Weights antialiased(const Axis& axis, double reach, Filter filter) {
  Weights weights(static_cast<size_t>(axis.in * axis.out));
  const double width = std::max(axis.step, 1.0);
  const double support = reach * width;
  for (int64_t o = 0; o < axis.out; ++o) {
    const double centre = axis.step * (static_cast<double>(o) + 0.5);
    const auto first = std::max<int64_t>(static_cast<int64_t>(centre - support + 0.5), 0);
    const auto last = std::min<int64_t>(static_cast<int64_t>(centre + support + 0.5), axis.in);
    const auto row = weights.begin() + static_cast<ptrdiff_t>(o * axis.in);
    double sum = 0;
    for (int64_t i = first; i < last; ++i) {
      row[i] = filter((static_cast<double>(i) - centre + 0.5) / width);
      sum += row[i];
    }
    for (int64_t i = first; i < last && sum != 0; ++i)
      row[i] /= sum;
  }
  return weights;
}

std::optional<Reject> read_axes(const Call& n, int count, std::vector<Axis>& axes) {
  const Shape& in = n.in(0)->shape();
  const Shape& out = n.out().shape;
  if (in.rank() != count + 2 || out.rank() != in.rank() || in.num_elements() == 0) {
    return reject(Code::kRejectShape, "{}: {} to {}", n.schema().full_name, to_string(in),
                  to_string(out));
  }
  if (!is_float(n.out().dtype)) {
    return reject(Code::kRejectDtype, "{}: no form for {}", n.schema().full_name,
                  dtype_name(n.out().dtype));
  }
  const bool align_corners = n.b("align_corners");
  const Attr factors = n.arg("scale_factors");
  for (int i = 0; i < count; ++i) {
    Axis axis{i + 2, in[i + 2], out[i + 2], 1, align_corners};
    const auto size_in = static_cast<double>(axis.in);
    const auto size_out = static_cast<double>(axis.out);
    if (align_corners) {
      axis.step = axis.out > 1 ? (size_in - 1) / (size_out - 1) : 0;
    } else {
      axis.step = size_in / size_out;
      if (factors.kind() == Attr::Kind::kFloats &&
          factors.as_reals().size() > static_cast<size_t>(i)) {
        axis.step = 1 / factors.as_reals()[static_cast<size_t>(i)];
      }
    }
    if (!(axis.step >= 0 && axis.step <= size_in) ||
        axis.in > kMaxWeights / std::max<int64_t>(1, axis.out)) {
      return reject(Code::kRejectShape, "{}: {} to {} elements by steps of {}",
                    n.schema().full_name, axis.in, axis.out, axis.step);
    }
    axes.push_back(axis);
  }
  return std::nullopt;
}

/// A linear layer over an axis.
Value* multiply(Builder& b, Value* x, const Axis& axis, const Weights& weights) {
  const int last = x->shape().rank() - 1;
  std::vector<int64_t> order;
  for (int i = 0; i <= last; ++i)
    order.push_back(i);
  std::swap(order[static_cast<size_t>(axis.at)], order.back());
  Value* rows = axis.at == last ? x : call_permute(b, x, order);
  Shape shape = rows->shape();
  shape[last] = axis.out;
  Value* matrix = b.constant_floats(x->dtype(), {axis.out, axis.in}, weights);
  Value* y = b.call("aten.linear.default", {rows, matrix}, {x->dtype(), shape, nullptr});
  return axis.at == last ? y : call_permute(b, y, order);
}

template <typename MakeWeights>
Lowered resample(const Call& n, Builder& b, int count, MakeWeights weights_of) {
  std::vector<Axis> axes;
  if (auto r = read_axes(n, count, axes)) return *r;
  Value* x = n.in(0);
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (axis->in != axis->out || axis->step != 1) x = multiply(b, x, *axis, weights_of(*axis));
  }
  return x;
}

Lowered lower_linear(const Call& n, Builder& b, int count) {
  return resample(n, b, count, [](const Axis& a) { return between_neighbours(a, 1, triangle); });
}

/// Places of a regular grid under a matrix of 2 by 3: a product with the constant places.
Lowered lower_affine_grid(const Call& n, Builder& b) {
  const std::vector<int64_t> size = n.ints("size");
  const Shape& theta = n.in(0)->shape();
  if (size.size() != 4 || theta.rank() != 3 || theta[1] != 2 || theta[2] != 3 ||
      n.out().shape.rank() != 4) {
    return reject(Code::kRejectShape, "{}: {} for {} sizes; images are taken", n.schema().full_name,
                  to_string(theta), size.size());
  }
  if (std::min(size[2], size[3]) < 1 || size[2] > kMaxWeights / size[3]) {
    return reject(Code::kRejectShape, "{}: an image of {} by {}", n.schema().full_name, size[2],
                  size[3]);
  }
  const auto places = [&](int64_t count) {
    std::vector<double> found;
    for (int64_t i = 0; i < count; ++i) {
      const auto steps = static_cast<double>(count);
      const double at = static_cast<double>(i);
      found.push_back(n.b("align_corners") ? (count == 1 ? 0 : 2 * at / (steps - 1) - 1)
                                           : (2 * at + 1) / steps - 1);
    }
    return found;
  };
  std::vector<double> grid;
  for (double y : places(size[2])) {
    for (double x : places(size[3]))
      grid.insert(grid.end(), {x, y, 1});
  }
  const auto count = static_cast<int64_t>(grid.size() / 3);
  Value* base = b.constant_floats(n.out().dtype, {1, count, 3}, grid);
  constexpr int64_t kTransposed[] = {0, 2, 1};
  Value* product = b.call("aten.matmul.default", {base, call_permute(b, n.in(0), kTransposed)},
                          {n.out().dtype, {theta[0], count, 2}, nullptr});
  return call_view(b, product, n.out().shape);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(upsample_linear1d) = {
    .schemas = schemas("aten::upsample_linear1d.vec(Tensor input, SymInt[]? output_size, "
                       "bool align_corners, float[]? scale_factors) -> Tensor"),
    .doc = "A row of another size by linear interpolation: linear.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return lower_linear(n, b, 1); },
};

TOSAIC_ATEN_OP(upsample_trilinear3d) = {
    .schemas = schemas("aten::upsample_trilinear3d.vec(Tensor input, SymInt[]? output_size, "
                       "bool align_corners, float[]? scale_factors) -> Tensor"),
    .doc = "A volume of another size by linear interpolation: linear, axis by axis.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return lower_linear(n, b, 3); },
};

TOSAIC_ATEN_OP(upsample_bicubic2d) = {
    .schemas = schemas("aten::upsample_bicubic2d.vec(Tensor input, SymInt[]? output_size, "
                       "bool align_corners, float[]? scale_factors) -> Tensor"),
    .doc = "An image of another size by cubic interpolation: linear, axis by axis.",
    .traits = Trait::kAlias,
    .lower =
        [](const Call& n, Builder& b) {
          return resample(n, b, 2,
                          [](const Axis& a) { return between_neighbours(a, 2, cubic_between); });
        },
};

TOSAIC_ATEN_OP(upsample_bilinear2d_aa) = {
    .schemas = schemas("aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, "
                       "bool align_corners, float[]? scale_factors) -> Tensor"),
    .doc = "An image of another size by antialiased linear interpolation: linear, axis by axis.",
    .traits = Trait::kAlias,
    .lower =
        [](const Call& n, Builder& b) {
          return resample(n, b, 2, [](const Axis& a) { return antialiased(a, 1, triangle); });
        },
};

TOSAIC_ATEN_OP(upsample_bicubic2d_aa) = {
    .schemas = schemas("aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, "
                       "bool align_corners, float[]? scale_factors) -> Tensor"),
    .doc = "An image of another size by antialiased cubic interpolation: linear, axis by axis.",
    .traits = Trait::kAlias,
    .lower =
        [](const Call& n, Builder& b) {
          return resample(n, b, 2,
                          [](const Axis& a) { return antialiased(a, 2, cubic_antialiased); });
        },
};

TOSAIC_ATEN_OP(affine_grid_generator) = {
    .schemas = schemas("aten::affine_grid_generator(Tensor theta, SymInt[] size, "
                       "bool align_corners) -> Tensor"),
    .doc = "Places of a regular grid under affine maps: a product with constants.",
    .traits = Trait::kAlias,
    .lower = lower_affine_grid,
};

TOSAIC_ATEN_OP(grid_sampler) = {
    .schemas = schemas("aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, "
                       "int padding_mode, bool align_corners) -> Tensor",
                       "aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, "
                       "int padding_mode, bool align_corners) -> Tensor"),
    .doc = "An image at places that are computed; of no form in TOSA.",
    .cpu =
        "aten::grid_sampler_2d.out(Tensor input, Tensor grid, int interpolation_mode, "
        "int padding_mode, bool align_corners, *, Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = [](const Call& n) { return n.in(0)->shape().rank() == 4; },
};
