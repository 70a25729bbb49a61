// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies, mbarriers, proxies, wgmma: a bug and its sound twin. Expectations: PTX ISA; kinds of issue 17.
#include <gtest/gtest.h>

#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr Space S = Space::Shared, G = Space::Global;
constexpr u64 kBase = u64{1} << 40, kBar = kShared, kTile = kShared + 128;
constexpr u64 kAll = ~u64{0};

TEST(CpAsync, NotWaited) {  // 1
  Sim s;
  s.thread(0).cp_async(kTile, kBase).commit().load(S, kTile);
  EXPECT_EQ(s.errors(), "async-group");
}
TEST(CpAsync, Waited) {
  Sim s;
  s.thread(0).cp_async(kTile, kBase).commit().wait_group(0).load(S, kTile).store(S, kTile);
  EXPECT_EQ(s.all(), "");
}
TEST(CpAsync, OtherThread) {  // 2, A9
  Sim s;
  s.thread(0).cp_async(kTile, kBase).commit().wait_group(0);
  s.thread(32).load(S, kTile);
  EXPECT_EQ(s.errors(), "race-shared");
  EXPECT_NE(s.findings()[0].why[0].find("waiting thread only"), std::string::npos);
}
TEST(CpAsync, OtherThreadBehindBarrier) {
  Sim s;
  s.warp(0).cp_async(kTile, kBase).commit().wait_group(0);
  s.barrier().warp(1).load(S, kTile, 4, 4);
  EXPECT_EQ(s.all(), "");
}
TEST(CpAsync, BarrierWithoutWait) {
  Sim s;
  s.warp(0).cp_async(kTile, kBase).commit();
  s.barrier().warp(1).load(S, kTile, 4, 4);
  EXPECT_EQ(s.errors(), "async-group");
}
TEST(CpAsync, NoCommit) {  // 3
  Sim s;
  s.thread(0).cp_async(kTile, kBase).wait_group(0).load(S, kTile);
  EXPECT_EQ(s.errors(), "async-group");
  Sim t;
  t.thread(0).cp_async(kTile, kBase).wait_group(kAll).load(S, kTile);
  EXPECT_EQ(t.all(), "");
}
TEST(CpAsync, OneGroupTooFew) {  // 4
  Sim s;
  s.thread(0).cp_async(kTile, kBase).commit().cp_async(kTile + 16, kBase).commit().wait_group(1).load(S, kTile);
  EXPECT_EQ(s.all(), "");
  s.thread(0).load(S, kTile + 16);
  EXPECT_EQ(s.errors(), "async-group");
}
TEST(CpAsync, SourceOverwritten) {  // 5
  Sim s;
  s.thread(0).cp_async(kTile, kBase).store(G, kBase);
  EXPECT_EQ(s.errors(), "async-group");
  Sim t;
  t.thread(0).cp_async(kTile, kBase).commit().wait_group(0).store(G, kBase);
  EXPECT_EQ(t.all(), "");
}
TEST(CpAsync, DestinationOverwritten) {  // 6
  Sim s;
  s.thread(0).cp_async(kTile, kBase).store(S, kTile);
  EXPECT_EQ(s.errors(), "async-group");
}
TEST(CpAsync, Exit) {  // 9
  Sim s;
  s.thread(0).cp_async(kTile, kBase).commit().exit();
  EXPECT_EQ(s.all(), "");
}
TEST(CpAsync, ByMbarrier) {
  Sim s;
  s.thread(0).init(kBar, 32);
  s.barrier();
  s.warp(0).cp_async(kTile, kBase).copies_arrive(kBar, true);
  s.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  EXPECT_EQ(s.all(), "");
}
TEST(CpAsync, BehindTheArrival) {
  Sim s;
  s.thread(0).init(kBar, 32);
  s.barrier();
  s.warp(0).cp_async(kTile, kBase).copies_arrive(kBar, true).cp_async(kTile + 512, kBase);
  s.warp(1).mb_wait(kBar, false).load(S, kTile + 512, 4, 4);
  EXPECT_EQ(s.errors(), "race-shared");
}

