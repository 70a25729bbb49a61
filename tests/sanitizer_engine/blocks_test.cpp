// SPDX-License-Identifier: Apache-2.0
// Words that are judged a block at a time, against the same words taken apart: the same verdicts, the same state.
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <random>

#include "sanitizer/rows.h"

namespace us::sanitizer {
namespace {

constexpr u64 kBegin = u64{1} << 30, kBytes = 1024;
constexpr u32 kEverybody = 20;  // of all threads: which of them have read a word is not kept

struct Random {
  explicit Random(u32 seed) : of(seed) {}
  u32 operator()(u32 n) { return static_cast<u32>(of() % n); }
  std::mt19937 of;
};

RowActor actor(Random& pick) {
  RowActor a;
  a.floor = 1 + pick(3);
  a.segment = a.floor + pick(5);
  a.known = a.floor + pick(4), a.known_end = a.known + pick(3);
  for (u32& s : a.also) s = pick(3) ? 0 : 1 + pick(7);
  a.site = static_cast<u16>(1 + pick(4));
  a.many = pick(2), a.unwritten = pick(4) > 0, a.own = pick(8) > 0;
  a.mine = 1 + pick(7), a.mine_end = a.mine + pick(4);
  if (!pick(3)) a.also_mine = 1 + pick(7);
  if (!pick(3)) a.foreign = 1 + pick(7);
  if (!pick(5)) a.segment = kEverybody, a.everybody = true, a.own = false;
  return a;
}

u32 some_lanes(Random& pick) {
  switch (pick(5)) {
    case 0:
      return static_cast<u32>(pick.of());
    case 1:
      return pick(2) ? 0xffff : 0xffff0000;
    case 2:
      return 1u << pick(32);
    default:
      return ~0u;
  }
}

// One access, and what it leaves.
u32 judge(const Planes& p, u32 seed) {
  Random pick(seed);
  RowActor a = actor(pick);
  const u32 words = 1u << pick(3), lane = pick(32), kind = pick(9), lanes = some_lanes(pick);
  const u64 unit = pick(2) ? 64 : 4 * words, at = kBegin + pick(static_cast<u32>((kBytes - 512) / unit)) * unit;
  const bool writes = kind == 2 || kind == 3 || kind == 5 || kind == 8;
  if (writes && a.everybody) a.segment = a.floor, a.everybody = false;
  switch (kind) {
    case 0:
    case 1:
      return read_rows(p, at, words, lanes, a);
    case 2:
    case 3:
      return write_rows(p, at, words, lanes, a);
    case 4:
      return read_range(p, at, lanes, lane, a);
    case 5:
      return write_range(p, at, lanes, lane, a);
    case 6:
      return read_rows_down(p, at, words, lanes, a);
    case 7:
      return read_same(p, at, words, lanes, a);
    default:
      return write_lane(p, at, words, lane, a);
  }
}

void expect_same(const Planes& blocks, const Planes& cells, u64 at) {
  const Word b = blocks.look(at), c = cells.look(at);
  EXPECT_EQ(b.w, c.w);
  EXPECT_EQ(b.r, c.r);
  EXPECT_TRUE(!b.r || b.r == kEverybody || b.m == c.m);
  EXPECT_TRUE(!b.w || b.w_site == c.w_site);
  EXPECT_TRUE(!b.r || b.r >= kCtas || b.r == kEverybody || b.r_site == c.r_site);
}

TEST(Blocks, AreWhatTheirCellsWouldBe) {
  u64 together = 0;
  for (u32 seed = 0; seed < 3000 && !testing::Test::HasFailure(); seed++) {
    Planes blocks, cells;
    ASSERT_TRUE(blocks.reserve(kBegin, kBytes) && cells.reserve(kBegin, kBytes));
    for (u32 step = 0; step < 24; step++) {
      for (u64 at = kBegin; at < kBegin + kBytes; at += kBlockBytes) cells.take_apart(at);
      const u32 one = seed * 1000 + step;
      ASSERT_EQ(judge(blocks, one), judge(cells, one)) << "seed " << seed << ", step " << step;
    }
    for (u64 at = kBegin; at < kBegin + kBytes; at += 4) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", word " + std::to_string((at - kBegin) / 4));
      expect_same(blocks, cells, at);
      const Block& b = blocks.block(at);
      together += b.w != kWide && (b.w || b.r);
    }
  }
  EXPECT_GT(together, 50000u);  // words that were left in blocks
}

TEST(Blocks, PartsOfThemAreCleared) {
  Planes p;
  ASSERT_TRUE(p.reserve(kBegin, kBytes));
  const RowActor a{.segment = 5, .site = 3};
  ASSERT_EQ(write_rows(p, kBegin, 4, ~0u, a), 0u);
  p.clear(kBegin + 20, 300);
  for (u64 at = 0; at < 512; at += 4)
    EXPECT_EQ(p.look(kBegin + at).w, at >= 20 && at < 320 ? 0u : 5u << 5 | at / 16) << at;
}

u64 resident_bytes() {
  std::ifstream at("/proc/self/statm");
  u64 all = 0, resident = 0;
  at >> all >> resident;
  return resident * 4096;
}

// Small allocations come and go at ever new addresses; each is written once, and one word of it apart.
TEST(Blocks, SmallAllocationsTakeLittleOfTheHost) {
  constexpr u64 kApart = u64{4} << 20, kMany = 1500;
  Planes p;
  ASSERT_TRUE(p.reserve(kBegin, kMany * kApart));
  const u64 before = resident_bytes();
  for (u64 k = 0; k < kMany; k++) p.expect(kBegin + k * kApart, 1000), p.clear(kBegin + k * kApart, 1000);
  EXPECT_LT(resident_bytes() - before, u64{1} << 20);
  RowActor a;
  a.segment = 5;
  for (u64 k = 0; k < kMany; k++) {
    EXPECT_EQ(write_rows(p, kBegin + k * kApart, 1, ~0u, a), 0u);
    EXPECT_TRUE(write_lane(p, kBegin + k * kApart + 512, 1, 3, a));
  }
  EXPECT_LT(resident_bytes() - before, kMany * 7 * 4096);
}

}  // namespace
}  // namespace us::sanitizer
