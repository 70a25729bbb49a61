// SPDX-License-Identifier: Apache-2.0
// Kernels that wait for other blocks, or other grids, through memory.
#include <atomic>
#include <thread>

#include "kernels.h"

namespace us::device::testing {
namespace {

using Progress = Device;
US_ALL_WORKERS(Progress);

struct Flags {
  std::vector<std::atomic<u32>> flag;
  std::atomic<u32> arrived{0}, generation{0};
  explicit Flags(size_t n) : flag(n) {}
};

template <class Condition>
void spin_until(WarpCtx* w, Condition met) {
  while (!met())
    if (w->spin-- == 0) call(w, RtFn::Yield, {1});
}

TEST_P(Progress, EachBlockWaitsForTheOneBefore) {
  Gpu gpu(options());
  Flags p(500);
  auto kernel = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    u32 k = w->cta->ctaid.x;
    if (k) spin_until(w, [&] { return f.flag[k - 1] == 1; });
    f.flag[k] = 1;
  };
  EXPECT_EQ(run(gpu, kernel, &p, {.grid = {500, 1, 1}, .max_resident = 64}).outcome, Outcome::Ok);
}

TEST_P(Progress, EachBlockWaitsForTheOneAfter) {
  Gpu gpu(options());
  Flags p(200);
  auto kernel = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    u32 k = w->cta->ctaid.x;
    if (k + 1 < w->grid->grid.x) spin_until(w, [&] { return f.flag[k + 1] == 1; });
    f.flag[k] = 1;
  };
  EXPECT_EQ(run(gpu, kernel, &p, {.grid = {200, 1, 1}, .block = {64, 1, 1}, .max_resident = 200}).outcome, Outcome::Ok);
}

TEST_P(Progress, SoftwareGridBarrier) {
  Gpu gpu(options());
  Flags p(1);
  auto kernel = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    u32 blocks = w->grid->grid.x;
    for (u32 round = 0; round < 10; ++round) {
      sync(w);
      if (w->warp_id == 0) {
        if (f.arrived.fetch_add(1) + 1 == blocks) {
          f.arrived = 0;
          f.generation++;
        } else {
          spin_until(w, [&] { return f.generation > round; });
        }
      }
      sync(w);
    }
  };
  EXPECT_EQ(run(gpu, kernel, &p, {.grid = {132, 1, 1}, .block = {128, 1, 1}, .max_resident = 132}).outcome,
            Outcome::Ok);
  EXPECT_EQ(p.generation, 10u);
  p.generation = 0;
  Fault f = run(gpu, kernel, &p, {.grid = {132, 1, 1}, .block = {128, 1, 1}, .max_resident = 1, .cooperative = true});
  EXPECT_EQ(f.outcome, Outcome::Ok);
}

TEST_P(Progress, ProducerAndConsumerGrids) {
  Gpu gpu(options());
  Flags p(64);
  auto consumer = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    u32 k = w->cta->ctaid.x;
    spin_until(w, [&] { return f.flag[k] == 1; });
    f.flag[k] = 2;
  };
  auto producer = [](WarpCtx* w) { params<Flags>(w).flag[w->cta->ctaid.x] = 1; };
  for (bool producer_yields : {false, true}) {
    for (auto& f : p.flag) f = 0;
    auto a = start(gpu, consumer, &p, {.grid = {64, 1, 1}});
    auto b = start(gpu, producer, &p, {.grid = {64, 1, 1}, .yields = producer_yields});
    EXPECT_EQ(a.get().outcome, Outcome::Ok);
    EXPECT_EQ(b.get().outcome, Outcome::Ok);
    for (auto& f : p.flag) EXPECT_EQ(f, 2u);
  }
}

TEST_P(Progress, WarpsOfABlockSpinOnEachOther) {
  Gpu gpu(options());
  Flags p(32);
  auto kernel = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    for (u32 round = 1; round <= 20; ++round) {
      if (w->warp_id) spin_until(w, [&] { return f.flag[w->warp_id - 1] >= round; });
      f.flag[w->warp_id] = round;
      if (w->warp_id == 0) spin_until(w, [&] { return f.flag[31] >= round; });
    }
  };
  EXPECT_EQ(run(gpu, kernel, &p, {.block = {1024, 1, 1}}).outcome, Outcome::Ok);
}

TEST_P(Progress, ResidencyLimitIsKept) {
  Gpu gpu(options());
  struct Count {
    std::atomic<int> now{0}, most{0}, ended{0};
  } p;
  auto kernel = [](WarpCtx* w) {
    auto& c = params<Count>(w);
    int n = ++c.now;
    for (int m = c.most; n > m && !c.most.compare_exchange_weak(m, n);) {
    }
    for (u32 k = 0; k < 200; ++k) call(w, RtFn::Yield, {1});
    --c.now;
    ++c.ended;
  };
  EXPECT_EQ(run(gpu, kernel, &p, {.grid = {100, 1, 1}, .max_resident = 5}).outcome, Outcome::Ok);
  EXPECT_LE(p.most, 5);
  EXPECT_EQ(p.ended, 100);
}

