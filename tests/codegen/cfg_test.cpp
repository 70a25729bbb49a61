// SPDX-License-Identifier: Apache-2.0
// Control-flow facts of random graphs against their definitions, and of very long ones in time.
#include "ir/cfg.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <random>

namespace us::ir {
namespace {

Function function_of(const std::vector<std::vector<u32>>& succs) {
  Function f;
  f.entry = true;
  f.blocks.resize(succs.size());
  for (std::size_t b = 0; b < succs.size(); ++b) {
    f.blocks[b].insts.resize(1);  // no block only ends its thread
    Terminator& t = f.blocks[b].term;
    t.kind = succs[b].empty() ? Terminator::Kind::Exit : Terminator::Kind::Switch;
    for (u32 s : succs[b]) t.targets.push_back(BlockId{s});
  }
  return f;
}

// Blocks on ways from `from` that do not pass `without`.
std::vector<u8> reached(const std::vector<std::vector<u32>>& succs, u32 from, u32 without) {
  std::vector<u8> seen(succs.size(), 0);
  std::vector<u32> work;
  if (from != without) work.push_back(from);
  while (!work.empty()) {
    const u32 b = work.back();
    work.pop_back();
    if (seen[b]) continue;
    seen[b] = 1;
    for (u32 s : succs[b])
      if (s != without) work.push_back(s);
  }
  return seen;
}

std::vector<std::vector<u32>> random_graph(std::mt19937& random) {
  const u32 n = 2 + random() % 14;
  std::vector<std::vector<u32>> succs(n);
  for (u32 b = 0; b + 1 < n; ++b) {
    succs[b].push_back(b + 1);  // everything is reached, and everything reaches the end
    for (u32 k = random() % 3; k > 0; --k) succs[b].push_back(random() % n);
    std::shuffle(succs[b].begin(), succs[b].end(), random);
  }
  return succs;
}

TEST(Cfg, DominatorsAreWhatAllWaysPass) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const auto succs = random_graph(random);
    const u32 n = static_cast<u32>(succs.size());
    const Cfg c = analyze_cfg(function_of(succs), true);
    for (u32 a = 0; a < n; ++a) {
      const auto around = reached(succs, 0, a);
      for (u32 b = 0; b < n; ++b)
        ASSERT_EQ(c.dominates(a, b), !around[b]) << "round " << round << ": " << a << ", " << b;
    }
  }
}

TEST(Cfg, SomeBlocksDominateAnother) {
  std::mt19937 random(9);
  for (int round = 0; round < 3000; ++round) {
    const auto succs = random_graph(random);
    const u32 n = static_cast<u32>(succs.size());
    const Cfg c = analyze_cfg(function_of(succs), true);
    DominatingBlocks set;
    std::vector<u32> blocks;
    for (int k = 0; k < 4; ++k) {
      blocks.push_back(random() % n);
      set.add(c, blocks.back());
      for (u32 b = 0; b < n; ++b)
        ASSERT_EQ(set.cover(c, b), std::ranges::any_of(blocks, [&](u32 a) { return c.dominates(a, b); }));
    }
  }
}

TEST(Cfg, PostDominatorsAreWhatAllWaysToTheEndPass) {
  std::mt19937 random(8);
  for (int round = 0; round < 3000; ++round) {
    const auto succs = random_graph(random);
    const u32 n = static_cast<u32>(succs.size());
    const Cfg c = analyze_cfg(function_of(succs), true);
    for (u32 a = 0; a + 1 < n; ++a) {
      std::vector<u8> found(n, 0), expected(n, 0);
      for (u32 p = c.ipdom[a]; p != c.exit_node; p = c.ipdom[p]) found[p] = 1;
      for (u32 b = 0; b < n; ++b) expected[b] = a != b && !reached(succs, a, b)[n - 1];
      ASSERT_EQ(found, expected) << "round " << round << ": " << a;
    }
  }
}

// A hundred thousand blocks, each of which may branch to the last one: looking for common dominators path by path takes
// a minute.
TEST(Cfg, ManyWaysToOneBlock) {
  const u32 n = 100000;
  std::vector<std::vector<u32>> succs(n);
  for (u32 b = 0; b + 2 < n; ++b) succs[b] = {n - 1, b + 1};
  succs[n - 2] = {n - 1};
  const std::clock_t start = std::clock();
  const Cfg c = analyze_cfg(function_of(succs), true);
  EXPECT_LT(std::clock() - start, 15 * CLOCKS_PER_SEC);
  EXPECT_EQ(c.idom[n - 1], 0u);
  EXPECT_EQ(c.ipdom[0], n - 1);
}

TEST(Cfg, ManyLoops) {
  const u32 n = 100000;
  std::vector<std::vector<u32>> succs(n);
  for (u32 b = 0; b + 1 < n; ++b) succs[b] = {b, b + 1};
  const Cfg c = analyze_cfg(function_of(succs), true);
  EXPECT_EQ(c.loops.size(), n - 1);
  EXPECT_EQ(c.layout.size(), n);
}

}  // namespace
}  // namespace us::ir
