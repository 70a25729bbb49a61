// SPDX-License-Identifier: Apache-2.0
#include "device/sync/mbarrier.h"

#include <numeric>

#include "kernels.h"

namespace us::device::testing {
namespace {

using Mbarriers = Device;
US_ALL_WORKERS(Mbarriers);

enum : u64 { kDrop = 1, kNoComplete = 2, kExpectTx = 4, kParity = 1, kTry = 2 };

u64 at(WarpCtx* w, u32 index) { return w->shared_base + kReservedShared + index * 8; }
u64 arrive(WarpCtx* w, u64 addr, u64 count = 1, u64 tx = 0, u64 flags = 0, u32 mask = 1) {
  return call1(w, RtFn::MbarArrive, {addr, count, tx, flags}, mask);
}
bool test(WarpCtx* w, u64 addr, u64 state) { return call1(w, RtFn::MbarTestWait, {addr, state, 0, 0}) != 0; }
bool test_parity(WarpCtx* w, u64 addr, u64 parity) {
  return call1(w, RtFn::MbarTestWait, {addr, parity, kParity, 0}) != 0;
}
void wait_parity(WarpCtx* w, u64 addr, u64 parity) {
  while (!call1(w, RtFn::MbarTestWait, {addr, parity, kParity | kTry, 0})) {
  }
}
void init(WarpCtx* w, u64 addr, u64 count) { call(w, RtFn::MbarInit, {addr, count}, nullptr, 1); }

TEST(MbarrierWord, FieldsAndRanges) {
  Mbarrier b = Mbarrier::initial(Mbarrier::kMaxCount);
  EXPECT_EQ(b.pending(), (1u << 20) - 1);
  EXPECT_EQ(b.expected(), (1u << 20) - 1);
  EXPECT_EQ(b.tx(), 0);
  EXPECT_EQ(b.phase(), 0u);
  b.expect_tx((1 << 20) - 1);
  EXPECT_EQ(b.tx(), (1 << 20) - 1);
  b.expect_tx(-2 * ((1 << 20) - 1));
  EXPECT_EQ(b.tx(), -((1 << 20) - 1));
  EXPECT_FALSE(b.arrive(Mbarrier::kMaxCount));  // transactions still missing
  EXPECT_EQ(b.pending(), 0u);
  EXPECT_TRUE(b.complete_tx(-((1 << 20) - 1)));
  EXPECT_EQ(b.phase(), 1u);
  EXPECT_EQ(b.pending(), Mbarrier::kMaxCount);
  EXPECT_TRUE(b.initialised());
}

// The lanes of a warp look one after the other: one that saw the phase completed may invalidate the object first.
TEST_P(Mbarriers, ACompletedPhaseOutlivesTheObject) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    const u64 m = at(w, 0);
    for (u32 phases : {1, 2, 3}) {
      init(w, m, 1);
      u64 state = 0;
      for (u32 k = 0; k < phases; ++k) state = arrive(w, m);
      call(w, RtFn::MbarInval, {m}, nullptr, 1);
      EXPECT_TRUE(test(w, m, state));
      EXPECT_TRUE(test_parity(w, m, (phases - 1) & 1));
    }
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {}).outcome, Outcome::Ok);
}

TEST_P(Mbarriers, PhasesStatesAndDrop) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    u64 m = at(w, 0);
    init(w, m, 3);
    EXPECT_FALSE(test_parity(w, m, 0));
    EXPECT_TRUE(test_parity(w, m, 1));  // the phase before the first counts as complete
    u64 s0 = arrive(w, m), s1 = arrive(w, m);
    EXPECT_FALSE(test(w, m, s0));
    u64 s2 = arrive(w, m);
    EXPECT_TRUE(test(w, m, s0));
    EXPECT_TRUE(test(w, m, s1));
    EXPECT_TRUE(test(w, m, s2));
    EXPECT_TRUE(test_parity(w, m, 0));
    u64 s3 = arrive(w, m, 1, 0, kDrop);  // two from the next phase on
    EXPECT_FALSE(test(w, m, s3));
    arrive(w, m, 2);
    EXPECT_TRUE(test(w, m, s3));
    u64 s4 = arrive(w, m, 1, 0, kNoComplete);
    EXPECT_EQ(call1(w, RtFn::MbarPending, {s4}), 2u);
    EXPECT_FALSE(test(w, m, s4));
    arrive(w, m);
    EXPECT_TRUE(test(w, m, s4));
    call(w, RtFn::MbarInval, {m}, nullptr, 1);
  };
  Fault f = run(gpu, kernel, nullptr, {});
  EXPECT_EQ(f.outcome, Outcome::Ok) << f.message;
}

