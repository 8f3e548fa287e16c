// SPDX-License-Identifier: Apache-2.0
#include "ir/constant.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "support/check.h"

namespace tosaic {
namespace {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

/// A view with as few axes as possible: neighbours that lie without a gap are one axis. The axes of
/// a stage stay apart.
struct Walk {
  int rank = 0;
  std::array<int64_t, kMaxRank> sizes{};
  std::array<int64_t, kMaxRank> strides{};
  std::array<int, 2> kept{-1, -1};  // where the two axes that stay apart are now; -1: no axis
};

Walk make_walk(const Constant& constant, std::array<int, 2> keep) {
  Walk walk;
  bool may_merge = false;
  for (int axis = 0; axis < constant.shape.rank(); ++axis) {
    const int64_t size = constant.shape[axis];
    const int64_t stride = constant.strides[static_cast<size_t>(axis)];
    const bool is_kept = axis == keep[0] || axis == keep[1];
    if (size == 1 && !is_kept) continue;
    const auto last = static_cast<size_t>(walk.rank - 1);
    if (may_merge && !is_kept && walk.strides[last] == stride * size) {
      walk.sizes[last] *= size;
      walk.strides[last] = stride;
      continue;
    }
    for (size_t i = 0; i < keep.size(); ++i) {
      if (keep[i] == axis) walk.kept[i] = walk.rank;
    }
    const auto at = static_cast<size_t>(walk.rank++);
    walk.sizes[at] = size;
    walk.strides[at] = stride;
    may_merge = !is_kept;
  }
  if (walk.rank == 0) {
    walk.rank = 1;
    walk.sizes[0] = 1;
  }
  return walk;
}

using Index = std::array<int64_t, kMaxRank>;

/// Calls row(offset in elements, index) for each row (the last axis) in C order. No size is zero.
template <typename Row>
void for_each_row(const Walk& walk, Row row) {
  Index index{};
  int64_t offset = 0;
  while (true) {
    row(offset, index);
    int axis = walk.rank - 2;
    for (; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      offset += walk.strides[a];
      if (++index[a] < walk.sizes[a]) break;
      offset -= walk.strides[a] * walk.sizes[a];
      index[a] = 0;
    }
    if (axis < 0) return;
  }
}

template <typename T>
void copy_elements(const Walk& walk, const std::byte* data, std::byte* out) {
  const auto last = static_cast<size_t>(walk.rank - 1);
  const int64_t size = walk.sizes[last];
  const int64_t stride = walk.strides[last];
  constexpr auto kBytes = static_cast<int64_t>(sizeof(T));
  for_each_row(walk, [&](int64_t offset, const Index&) {
    const std::byte* from = data + offset * kBytes;
    if (stride == 1) {
      std::memcpy(out, from, static_cast<size_t>(size * kBytes));
    } else {
      for (int64_t i = 0; i < size; ++i)
        store(out + i * kBytes, load<T>(from + i * stride * kBytes));
    }
    out += size * kBytes;
  });
}

/// Rounds half to even. Below 2^22 the sum has no bits for a fraction, which is much faster than
/// the library call.
float round_even(float x) {
  constexpr float kShift = 0x1.8p23f;
  return std::fabs(x) < 0x1p22f ? (x + kShift) - kShift : std::nearbyintf(x);
}
double round_even(double x) {
  constexpr double kShift = 0x1.8p52;
  return std::fabs(x) < 0x1p51 ? (x + kShift) - kShift : std::nearbyint(x);
}

/// The rule of numeric/quantize.h, which this layer may not include: PyTorch multiplies by the
/// reciprocal, in the type Real that the scales have there.
template <typename Real>
class RowQuantizer {
 public:
  RowQuantizer(const Quant& quant, DType dtype)
      : dtype_(dtype),
        lo_(static_cast<Real>(quant.qmin)),
        hi_(static_cast<Real>(quant.qmax)),
        qmin_(quant.qmin),
        qmax_(quant.qmax) {
    for (size_t i = 0; i < quant.scales.size(); ++i) {
      // A per-tensor scale is a Python float: its reciprocal is taken in double.
      const Real reciprocal = quant.per_tensor() ? static_cast<Real>(1.0 / quant.scales[i])
                                                 : Real{1} / static_cast<Real>(quant.scales[i]);
      channels_.push_back({reciprocal, static_cast<Real>(quant.zero_points[i])});
    }
  }

  /// Writes `count` elements; element i belongs to channel first + i * step.
  void row(const float* x, int64_t count, int64_t first, int64_t step, std::byte* out) const {
    switch (element_bytes(dtype_)) {
      case 1:
        return write<int8_t>(x, count, first, step, out);
      case 2:
        return write<int16_t>(x, count, first, step, out);
      case 4:
        return write<int32_t>(x, count, first, step, out);
      default:
        return write<int64_t>(x, count, first, step, out);
    }
  }

