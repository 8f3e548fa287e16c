// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <vector>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

/// Types in and out: integers widen in bilinear mode.
constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8, DType::kI8}},     {Feature::kInt, {DType::kI8, DType::kI32}},
    {Feature::kInt16, {DType::kI16, DType::kI16}}, {Feature::kInt16, {DType::kI16, DType::kI48}},
    {Feature::kFp, {DType::kF16, DType::kF16}},    {Feature::kBf16, {DType::kBF16, DType::kBF16}},
    {Feature::kFp, {DType::kF32, DType::kF32}},
};

constexpr int64_t kMaxSize = 16384;  // sizes are below
constexpr int64_t kMaxNumerator = 2048;
constexpr int64_t kMaxDown = 16;    // scaled down by less
constexpr int64_t kMaxScale = 256;  // level 8K

/// One axis: output o reads at (o * denominator + offset) / numerator.
struct ResizeAxis {
  int64_t numerator = 1;
  int64_t denominator = 1;
  int64_t offset = 0;
  int64_t border = 0;
};

std::array<ResizeAxis, 2> axes_of(const std::vector<int64_t>& scale,
                                  const std::vector<int64_t>& offset,
                                  const std::vector<int64_t>& border) {
  return {{{scale[0], scale[1], offset[0], border[0]}, {scale[2], scale[3], offset[1], border[1]}}};
}

/// Size of the output along one axis; the specification's rules.
Expected<int64_t> resized(const InferCall& call, std::string_view name, const ResizeAxis& a,
                          int64_t size) {
  const auto fail = [&](std::string_view what) {
    return call.fail(Code::kVerifyOpRule, "{}: scale {}/{}, offset {}, border {}: {}", name,
                     a.numerator, a.denominator, a.offset, a.border, what);
  };
  if (a.numerator < 1 || a.denominator < 1) return fail("the scale must be positive");
  if (a.numerator > kMaxNumerator) return fail("the numerator is above 2048");
  if (a.denominator >= kMaxDown * a.numerator) return fail("it is scaled down by 16 or more");
  if (a.numerator > kMaxScale * a.denominator) {
    return call.fail(Code::kVerifyLevel, "{}: scale {}/{} is above the level's 256", name,
                     a.numerator, a.denominator);
  }
  if (a.offset < -a.numerator || a.offset >= kMaxDown * a.numerator) {
    return fail("the offset must be from -numerator to 16 * numerator - 1");
  }
  if (a.border < -kMaxDown * a.numerator || a.border >= a.numerator) {
    return fail("the border must be from -16 * numerator to numerator - 1");
  }
  const int64_t extent = (size - 1) * a.numerator - a.offset + a.border;
  if (extent < 0 || extent % a.denominator != 0) {
    return fail("the last output does not lie at a multiple of the denominator");
  }
  const int64_t out = extent / a.denominator + 1;
  if (size >= kMaxSize || out >= kMaxSize) return fail("a size is 16384 or more");
  return out;
}

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 4, 4));
  const std::vector<int64_t> scale = call.shape_value(1);
  const std::vector<int64_t> offset = call.shape_value(2);
  const std::vector<int64_t> border = call.shape_value(3);
  if (scale.size() != 4 || offset.size() != 2 || border.size() != 2) {
    return call.fail(Code::kVerifyRank,
                     "scale, offset and border have {}, {} and {} entries; 4, 2 "
                     "and 2 are needed",
                     scale.size(), offset.size(), border.size());
  }
  const ResizeMode mode = call.get<ResizeAttrs>().mode;
  const DType in = call.dtype(0);
  const bool widens = call.signature.types[1] != in;
  if (mode == ResizeMode::kUnknown ||
      (is_integer(in) && widens != (mode == ResizeMode::kBilinear))) {
    return call.fail(Code::kVerifySignature, "there is no form of {} that gives {} in mode {}",
                     dtype_name(in), dtype_name(call.signature.types[1]), name(mode));
  }
  const auto axes = axes_of(scale, offset, border);
  const Shape& shape = call.shape(0);
  TOSAIC_TRY(const int64_t height, resized(call, "height", axes[0], shape[1]));
  TOSAIC_TRY(const int64_t width, resized(call, "width", axes[1], shape[2]));
  call.add_result({shape[0], height, width, shape[3]});
  return ok();
}

/// What one output position reads along an axis: two neighbours and the distance from the first, in
/// parts of the numerator.
struct Tap {
  int64_t first = 0;
  int64_t second = 0;
  int64_t distance = 0;
};

std::vector<Tap> taps_of(const ResizeAxis& a, int64_t in, int64_t out) {
  std::vector<Tap> taps;
  for (int64_t o = 0; o < out; ++o) {
    const int64_t at = o * a.denominator + a.offset;
    int64_t cell = at / a.numerator;
    if (at % a.numerator < 0) --cell;
    taps.push_back({std::clamp<int64_t>(cell, 0, in - 1), std::clamp<int64_t>(cell + 1, 0, in - 1),
                    at - cell * a.numerator});
  }
  return taps;
}