TEST_P(Mbarriers, TransactionsHoldThePhase) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    u64 m = at(w, 0);
    init(w, m, 1);
    u64 s = arrive(w, m, 1, 512, kExpectTx);
    EXPECT_FALSE(test(w, m, s));
    call(w, RtFn::MbarCompleteTx, {m, 256}, nullptr, 1);
    EXPECT_FALSE(test(w, m, s));
    call(w, RtFn::MbarCompleteTx, {m, 256}, nullptr, 1);
    EXPECT_TRUE(test(w, m, s));
    call(w, RtFn::MbarCompleteTx, {m, 64}, nullptr, 1);  // may come before the expectation
    s = arrive(w, m, 1, 64, kExpectTx);
    EXPECT_TRUE(test(w, m, s));
    call(w, RtFn::MbarExpectTx, {m, 16}, nullptr, 1);
    s = arrive(w, m);
    EXPECT_FALSE(test(w, m, s));
    call(w, RtFn::MbarCompleteTx, {m, 16}, nullptr, 1);
    EXPECT_TRUE(test(w, m, s));
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {}).outcome, Outcome::Ok);
}

// The states of a warp's lanes differ in their counts: all wait for the same phase, and its end releases all of them
// even if the word is something else by the time they run.
TEST_P(Mbarriers, WaitersAreReleasedByThePhaseTheyWaitFor) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    const u64 m = at(w, 0);
    if (w->warp_id == 0) init(w, m, w->cta->threads);
    sync(w);
    Args states{m, 0, kTry, 0};
    u64 word[2 * 32], done[2 * 32] = {};
    call(w, RtFn::MbarArrive, {m, 1, 0, 0}, word);
    for (u32 l = 0; l < 32; ++l) states.set_lane(1, l, word[l]);
    while (!done[0]) call(w, RtFn::MbarTestWait, states, done);
    if (w->warp_id == w->cta->warps - 1) init(w, m, 5000);  // the last to arrive is the first to go on
  };
  Fault f = run(gpu, kernel, nullptr, {.grid = {20, 1, 1}, .block = {256, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Ok) << f.message;
}

TEST_P(Mbarriers, EveryLaneArrives) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    u64 m = at(w, 0);
    if (w->warp_id == 0) init(w, m, w->cta->threads);
    sync(w);
    for (u32 phase = 0; phase < 30; ++phase) {
      arrive(w, m, 1, 0, 0, w->live);
      wait_parity(w, m, phase & 1);
    }
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {.grid = {20, 1, 1}, .block = {200, 1, 1}}).outcome, Outcome::Ok);
}

// Warp 0 fills a ring of four stages with cp.async, the other warps read: full[stage] counts copies, empty[stage]
// readers.
struct Ring {
  std::vector<u32> data;
  u32 sum[8] = {};
};
constexpr u32 kStages = 4, kRounds = 64;

void ring_kernel(WarpCtx* w) {
  auto& p = params<Ring>(w);
  u32 readers = w->cta->warps - 1, stage_bytes = 128, buffer = u32(at(w, 16));
  if (w->warp_id == 0)
    for (u32 s = 0; s < kStages; ++s) init(w, at(w, s), 32), init(w, at(w, 8 + s), readers);
  sync(w);
  for (u32 k = 0; k < kRounds; ++k) {
    u32 s = k % kStages, parity = k / kStages & 1;
    u64 full = at(w, s), empty = at(w, 8 + s);
    if (w->warp_id == 0) {
      wait_parity(w, empty, parity ^ 1);
      Args a{0, 0, 4, 4, 0};
      for (u32 l = 0; l < 32; ++l) {
        a.set_lane(0, l, buffer + s * stage_bytes + l * 4);
        a.set_lane(1, l, u64(&p.data[k * 32 + l]));
      }
      call(w, RtFn::CpAsync, a);
      call(w, RtFn::CpAsyncMbarArrive, {full, 1});
    } else {
      wait_parity(w, full, parity);
      auto* words = reinterpret_cast<u32*>(w->window + buffer + s * stage_bytes);
      if (w->cta->ctaid.x == 0) p.sum[w->warp_id] = std::accumulate(words, words + 32, p.sum[w->warp_id]);
      arrive(w, empty);
    }
  }
}

