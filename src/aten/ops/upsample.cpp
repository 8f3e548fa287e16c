// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "aten/arithmetic.h"
#include "aten/calls.h"

// Images of other sizes. Both modes are a RESIZE, whose positions are fractions; nearest neighbours
// that a target's RESIZE does not take are copies of rows and columns (TILE, or SLICE and CONCAT).

namespace tosaic::aten {
namespace {

/// One axis: sizes, and the factor that the program gave (0: none).
struct Axis {
  int64_t in = 1;
  int64_t out = 1;
  double factor = 0;
};

/// RESIZE's numbers for one axis: output o lies at (o * denominator + offset) / numerator.
struct Position {
  int64_t numerator = 1;
  int64_t denominator = 1;
  int64_t offset = 0;
  int64_t border(const Axis& a) const {
    return (a.out - 1) * denominator - (a.in - 1) * numerator + offset;
  }
};

/// Reads sizes and factors; the image is [.., H, W], or [.., L] as a row.
std::optional<Reject> read_axes_of(const Call& n, bool is_row, std::array<Axis, 2>& axes) {
  const Shape& in = n.in(0)->shape();
  const Shape& out = n.out().shape;
  const int count = is_row ? 1 : 2;
  if (in.rank() != out.rank() || in.rank() < count + 1 ||
      std::min(in.num_elements(), out.num_elements()) == 0) {
    return reject(Code::kRejectShape, "{}: {} to {}", n.schema().full_name, to_string(in),
                  to_string(out));
  }
  for (int i = 0; i < count; ++i) {
    const int axis = in.rank() - count + i;
    axes[static_cast<size_t>(2 - count) + static_cast<size_t>(i)] = {in[axis], out[axis], 0};
  }
  const Attr factors =
      n.schema().find("scale_factors") == nullptr ? Attr() : n.arg("scale_factors");
  if (factors.kind() == Attr::Kind::kFloats) {
    const auto values = factors.as_reals();
    for (int i = 0; i < count && i < static_cast<int>(values.size()); ++i)
      axes[static_cast<size_t>(2 - count) + static_cast<size_t>(i)].factor =
          values[static_cast<size_t>(i)];
  }
  return std::nullopt;
}

/// Which of the elements around a place is the nearest: the one before it, or (PyTorch's
/// "nearest-exact") the one whose middle is nearest to that of the new element.
enum class Nearest : uint8_t { kBefore, kMiddle };

/// The elements that PyTorch copies, by its own arithmetic in float32.
std::vector<int64_t> nearest_indices(const Axis& a, Nearest nearest) {
  const float scale = a.factor > 0 ? static_cast<float>(1.0 / a.factor)
                                   : static_cast<float>(a.in) / static_cast<float>(a.out);
  std::vector<int64_t> indices;
  for (int64_t o = 0; o < a.out; ++o) {
    const float place = static_cast<float>(o) + (nearest == Nearest::kMiddle ? 0.5F : 0.0F);
    const float at = std::min(std::floor(place * scale), static_cast<float>(a.in - 1));
    indices.push_back(static_cast<int64_t>(at));
  }
  return indices;
}

/// Positions that RESIZE rounds to floor(o * in / out): for whole factors with half-pixel centres.
Position nearest_position(const Axis& a) {
  if (a.out % a.in == 0) {
    const int64_t factor = a.out / a.in;
    if (factor == 1) return {};
    return {2 * factor, 2, 1 - factor};
  }
  const int64_t g = std::gcd(a.in, a.out);
  return {2 * a.out / g, 2 * a.in / g, -a.out / g};
}

bool is_position_of(const std::vector<int64_t>& indices, const Axis& a) {
  for (int64_t o = 0; o < a.out; ++o) {
    if (indices[static_cast<size_t>(o)] != o * a.in / a.out) return false;
  }
  return true;
}

struct Resize {
  std::vector<Value*> operands;
  AttrList attrs;
};

Resize resize_of(Builder& b, Value* x, const std::array<Axis, 2>& axes,
                 const std::array<Position, 2>& at, tosa::ResizeMode mode) {
  const std::vector<int64_t> scale = {at[0].numerator, at[0].denominator, at[1].numerator,
                                      at[1].denominator};
  const std::vector<int64_t> offset = {at[0].offset, at[1].offset};
  const std::vector<int64_t> border = {at[0].border(axes[0]), at[1].border(axes[1])};
  return {{x, b.shape_value(scale), b.shape_value(offset), b.shape_value(border)},
          tosa::write_attrs(tosa::ResizeAttrs{mode}, b.module().arena())};
}

/// [N,H,W,C] of [.., H, W].
Value* to_image(Builder& b, Value* x, bool is_row) {
  const Shape s = x->shape();
  const int spatial = is_row ? 1 : 2;
  const int64_t width = s[s.rank() - 1];
  const int64_t height = is_row ? 1 : s[s.rank() - 2];
  const int64_t channels = s[s.rank() - spatial - 1];
  const int64_t batch = s.num_elements() / (channels * height * width);
  return b.layout_transpose(b.reshape(x, {batch, channels, height, width}), kToNhwc);
}

/// Rows `indices` of axis 1 or 2 of an image.
Value* copy_elements(Builder& b, Value* x, int axis, const std::vector<int64_t>& indices,
                     const Axis& a) {
  if (x->shape().rank() != 4) return x;  // which could not be made
  if (a.in == a.out && is_position_of(indices, a)) return x;
  Shape out = x->shape();
  out[axis] = a.out;
  if (a.out % a.in == 0 && is_position_of(indices, a)) {  // each one several times
    int64_t outer = 1;
    for (int i = 0; i <= axis; ++i)
      outer *= x->shape()[i];
    const int64_t inner = x->shape().num_elements() / outer;
    Value* y = b.emit(tosa::tile, {b.reshape(x, {outer, 1, inner}),
                                   b.shape_value(std::vector<int64_t>{1, a.out / a.in, 1})});
    return b.reshape(y, out);
  }
  return call_take(b, x, axis, indices);
}

Lowered lower_nearest(const Call& n, Builder& b, bool is_row, Nearest nearest = Nearest::kBefore) {
  std::array<Axis, 2> axes;
  if (auto r = read_axes_of(n, is_row, axes)) return *r;
  const std::array<std::vector<int64_t>, 2> indices = {nearest_indices(axes[0], nearest),
                                                       nearest_indices(axes[1], nearest)};
  Value* x = to_image(b, with_parameters(n, b, n.in(0), n.out()), is_row);
  Value* y = nullptr;
  if (is_position_of(indices[0], axes[0]) && is_position_of(indices[1], axes[1])) {
    const Resize resize =
        resize_of(b, x, axes, {nearest_position(axes[0]), nearest_position(axes[1])},
                  tosa::ResizeMode::kNearest);
    if (b.legal(tosa::resize, resize.operands, resize.attrs)) {
      y = b.emit_as(x->dtype(), tosa::resize, resize.operands, resize.attrs);
    }
  }
  if (y == nullptr) {
    constexpr int64_t kMaxCopies = 256;
    for (size_t i = 0; i < 2; ++i) {
      const bool repeats = axes[i].out % axes[i].in == 0 && is_position_of(indices[i], axes[i]);
      if (!repeats && axes[i].out > kMaxCopies) {
        return reject(Code::kRejectShape, "{}: {} elements of {}; up to {} are copied one by one",
                      n.schema().full_name, axes[i].out, axes[i].in, kMaxCopies);
      }
    }
    y = copy_elements(b, x, 1, indices[0], axes[0]);
    y = copy_elements(b, y, 2, indices[1], axes[1]);
  }
  return b.reshape(b.layout_transpose(y, kToNchw), n.out().shape);
}

/// ExecuTorch has no kernel: copies of rows and columns.
Lowered lower_nearest_exact(const Call& n, Builder& b, bool is_row) {
  if (b.mode() == Builder::Mode::kLower) return lower_nearest(n, b, is_row, Nearest::kMiddle);
  std::array<Axis, 2> axes;
  if (auto r = read_axes_of(n, is_row, axes)) return *r;
  Value* x = n.in(0);
  for (int i = is_row ? 1 : 0; i < 2; ++i) {
    const Axis& a = axes[static_cast<size_t>(i)];
    const int axis = x->shape().rank() - 2 + i;
    x = call_take(b, x, axis, nearest_indices(a, Nearest::kMiddle));
  }
  return call_view(b, x, n.out());
}

/// Copies of elements, along each of three axes.
Lowered lower_nearest_volume(const Call& n, Builder& b) {
  const Shape& in = n.in(0)->shape();
  const Shape& out = n.out().shape;
  if (in.rank() != 5 || out.rank() != 5 || std::min(in.num_elements(), out.num_elements()) == 0) {
    return reject(Code::kRejectShape, "{}: {} to {}", n.schema().full_name, to_string(in),
                  to_string(out));
  }
  const Attr factors = n.arg("scale_factors");
  const bool has_factors = factors.kind() == Attr::Kind::kFloats && factors.as_reals().size() == 3;
  Value* x = n.in(0);
  for (int i = 0; i < 3; ++i) {
    Axis axis{in[2 + i], out[2 + i], 0};
    if (has_factors) axis.factor = factors.as_reals()[static_cast<size_t>(i)];
    if (axis.in != axis.out) x = call_take(b, x, 2 + i, nearest_indices(axis, Nearest::kBefore));
  }
  return x;
}

/// ExecuTorch's kernel is that of images.
Lowered record_row(const Call& n, Builder& b) {
  std::array<Axis, 2> axes;
  if (auto r = read_axes_of(n, true, axes)) return *r;
  const auto as_image = [](const Shape& s) {
    return Shape{s.num_elements() / (s[s.rank() - 2] * s[s.rank() - 1]), s[s.rank() - 2], 1,
                 s[s.rank() - 1]};
  };
  const int64_t size[] = {1, axes[1].out};
  const double factors[] = {1, axes[1].factor};
  const bool has_factor = axes[1].factor > 0;
  Value* y =
      b.call("aten.upsample_nearest2d.vec", {call_view(b, n.in(0), as_image(n.in(0)->shape()))},
             {n.out().dtype, as_image(n.out().shape), nullptr},
             {{"output_size", has_factor ? Attr() : Attr::ints(size)},
              {"scale_factors", has_factor ? Attr::reals(factors) : Attr()}});
  return call_view(b, y, n.out());
}

Lowered lower_nearest_row(const Call& n, Builder& b) {
  return b.mode() == Builder::Mode::kRecord ? record_row(n, b) : lower_nearest(n, b, true);
}

/// Positions of bilinear interpolation; nothing when PyTorch's scale is no ratio of the sizes.
std::optional<Position> bilinear_position(const Axis& a, bool align_corners) {
  if (a.in == 1 || a.in == a.out) return Position{1, 1, 0};
  if (align_corners) {
    if (a.out == 1) return std::nullopt;
    const int64_t g = std::gcd(a.in - 1, a.out - 1);
    return Position{(a.out - 1) / g, (a.in - 1) / g, 0};
  }
  const bool exact = a.factor == 0 || static_cast<double>(a.in) * a.factor == a.out;
  if (!exact) return std::nullopt;
  const int64_t g = std::gcd(std::gcd(2 * a.out, 2 * a.in), a.in - a.out);
  return Position{2 * a.out / g, 2 * a.in / g, (a.in - a.out) / g};
}

/// Sums of four neighbours with weights that add up to `unit`, under the parameters of the result.
/// The image itself is not brought to them: what they cut off counts in a sum.
Value* scale_sums(const Call& n, Builder& b, Value* sums, int64_t unit) {
  const Quant* from = n.in(0)->quant();
  const Quant* to = n.out().quant;
  const double scale = from->scale() / (to->scale() * static_cast<double>(unit));
  const bool shifts = from->scale() != to->scale() || from->zero_point() != to->zero_point();
  int64_t zero_point = 0;
  if (shifts && from->zero_point() != 0) {
    Value* offset = b.scalar_int(sums->dtype(), from->zero_point() * unit, sums->shape().rank());
    sums = b.emit(tosa::sub, {sums, offset});
  }
  if (shifts) zero_point = to->zero_point();
  return clamp_to_range(b, b.rescale(sums, n.out().dtype, scale, 0, zero_point), n.out());
}

// ---- Bilinear interpolation where the target's RESIZE does not take it --------------------------
//
// With a whole factor, every `factor`-th element has the same weights: a depthwise convolution for
// each of these phases, with RESIZE's own integers. Side by side as channels, the phases of an axis
// are the new image under another view. Any other interpolation is a product with a matrix, axis by
// axis.

/// Weights of the elements before, at and behind a place, in parts of the numerator.
struct Phase {
  std::array<int64_t, 3> weights{};
};

constexpr int64_t kMaxPhases = 16;  ///< of both axes together

/// The phases of an axis; nothing when it has no whole factor.
std::optional<std::vector<Phase>> phases_of(const Axis& a, const Position& at) {
  if (a.in == a.out) return std::vector<Phase>{Phase{{0, 1, 0}}};
  if (a.out % a.in != 0 || a.out / a.in > kMaxPhases) return std::nullopt;
  if (at.denominator * (a.out / a.in) != at.numerator) return std::nullopt;
  std::vector<Phase> phases;
  for (int64_t o = 0; o < a.out / a.in; ++o) {
    const int64_t place = o * at.denominator + at.offset;
    if (place < -at.numerator || place >= at.numerator) return std::nullopt;
    const size_t before = place < 0 ? 0 : 1;
    const int64_t weight = place - (place < 0 ? -at.numerator : 0);
    Phase phase;
    phase.weights[before] = at.numerator - weight;
    phase.weights[before + 1] = weight;
    phases.push_back(phase);
  }
  return phases;
}

/// The first and the last element of an axis once more.
Value* repeat_borders(Builder& b, Value* x, int axis) {
  std::vector<int64_t> start(4, 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  const auto at = static_cast<size_t>(axis);
  const int64_t last = size[at] - 1;
  size[at] = 1;
  Value* first = b.slice(x, start, size);
  start[at] = last;
  return side_by_side(b, std::array{first, x, b.slice(x, start, size)}, axis);
}

/// A quantised image that changes its size.
struct Change {
  Value* image = nullptr;
  const Quant& from;
  const TensorType& to;
  std::array<Axis, 2> axes;
  std::array<Position, 2> at;

  /// Real value of one step of `from` in steps of `to`.
  double ratio() const { return from.scale() / to.quant->scale(); }
};

/// One pair of phases, of an image `x` with repeated borders.
Value* interpolate_phase(Builder& b, Value* x, const Change& c, const Phase& row,
                         const Phase& column) {
  const auto taps = [](const Phase& phase) {
    const auto& w = phase.weights;
    return w == std::array<int64_t, 3>{0, 1, 0} ? std::vector<int64_t>{1}
                                                : std::vector<int64_t>(w.begin(), w.end());
  };
  const std::vector<int64_t> rows = taps(row);
  const std::vector<int64_t> columns = taps(column);
  const int64_t channels = x->shape()[3];
  std::vector<int64_t> weights;
  for (int64_t r : rows) {
    for (int64_t w : columns)
      weights.insert(weights.end(), static_cast<size_t>(channels), r * w);
  }
  const Shape shape{static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns.size()),
                    channels, 1};
  const DType sum = accumulator_type(x->dtype());
  Value* y = b.emit(tosa::depthwise_conv2d,
                    {x, b.constant_ints(DType::kI8, shape, weights), b.scalar_int(sum, 0),
                     b.zero_point(x->dtype(), c.from.zero_point()), b.zero_point(DType::kI8, 0)},
                    tosa::Conv2dAttrs{.acc_type = sum});
  const auto unit = static_cast<double>(c.at[0].numerator * c.at[1].numerator);
  y = b.rescale(y, c.to.dtype, c.ratio() / unit, 0, c.to.quant->zero_point());
  return clamp_to_range(b, y, c.to);
}

/// nullptr when a factor is not whole, or weights do not fit 8 bits.
Value* interpolate_phases(Builder& b, const Change& c) {
  constexpr int64_t kMaxWeight = 127;
  const auto rows = phases_of(c.axes[0], c.at[0]);
  const auto columns = phases_of(c.axes[1], c.at[1]);
  if (!rows || !columns || rows->size() * columns->size() > size_t{kMaxPhases}) return nullptr;
  const auto greatest = [](const std::vector<Phase>& phases) {
    int64_t most = 0;
    for (const Phase& phase : phases)
      most = std::max(most, *std::ranges::max_element(phase.weights));
    return most;
  };
  if (greatest(*rows) * greatest(*columns) > kMaxWeight) return nullptr;
  const Shape s = c.image->shape();
  Value* x = c.image;
  if (rows->size() > 1) x = repeat_borders(b, x, 1);
  if (columns->size() > 1) x = repeat_borders(b, x, 2);
  if (x->shape().rank() != 4) return x;  // which could not be made
  std::vector<Value*> lines;
  for (const Phase& row : *rows) {
    std::vector<Value*> parts;
    for (const Phase& column : *columns)
      parts.push_back(interpolate_phase(b, x, c, row, column));
    lines.push_back(b.reshape(side_by_side(b, parts, 3), {s[0] * s[1], 1, c.axes[1].out, s[3]}));
  }
  return b.reshape(side_by_side(b, lines, 1), {s[0], c.axes[0].out, c.axes[1].out, s[3]});
}

/// The weights of RESIZE along one axis as a matrix of new by old elements, in parts of `unit`.
struct Matrix {
  std::vector<int64_t> weights;
  int64_t unit = 1;
};

Matrix matrix_of(const Axis& a, const Position& at) {
  constexpr int64_t kMaxWeight = 127;
  Matrix m{std::vector<int64_t>(static_cast<size_t>(a.in * a.out)),
           std::min(at.numerator, kMaxWeight)};
  for (int64_t o = 0; o < a.out; ++o) {
    const int64_t place =
        std::clamp<int64_t>(o * at.denominator + at.offset, 0, (a.in - 1) * at.numerator);
    const int64_t before = place / at.numerator;
    const int64_t part = place % at.numerator;
    // Exact unless the parts are too many for 8 bits.
    const int64_t weight = (2 * part * m.unit + at.numerator) / (2 * at.numerator);
    const auto first = static_cast<size_t>(o * a.in + before);
    m.weights[first] = m.unit - weight;
    if (weight > 0) m.weights[first + 1] = weight;
  }
  return m;
}

/// Along axis 1 or 2 of an image a product with a matrix, as a 1x1 convolution whose channels are
/// that axis. A step of the result is 1 / `scale` of one of the sums.
Value* multiply_axis(Builder& b, Value* x, int axis, const Matrix& m, int64_t zero_point,
                     const TensorType& to, double scale) {
  const std::vector<int64_t> to_last =
      axis == 2 ? std::vector<int64_t>{0, 1, 3, 2} : std::vector<int64_t>{0, 2, 3, 1};
  const std::vector<int64_t> back = axis == 2 ? to_last : std::vector<int64_t>{0, 3, 1, 2};
  const int64_t in = x->shape()[axis];
  const Shape shape{static_cast<int64_t>(m.weights.size()) / in, 1, 1, in};
  const DType sum = accumulator_type(x->dtype());
  Value* y = b.emit(
      tosa::conv2d,
      {b.transpose(x, to_last), b.constant_ints(DType::kI8, shape, m.weights), b.scalar_int(sum, 0),
       b.zero_point(x->dtype(), zero_point), b.zero_point(DType::kI8, 0)},
      tosa::Conv2dAttrs{.acc_type = sum});
  const int64_t to_zero = to.quant == nullptr ? 0 : to.quant->zero_point();
  y = b.transpose(b.rescale(y, to.dtype, scale, 0, to_zero), back);
  return to.quant == nullptr ? y : clamp_to_range(b, y, to);
}

/// Axis by axis; between the two, 16 bits keep what 8 would round.
Value* interpolate_products(Builder& b, const Change& c) {
  constexpr int64_t kMaxWeights = int64_t{1} << 24;
  Value* x = c.image;
  const auto changes = [&](size_t i) { return c.axes[i].in != c.axes[i].out; };
  for (const Axis& axis : c.axes) {
    if (axis.in <= kMaxWeights / axis.out) continue;
    b.fail(reject(Code::kRejectShape, "{} elements of {}: too many weights", axis.out, axis.in));
    return x;
  }
  int64_t zero_point = c.from.zero_point();
  double gain = 1;
  for (size_t i : {size_t{1}, size_t{0}}) {
    if (!changes(i) || x->shape().rank() != 4) continue;
    const Matrix m = matrix_of(c.axes[i], c.at[i]);
    const bool is_last = i == 0 || !changes(0);
    const double next = is_last ? c.ratio() : c.image->dtype() == DType::kI8 ? 128 : 1;
    const TensorType type = is_last ? c.to : TensorType{DType::kI16, {}, nullptr};
    x = multiply_axis(b, x, 1 + static_cast<int>(i), m, zero_point, type,
                      next / (gain * static_cast<double>(m.unit)));
    gain = next;
    zero_point = 0;
  }
  return x;
}

Lowered lower_bilinear(const Call& n, Builder& b) {
  std::array<Axis, 2> axes;
  if (auto r = read_axes_of(n, false, axes)) return *r;
  std::array<Position, 2> at;
  for (size_t i = 0; i < 2; ++i) {
    const auto position = bilinear_position(axes[i], n.b("align_corners"));
    if (!position) {
      return reject(Code::kRejectAttribute,
                    "{}: a factor of {} from {} to {} elements is no ratio "
                    "of the sizes",
                    n.schema().full_name, axes[i].factor, axes[i].in, axes[i].out);
    }
    at[i] = *position;
  }
  if (n.any_quantised()) {
    if (auto r = check_activation(n, n.in(0)->type(), "the input")) return *r;
    if (auto r = check_activation(n, n.out(), "the output")) return *r;
  }
  Value* x = to_image(b, n.in(0), false);
  for (size_t i = 0; i < 2; ++i) {  // one element has no neighbour
    if (axes[i].in != 1 || axes[i].out == 1) continue;
    std::vector<int64_t> multiples(4, 1);
    multiples[1 + i] = axes[i].out;
    x = b.emit(tosa::tile, {x, b.shape_value(multiples)});
    axes[i].in = axes[i].out;
  }
  const Resize resize = resize_of(b, x, axes, at, tosa::ResizeMode::kBilinear);
  Value* y = nullptr;
  if (n.out().quant == nullptr) {
    y = b.emit_as(x->dtype(), tosa::resize, resize.operands, resize.attrs);
  } else {
    if (!b.legal(tosa::resize, resize.operands, resize.attrs)) {
      const Change change{x, *n.in(0)->quant(), n.out(), axes, at};
      y = interpolate_phases(b, change);
      if (y == nullptr) y = interpolate_products(b, change);
    } else {
      y = b.emit_as(accumulator_type(x->dtype()), tosa::resize, resize.operands, resize.attrs);
      y = scale_sums(n, b, y, at[0].numerator * at[1].numerator);
    }
  }
  return b.reshape(b.layout_transpose(y, kToNchw), n.out().shape);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(upsample_nearest2d) = {
    .schemas = schemas("aten::upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, "
                       "float[]? scale_factors) -> Tensor"),
    .doc = "An image of another size by nearest neighbours: RESIZE, or copies of rows and columns.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_nearest(n, b, false); },
    .cpu =
        "aten::upsample_nearest2d.vec_out(Tensor input, SymInt[]? output_size, "
        "float[]? scale_factors, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(upsample_nearest1d) = {
    .schemas = schemas("aten::upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, "
                       "float[]? scale_factors) -> Tensor"),
    .doc = "A row of another size by nearest neighbours: RESIZE, or copies of elements.",
    .quant = {same({0, out(0)})},
    .lower = lower_nearest_row,
};

TOSAIC_ATEN_OP(upsample_nearest3d) = {
    .schemas = schemas("aten::upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, "
                       "float[]? scale_factors) -> Tensor"),
    .doc = "A volume of another size by nearest neighbours: copies along each axis.",
    .traits = Trait::kAlias,
    .lower = lower_nearest_volume,
};

TOSAIC_ATEN_OP(upsample_nearest_exact2d) = {
    .schemas = schemas("aten::_upsample_nearest_exact2d.vec(Tensor input, SymInt[]? output_size, "
                       "float[]? scale_factors) -> Tensor"),
    .doc =
        "An image of another size by the neighbours whose middles are nearest: RESIZE, or copies "
        "of rows and columns.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_nearest_exact(n, b, false); },
};

TOSAIC_ATEN_OP(upsample_nearest_exact1d) = {
    .schemas = schemas("aten::_upsample_nearest_exact1d.vec(Tensor input, SymInt[]? output_size, "
                       "float[]? scale_factors) -> Tensor"),
    .doc =
        "A row of another size by the neighbours whose middles are nearest: RESIZE, or copies of "
        "elements.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_nearest_exact(n, b, true); },
};

TOSAIC_ATEN_OP(upsample_bilinear2d) = {
    .schemas = schemas("aten::upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, "
                       "bool align_corners, float[]? scale_factors) -> Tensor"),
    .doc =
        "An image of another size by bilinear interpolation: RESIZE, or by a whole factor a "
        "DEPTHWISE_CONV2D for each place between two old elements.",
    .quant = {same({0, out(0)})},
    .lower = lower_bilinear,
    .cpu =
        "aten::upsample_bilinear2d.vec_out(Tensor input, SymInt[]? output_size, "
        "bool align_corners, float[]? scale_factors, *, Tensor(a!) out) -> Tensor(a!)",
};