 private:
  struct Channel {
    Real reciprocal;
    Real zero_point;
  };

  /// T stands for the unsigned type of that size too: the low bits are the same.
  template <typename T>
  void write(const float* x, int64_t count, int64_t first, int64_t step, std::byte* out) const {
    const Channel* channel = &channels_[static_cast<size_t>(first)];
    for (int64_t i = 0; i < count; ++i, channel += step) {
      store(out + i * static_cast<int64_t>(sizeof(T)), static_cast<T>(quantize(x[i], *channel)));
    }
  }

  int64_t quantize(float x, const Channel& channel) const {
    const Real q = round_even(static_cast<Real>(x) * channel.reciprocal) + channel.zero_point;
    if (q >= hi_) return qmax_;
    if (q <= lo_) return qmin_;
    if (std::isnan(q)) return std::clamp<int64_t>(0, qmin_, qmax_);
    return static_cast<int64_t>(q);
  }

  DType dtype_;
  Real lo_;
  Real hi_;
  int64_t qmin_;
  int64_t qmax_;
  std::vector<Channel> channels_;
};

/// Real is float when PyTorch computes in float: a per-tensor scale, or scales that are float32
/// values. Wider results than int32 do not exist there and need double.
bool quantises_in_float(const Quant& quant, DType dtype) {
  if (element_bytes(dtype) > 4) return false;
  if (quant.per_tensor()) return true;
  return std::all_of(quant.scales.begin(), quant.scales.end(),
                     [](double s) { return static_cast<double>(static_cast<float>(s)) == s; });
}

/// Multiplies along the stage's axis and hands each row of Result to `write(row, count, index)`.
/// The product is exact in double (for float values of at most 24-bit scales) and rounded once.
template <typename Stored, typename Result, typename Write>
void scale_rows(const Constant& constant, const Walk& walk, Write write) {
  const auto last = static_cast<size_t>(walk.rank - 1);
  const int64_t count = walk.sizes[last];
  const auto step = walk.strides[last] * static_cast<int64_t>(sizeof(Stored));
  const std::span<const double> scales = constant.stage->scales;
  const int axis = walk.kept[0];
  const bool along_row = axis >= 0 && static_cast<size_t>(axis) == last;
  std::vector<Result> row(static_cast<size_t>(count));
  for_each_row(walk, [&](int64_t offset, const Index& index) {
    const std::byte* from = constant.data + offset * static_cast<int64_t>(sizeof(Stored));
    if (scales.empty()) {
      for (Result& x : row) {
        x = static_cast<Result>(load<Stored>(from));
        from += step;
      }
    } else {
      const int64_t first = along_row || axis < 0 ? 0 : index[static_cast<size_t>(axis)];
      const double* scale = &scales[static_cast<size_t>(first)];
      for (Result& x : row) {
        x = static_cast<Result>(static_cast<double>(load<Stored>(from)) * *scale);
        from += step;
        scale += along_row ? 1 : 0;
      }
    }
    write(row.data(), count, index);
  });
}

template <typename Stored, typename Real>
void write_quantised(const Constant& constant, const Walk& walk, std::byte* out) {
  const Quant& quant = *constant.stage->quant;
  const RowQuantizer<Real> quantizer(quant, constant.dtype);
  const auto bytes = static_cast<int64_t>(element_bytes(constant.dtype));
  const int axis = walk.kept[1];
  const bool along_row = axis == walk.rank - 1;
  scale_rows<Stored, float>(
      constant, walk, [&](const float* row, int64_t count, const Index& index) {
        const int64_t first = along_row || axis < 0 ? 0 : index[static_cast<size_t>(axis)];
        quantizer.row(row, count, first, along_row ? 1 : 0, out);
        out += count * bytes;
      });
}

template <typename Stored, typename Result>
void write_scaled(const Constant& constant, const Walk& walk, std::byte* out) {
  scale_rows<Stored, Result>(constant, walk, [&](const Result* row, int64_t count, const Index&) {
    const size_t num_bytes = static_cast<size_t>(count) * sizeof(Result);
    std::memcpy(out, row, num_bytes);
    out += num_bytes;
  });
}

template <typename Stored>
void write_staged(const Constant& constant, std::byte* out) {
  const ConstantStage& stage = *constant.stage;
  const int quant_axis = stage.quant == nullptr ? -1 : stage.quant->axis;
  const Walk walk = make_walk(constant, {stage.scales.empty() ? -1 : stage.axis, quant_axis});
  if (stage.quant == nullptr) {
    TOSAIC_CHECK(constant.dtype == DType::kF32 || constant.dtype == DType::kF64,
                 "a stage without quantisation gives f32 or f64");
    return constant.dtype == DType::kF64 ? write_scaled<Stored, double>(constant, walk, out)
                                         : write_scaled<Stored, float>(constant, walk, out);
  }
  return quantises_in_float(*stage.quant, constant.dtype)
             ? write_quantised<Stored, float>(constant, walk, out)
             : write_quantised<Stored, double>(constant, walk, out);
}

void write_strided(const Constant& constant, std::byte* out) {
  const Walk walk = make_walk(constant, {-1, -1});
  switch (element_bytes(constant.dtype)) {
    case 1:
      return copy_elements<uint8_t>(walk, constant.data, out);
    case 2:
      return copy_elements<uint16_t>(walk, constant.data, out);
    case 4:
      return copy_elements<uint32_t>(walk, constant.data, out);
    default:
      return copy_elements<uint64_t>(walk, constant.data, out);
  }
}

/// High and low half of the product: each bit of the result depends on all bits of both factors.
uint64_t fold(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Fraction bits of the square roots of 2, 3, 5 and 7, made odd.
constexpr uint64_t kRoot2 = 0x6a09e667f3bcc909;
constexpr uint64_t kRoot3 = 0xbb67ae8584caa73b;
constexpr uint64_t kRoot5 = 0x3c6ef372fe94f82b;
constexpr uint64_t kRoot7 = 0xa54ff53a5f1d36f1;

uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed) {
  uint64_t lane0 = seed ^ kRoot2;
  uint64_t lane1 = seed ^ kRoot3;
  const auto block = [&](const std::byte* p) {
    lane0 = fold(load<uint64_t>(p) ^ kRoot5, load<uint64_t>(p + 8) ^ lane0);
    lane1 = fold(load<uint64_t>(p + 16) ^ kRoot7, load<uint64_t>(p + 24) ^ lane1);
  };
  size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32)
    block(bytes.data() + at);
  if (at < bytes.size()) {
    std::array<std::byte, 32> tail{};
    std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), tail.begin());
    block(tail.data());
  }
  return fold(lane0 ^ bytes.size(), std::rotl(lane1, 32) ^ kRoot3);
}

