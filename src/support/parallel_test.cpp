// SPDX-License-Identifier: Apache-2.0
#include "support/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace tosaic {
namespace {

TEST(Parallel, EveryPieceIsDoneOnceByAThreadThatExists) {
  for (const size_t count : {0, 1, 2, 1000}) {
    std::vector<std::atomic<int>> calls(count);
    std::atomic<bool> good = true;
    parallel_for(count, [&](size_t thread, size_t i) {
      ++calls[i];
      if (thread >= num_threads_for(count)) good = false;
    });
    EXPECT_TRUE(good);
    for (const std::atomic<int>& c : calls)
      EXPECT_EQ(c, 1);
  }
}

TEST(Parallel, AnExceptionReachesTheCallerAndEndsTheWork) {
  std::atomic<int> calls = 0;
  const auto work = [&](size_t, size_t) {
    ++calls;
    throw std::runtime_error("no");
  };
  EXPECT_THROW(parallel_for(1'000'000, work), std::runtime_error);
  EXPECT_LT(calls, 1'000'000);
}

}  // namespace
}  // namespace tosaic
