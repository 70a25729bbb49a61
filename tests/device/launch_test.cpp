// SPDX-License-Identifier: Apache-2.0
#include <atomic>

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
