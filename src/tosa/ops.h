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
TOSAIC_TOSA_DECLARE(bitwise_and);
TOSAIC_TOSA_DECLARE(bitwise_not);
TOSAIC_TOSA_DECLARE(bitwise_or);
TOSAIC_TOSA_DECLARE(bitwise_xor);
TOSAIC_TOSA_DECLARE(ceil);
TOSAIC_TOSA_DECLARE(conv3d);
TOSAIC_TOSA_DECLARE(cos);
TOSAIC_TOSA_DECLARE(erf);
TOSAIC_TOSA_DECLARE(fft2d);
TOSAIC_TOSA_DECLARE(floor);
TOSAIC_TOSA_DECLARE(gather);
TOSAIC_TOSA_DECLARE(intdiv);
TOSAIC_TOSA_DECLARE(log);
TOSAIC_TOSA_DECLARE(logical_and);
TOSAIC_TOSA_DECLARE(logical_not);
TOSAIC_TOSA_DECLARE(logical_or);
TOSAIC_TOSA_DECLARE(logical_right_shift);
TOSAIC_TOSA_DECLARE(logical_xor);
TOSAIC_TOSA_DECLARE(pow);
TOSAIC_TOSA_DECLARE(reduce_all);
TOSAIC_TOSA_DECLARE(reduce_any);
TOSAIC_TOSA_DECLARE(reduce_product);
TOSAIC_TOSA_DECLARE(resize);
TOSAIC_TOSA_DECLARE(reverse);
TOSAIC_TOSA_DECLARE(rfft2d);
TOSAIC_TOSA_DECLARE(scatter);
TOSAIC_TOSA_DECLARE(sin);
TOSAIC_TOSA_DECLARE(transpose_conv2d);
#undef TOSAIC_TOSA_DECLARE

}  // namespace tosaic::tosa
