// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "kernels.h"

namespace us::device::testing {
namespace {

using Barriers = Device;
US_ALL_WORKERS(Barriers);

u32& word(WarpCtx* w, u32 index) { return reinterpret_cast<u32*>(shared(w, kReservedShared))[index]; }

TEST_P(Barriers, AllWarpsSeeEachOther) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    u32 warps = w->cta->warps;
    for (u32 round = 0; round < 50; ++round) {
      word(w, w->warp_id) = round * 100 + w->warp_id;
      sync(w);
      for (u32 k = 0; k < warps; ++k) ASSERT_EQ(word(w, k), round * 100 + k);
      sync(w);
    }
  };
  for (u32 block : {32u, 48u, 96u, 100u, 1024u})
    EXPECT_EQ(run(gpu, kernel, nullptr, {.grid = {9, 1, 1}, .block = {block, 1, 1}}).outcome, Outcome::Ok);
}

TEST_P(Barriers, ExitedWarpsDoNotCount) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    if (w->warp_id == 3) return;  // at once
    sync(w);
    if (w->warp_id == 0) return;  // others already wait
    sync(w);
    w->live &= 0xffff;  // half of the lanes exit
    sync(w);
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {.grid = {9, 1, 1}, .block = {128, 1, 1}}).outcome, Outcome::Ok);
}

// Warps 0, 1 produce, 2, 3 consume, through barriers 1 (full) and 2 (empty).
TEST_P(Barriers, NamedBarriersProducerConsumer) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    Args full{1, 128, 1}, empty{2, 128, 1};
    for (u32 k = 0; k < 20; ++k) {
      if (w->warp_id < 2) {
        if (k) call(w, RtFn::BarSync, empty);
        word(w, w->warp_id) = k + 1000 * w->warp_id;
        call(w, RtFn::BarArrive, full);
      } else {
        call(w, RtFn::BarSync, full);
        ASSERT_EQ(word(w, 0), k);
        ASSERT_EQ(word(w, 1), k + 1000);
        if (k < 19) call(w, RtFn::BarArrive, empty);
      }
    }
  };
  Fault f = run(gpu, kernel, nullptr, {.grid = {9, 1, 1}, .block = {128, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Ok) << f.message;
}

TEST_P(Barriers, Reductions) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    for (u32 round = 0; round < 5; ++round)
      for (u64 op : {0, 1, 2}) {
        Args a{0, 0, 1, op, 0};
        u32 expected = 0;
        for (u32 l = 0; l < 32; ++l) a.set_lane(4, l, (w->warp_id * 32 + l) % 3 == round);
        for (u32 t = 0; t < 100; ++t) expected += t % 3 == round;
        u64 results[64];
        call(w, RtFn::BarRed, a, results);
        for (u32 l = 0; l < 32; ++l)
          if (w->live >> l & 1) {
            ASSERT_EQ(results[l], op == 0 ? expected : op == 1 ? 0 : u64(round < 3)) << op;
          }
      }
  };
  Fault f = run(gpu, kernel, nullptr, {.grid = {3, 1, 1}, .block = {100, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Ok) << f.message;
}

TEST_P(Barriers, DivergedLanesArriveSeparately) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    if (w->warp_id == 0) {
      call(w, RtFn::BarArrive, {1, 64, 0}, nullptr, 0x0000ffff);
      call(w, RtFn::BarArrive, {1, 64, 0}, nullptr, 0xffff0000);
    } else {
      call(w, RtFn::BarSync, {1, 64, 0});
    }
  };
  Fault f = run(gpu, kernel, nullptr, {.block = {64, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Ok) << f.message;
}

void poll(WarpCtx* w, u32 lanes, u64 generation) {
  while (!call1(w, RtFn::BarPoll, {1, generation}, lanes)) call(w, RtFn::Yield, {1}, nullptr, lanes);
}

TEST_P(Barriers, HalvesOfAWarpMeetByPolling) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    for (u32 k = 0; k < 10; ++k) {
      u64 low = call1(w, RtFn::BarTryArrive, {1, 0, 0}, 0x0000ffff);
      if (w->warp_id == 0) {
        EXPECT_FALSE(call1(w, RtFn::BarPoll, {1, low}, 0x0000ffff));
      }
      u64 high = call1(w, RtFn::BarTryArrive, {1, 0, 0}, 0xffff0000);
      EXPECT_EQ(low, high);
      poll(w, 0x0000ffff, low);
      poll(w, 0xffff0000, high);
    }
  };
  Fault f = run(gpu, kernel, nullptr, {.grid = {4, 1, 1}, .block = {96, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Ok) << f.message;
}

TEST_P(Barriers, DeadlockOfPollersNamesTheLanes) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    u32 lanes = w->warp_id == 1 ? 0x0000ffff : kFullMask;
    poll(w, lanes, call1(w, RtFn::BarTryArrive, {1, 0, 0}, lanes));
  };
  Fault f = run(gpu, kernel, nullptr, {.block = {96, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Deadlock);
  EXPECT_NE(f.message.find("barrier 1: 80 of 96 threads arrived; missing warps 1 (lanes 0xffff0000)"),
            std::string::npos)
      << f.message;
}

TEST_P(Barriers, MismatchedCountsAreAFault) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) { call(w, RtFn::BarSync, {1, w->warp_id ? 64u : 96u, 1}); };
  Fault f = run(gpu, kernel, nullptr, {.block = {96, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::IllegalInstruction);
  EXPECT_NE(f.message.find("expects 64 threads, the arrivals before it expect 96"), std::string::npos) << f.message;
  f = run(gpu, [](WarpCtx* w) { call(w, RtFn::BarSync, {1, 40, 1}); }, nullptr, {.block = {96, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::IllegalInstruction);
  EXPECT_NE(f.message.find("test.cu:7"), std::string::npos) << f.message;
}

TEST_P(Barriers, DeadlockNamesTheMissingWarps) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) { call(w, RtFn::BarSync, {w->warp_id == 3 ? 2u : 1u, 128, 1}); };
  Fault f = run(gpu, kernel, nullptr, {.grid = {2, 1, 1}, .block = {128, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Deadlock);
  EXPECT_NE(f.message.find("barrier 1: 96 of 128 threads arrived; missing warps 3"), std::string::npos) << f.message;
  EXPECT_EQ(run(gpu, [](WarpCtx* w) { sync(w); }, nullptr, {.block = {128, 1, 1}}).outcome, Outcome::Ok);
}

}  // namespace
}  // namespace us::device::testing
