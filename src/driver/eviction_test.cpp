// SPDX-License-Identifier: Apache-2.0
#include "driver/eviction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tosaic {
namespace {

/// Nodes that are told apart by their addresses only.
struct Line {
  explicit Line(size_t count) : storage(count) {
    for (size_t i = 0; i < count; ++i)
      nodes.push_back(reinterpret_cast<Node*>(&storage[i]));
  }
  size_t index(const Node* node) const {
    return static_cast<size_t>(std::ranges::find(nodes, node) - nodes.begin());
  }
  std::vector<uint64_t> storage;
  std::vector<Node*> nodes;
};

struct Found {
  std::vector<size_t> nodes;
  int questions = 0;
};

/// What is found when these nodes, each of them alone, are refused.
Found search(size_t count, const std::vector<size_t>& refused, size_t most = 16) {
  const Line line(count);
  Found found;
  const TakesNodes takes = [&](std::span<Node* const> some) -> Expected<bool> {
    ++found.questions;
    return std::ranges::none_of(
        refused, [&](size_t i) { return std::ranges::find(some, line.nodes[i]) != some.end(); });
  };
  const auto nodes = find_refused(line.nodes, takes, most);
  for (const Node* node : *nodes)
    found.nodes.push_back(line.index(node));
  return found;
}

TEST(Eviction, FindsTheNodesByFewQuestions) {
  for (size_t i : {0u, 1u, 511u, 512u, 1023u}) {
    const Found found = search(1024, {i});
    EXPECT_EQ(found.nodes, std::vector<size_t>{i});
    EXPECT_EQ(found.questions, 2 * 10);  // both halves at each of log2(1024) steps
  }
  EXPECT_EQ(search(100, {3, 40, 41, 99}).nodes, (std::vector<size_t>{3, 40, 41, 99}));
}

TEST(Eviction, AllNodesMayBeToBlameButNotTooMany) {
  EXPECT_EQ(search(1, {0}).nodes, std::vector<size_t>{0});
  EXPECT_EQ(search(4, {0, 1, 2, 3}).nodes, (std::vector<size_t>{0, 1, 2, 3}));
  std::vector<size_t> many(40);
  for (size_t i = 0; i < many.size(); ++i)
    many[i] = i;
  const Found found = search(64, many);
  EXPECT_TRUE(found.nodes.empty());
  EXPECT_LT(found.questions, 64);
}

TEST(Eviction, WhatIsRefusedOnlyTogetherLosesANode) {
  const Line line(8);
  const TakesNodes takes = [](std::span<Node* const> some) -> Expected<bool> {
    return some.size() < 8;
  };
  EXPECT_EQ(*find_refused(line.nodes, takes, 16), std::vector<Node*>{line.nodes[4]});
}

TEST(Eviction, AnotherErrorOfVelaEndsTheSearch) {
  const Line line(8);
  const TakesNodes takes = [](std::span<Node* const>) -> Expected<bool> {
    return error(Code::kVelaMissing, "gone");
  };
  const auto found = find_refused(line.nodes, takes, 16);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::kVelaMissing);
}

}  // namespace
}  // namespace tosaic