TEST_P(Progress, EndlessSpinIsReported) {
  GpuOptions o = options();
  o.spin_limit_s = 0.2;
  Gpu gpu(o);
  Flags p(1);
  auto kernel = [](WarpCtx* w) {
    if (w->warp_id == 0)
      sync(w);
    else
      spin_until(w, [&] { return params<Flags>(w).flag[0] == 1; });
  };
  Fault f = run(gpu, kernel, &p, {.grid = {3, 1, 1}, .block = {64, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Deadlock);
  EXPECT_NE(f.message.find("warp 1 at test.cu:7 waits for memory"), std::string::npos) << f.message;
  EXPECT_NE(f.message.find("barrier 0: 32 of 64 threads arrived; missing warps 1"), std::string::npos) << f.message;
  EXPECT_EQ(run(gpu, [](WarpCtx* w) { sync(w); }, nullptr, {.block = {128, 1, 1}}).outcome, Outcome::Ok);
}

// What a kernel does whose first thread looks at a flag and tells its block: each turn of the loop has two barriers.
template <class Condition>
void wait_together(WarpCtx* w, Condition met) {
  for (;;) {
    if (w->spin-- == 0) call(w, RtFn::Yield, {1 | kYieldAroundBarrier});
    if (w->warp_id == 0) *reinterpret_cast<u32*>(shared(w, 0)) = met();
    sync(w);
    const bool over = *reinterpret_cast<u32*>(shared(w, 0));
    sync(w);
    if (over) return;
  }
}

TEST_P(Progress, EachBlockWaitsForTheOneAfterWithBarriersInTheLoop) {
  Gpu gpu(options());
  Flags p(100);
  auto kernel = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    const u32 k = w->cta->ctaid.x;
    if (k + 1 < w->grid->grid.x) wait_together(w, [&] { return f.flag[k + 1] == 1; });
    f.flag[k] = 1;
  };
  EXPECT_EQ(run(gpu, kernel, &p, {.grid = {100, 1, 1}, .block = {96, 1, 1}, .max_resident = 100}).outcome, Outcome::Ok);
}

TEST_P(Progress, EachClusterWaitsForTheOneAfterWithBarriersInTheLoop) {
  Gpu gpu(options());
  Flags p(20);
  auto kernel = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    const u32 k = w->cta->ctaid.x / 2;
    while (k + 1 < w->grid->grid.x / 2 && f.flag[k + 1] == 0) {
      if (w->spin-- == 0) call(w, RtFn::Yield, {1 | kYieldAroundBarrier});
      call(w, RtFn::ClusterArrive, {});
      call(w, RtFn::ClusterWait, {});
    }
    f.flag[k] = 1;
  };
  EXPECT_EQ(
      run(gpu, kernel, &p, {.grid = {40, 1, 1}, .block = {64, 1, 1}, .cluster = {2, 1, 1}, .max_resident = 40}).outcome,
      Outcome::Ok);
}

TEST_P(Progress, EndlessSpinAroundBarriersIsReported) {
  GpuOptions o = options();
  o.spin_limit_s = 0.2;
  Gpu gpu(o);
  Flags p(1);
  auto kernel = [](WarpCtx* w) { wait_together(w, [&] { return params<Flags>(w).flag[0] == 1; }); };
  Fault f = run(gpu, kernel, &p, {.grid = {3, 1, 1}, .block = {64, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Deadlock);
  EXPECT_NE(f.message.find("for memory"), std::string::npos) << f.message;
}

// A block that works between the barriers of a loop that could be a wait is not ended.
TEST_P(Progress, WorkBetweenBarriersIsNoDeadlock) {
  GpuOptions o = options();
  o.spin_limit_s = 0.05;
  Gpu gpu(o);
  auto kernel = [](WarpCtx* w) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1000);
    volatile u32 turn = 0;
    wait_together(w, [&] {
      turn = turn + 1;
      return std::chrono::steady_clock::now() > until;
    });
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {.grid = {2, 1, 1}, .block = {64, 1, 1}}).outcome, Outcome::Ok);
}

// The host answers now and then, for much longer than the limit.
TEST_P(Progress, ServedByTheHostIsNoDeadlock) {
  GpuOptions o = options();
  o.spin_limit_s = 0.1;
  Gpu gpu(o);
  Flags p(2);
  auto kernel = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    for (u32 k = 1; k <= 100; ++k) {
      spin_until(w, [&] { return f.flag[0] == k; });
      f.flag[1] = k;
    }
  };
  auto done = start(gpu, kernel, &p, {});
  for (u32 k = 1; k <= 100; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    p.flag[0] = k;
    while (p.flag[1] != k && done.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      std::this_thread::yield();
  }
  EXPECT_EQ(done.get().outcome, Outcome::Ok);
}

TEST_P(Progress, SlowWorkElsewhereIsNoDeadlock) {
  GpuOptions o = options();
  o.spin_limit_s = 0.05;
  Gpu gpu(o);
  Flags p(2);
  auto kernel = [](WarpCtx* w) {
    auto& f = params<Flags>(w);
    if (w->cta->ctaid.x == 1) {  // works for a while without giving way
      auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
      while (std::chrono::steady_clock::now() < until) {
      }
      f.flag[1] = 1;
    } else {
      spin_until(w, [&] { return f.flag[1] == 1; });
    }
  };
  EXPECT_EQ(run(gpu, kernel, &p, {.grid = {2, 1, 1}}).outcome, Outcome::Ok);
}

}  // namespace
}  // namespace us::device::testing
