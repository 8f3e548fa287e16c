// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tosa/op.h"

namespace tosaic::tosa {

/// Shape of a reduction: size 1 along `axis`.
inline Status infer_reduce(InferCall& call, int axis) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 1, kMaxRank));
  TOSAIC_CHECK_OK(check_axis(call, axis));
  Shape shape = call.shape(0);
  shape[axis] = 1;
  call.add_result(shape);
  return ok();
}

}  // namespace tosaic::tosa
