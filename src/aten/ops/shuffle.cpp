// SPDX-License-Identifier: Apache-2.0
#include "aten/calls.h"

// Elements that move between channels and pixels. Each is written as exchanges of neighbouring axes
// of at most four, which NPUs take.

namespace tosaic::aten {
namespace {

constexpr int64_t kSwapMiddle[] = {0, 2, 1, 3};

/// [a, b, c, d] -> [a, c, b, d] of the elements of x.
Value* swap_middle(Builder& b, Value* x, const Shape& shape) {
  return call_permute(b, call_view(b, x, shape), kSwapMiddle);
}

/// Batch, channels, height and width of [N,C,H,W], [C,H,W], or of what has more axes in front.
std::optional<std::array<int64_t, 4>> image_sizes(const Shape& s) {
  const int rank = s.rank();
  if (rank < 3 || !s.is_static()) return std::nullopt;
  int64_t batch = 1;
  for (int axis = 0; axis < rank - 3; ++axis)
    batch *= s[axis];
  return std::array<int64_t, 4>{batch, s[rank - 3], s[rank - 2], s[rank - 1]};
}

constexpr int64_t kMostFactor = 65536;

Reject bad_shape(const Call& n) {
  return reject(Code::kRejectShape, "{}: the input {} and the argument do not fit",
                n.schema().full_name, to_string(n.in(0)->shape()));
}

/// [N, C*r*r, H, W] -> [N, C, H*r, W*r]: result[h*r+i, w*r+j] is channel (c*r+i)*r+j.
Lowered lower_pixel_shuffle(const Call& n, Builder& b) {
  const int64_t r = n.i("upscale_factor");
  const auto sizes = image_sizes(n.in(0)->shape());
  if (!sizes || r < 1 || r > kMostFactor || (*sizes)[1] % (r * r) != 0) return bad_shape(n);
  const auto [batch, channels, h, w] = *sizes;
  const int64_t rows = batch * channels / r;  // c and i
  // (c i) j (h w) -> (c i) (h w) j, then c i h (w j) -> c h i (w j).
  Value* y = swap_middle(b, n.in(0), {rows, r, h * w, 1});
  y = swap_middle(b, y, {rows / r, r, h, w * r});
  return call_view(b, y, n.out());
}

/// The way back: [N, C, H*r, W*r] -> [N, C*r*r, H, W].
Lowered lower_pixel_unshuffle(const Call& n, Builder& b) {
  const int64_t r = n.i("downscale_factor");
  const auto sizes = image_sizes(n.in(0)->shape());
  if (!sizes || r < 1 || (*sizes)[2] % r != 0 || (*sizes)[3] % r != 0) return bad_shape(n);
  const auto [batch, channels, height, width] = *sizes;
  const int64_t h = height / r;
  const int64_t w = width / r;
  Value* y = swap_middle(b, n.in(0), {batch * channels, h, r, width});
  y = swap_middle(b, y, {batch * channels * r, h * w, r, 1});
  return call_view(b, y, n.out());
}

/// Channels [groups, C / groups] -> [C / groups, groups].
Lowered lower_channel_shuffle(const Call& n, Builder& b) {
  const int64_t groups = n.i("groups");
  const Shape& s = n.in(0)->shape();
  if (s.rank() < 2 || groups < 1 || s[1] % groups != 0 || s.num_elements() == 0) {
    return bad_shape(n);
  }
  const int64_t inner = s.num_elements() / (s[0] * s[1]);
  Value* y = swap_middle(b, n.in(0), {s[0], groups, s[1] / groups, inner});
  return call_view(b, y, n.out());
}

/// Windows as columns: for each place of the kernel the elements it meets, [N, C, L]; all of them
/// side by side are [N, C * kernel, L].
Lowered lower_im2col(const Call& n, Builder& b) {
  constexpr int64_t kMaxPlaces = 64;
  const auto kernel = n.ints("kernel_size", 2);
  const auto dilation = n.ints("dilation", 2);
  const auto padding = n.ints("padding", 2);
  const auto stride = n.ints("stride", 2);
  const auto sizes = image_sizes(n.in(0)->shape());
  if (!sizes || kernel.size() != 2 || dilation.size() != 2 || padding.size() != 2 ||
      stride.size() != 2 || std::ranges::min(kernel) < 1 || std::ranges::min(stride) < 1 ||
      std::ranges::min(dilation) < 1 || std::ranges::min(padding) < 0) {
    return bad_shape(n);
  }
  if (kernel[0] * kernel[1] > kMaxPlaces) {
    return reject(Code::kRejectAttribute, "{}: a kernel of {}x{}; up to {} elements are taken",
                  n.schema().full_name, kernel[0], kernel[1], kMaxPlaces);
  }
  const auto [batch, channels, height, width] = *sizes;
  Value* x = call_view(b, n.in(0), {batch, channels, height, width});
  const std::array<int64_t, 2> padded = {height + 2 * padding[0], width + 2 * padding[1]};
  if (padding[0] != 0 || padding[1] != 0) {
    const int64_t pad[] = {padding[1], padding[1], padding[0], padding[0]};
    x = b.call("aten.constant_pad_nd.default", {x},
               {x->dtype(), {batch, channels, padded[0], padded[1]}, x->quant()},
               {{"pad", Attr::ints(pad)}});
  }
  std::array<int64_t, 2> count{};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t span = padded[i] - (dilation[i] * (kernel[i] - 1) + 1);
    if (span < 0) return bad_shape(n);
    count[i] = span / stride[i] + 1;
  }
  std::vector<Value*> places;
  for (int64_t i = 0; i < kernel[0]; ++i) {
    Value* rows = call_steps(b, x, 2, i * dilation[0], count[0], stride[0]);
    for (int64_t j = 0; j < kernel[1]; ++j) {
      Value* place = call_steps(b, rows, 3, j * dilation[1], count[1], stride[1]);
      places.push_back(call_view(b, place, {batch * channels, 1, count[0] * count[1]}));
    }
  }
  const auto num_places = static_cast<int64_t>(places.size());
  Value* all = call_cat(
      b, places, 1, {x->dtype(), {batch * channels, num_places, count[0] * count[1]}, x->quant()});
  return call_view(b, all, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(pixel_shuffle) = {
    .schemas = schemas("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor"),
    .doc = "Channels become pixels: RESHAPE and TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_pixel_shuffle,
    .cpu =
        "aten::pixel_shuffle.out(Tensor self, int upscale_factor, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(pixel_unshuffle) = {
    .schemas = schemas("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor"),
    .doc = "Pixels become channels: RESHAPE and TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_pixel_unshuffle,
    .cpu =
        "aten::pixel_unshuffle.out(Tensor self, int downscale_factor, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(channel_shuffle) = {
    .schemas = schemas("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor",
                       "aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor"),
    .doc = "Channels of groups interleaved: RESHAPE and TRANSPOSE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_channel_shuffle,
};

TOSAIC_ATEN_OP(im2col) = {
    .schemas = schemas("aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, "
                       "int[2] padding, int[2] stride) -> Tensor"),
    .doc = "Windows as columns (nn.Unfold): a SLICE per place of the kernel, and CONCAT.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_im2col,
};
