// SPDX-License-Identifier: Apache-2.0
// The process survives what kernels do, and the next launch runs.
#include <sys/mman.h>

#include <atomic>

#include "kernels.h"

namespace us::device::testing {
namespace {

using Faults = Device;
US_ALL_WORKERS(Faults);

void expect_alive(Gpu& gpu) {
  for (bool yields : {false, true})
    EXPECT_EQ(run(gpu,
                  [](WarpCtx* w) {
                    if (w->cta->warps > 1) sync(w);
                  },
                  nullptr, {.grid = {20, 1, 1}, .block = {yields ? 256u : 32u, 1, 1}, .yields = yields})
                  .outcome,
              Outcome::Ok);
}

// A page without access: wild accesses of the tests go here.
u8* no_access() {
  static void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<u8*>(page);
}

// Races of the guest are the guest's.
[[gnu::noinline, gnu::no_sanitize("thread")]] void store_to(u8* p) { *static_cast<volatile u8*>(p) = 1; }

TEST_P(Faults, WildStore) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    if (w->cta->ctaid.x == 7 && w->warp_id == 1) store_to(no_access() + 5);
  };
  for (bool yields : {false, true})
    for (int again = 0; again < 20; ++again) {
      Fault f = run(gpu, kernel, nullptr, {.grid = {40, 1, 1}, .block = {64, 1, 1}, .yields = yields});
      EXPECT_EQ(f.outcome, Outcome::IllegalAddress);
      char address[32];
      std::snprintf(address, sizeof address, "%p", static_cast<void*>(no_access() + 5));
      EXPECT_NE(f.message.find(address), std::string::npos) << f.message;
      EXPECT_NE(
          f.message.find("kernel test_kernel, block [7,0,0], warp 1, threads [32,0,0] to [63,0,0]\n  at test.cu:7"),
          std::string::npos)
          << f.message;
    }
  expect_alive(gpu);
}

TEST_P(Faults, NonCanonicalAddress) {
  Gpu gpu(options());
  Fault f = run(gpu, [](WarpCtx*) { *reinterpret_cast<volatile u32*>(0x5555555555555555) = 1; }, nullptr, {});
  EXPECT_EQ(f.outcome, Outcome::IllegalAddress);
  expect_alive(gpu);
}

TEST_P(Faults, OthersWaitAtABarrier) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    if (w->warp_id == 5) store_to(no_access());
    sync(w);
  };
  for (int again = 0; again < 20; ++again)
    EXPECT_EQ(run(gpu, kernel, nullptr, {.grid = {40, 1, 1}, .block = {256, 1, 1}}).outcome, Outcome::IllegalAddress);
  expect_alive(gpu);
}

TEST_P(Faults, InsideARuntimeFunction) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) { call(w, RtFn::CpAsync, {w->shared_base + 1024, u64(no_access()), 16, 16, 0}); };
  Fault f = run(gpu, kernel, nullptr, {.yields = false});
  EXPECT_EQ(f.outcome, Outcome::IllegalAddress);
  EXPECT_NE(f.message.find("at test.cu:7"), std::string::npos) << f.message;
  auto print = [](WarpCtx* w) { call(w, RtFn::Vprintf, {u64(no_access()), 0}); };
  EXPECT_EQ(run(gpu, print, nullptr, {}).outcome, Outcome::IllegalAddress);
  expect_alive(gpu);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
[[gnu::noinline]] u64 recurse(volatile u64* p, u64 n) {
  volatile u64 frame[64];
  frame[n % 64] = n + *p;
  return recurse(frame, n + 1) + frame[n % 64];
}
#pragma GCC diagnostic pop

TEST_P(Faults, StackOverflow) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer looks at the stack itself";
#endif
  Gpu gpu(options());
  for (bool yields : {false, true}) {
    Fault f = run(gpu,
                  [](WarpCtx* w) {
                    volatile u64 zero = 0;
                    if (recurse(&zero, 0) == 1) w->line = 1;
                  },
                  nullptr, {.yields = yields});
    EXPECT_EQ(f.outcome, Outcome::IllegalAddress) << f.message;
    EXPECT_NE(f.message.find("stack overflow"), std::string::npos) << f.message;
  }
  expect_alive(gpu);
}

TEST_P(Faults, HostDivision) {
  Gpu gpu(options());
  auto kernel = [](WarpCtx* w) {
    asm volatile("xor %%edx, %%edx\n mov $1, %%eax\n xor %%ecx, %%ecx\n div %%ecx" ::: "rax", "rcx", "rdx");
    w->line = 0;
  };
  EXPECT_EQ(run(gpu, kernel, nullptr, {}).outcome, Outcome::IllegalInstruction);
  expect_alive(gpu);
}

TEST_P(Faults, TrapAndFriends) {
  Gpu gpu(options());
  Fault f = run(gpu, [](WarpCtx* w) { call(w, RtFn::Trap, {}, nullptr, 0x10); }, nullptr, {.grid = {9, 1, 1}});
  EXPECT_EQ(f.outcome, Outcome::Trap);
  EXPECT_NE(f.message.find("thread [4,0,0]"), std::string::npos) << f.message;
  f = run(gpu, [](WarpCtx* w) { call(w, RtFn::Unimplemented, {u64("wgmma.fence"), 41}); }, nullptr, {.yields = false});
  EXPECT_EQ(f.outcome, Outcome::NotSupported);
  EXPECT_NE(f.message.find("wgmma.fence (PTX line 41)"), std::string::npos) << f.message;
  f = run(gpu, [](WarpCtx* w) { call(w, RtFn::BadIndirectCall, {0x123}); }, nullptr, {});
  EXPECT_NE(f.message.find("0x123"), std::string::npos) << f.message;
  expect_alive(gpu);
}

TEST_P(Faults, FaultsInManyGridsAtOnce) {
  Gpu gpu(options());
  std::vector<std::future<Fault>> all;
  auto good = [](WarpCtx* w) {
    for (u32 k = 0; k < 10; ++k) sync(w);
  };
  auto bad = [](WarpCtx* w) {
    sync(w);
    if (w->cta->ctaid.x % 3 == 2) store_to(no_access());
    sync(w);
  };
  for (u32 k = 0; k < 100; ++k)
    all.push_back(start(gpu, k % 2 ? +bad : +good, nullptr, {.grid = {10, 1, 1}, .block = {128, 1, 1}}));
  for (u32 k = 0; k < 100; ++k) EXPECT_EQ(all[k].get().outcome, k % 2 ? Outcome::IllegalAddress : Outcome::Ok);
}

TEST(FaultsOutside, GoToTheHandlerBefore) {
  EXPECT_DEATH(
      {
        GpuOptions o;
        o.workers = 1;
        Gpu gpu(o);
        run(gpu, [](WarpCtx*) {}, nullptr, {});
        store_to(no_access());
      },
      "");
}

}  // namespace
}  // namespace us::device::testing