TEST_P(Mbarriers, WarpSpecialisedRing) {
  Gpu gpu(options());
  Ring p;
  p.data.resize(kRounds * 32);
  std::iota(p.data.begin(), p.data.end(), 1u);
  Fault f = run(gpu, ring_kernel, &p, {.grid = {6, 1, 1}, .block = {160, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Ok) << f.message;
  for (u32 k = 1; k < 5; ++k) EXPECT_EQ(p.sum[k], kRounds * 32 * (kRounds * 32 + 1) / 2);
}

TEST_P(Mbarriers, RemoteArrivalWakesACtaOfTheCluster) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    u64 mine = at(w, 0), next = ((w->cta->cluster_rank + 1) % 4) * kCtaSharedStride + kReservedShared;
    init(w, mine, 1);
    call(w, RtFn::BarSync, {0, 0, 1});
    // No cluster barrier here: poll until the neighbour has initialised its object.
    volatile u64* word = reinterpret_cast<u64*>(w->window + next + 8);
    volatile u64* ready = reinterpret_cast<u64*>(w->window + mine + 8);
    *ready = 0x1234567;
    while (*word != 0x1234567) call(w, RtFn::Yield, {1});
    if (w->cta->cluster_rank != 0) wait_parity(w, mine, 0);
    arrive(w, next, 1, 0, 8);
    if (w->cta->cluster_rank == 0) wait_parity(w, mine, 0);
    *ready = 0;
  };
  Fault f = run(gpu, kernel, nullptr, {.grid = {16, 1, 1}, .cluster = {4, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Ok) << f.message;
}

TEST_P(Mbarriers, CpAsyncMbarArriveCountsAsDocumented) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    u64 m = at(w, 0);
    init(w, m, 32);
    call(w, RtFn::CpAsyncMbarArrive, {m, 0});  // counts up, then down: no net arrival
    EXPECT_FALSE(test_parity(w, m, 0));
    EXPECT_EQ(Mbarrier(*reinterpret_cast<u64*>(w->window + m)).pending(), 32u);
    call(w, RtFn::CpAsyncMbarArrive, {m, 1});
    EXPECT_TRUE(test_parity(w, m, 0));
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {}).outcome, Outcome::Ok);
}

TEST_P(Mbarriers, CopiesFillWithZeros) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    alignas(16) u8 source[16];
    for (u32 k = 0; k < 16; ++k) source[k] = u8(k + 1);
    u32 dst = u32(at(w, 2));
    for (u64 bytes : {4, 8, 16})
      for (u64 used = 0; used <= bytes; ++used) {
        std::memset(w->window + dst, 0xee, 32);
        call(w, RtFn::CpAsync, {dst, u64(source), bytes, used, 0}, nullptr, 1);
        call(w, RtFn::CpAsyncCommit, {});
        call(w, RtFn::CpAsyncWait, {0});
        for (u32 k = 0; k < 16; ++k) EXPECT_EQ(w->window[dst + k], k < used ? k + 1 : k < bytes ? 0 : 0xee);
      }
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {}).outcome, Outcome::Ok);
}

TEST_P(Mbarriers, DeadlockNamesTheMissingArrivals) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    u64 m = w->shared_base + 0x400;
    if (w->warp_id == 0) {
      init(w, m, 4);
      arrive(w, m, 1, 512, kExpectTx);
    }
    sync(w);
    wait_parity(w, m, 0);
  };
  Fault f = run(gpu, kernel, nullptr, {.block = {96, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Deadlock);
  EXPECT_NE(f.message.find("warps 0-2 at test.cu:7 wait for mbarrier at shared+0x400 phase 0: 3 of 4 arrivals pending, "
                           "tx 512 bytes missing"),
            std::string::npos)
      << f.message;
}

TEST_P(Mbarriers, MisuseDoesNotHurtTheHost) {
  Gpu gpu(options());
  auto garbage = [](WarpCtx* w) {
    u64 m = at(w, 0);
    std::memset(w->window + m, 0xa5, 8);
    for (u64 count : {0u, 1u, 77u, 0xffffffffu}) arrive(w, m, count, 0xffffffff, kExpectTx | kDrop, 0xff);
    call(w, RtFn::MbarCompleteTx, {m, 0x80000000});
    test_parity(w, m, 1);
  };
  EXPECT_EQ(run(gpu, garbage, nullptr, {}).outcome, Outcome::Ok);
  auto outside = [](WarpCtx* w) { arrive(w, 0xfffffff8); };
  EXPECT_EQ(run(gpu, outside, nullptr, {}).outcome, Outcome::IllegalAddress);
  auto odd = [](WarpCtx* w) { arrive(w, 1028); };
  EXPECT_EQ(run(gpu, odd, nullptr, {}).outcome, Outcome::MisalignedAddress);
}

}  // namespace
}  // namespace us::device::testing
