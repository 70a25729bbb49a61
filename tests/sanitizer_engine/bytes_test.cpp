// SPDX-License-Identifier: Apache-2.0
// Words that lanes share: each byte of them is judged by itself, and costs a byte of records where lanes lie in a row.
#include <gtest/gtest.h>

#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr Space S = Space::Shared, G = Space::Global;
constexpr u64 kBase = u64{1} << 40;

TEST(Bytes, NeighboursOfAWordDoNotMeet) {
  for (const u32 bytes : {1u, 2u}) {
    Sim s;
    s.warp(0).store(S, kShared, bytes, bytes);
    s.thread(3).load(S, kShared + 3 * bytes, bytes);
    s.thread(3).store(S, kShared + 3 * bytes, bytes);
    EXPECT_EQ(s.all(), "");
    s.thread(3).load(S, kShared + 2 * bytes, bytes);
    EXPECT_EQ(s.errors(), "race-shared");
    EXPECT_EQ(s.findings()[0].times, bytes);
  }
}

TEST(Bytes, WordOfOthersBytes) {
  Sim s;
  s.warp(0).store(S, kShared, 1, 1);
  s.barrier();
  s.lanes(1, 0xff).load(S, kShared, 4, 4);
  EXPECT_EQ(s.all(), "");
}

TEST(Bytes, AWordIsCountedOnce) {
  Sim s;
  s.warp(0).store(S, kShared, 1, 1);
  s.lanes(1, 0xff).load(S, kShared, 4, 4);
  EXPECT_EQ(s.errors(), "race-shared");
  EXPECT_EQ(s.findings()[0].times, 8u);
}

TEST(Bytes, WholeAgainWhenALaneHasWrittenIt) {
  Sim s;
  s.warp(0).store(S, kShared, 2, 2);
  s.barrier();
  s.lanes(0, 0xffff).store(S, kShared, 4, 4);
  s.barrier();
  s.lanes(1, 0xffff).load(S, kShared, 4, 4).load(S, kShared, 2, 2);
  s.barrier();
  s.warp(0).store(S, kShared, 1, 1);
  s.lanes(1, 1).load(S, kShared + 8, 4);
  EXPECT_EQ(s.errors(), "race-shared");
  EXPECT_EQ(s.findings()[0].times, 1u);
}

TEST(Bytes, OfTwoBlocks) {
  Sim s({.ctas = 2});
  s.lanes(0, 0x1ff, 0).store(G, kBase, 1, 1);
  s.lanes(0, 0x1ff, 1).store(G, kBase + 9, 1, 1);
  EXPECT_EQ(s.all(), "");
  s.lanes(0, 1, 1).load(G, kBase + 8, 1);
  EXPECT_EQ(s.errors(), "race-global");
}

TEST(Bytes, LaterLaunchesFindWordsAndBytesWritten) {
  Sim s;
  s.allocate(kBase, 4096, false);
  s.warp(0).store(G, kBase, 2, 2);
  s.next({});
  s.lanes(0, 0xffff).load(G, kBase, 4, 4).store(G, kBase, 4, 4);
  s.next({});
  s.warp(0).load(G, kBase, 1, 1).load(G, kBase, 2, 2);
  EXPECT_EQ(s.all(), "");
  s.thread(0).load(G, kBase + 2048, 2);
  EXPECT_NE(s.all().find("uninitialised"), std::string::npos);
}

}  // namespace
}  // namespace us::sanitizer::test
