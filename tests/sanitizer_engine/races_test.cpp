// SPDX-License-Identifier: Apache-2.0
// Races of plain accesses inside a launch. Expectations: PTX ISA, memory consistency model; kinds are those of issue
// 17.
#include <gtest/gtest.h>

#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr Space S = Space::Shared, G = Space::Global;
constexpr u64 kBase = u64{1} << 40;

TEST(SharedRace, MissingBarrier) {
  Sim s;
  s.warp(0).store(S, kShared, 4, 4);
  s.warp(1).load(S, kShared, 4, 4);
  EXPECT_EQ(s.errors(), "race-shared");
  EXPECT_EQ(s.findings().size(), 1u);
  EXPECT_EQ(s.findings()[0].times, 32u);
}
TEST(SharedRace, Barrier) {
  Sim s;
  s.warp(0).store(S, kShared, 4, 4);
  s.barrier().warp(1).load(S, kShared, 4, 4);
  s.barrier().warp(0).store(S, kShared, 4, 4);
  EXPECT_EQ(s.all(), "");
}
TEST(SharedRace, WriteAfterRead) {
  Sim s;
  s.warp(0).store(S, kShared, 4, 4);
  s.barrier();
  s.warp(0).load(S, kShared, 4, 4);
  s.warp(1).load(S, kShared, 4, 4);
  s.thread(5).store(S, kShared + 20);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(SharedRace, ManyReadersThenBarrier) {
  Sim s({.threads = 256});
  s.thread(0).store(S, kShared);
  for (int i = 0; i < 3; i++) {
    s.barrier();
    for (u32 w = 0; w < 8; w++) s.warp(w).load(S, kShared);
    s.barrier().thread(7).store(S, kShared);
  }
  EXPECT_EQ(s.all(), "");
}
TEST(SharedRace, LanesWithoutWarpSync) {  // 88
  Sim s;
  s.thread(0).at(10).store(S, kShared);
  s.thread(1).at(20).load(S, kShared);
  EXPECT_EQ(s.errors(), "race-shared");
  EXPECT_NE(s.findings()[0].why[0].find("__syncwarp"), std::string::npos);
  EXPECT_EQ(s.findings()[0].parties[0].who, "thread [1,0,0] (warp 0) of block [0,0,0]");
}
TEST(SharedRace, LanesWithWarpSync) {
  Sim s;
  s.thread(0).store(S, kShared);
  s.warp(0).sync();
  s.thread(1).load(S, kShared);
  EXPECT_EQ(s.all(), "");
}
TEST(SharedRace, PartialWarpSync) {
  Sim s;
  s.lanes(0, 0xf).store(S, kShared, 4, 4);
  s.lanes(0, 3).sync();
  s.thread(0).load(S, kShared + 4);
  EXPECT_EQ(s.errors(), "");
  s.thread(0).load(S, kShared + 8);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(SharedRace, OneStoreTwoLanes) {  // 120
  Sim s;
  s.lanes(0, 3).store_value(S, kShared, {1, 2});
  EXPECT_EQ(s.errors(), "race-lanes");
}
TEST(SharedRace, OneStoreTwoLanesSameValue) {
  Sim s;
  s.lanes(0, 3).store_value(S, kShared, {7, 7});
  EXPECT_EQ(s.all(), "race-same-value");
}
TEST(SharedRace, SameValueOfTwoWarps) {
  Sim s;
  s.thread(0).store_value(S, kShared, {7});
  s.thread(32).store_value(S, kShared, {7});
  EXPECT_EQ(s.all(), "race-same-value");
}
TEST(SharedRace, BytesOfAWord) {
  Sim s;
  s.thread(0).store(S, kShared, 1);
  s.thread(32).store(S, kShared + 1, 1);
  s.thread(33).store(S, kShared + 2, 2);
  EXPECT_EQ(s.all(), "");
  s.thread(1).load(S, kShared);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(SharedRace, WordBehindItsBytes) {
  Sim s;
  s.thread(0).store(S, kShared);
  s.barrier().thread(32).store(S, kShared + 1, 1);
  s.thread(0).load(S, kShared, 1);
  EXPECT_EQ(s.all(), "");
  s.thread(0).load(S, kShared);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(SharedRace, ProducerAndConsumerByNamedBarriers) {  // 92
  Sim s;
  for (int i = 0; i < 3; i++) {
    s.warp(0).store(S, kShared, 4, 4);
    s.named(1, {1}, {0});
    s.warp(1).load(S, kShared, 4, 4);
    s.named(2, {0}, {1});
  }
  EXPECT_EQ(s.all(), "");
}
TEST(SharedRace, ArriveAcquiresNothing) {
  Sim s;
  s.warp(1).store(S, kShared, 4, 4);
  s.named(1, {1}, {0});
  s.warp(0).load(S, kShared, 4, 4);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(SharedRace, ArrivesTwiceForOnePhase) {  // 92: by itself it fills the phase of two warps
  Sim s;
  s.warp(0).at(10).arrive(1, 64, true).at(11).arrive(1, 64, true);
  EXPECT_EQ(s.errors(), "barrier-recycled");
  EXPECT_EQ(s.findings().size(), 1u);
}
TEST(SharedRace, ExitsBehindItsArrival) {  // 92: what it writes then is told to nobody
  Sim s;
  s.thread(0).store(S, kShared);
  s.warp(0).arrive(1, 64, true);
  s.thread(0).store(S, kShared);
  s.warp(0).exit();
  s.warp(1).arrive(1, 64).leave(1, 64);
  s.thread(32).load(S, kShared);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(Faults, BarrierThatThereIsNot) {  // 91: the cause is reported, not its fault
  Sim s;
  s.warp(0).arrive(16, 64);
  s.fault(probe::Refused::Barrier);
  EXPECT_EQ(s.all(), "barrier-count");
}
TEST(Barrier, OneLaneForItsWarp) {  // 93
  Sim s;
  s.lanes(0, 1).arrive(1, 64), s.lanes(1, 1).arrive(1, 64);
  s.lanes(0, 1).leave(1, 64);
  EXPECT_EQ(s.all(), "barrier-divergent");
  Sim t;  // the rest of the warps comes later; and those that have ended do not come
  t.lanes(0, 0xffff).arrive(1, 64), t.lanes(0, 0xffff0000).arrive(1, 64);
  t.lanes(1, ~1u).exit();
  t.lanes(1, 1).arrive(1, 64).leave(1, 64);
  EXPECT_EQ(t.all(), "");
}
TEST(Alias, TwoAddressesOfOneMemory) {  // 108
  constexpr u64 kOne = u64{3} << 40, kTwo = u64{4} << 40;
  const auto map = [&](Sim& s) {
    for (const u64 at : {kOne, kTwo})
      s.checker.memory({.kind = probe::Memory::Kind::Mapped, .begin = at, .bytes = 4096, .physical = 7});
  };
  Sim s;
  map(s);
  s.thread(0).at(2).store(Space::Global, kOne + 8).at(3).load(Space::Global, kTwo + 8);
  EXPECT_EQ(s.all(), "proxy-alias");
  Sim t;
  map(t);
  t.thread(0).store(Space::Global, kOne + 8).fence_as(probe::Fence::Kind::ProxyAlias).load(Space::Global, kTwo + 8);
  t.thread(0).store(Space::Global, kTwo + 64).load(Space::Global, kTwo + 64);
  EXPECT_EQ(t.all(), "");
  Sim u;  // without order it is a race, as of one address
  map(u);
  u.thread(0).store(Space::Global, kOne + 8);
  u.thread(32).load(Space::Global, kTwo + 8);
  EXPECT_EQ(u.errors(), "race-global");
}
TEST(Faults, OfUnknownCause) {
  Sim s;
  s.fault(probe::Refused::Trap);
  EXPECT_EQ(s.all(), "device-fault");
}
TEST(SharedRace, RecycledBarrier) {  // 92
  Sim s;
  s.named(1, {1}, {0});
  s.named(1, {1}, {0});
  EXPECT_EQ(s.errors(), "barrier-recycled");
}
TEST(SharedRace, BarrierCounts) {  // 90
  Sim s;
  s.warp(0).arrive(1, 64);
  s.warp(1).arrive(1, 96);
  EXPECT_EQ(s.errors(), "barrier-count");
  Sim t;
  t.warp(0).arrive(1, 48);
  EXPECT_EQ(t.errors(), "barrier-count");
}
TEST(SharedRace, WarpMask) {  // 84
  Sim s;
  s.warp(0).sync(0xffff);
  EXPECT_EQ(s.errors(), "warp-mask");
}

TEST(GlobalRace, TwoBlocks) {  // 119
  Sim s({.ctas = 2});
  s.thread(0, 0).store(G, kBase);
  s.thread(0, 1).load(G, kBase);
  EXPECT_EQ(s.errors(), "race-global");
}
TEST(GlobalRace, OtherWords) {
  Sim s({.ctas = 2});
  s.warp(0, 0).store(G, kBase, 4, 4);
  s.warp(0, 1).store(G, kBase + 128, 4, 4);
  EXPECT_EQ(s.all(), "");
}
TEST(GlobalRace, NextLaunch) {
  Sim s({.ctas = 2});
  s.thread(0, 0).store(G, kBase);
  s.next({.ctas = 2});
  s.thread(0, 1).load(G, kBase);
  s.thread(0, 0).load(G, kBase);
  s.next({.ctas = 2});
  s.thread(3, 1).store(G, kBase);
  EXPECT_EQ(s.all(), "");
}
TEST(GlobalRace, BarrierOfTheBlock) {
  Sim s;
  s.warp(0).store(G, kBase, 4, 4);
  s.barrier().warp(1).load(G, kBase, 4, 4);
  EXPECT_EQ(s.all(), "");
}
TEST(GlobalRace, ReadOnlyPath) {  // 106
  Sim s;
  s.warp(0).store(G, kBase, 4, 4);
  s.barrier().thread(32).load_nc(kBase);
  EXPECT_EQ(s.errors(), "race-nc");
  Sim t;
  t.thread(32).load_nc(kBase);
  EXPECT_EQ(t.errors(), "");
}
TEST(GlobalRace, ReadBeforeGridWait) {  // 112
  Sim s;
  s.thread(0).store(G, kBase);
  s.next({.dependent = true});
  EXPECT_EQ(s.all(), "");
  s.thread(1).grid_wait().load(G, kBase);
  EXPECT_EQ(s.all(), "");
}

TEST(Bounds, Global) {  // 122
  Sim s;
  s.allocate(kBase, 4096);
  s.thread(0).store(G, kBase + 4092);
  EXPECT_EQ(s.errors(), "");
  s.thread(0).store(G, kBase + 4096);
  EXPECT_EQ(s.errors(), "bounds-global");
  EXPECT_EQ(s.findings()[0].why[0], "0 bytes behind device memory of 4096 bytes");
}
TEST(Bounds, StraddlesTheEnd) {
  Sim s;
  s.allocate(kBase, 4100);
  s.thread(0).load(G, kBase + 4096, 8);
  EXPECT_EQ(s.errors(), "bounds-global");
}
TEST(Bounds, Freed) {
  Sim s;
  s.allocate(kBase, 4096).free(kBase, 4096);
  s.allocate(kBase + 8192, 64);
  s.thread(0).load(G, kBase);
  EXPECT_EQ(s.errors(), "use-after-free");
}
TEST(Bounds, Shared) {  // 123, 124
  Sim s({.shared = 256});
  s.thread(0).store(S, kShared + 252);
  EXPECT_EQ(s.errors(), "");
  s.thread(0).store(S, kShared + 256);
  EXPECT_EQ(s.errors(), "bounds-shared");
  Sim t;
  t.thread(0).store(S, 1020);
  EXPECT_EQ(t.errors(), "bounds-shared");
}
TEST(Bounds, SharedVariable) {
  Shape shape{.shared = 512};
  shape.symbols = {{"a", S, kShared, 100}, {"b", S, kShared + 128, 64}};
  Sim s(shape);
  s.thread(0).store(S, kShared + 96);
  s.thread(0).store(S, kShared + 128);
  EXPECT_EQ(s.errors(), "");
  s.thread(0).store(S, kShared + 100);
  EXPECT_EQ(s.errors(), "bounds-shared");
  EXPECT_EQ(s.findings()[0].why[0], "it lies 0 bytes behind the end of `a`");
}
TEST(Bounds, Local) {
  Sim s;
  s.thread(0).store(Space::Local, 252);
  EXPECT_EQ(s.errors(), "");
  s.thread(0).store(Space::Local, 256);
  EXPECT_EQ(s.errors(), "bounds-local");
}
TEST(Bounds, Misaligned) {  // 125
  Sim s;
  s.thread(0).store(S, kShared + 4, 8);
  EXPECT_EQ(s.errors(), "misaligned");
}
TEST(Uninitialised, Shared) {  // 126, 127
  Sim s;
  s.thread(0).load(S, kShared);
  EXPECT_EQ(s.all(), "uninitialised-load");
  Sim t;
  t.thread(0).store(S, kShared, 1).load(S, kShared);
  EXPECT_EQ(t.all(), "");
}
TEST(Uninitialised, Global) {
  Sim s;
  s.allocate(kBase, 4096, false);
  s.thread(0).load(G, kBase);
  EXPECT_EQ(s.all(), "uninitialised-load");
  Sim t;
  t.allocate(kBase, 4096);
  t.thread(0).load(G, kBase);
  EXPECT_EQ(t.all(), "");
}

}  // namespace
}  // namespace us::sanitizer::test
