// SPDX-License-Identifier: Apache-2.0
// Scopes, fences, locations, domains, clusters. Patterns of the PTX litmus lists: racy or not.
#include <gtest/gtest.h>

#include "sanitizer_engine/sim.h"

namespace us::sanitizer::test {
namespace {

constexpr Space S = Space::Shared, G = Space::Global;
constexpr u64 kData = u64{1} << 40, kFlag = kData + 64, kPeer = probe::kCtaStride + kShared;
constexpr u32 kTwo = 2;
const Shape kBlocks{.ctas = kTwo};
const Shape kPair{.ctas = kTwo, .cluster = kTwo};

// Message passing from block 0 to block 1.
std::string pass(Order release, Scope rs, Order acquire, Scope as, const Shape& shape = kBlocks) {
  Sim s(shape);
  s.thread(0, 0).store(G, kData).store(G, kFlag, 4, 0, release, rs);
  s.thread(0, 1).load(G, kFlag, 4, 0, acquire, as).load(G, kData);
  return s.all();
}
TEST(MessagePassing, Scopes) {
  EXPECT_EQ(pass(Order::Release, Scope::Gpu, Order::Acquire, Scope::Gpu), "");            // MP-gpu
  EXPECT_EQ(pass(Order::Release, Scope::Sys, Order::Acquire, Scope::Gpu), "");            // MP-sys
  EXPECT_EQ(pass(Order::Release, Scope::Cta, Order::Acquire, Scope::Gpu), "race-scope");  // MP-cta, 101
  EXPECT_EQ(pass(Order::Release, Scope::Gpu, Order::Acquire, Scope::Cta), "race-scope");
  EXPECT_EQ(pass(Order::Release, Scope::Cluster, Order::Acquire, Scope::Cluster, kPair), "");
  EXPECT_EQ(pass(Order::Release, Scope::Cluster, Order::Acquire, Scope::Cluster), "race-scope");
}
TEST(MessagePassing, Orders) {
  EXPECT_EQ(pass(Order::Relaxed, Scope::Gpu, Order::Acquire, Scope::Gpu), "race-global");  // MP-relaxed
  EXPECT_EQ(pass(Order::Release, Scope::Gpu, Order::Relaxed, Scope::Gpu), "race-global");
  EXPECT_EQ(pass(Order::Weak, Scope::Gpu, Order::Weak, Scope::Gpu), "race-global");  // 104
}
TEST(MessagePassing, Fences) {
  Sim s(kBlocks);
  s.thread(0, 0).store(G, kData).fence().store(G, kFlag, 4, 0, Order::Relaxed);
  s.thread(0, 1).load(G, kFlag, 4, 0, Order::Relaxed).fence().load(G, kData);
  EXPECT_EQ(s.all(), "");
  Sim t(kBlocks);
  t.thread(0, 0).store(G, kData).fence(Order::AcqRel, Scope::Cta).store(G, kFlag, 4, 0, Order::Relaxed);
  t.thread(0, 1).load(G, kFlag, 4, 0, Order::Relaxed).fence().load(G, kData);
  EXPECT_EQ(t.errors(), "race-scope");
  Sim u(kBlocks);  // the fence stands before the read
  u.thread(0, 0).store(G, kData).fence().store(G, kFlag, 4, 0, Order::Relaxed);
  u.thread(0, 1).fence().load(G, kFlag, 4, 0, Order::Relaxed).load(G, kData);
  EXPECT_EQ(u.errors(), "race-global");
}
TEST(MessagePassing, OtherLaneOfTheAcquirer) {  // same-instruction siblings do not inherit
  Sim s(kBlocks);
  s.thread(0, 0).store(G, kData).store(G, kFlag, 4, 0, Order::Release);
  s.thread(0, 1).load(G, kFlag, 4, 0, Order::Acquire);
  s.thread(1, 1).load(G, kData);
  EXPECT_EQ(s.errors(), "race-global");
  Sim t(kBlocks);
  t.thread(0, 0).store(G, kData).store(G, kFlag, 4, 0, Order::Release);
  t.thread(0, 1).load(G, kFlag, 4, 0, Order::Acquire);
  t.barrier(1).thread(40, 1).load(G, kData);
  EXPECT_EQ(t.all(), "");
}
TEST(MessagePassing, BarrierBeforeTheRelease) {  // cumulativity
  Sim s(kBlocks);
  s.lanes(1, 0xff, 0).store(G, kData, 4, 4);
  s.barrier(0).thread(0, 0).fence().atomic(G, kFlag);
  s.thread(0, 1).atomic(G, kFlag).fence().load(G, kData + 16);
  EXPECT_EQ(s.all(), "");
}
TEST(MessagePassing, ThreeThreads) {  // MP-3-transitive
  Sim s({.ctas = 3});
  s.thread(0, 0).store(G, kData).store(G, kFlag, 4, 0, Order::Release);
  s.thread(0, 1).load(G, kFlag, 4, 0, Order::Acquire).store(G, kFlag + 4, 4, 0, Order::Release);
  s.thread(0, 2).load(G, kFlag + 4, 4, 0, Order::Acquire).load(G, kData);
  EXPECT_EQ(s.all(), "");
}
TEST(MessagePassing, ChainOfAtomics) {
  Sim s({.ctas = 3});
  s.thread(0, 0).store(G, kData).store(G, kFlag, 4, 0, Order::Release);
  s.thread(0, 1).atomic(G, kFlag);  // relaxed: extends the chain
  s.thread(0, 2).load(G, kFlag, 4, 0, Order::Acquire).load(G, kData);
  EXPECT_EQ(s.all(), "");
  Sim t({.ctas = 3});
  t.thread(0, 0).store(G, kData).store(G, kFlag, 4, 0, Order::Release);
  t.thread(0, 1).store(G, kFlag, 4, 0, Order::Relaxed);  // breaks it
  t.thread(0, 2).load(G, kFlag, 4, 0, Order::Acquire).load(G, kData);
  EXPECT_EQ(t.errors(), "race-global");
}
TEST(Locations, Ticket) {  // the last block resets the counter with a plain store
  Sim s({.ctas = 4});
  for (u32 c = 0; c < 4; c++) s.thread(0, c).store(G, kData + 4 * c).fence().atomic(G, kFlag);
  s.thread(0, 3).fence().load(G, kData).load(G, kData + 4).load(G, kData + 8).store(G, kFlag);
  EXPECT_EQ(s.all(), "");
}
TEST(Locations, PlainReset) {  // by a block that has not seen the others
  Sim s({.ctas = 3});
  s.thread(0, 0).atomic(G, kFlag);
  s.thread(0, 1).store(G, kFlag);
  EXPECT_EQ(s.errors(), "race-atomic");
}
TEST(Locations, AtomicAndPlain) {  // 105
  Sim s(kBlocks);
  s.thread(0, 0).atomic(G, kFlag);
  s.thread(0, 1).load(G, kFlag);
  EXPECT_EQ(s.errors(), "race-atomic");
}
TEST(Locations, AtomicsOfTwoSizes) {  // 121
  Sim s(kBlocks);
  s.thread(0, 0).atomic(G, kFlag, Order::Relaxed, Scope::Gpu, 4);
  s.thread(0, 1).atomic(G, kFlag, Order::Relaxed, Scope::Gpu, 8);
  EXPECT_EQ(s.errors(), "race-atomic");
}
TEST(Locations, AtomicsOfBlockScope) {  // 101
  Sim s(kBlocks);
  s.thread(0, 0).atomic(G, kFlag, Order::Relaxed, Scope::Cta);
  s.thread(1, 0).atomic(G, kFlag, Order::Relaxed, Scope::Cta);
  EXPECT_EQ(s.all(), "");
  s.thread(0, 1).atomic(G, kFlag, Order::Relaxed, Scope::Cta);
  EXPECT_EQ(s.errors(), "race-scope");
}
TEST(Locations, Histogram) {
  Sim s({.ctas = 8, .threads = 256});
  for (u32 c = 0; c < 8; c++) {
    for (u32 w = 0; w < 8; w++) s.warp(w, c).atomic(G, kFlag).atomic(S, kShared);
  }
  EXPECT_EQ(s.errors(), "");
}
TEST(Locations, SpinLock) {
  Sim s({.ctas = 3});
  for (u32 c = 0; c < 3; c++) {
    s.thread(0, c)
        .atomic(G, kFlag, Order::Acquire)
        .load(G, kData)
        .store(G, kData)
        .store(G, kFlag, 4, 0, Order::Release);
  }
  EXPECT_EQ(s.all(), "");
  s.thread(5, 1).store(G, kData);
  EXPECT_EQ(s.errors(), "race-global");
}
TEST(Locations, VolatileFlagWithFences) {  // strong in PTX
  Sim s(kBlocks);
  s.thread(0, 0).store(G, kData).fence().store(G, kFlag, 4, 0, Order::Volatile);
  s.thread(0, 1).load(G, kFlag, 4, 0, Order::Volatile).fence().load(G, kData);
  EXPECT_EQ(s.all(), "race-volatile");
  EXPECT_EQ(s.errors(), "");
}

class UntilWait final : public LaunchOrder {
 public:
  bool before(u64, u64, bool waited) const override { return waited; }
};
TEST(Dependent, ReadsBeforeTheWait) {  // 112, A15
  Sim s;
  s.checker.set_order(std::make_shared<UntilWait>());
  s.next({});
  s.thread(0).store(G, kData);
  s.next({.dependent = true});
  s.thread(1).load(G, kData);
  EXPECT_EQ(s.errors(), "grid-dependency");
  Sim t;
  t.checker.set_order(std::make_shared<UntilWait>());
  t.next({});
  t.thread(0).store(G, kData);
  t.next({.dependent = true});
  t.warp(0).grid_wait();
  t.thread(1).load(G, kData);
  EXPECT_EQ(t.errors(), "");
}

class Concurrent final : public LaunchOrder {
 public:
  bool before(u64, u64, bool) const override { return false; }
};
std::string across(u32 domain, Scope scope) {  // A12
  Sim s;
  s.checker.set_order(std::make_shared<Concurrent>());
  s.next({});
  s.thread(0).store(G, kData).store(G, kFlag, 4, 0, Order::Release, scope);
  s.next({.domain = domain});
  s.thread(0).load(G, kFlag, 4, 0, Order::Acquire, scope).load(G, kData);
  return s.errors();
}
TEST(Domains, Scopes) {  // 103
  EXPECT_EQ(across(0, Scope::Gpu), "");
  EXPECT_EQ(across(1, Scope::Gpu), "race-domain");
  EXPECT_EQ(across(1, Scope::Sys), "");
}

TEST(Cluster, RemoteBeforeStart) {  // 68
  Sim s(kPair);
  s.thread(0, 0).store(S, kPeer);
  EXPECT_EQ(s.errors(), "cluster-exit");
}
TEST(Cluster, Exchange) {
  Sim s(kPair);
  s.cluster_sync();
  s.thread(0, 0).store(S, kPeer);
  s.cluster_sync();
  s.thread(9, 1).load(S, kPeer);
  s.cluster_sync().end_cta(0).end_cta(1);
  EXPECT_EQ(s.all(), "");
}
TEST(Cluster, Race) {  // 75
  Sim s(kPair);
  s.cluster_sync();
  s.thread(0, 0).store(S, kPeer);
  s.thread(9, 1).load(S, kPeer);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(Cluster, RelaxedArrive) {  // 72
  Sim s(kPair);
  s.cluster_sync();
  s.thread(0, 0).store(S, kPeer);
  s.cluster_sync(true);
  s.thread(9, 1).load(S, kPeer);
  EXPECT_EQ(s.errors(), "race-shared");
}
TEST(Cluster, PeerExits) {  // 69
  Sim s(kPair);
  s.cluster_sync();
  s.thread(0, 0).store(S, kPeer);
  s.end_cta(1);
  EXPECT_EQ(s.errors(), "cluster-exit");
}
TEST(Cluster, ArriveTwice) {  // 71
  Sim s(kPair);
  s.warp(0, 0).cluster_arrive().cluster_arrive();
  EXPECT_EQ(s.errors(), "cluster-barrier");
}
TEST(Cluster, Rank) {  // 73
  Sim s(kPair);
  s.thread(0, 0).store(S, 2 * probe::kCtaStride + kShared);
  EXPECT_EQ(s.errors(), "cluster-rank");
}
std::string remote(Scope arrive) {  // 37, A11
  Sim s(kPair);
  s.thread(0, 1).init(kShared, 1).fence_as(probe::Fence::Kind::MbarrierInit);
  s.cluster_sync();
  s.thread(0, 0).store(S, kPeer + 64).mb_arrive(kPeer, 1, 0, Order::Release, arrive);
  s.warp(1, 1).mb_wait(kShared, false, true, Order::Acquire, Scope::Cluster).load(S, kShared + 64);
  return s.errors();
}
TEST(Cluster, RemoteArrive) {
  EXPECT_EQ(remote(Scope::Cluster), "");
  EXPECT_EQ(remote(Scope::Cta), "race-scope");
}
TEST(Cluster, WaitForRemote) {  // 39
  Sim s(kPair);
  s.thread(0, 1).init(kShared, 1);
  s.cluster_sync();
  s.thread(0, 0).mb_wait(kPeer, false, false);
  EXPECT_EQ(s.errors(), "mbarrier-remote");
}
TEST(Cluster, StoreAsync) {  // 77, A14
  Sim s(kPair);
  s.thread(0, 1).init(kShared, 1).fence_as(probe::Fence::Kind::MbarrierInit);
  s.cluster_sync();
  s.thread(0, 1).mb_arrive(kShared, 1, 4);
  s.thread(0, 0).store_async(kPeer + 64, 4, kPeer);
  s.thread(0, 1).mb_wait(kShared, false).load(S, kShared + 64);
  EXPECT_EQ(s.all(), "");
  s.thread(32, 1).load(S, kShared + 64);
  EXPECT_EQ(s.errors(), "race-shared");
}

}  // namespace
}  // namespace us::sanitizer::test
