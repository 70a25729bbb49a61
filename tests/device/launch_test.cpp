// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels.h"

namespace us::device::testing {
namespace {

using Launching = Device;
US_ALL_WORKERS(Launching);

struct Counter {
  std::atomic<u64> threads{0}, ctas{0};
  std::atomic<u64> x_sum{0}, y_sum{0}, z_sum{0};
};

void count(WarpCtx* w) {
  auto& p = params<Counter>(w);
  p.threads += u64(__builtin_popcount(w->live));
  if (w->warp_id == 0) {
    p.ctas++;
    p.x_sum += w->cta->ctaid.x, p.y_sum += w->cta->ctaid.y, p.z_sum += w->cta->ctaid.z;
  }
}

TEST_P(Launching, EveryBlockAndThreadRunsOnce) {
  Gpu gpu(options());
  for (bool yields : {false, true})
    for (u32 block : {1u, 31u, 32u, 33u, 100u, 1024u}) {
      Counter c;
      Fault f = run(gpu, count, &c, {.grid = {5, 3, 2}, .block = {block, 1, 1}, .yields = yields});
      EXPECT_EQ(f.outcome, Outcome::Ok);
      EXPECT_EQ(c.threads, 30 * block);
      EXPECT_EQ(c.ctas, 30u);
      EXPECT_EQ(c.x_sum, 60u);
      EXPECT_EQ(c.y_sum, 30u);
      EXPECT_EQ(c.z_sum, 15u);
    }
}

TEST_P(Launching, ClustersShareAWindow) {
  Gpu gpu(options());
  Counter c;
  auto kernel = [](WarpCtx* w) {
    count(w);
    const CtaCtx& cta = *w->cta;
    auto word = [&](u32 rank) -> u32& { return *reinterpret_cast<u32*>(w->window + rank * kCtaSharedStride + 1024); };
    EXPECT_EQ(cta.cluster_rank, cta.cluster_ctaid.x + 2 * cta.cluster_ctaid.y);
    EXPECT_EQ(cta.ctaid.x % 2, cta.cluster_ctaid.x);
    EXPECT_EQ(w->shared_base, cta.cluster_rank * kCtaSharedStride);
    word(cta.cluster_rank) = cta.cluster_rank;
  };
  Fault f = run(gpu, kernel, &c, {.grid = {6, 4, 2}, .block = {64, 1, 1}, .cluster = {2, 2, 1}});
  EXPECT_EQ(f.outcome, Outcome::Ok);
  EXPECT_EQ(c.ctas, 48u);
}

TEST_P(Launching, ManyEmptyBlocksAreCheap) {
  Gpu gpu(options());
  auto begin = std::chrono::steady_clock::now();
  Fault f = run(gpu, [](WarpCtx*) {}, nullptr, {.grid = {100000, 1, 1}, .yields = false});
  EXPECT_EQ(f.outcome, Outcome::Ok);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
  EXPECT_EQ(run(gpu, [](WarpCtx*) {}, nullptr, {.grid = {100000, 1, 1}}).outcome, Outcome::Ok);
}

TEST_P(Launching, ManyGridsAtOnce) {
  Gpu gpu(options());
  Counter c;
  std::vector<std::future<Fault>> all;
  for (int k = 0; k < 200; ++k) {
    all.push_back(start(gpu, count, &c, {.grid = {u32(k % 7 + 1), 1, 1}, .yields = k % 2 == 0}));
  }
  u64 ctas = 0;
  for (int k = 0; k < 200; ++k) {
    EXPECT_EQ(all[size_t(k)].get().outcome, Outcome::Ok);
    ctas += u64(k % 7 + 1);
  }
  EXPECT_EQ(c.ctas, ctas);
}

TEST_P(Launching, MalformedLaunchesAreRefused) {
  Gpu gpu(options());
  EXPECT_EQ(run(gpu, count, nullptr, {.block = {1025, 1, 1}}).outcome, Outcome::NotSupported);
  EXPECT_EQ(run(gpu, count, nullptr, {.grid = {3, 1, 1}, .cluster = {2, 1, 1}}).outcome, Outcome::NotSupported);
}

// Time is what the device does: every run reads the same clock, however slow the host is.
TEST(Deterministic, ClockCountsWork) {
  struct Readings {
    u64 time[6];
    bool slow;
  };
  const auto read = [](bool slow) {
    GpuOptions o;
    o.deterministic = true;
    Gpu gpu(o);
    Readings p{{}, slow};
    auto kernel = [](WarpCtx* w) {
      auto& r = params<Readings>(w);
      u32 k = 0;
      r.time[k++] = call1(w, RtFn::GlobalTimer, {});
      if (r.slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      r.time[k++] = call1(w, RtFn::Clock, {});
      call(w, RtFn::Nanosleep, {1000});
      if (r.slow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      r.time[k++] = call1(w, RtFn::Clock, {});
      r.time[k++] = call1(w, RtFn::GlobalTimer, {});
    };
    EXPECT_EQ(run(gpu, kernel, &p, {}).outcome, Outcome::Ok);
    return std::vector<u64>(p.time, p.time + 4);
  };
  const auto fast = read(false), slow = read(true);
  EXPECT_EQ(fast, slow);
  EXPECT_EQ(fast[3] - fast[0], 3 * 20 + 1000u);
}

// A kernel with a time limit of 200 ms waits for another grid. The host submits that late, but does not wait meanwhile.
TEST(Deterministic, TimeLimitsWaitForTheHost) {
  GpuOptions o;
  o.deterministic = true;
  Gpu gpu(o);
  struct Marks {
    std::atomic<u32> begun{0}, mark{0}, saw{0};
  } p;
  auto first = [](WarpCtx* w) {
    auto& m = params<Marks>(w);
    m.begun = 1;
    for (const u64 until = call1(w, RtFn::GlobalTimer, {}) + 200'000'000; call1(w, RtFn::GlobalTimer, {}) < until;) {
      if (m.mark) {
        m.saw = 1;
        return;
      }
      if (w->spin-- == 0) call(w, RtFn::Yield, {1});
    }
  };
  auto a = start(gpu, first, &p, {});
  while (!p.begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(run(gpu, [](WarpCtx* w) { params<Marks>(w).mark = 1; }, &p, {}).outcome, Outcome::Ok);
  EXPECT_EQ(a.get().outcome, Outcome::Ok);
  EXPECT_EQ(p.saw, 1u);
  // When the host waits and does nothing else, the limit is soon over.
  p.mark = p.saw = 0;
  const auto begin = std::chrono::steady_clock::now();
  gpu.host().waiting = 1;
  EXPECT_EQ(run(gpu, first, &p, {}).outcome, Outcome::Ok);
  gpu.host().waiting = 0;
  EXPECT_EQ(p.saw, 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// A kernel that sleeps 100 ms is still there when a host that needs 150 ms submits another.
TEST(Deterministic, SleepsWaitForTheHost) {
  GpuOptions o;
  o.deterministic = true;
  Gpu gpu(o);
  struct Marks {
    std::atomic<u32> begun{0}, mark{0};
    u32 saw = 0;
    u64 time = 0;
  } p;
  auto first = [](WarpCtx* w) {
    auto& m = params<Marks>(w);
    m.begun = 1;
    const u64 begin = call1(w, RtFn::GlobalTimer, {});
    for (u32 k = 0; k < 10000; ++k) call(w, RtFn::Nanosleep, {10'000});
    m.saw = m.mark;
    m.time = call1(w, RtFn::GlobalTimer, {}) - begin;
  };
  auto a = start(gpu, first, &p, {});
  while (!p.begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(150));
  EXPECT_EQ(run(gpu, [](WarpCtx* w) { params<Marks>(w).mark = 1; }, &p, {}).outcome, Outcome::Ok);
  EXPECT_EQ(a.get().outcome, Outcome::Ok);
  EXPECT_EQ(p.saw, 1u);
  EXPECT_GE(p.time, 10000u * 10'000);
}

TEST(Deterministic, BlocksAndWarpsInOrder) {
  GpuOptions o;
  o.workers = 4;
  o.deterministic = true;
  Gpu gpu(o);
  EXPECT_EQ(gpu.workers(), 1u);
  std::vector<u32> order;
  auto kernel = [](WarpCtx* w) { params<std::vector<u32>>(w).push_back(w->cta->ctaid.x * 4 + w->warp_id); };
  EXPECT_EQ(run(gpu, kernel, &order, {.grid = {50, 1, 1}, .block = {128, 1, 1}}).outcome, Outcome::Ok);
  ASSERT_EQ(order.size(), 200u);
  for (u32 k = 0; k < 200; ++k) EXPECT_EQ(order[k], k);
}

TEST_P(Launching, LocalMemoryIsPrivate) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    ASSERT_GE(w->local_stride, 64u);
    for (u32 l = 0; l < 32; ++l) std::memset(w->local + l * w->local_stride, int(w->warp_id * 7 + l), 64);
    sync(w);
    for (u32 l = 0; l < 32; ++l)
      for (u32 b = 0; b < 64; ++b) ASSERT_EQ(w->local[l * w->local_stride + b], u8(w->warp_id * 7 + l));
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {.grid = {8, 1, 1}, .block = {256, 1, 1}, .local_bytes = 64}).outcome,
            Outcome::Ok);
}

}  // namespace
}  // namespace us::device::testing
