// SPDX-License-Identifier: Apache-2.0
#include "support/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tosaic {
namespace {

TEST(Arena, gives_aligned_memory_that_does_not_overlap) {
  Arena arena;
  std::vector<std::pair<uintptr_t, size_t>> given;
  for (size_t i = 0; i < 3000; ++i) {
    const size_t num_bytes = i * 37 % 501, alignment = size_t{1} << (i % 8);
    void* memory = arena.allocate(num_bytes, alignment);
    std::memset(memory, static_cast<int>(i), num_bytes);
    const auto address = reinterpret_cast<uintptr_t>(memory);
    EXPECT_EQ(address % alignment, 0u);
    given.emplace_back(address, num_bytes);
  }
  std::sort(given.begin(), given.end());
  for (size_t i = 1; i < given.size(); ++i) {
    EXPECT_LE(given[i - 1].first + given[i - 1].second, given[i].first);
  }
}

TEST(Arena, takes_requests_larger_than_a_block) {
  Arena arena;
  const auto large = arena.make_span<int64_t>(100000);
  EXPECT_EQ(large.size(), 100000u);
  EXPECT_EQ(large.front() + large.back(), 0);
  EXPECT_TRUE(arena.make_span<int>(0).empty());
}

TEST(Arena, copies_outlive_what_they_were_made_from) {
  Arena arena;
  std::string_view text;
  std::span<int> numbers;
  {
    const std::string from = "a text that is longer than the small buffer of std::string";
    const std::vector<int> values = {1, 2, 3};
    text = arena.copy(std::string_view(from));
    numbers = arena.copy(std::span<const int>(values));
  }
  EXPECT_EQ(text, "a text that is longer than the small buffer of std::string");
  EXPECT_EQ(numbers[2], 3);
  EXPECT_EQ(*arena.make<int>(7), 7);
}

}  // namespace
}  // namespace tosaic