class Resizing {
 public:
  explicit Resizing(RefCall& call) : call_(call) {
    const auto list = [&](size_t i) {
      const auto* values = call.in[i]->data<int64_t>();
      return std::vector<int64_t>(values, values + call.in[i]->shape.num_elements());
    };
    axes_ = axes_of(list(1), list(2), list(3));
    const Shape& in = call.in[0]->shape;
    const Shape& out = call.out[0].shape;
    rows_ = taps_of(axes_[0], in[1], out[1]);
    columns_ = taps_of(axes_[1], in[2], out[2]);
  }

  template <typename E>
  void nearest() {
    const auto chosen = [](const Tap& t, int64_t unit) {
      return 2 * t.distance >= unit ? t.second : t.first;
    };
    const auto* in = call_.in[0]->data<typename E::Stored>();
    auto* out = call_.out[0].mutable_data<typename E::Stored>();
    each_pixel([&](int64_t image, const Tap& row, const Tap& column) {
      const auto* pixel =
          in + offset(image, chosen(row, axes_[0].numerator), chosen(column, axes_[1].numerator));
      out = std::copy_n(pixel, channels(), out);
    });
  }

  /// The weighted sum of four neighbours, not divided: weights are integers that add up to the
  /// product of the numerators.
  template <typename In, typename Out>
  void bilinear_ints() {
    const auto* in = call_.in[0]->data<In>();
    auto* out = call_.out[0].mutable_data<Out>();
    each_pixel([&](int64_t image, const Tap& row, const Tap& column) {
      const int64_t dy = row.distance;
      const int64_t dx = column.distance;
      const int64_t uy = axes_[0].numerator - dy;
      const int64_t ux = axes_[1].numerator - dx;
      const In* v00 = in + offset(image, row.first, column.first);
      const In* v01 = in + offset(image, row.first, column.second);
      const In* v10 = in + offset(image, row.second, column.first);
      const In* v11 = in + offset(image, row.second, column.second);
      for (int64_t c = 0; c < channels(); ++c) {
        *out++ = static_cast<Out>(v00[c] * uy * ux + v01[c] * uy * dx + v10[c] * dy * ux +
                                  v11[c] * dy * dx);
      }
    });
  }

  template <typename E>
  void bilinear_floats() {
    const auto* in = call_.in[0]->data<typename E::Stored>();
    auto* out = call_.out[0].mutable_data<typename E::Stored>();
    each_pixel([&](int64_t image, const Tap& row, const Tap& column) {
      const float dy = static_cast<float>(row.distance) / static_cast<float>(axes_[0].numerator);
      const float dx = static_cast<float>(column.distance) / static_cast<float>(axes_[1].numerator);
      const auto* v00 = in + offset(image, row.first, column.first);
      const auto* v01 = in + offset(image, row.first, column.second);
      const auto* v10 = in + offset(image, row.second, column.first);
      const auto* v11 = in + offset(image, row.second, column.second);
      for (int64_t c = 0; c < channels(); ++c) {
        float sum = E::load(v00[c]) * (1 - dy) * (1 - dx);
        sum += E::load(v01[c]) * (1 - dy) * dx;
        sum += E::load(v10[c]) * dy * (1 - dx);
        sum += E::load(v11[c]) * dy * dx;
        *out++ = E::store(sum);
      }
    });
  }

 private:
  int64_t channels() const { return call_.in[0]->shape[3]; }
  int64_t offset(int64_t image, int64_t y, int64_t x) const {
    const Shape& s = call_.in[0]->shape;
    return ((image * s[1] + y) * s[2] + x) * s[3];
  }
  template <typename Fn>
  void each_pixel(Fn fn) {
    for (int64_t n = 0; n < call_.in[0]->shape[0]; ++n) {
      for (const Tap& row : rows_) {
        for (const Tap& column : columns_)
          fn(n, row, column);
      }
    }
  }

  RefCall& call_;
  std::array<ResizeAxis, 2> axes_;
  std::vector<Tap> rows_;
  std::vector<Tap> columns_;
};

Status reference(RefCall& call) {
  Resizing resizing(call);
  const DType in = call.in[0]->dtype;
  if (call.get<ResizeAttrs>().mode == ResizeMode::kNearest) {
    return visit_number(call.node, in, [&]<typename E>(E) { resizing.nearest<E>(); });
  }
  if (in == DType::kI8) {
    resizing.bilinear_ints<int8_t, int32_t>();
    return ok();
  }
  if (in == DType::kI16) {
    resizing.bilinear_ints<int16_t, int64_t>();
    return ok();
  }
  return visit_float(call.node, in, [&]<typename E>(E) { resizing.bilinear_floats<E>(); });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(resize) = {
    .number = 64,
    .operands = {{"input", 0},
                 {"scale", kShapeOperand, true},
                 {"offset", kShapeOperand, true},
                 {"border", kShapeOperand, true}},
    .results = {{"output", 1}},
    .signatures = kSignatures,
    .attrs = fields_of<ResizeAttrs>(),
    .infer = infer,
    .reference = reference,
};
