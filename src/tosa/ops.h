// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/op_def.h"
#include "tosa/attrs.h"

/// Names of the operations, for lowerings and passes: `b.emit(tosa::add, {x, y})`. Each is defined
/// in src/tosa/ops/.
namespace tosaic::tosa {

#define TOSAIC_TOSA_DECLARE(name) extern const OpDef name
TOSAIC_TOSA_DECLARE(argmax);
TOSAIC_TOSA_DECLARE(avg_pool2d);
TOSAIC_TOSA_DECLARE(conv2d);
TOSAIC_TOSA_DECLARE(depthwise_conv2d);
TOSAIC_TOSA_DECLARE(matmul);
TOSAIC_TOSA_DECLARE(max_pool2d);
TOSAIC_TOSA_DECLARE(clamp);
TOSAIC_TOSA_DECLARE(sigmoid);
TOSAIC_TOSA_DECLARE(tanh);
TOSAIC_TOSA_DECLARE(add);
TOSAIC_TOSA_DECLARE(arithmetic_right_shift);
TOSAIC_TOSA_DECLARE(logical_left_shift);
TOSAIC_TOSA_DECLARE(maximum);
TOSAIC_TOSA_DECLARE(minimum);
TOSAIC_TOSA_DECLARE(mul);
TOSAIC_TOSA_DECLARE(sub);
TOSAIC_TOSA_DECLARE(table);
TOSAIC_TOSA_DECLARE(abs);
TOSAIC_TOSA_DECLARE(clz);
TOSAIC_TOSA_DECLARE(exp);
TOSAIC_TOSA_DECLARE(negate);
TOSAIC_TOSA_DECLARE(reciprocal);
TOSAIC_TOSA_DECLARE(rsqrt);
TOSAIC_TOSA_DECLARE(select);
TOSAIC_TOSA_DECLARE(greater);
TOSAIC_TOSA_DECLARE(greater_equal);
TOSAIC_TOSA_DECLARE(equal);
TOSAIC_TOSA_DECLARE(reduce_sum);
TOSAIC_TOSA_DECLARE(reduce_max);
TOSAIC_TOSA_DECLARE(reduce_min);
TOSAIC_TOSA_DECLARE(concat);
TOSAIC_TOSA_DECLARE(pad);
TOSAIC_TOSA_DECLARE(reshape);
TOSAIC_TOSA_DECLARE(slice);
TOSAIC_TOSA_DECLARE(tile);
TOSAIC_TOSA_DECLARE(transpose);
TOSAIC_TOSA_DECLARE(cast);
TOSAIC_TOSA_DECLARE(rescale);
TOSAIC_TOSA_DECLARE(identity);
#undef TOSAIC_TOSA_DECLARE

}  // namespace tosaic::tosa
