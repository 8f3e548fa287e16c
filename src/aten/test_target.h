// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tosa/spec.h"

namespace tosaic::aten {

/// For tests of rows: takes every operation of both profiles.
inline Target test_target() {
  Target t;
  t.name = "test";
  t.display_name = "the test";
  t.features = Feature::kInt | Feature::kFp | Feature::kInt16;
  return t;
}

}  // namespace tosaic::aten