struct Loaded : Sim {  // one mbarrier, made visible; a tile under way to it
  explicit Loaded(bool fence = true) {
    thread(0).init(kBar, 1);
    if (fence) thread(0).fence_as(probe::Fence::Kind::MbarrierInit);
    barrier();
    thread(0).mb_arrive(kBar, 1, 128).bulk_load(kTile, kBase, 128, kBar);
  }
};
TEST(Bulk, WaitedByAll) {  // A1
  Loaded s;
  s.warp(0).mb_wait(kBar, false).load(S, kTile, 4, 4);
  s.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  EXPECT_EQ(s.all(), "");
}
TEST(Bulk, NotWaited) {
  Loaded s;
  s.warp(1).load(S, kTile, 4, 4);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(Bulk, NotWaitedBehindTheIssue) {
  Loaded s;
  s.barrier().warp(1).load(S, kTile, 4, 4);
  EXPECT_EQ(s.errors(), "async-mbarrier");
}
TEST(Bulk, InvalidatedTooEarly) {  // 23
  Loaded s;
  s.thread(0).inval(kBar);
  EXPECT_EQ(s.errors(), "mbarrier-state");
}
TEST(Bulk, BytesNobodyExpects) {  // 25
  Loaded s;
  s.thread(0).bulk_load(kTile + 128, kBase + 128, 128, kBar);
  s.end_cta(0);
  EXPECT_EQ(s.errors(), "mbarrier-tx");
}
TEST(CpAsync, LanesCommitApart) {  // E2
  Sim s;
  s.lanes(0, 0xffff).at(2).cp_async(kTile, kBase).commit();
  s.lanes(0, 0xffff0000).at(3).cp_async(kTile + 1024, kBase).commit();
  EXPECT_EQ(s.all(), "async-commit");
  EXPECT_EQ(s.findings().size(), 2u);
  Sim t;  // one instruction that the lanes reach one after the other; and a wait between
  t.lanes(0, 0xffff).at(2).commit();
  t.lanes(0, 0xffff0000).at(2).commit().wait_group(0);
  t.lanes(0, 0xffff).at(4).commit().wait_group(0);
  t.lanes(0, 0xffff0000).at(5).commit().wait_group(0);
  EXPECT_EQ(t.all(), "");
}
TEST(Fault, HasTheNameOfItsCause) {
  Sim s;
  s.fault(probe::Refused::CopySize, 5);
  EXPECT_EQ(s.errors(), "async-operand");
  EXPECT_EQ(s.findings()[0].parties[0].who, "thread [0,0,0] (warp 0) of block [0,0,0]");
  Sim t;
  t.fault(probe::Refused::Other);
  EXPECT_EQ(t.errors(), "device-fault");
}
TEST(Bulk, WaitedByOneThenBarrier) {
  Loaded s;
  s.thread(0).mb_wait(kBar, false);
  s.barrier().warp(1).load(S, kTile, 4, 4);
  EXPECT_EQ(s.all(), "");
}
TEST(Bulk, InitNotVisible) {  // 19
  Loaded s(false);
  EXPECT_EQ(s.all(), "mbarrier-init-fence");
}
TEST(Bulk, StaleParity) {  // 29
  Loaded s;
  s.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  s.barrier();
  s.thread(0).proxy_fence().mb_arrive(kBar, 1, 128).bulk_load(kTile, kBase, 128, kBar, false);
  s.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(Proxy, StoreWithoutFence) {  // 52, A2
  Sim s;
  s.warp(0).store(S, kTile, 4, 4);
  s.barrier().thread(0).bulk_store(kBase, kTile, 128);
  EXPECT_EQ(s.errors(), "proxy-async");
}
TEST(Proxy, FenceByWriters) {  // A3
  Sim s;
  s.warp(0).store(S, kTile, 4, 4).proxy_fence();
  s.barrier().thread(40).bulk_store(kBase, kTile, 128);
  EXPECT_EQ(s.all(), "");
}
TEST(Proxy, FenceByIssuerBehindBarrier) {  // A4
  Sim s;
  s.warp(0).store(S, kTile, 4, 4);
  s.barrier().thread(40).proxy_fence().bulk_store(kBase, kTile, 128);
  EXPECT_EQ(s.all(), "");
}
TEST(Proxy, FenceByIssuerBeforeBarrier) {  // 54, A5
  Sim s;
  s.warp(0).store(S, kTile, 4, 4);
  s.thread(40).proxy_fence();
  s.barrier().thread(40).bulk_store(kBase, kTile, 128);
  EXPECT_EQ(s.errors(), "proxy-async");
}
TEST(Proxy, FenceOfOtherSpace) {  // 55
  Sim s;
  s.warp(0).store(S, kTile, 4, 4).proxy_fence(G);
  s.barrier().thread(0).bulk_store(kBase, kTile, 128);
  EXPECT_EQ(s.errors(), "proxy-async");
}
TEST(Proxy, ReadThenOverwritten) {  // 53, A6
  Loaded s;
  s.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  s.barrier().thread(0).mb_arrive(kBar, 1, 128).bulk_load(kTile, kBase, 128, kBar);
  EXPECT_EQ(s.all(), "proxy-reuse");
  Loaded t;
  t.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4).proxy_fence();
  t.barrier().thread(0).mb_wait(kBar, false).mb_arrive(kBar, 1, 128).bulk_load(kTile, kBase, 128, kBar);
  EXPECT_EQ(t.all(), "");
}
TEST(Proxy, ReadThenOverwrittenUnordered) {
  Loaded s;
  s.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  s.thread(0).mb_wait(kBar, false).mb_arrive(kBar, 1, 128).bulk_load(kTile, kBase, 128, kBar);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(BulkGroup, SourceReused) {  // 56
  Sim s;
  s.thread(0).store(S, kTile).proxy_fence().bulk_store(kBase, kTile, 16).commit(true).store(S, kTile);
  EXPECT_EQ(s.errors(), "async-group");
  Sim t;
  t.thread(0)
      .store(S, kTile)
      .proxy_fence()
      .bulk_store(kBase, kTile, 16)
      .commit(true)
      .wait_group(0, true, true)
      .store(S, kTile);
  EXPECT_EQ(t.all(), "");
}
TEST(BulkGroup, ReadWaitIsNoCompletion) {  // 57, A7, A8
  Sim s;
  s.thread(0).store(S, kTile).proxy_fence().bulk_store(kBase, kTile, 16).commit(true).wait_group(0, true, true);
  s.barrier().thread(33).load(G, kBase);
  EXPECT_EQ(s.errors(), "async-group");
  Sim t;
  t.thread(0).store(S, kTile).proxy_fence().bulk_store(kBase, kTile, 16).commit(true).wait_group(0, true);
  t.barrier().thread(33).load(G, kBase);
  EXPECT_EQ(t.all(), "");
}
TEST(BulkGroup, WaitedByOther) {  // 58
  Sim s;
  s.thread(0).store(S, kTile).proxy_fence().bulk_store(kBase, kTile, 16).commit(true);
  s.thread(1).commit(true).wait_group(0, true);
  s.barrier().thread(1).store(S, kTile);
  EXPECT_EQ(s.errors(), "async-group");
}

TEST(Mbarrier, ProducerAndConsumer) {
  Sim s;
  s.thread(0).init(kBar, 32).init(kBar + 8, 32);
  s.barrier();
  for (u32 i = 0; i < 5; i++) {
    s.warp(0).mb_wait(kBar + 8, (i & 1) == 0).store(S, kTile, 4, 4).mb_arrive(kBar);
    s.warp(1).mb_wait(kBar, i & 1).load(S, kTile, 4, 4).mb_arrive(kBar + 8);
  }
  EXPECT_EQ(s.all(), "");
}
TEST(Mbarrier, NoWaitForEmpty) {  // 13
  Sim s;
  s.thread(0).init(kBar, 32).init(kBar + 8, 32);
  s.barrier();
  for (u32 i = 0; i < 2; i++) {
    s.warp(0).store(S, kTile, 4, 4).mb_arrive(kBar);
    s.warp(1).mb_wait(kBar, i & 1).load(S, kTile, 4, 4).mb_arrive(kBar + 8);
  }
  EXPECT_EQ(s.errors(), "mbarrier-phase race-shared");
}
TEST(Mbarrier, OneLaneArrivesForAll) {  // 38
  Sim s;
  s.thread(0).init(kBar, 1);
  s.barrier().warp(0).store(S, kTile, 4, 4);
  s.thread(0).mb_arrive(kBar);
  s.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  EXPECT_EQ(s.errors(), "race-shared");
  Sim t;
  t.thread(0).init(kBar, 1);
  t.barrier().warp(0).store(S, kTile, 4, 4).sync();
  t.thread(0).mb_arrive(kBar);
  t.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  EXPECT_EQ(t.all(), "");
  Sim u;  // that the others have ended orders nothing
  u.thread(0).init(kBar, 1);
  u.barrier().warp(0).store(S, kTile, 4, 4);
  u.lanes(0, ~1u).exit();
  u.thread(0).mb_arrive(kBar);
  u.warp(1).mb_wait(kBar, false).load(S, kTile, 4, 4);
  EXPECT_EQ(u.errors(), "race-shared");
}
TEST(Mbarrier, InitNotVisible) {  // 19
  Sim s;
  s.thread(0).init(kBar, 1);
  s.thread(32).mb_arrive(kBar);
  EXPECT_EQ(s.errors(), "mbarrier-init");
}
TEST(Mbarrier, NotInitialised) {  // 20
  Sim s;
  s.thread(32).mb_arrive(kBar);
  EXPECT_EQ(s.errors(), "mbarrier-init");
}
TEST(Mbarrier, InitTwice) {  // 21
  Sim s;
  s.thread(0).init(kBar, 1).init(kBar, 1);
  EXPECT_EQ(s.errors(), "mbarrier-state");
  Sim t;
  t.thread(0).init(kBar, 1).inval(kBar).init(kBar, 1);
  EXPECT_EQ(t.errors(), "");
}
TEST(Mbarrier, PlainAccess) {  // 22
  Sim s;
  s.thread(0).init(kBar, 1).load(S, kBar);
  EXPECT_EQ(s.errors(), "mbarrier-bytes");
  Sim t;
  t.thread(0).init(kBar, 1).inval(kBar).store(S, kBar);
  EXPECT_EQ(t.errors(), "");
}
TEST(Mbarrier, InvalWithTransactions) {  // 23
  Sim s;
  s.thread(0).init(kBar, 1).expect(kBar, 64).inval(kBar);
  EXPECT_EQ(s.errors(), "mbarrier-state");
}
TEST(Mbarrier, TooManyArrivals) {  // 31
  Sim s;
  s.thread(0).init(kBar, 2);
  s.thread(0).mb_arrive(kBar, 3);
  EXPECT_EQ(s.errors(), "mbarrier-count");
}
TEST(Mbarrier, Range) {  // 42
  Sim s;
  s.thread(0).init(kBar, 0);
  EXPECT_EQ(s.errors(), "mbarrier-count");
  Sim t;
  t.thread(0).init(kBar, 1).expect(kBar, 1 << 20);
  EXPECT_EQ(t.errors(), "mbarrier-count");
}
TEST(Mbarrier, Aligned) {  // 40
  Sim s;
  s.thread(0).init(kBar + 4, 1);
  EXPECT_EQ(s.errors(), "misaligned");
}
TEST(Mbarrier, Stuck) {  // 24
  Sim s;
  s.thread(0).init(kBar, 1).fence_as(probe::Fence::Kind::MbarrierInit);
  s.barrier().thread(0).at(7).mb_arrive(kBar, 1, 256).bulk_load(kTile, kBase, 128, kBar);
  s.warp(1).mb_wait(kBar, false, false);
  s.fault(probe::Refused::Deadlock);
  EXPECT_EQ(s.errors(), "deadlock");
  EXPECT_NE(s.findings()[0].why[1].find("128 bytes of transactions are missing"), std::string::npos)
      << s.findings()[0].why[1];
}
TEST(Barrier, Stuck) {
  Sim s;
  s.warp(0).arrive(0);
  s.fault(probe::Refused::Deadlock);
  EXPECT_NE(s.findings()[0].why[1].find("missing: warp 1"), std::string::npos) << s.findings()[0].why[1];
}

TEST(Wgmma, Operands) {  // 96, 98, 99, A16
  Sim s;
  s.warp(0)
      .store(S, kTile, 4, 4)
      .proxy_fence()
      .fence_as(probe::Fence::Kind::WgmmaFence)
      .wgmma(kTile, 128)
      .wgmma_commit();
  EXPECT_EQ(s.all(), "");
  s.warp(0).store(S, kTile, 4, 4);
  EXPECT_EQ(s.errors(), "wgmma-wait");
  Sim t;
  t.warp(0)
      .store(S, kTile, 4, 4)
      .proxy_fence()
      .fence_as(probe::Fence::Kind::WgmmaFence)
      .wgmma(kTile, 128)
      .wgmma_commit()
      .wgmma_wait(0)
      .sync()
      .store(S, kTile, 4, 4);
  EXPECT_EQ(t.all(), "");
  Sim u;
  u.warp(0).store(S, kTile, 4, 4).sync().wgmma(kTile, 128);
  EXPECT_EQ(u.errors(), "proxy-async wgmma-fence");
}

}  // namespace
}  // namespace us::sanitizer::test
