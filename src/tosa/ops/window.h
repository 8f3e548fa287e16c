// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "tosa/op.h"

/// Windows over the height and width of NHWC tensors: pooling and convolution.
namespace tosaic::tosa {

/// One axis of a window.
struct WindowAxis {
  int64_t size = 1;  ///< of the input
  int64_t out = 1;   ///< of the output
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t pad = 0;  ///< before

  /// Kernel positions [first, last) that lie on the input for output position `o`; `start` is the
  /// input position of kernel position 0.
  struct Range {
    int64_t start = 0;
    int64_t first = 0;
    int64_t last = 0;
  };
  Range range(int64_t o) const {
    Range r;
    r.start = o * stride - pad;
    r.first = r.start >= 0 ? 0 : (-r.start + dilation - 1) / dilation;
    r.last = r.start >= size ? 0 : std::min(kernel, (size - 1 - r.start) / dilation + 1);
    return r;
  }
};

/// The window of a pooling operation; ERROR_IF rules of the specification included.
template <typename Attrs>
Status infer_pool(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 4, 4));
  const auto attrs = call.get<Attrs>();
  const auto [top, bottom, left, right] = attrs.pad;
  const auto [kernel_y, kernel_x] = attrs.kernel;
  if (std::max(top, bottom) >= kernel_y || std::max(left, right) >= kernel_x) {
    return call.fail(Code::kVerifyOpRule, "pads {}, {}, {}, {} must be below the kernel {}x{}", top,
                     bottom, left, right, kernel_y, kernel_x);
  }
  const Shape& in = call.shape(0);
  TOSAIC_TRY(const int64_t height,
             window_size(call, "height", in[1], top, bottom, kernel_y, attrs.stride[0], 1));
  TOSAIC_TRY(const int64_t width,
             window_size(call, "width", in[2], left, right, kernel_x, attrs.stride[1], 1));
  call.add_result({in[0], height, width, in[3]});
  return ok();
}

/// Axes y and x of a pooling window.
template <typename Attrs>
std::array<WindowAxis, 2> pool_window(const Attrs& attrs, const Shape& in, const Shape& out) {
  return {{{in[1], out[1], attrs.kernel[0], attrs.stride[0], 1, attrs.pad[0]},
           {in[2], out[2], attrs.kernel[1], attrs.stride[1], 1, attrs.pad[2]}}};
}

}  // namespace tosaic::tosa