/// Calls use(bytes) with the content, which is copied only when it must be.
template <typename Use>
auto with_content(const Constant& constant, Use use) {
  if (constant.is_plain()) return use(constant.plain_bytes());
  std::vector<std::byte> bytes(constant.num_bytes());
  constant.materialise(bytes);
  return use(std::span<const std::byte>(bytes));
}

bool same_view(const Constant& a, const Constant& b) {
  return a.data == b.data && a.stored_dtype == b.stored_dtype && a.stage == b.stage &&
         std::equal(a.strides.begin(), a.strides.begin() + a.shape.rank(), b.strides.begin());
}

}  // namespace

std::array<int64_t, kMaxRank> contiguous_strides(const Shape& shape) {
  std::array<int64_t, kMaxRank> strides{};
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride *= shape[axis];
  }
  return strides;
}

bool Constant::is_plain() const {
  if (stage != nullptr) return false;
  if (shape.num_elements() == 0) return true;
  int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    if (shape[axis] != 1 && strides[static_cast<size_t>(axis)] != stride) return false;
    stride *= shape[axis];
  }
  return true;
}

size_t Constant::num_bytes() const {
  return element_bytes(dtype) * static_cast<size_t>(shape.num_elements());
}

std::span<const std::byte> Constant::plain_bytes() const {
  TOSAIC_CHECK(is_plain(), "bytes of a constant that must be materialised first");
  return {data, num_bytes()};
}

void Constant::materialise(std::span<std::byte> out) const {
  TOSAIC_CHECK(out.size() == num_bytes(), "room for the bytes of a constant");
  if (out.empty()) return;
  if (stage == nullptr) return write_strided(*this, out.data());
  if (stored_dtype == DType::kF64) return write_staged<double>(*this, out.data());
  TOSAIC_CHECK(stored_dtype == DType::kF32, "a stage applies to f32 or f64");
  write_staged<float>(*this, out.data());
}

uint64_t Constant::content_hash() const {
  uint64_t seed = fold(static_cast<uint64_t>(dtype) + kRoot2, kRoot7);
  for (int64_t size : shape)
    seed = fold(seed ^ static_cast<uint64_t>(size) ^ kRoot5, kRoot3);
  return with_content(*this, [&](std::span<const std::byte> b) { return hash_bytes(b, seed); });
}

bool Constant::equals(const Constant& other) const {
  if (dtype != other.dtype || shape != other.shape) return false;
  if (same_view(*this, other)) return true;
  return with_content(*this, [&](std::span<const std::byte> a) {
    return with_content(other, [&](std::span<const std::byte> b) {
      return a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0;
    });
  });
}

}  // namespace tosaic
