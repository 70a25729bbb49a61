// SPDX-License-Identifier: Apache-2.0
// Costs of the device room on this host. Prints numbers and judges none.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <future>
#include <vector>

#include <sched.h>

#include "device/support/fibre.h"
#include "kernels.h"

namespace us::device::testing {
namespace {

using Clock = std::chrono::steady_clock;
double ns_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

struct Hopper {
  Fibre home;
  std::vector<Fibre> fibres;
  size_t at = 0;
  long left = 0;
};
void hop(void* p) {
  Hopper& h = *static_cast<Hopper*>(p);
  for (;;) {
    Fibre& from = h.fibres[h.at];
    h.at = h.at + 1 == h.fibres.size() ? 0 : h.at + 1;
    switch_fibre(from, --h.left < 0 ? h.home : h.fibres[h.at]);
  }
}

void fibre_switch() {
  for (size_t n : {size_t(2), size_t(8), size_t(32)}) {
    StackPool stacks(kWarpStackBytes);
    Hopper h;
    adopt_thread(h.home);
    h.fibres.resize(n);
    for (Fibre& f : h.fibres) f.stack = stacks.take(), prepare(f, hop, &h);
    constexpr long kHops = 20'000'000;
    h.left = kHops;
    auto begin = Clock::now();
    switch_fibre(h.home, h.fibres[0]);
    std::printf("fibre switch, ring of %zu: %.2f ns\n", n, ns_since(begin) / kHops);
    for (Fibre& f : h.fibres) release(f);
  }
}

constexpr u32 kBarriers = 2000;
void barriers(WarpCtx* w) {
  static const Args args{0, 0, 1};
  for (u32 k = 0; k < kBarriers; ++k) w->rt[u32(RtFn::BarSync)](w, w->live, args.values, nullptr);
}

void barrier_cost(Gpu& gpu) {
  for (u32 block : {64u, 128u, 256u, 512u, 1024u}) {
    double best = 1e30;
    for (int again = 0; again < 5; ++again) {
      auto begin = Clock::now();
      run(gpu, barriers, nullptr, {.grid = {20, 1, 1}, .block = {block, 1, 1}});
      best = std::min(best, ns_since(begin));
    }
    std::printf("barrier, block of %4u: %.1f ns per warp\n", block, best / (20.0 * kBarriers * (block / 32)));
  }
}

// One warp arrives on `full`, the other waits, and back.
void ping_pong(WarpCtx* w) {
  u64 a = w->shared_base + kReservedShared, b = a + 8;
  if (w->warp_id == 0) call(w, RtFn::MbarInit, {a, 1}, nullptr, 1), call(w, RtFn::MbarInit, {b, 1}, nullptr, 1);
  sync(w);
  Args arrive{w->warp_id ? b : a, 1, 0, 0};
  const Args waits[2] = {{w->warp_id ? a : b, 0, 3, 0}, {w->warp_id ? a : b, 1, 3, 0}};
  for (u32 k = 0; k < kBarriers; ++k) {
    const Args& wait = waits[k & 1];
    u64 r[64];
    if (w->warp_id == 0) w->rt[u32(RtFn::MbarArrive)](w, 1, arrive.values, r);
    do w->rt[u32(RtFn::MbarTestWait)](w, w->live, wait.values, r);
    while (!r[0]);
    if (w->warp_id == 1) w->rt[u32(RtFn::MbarArrive)](w, 1, arrive.values, r);
  }
}

void mbarrier_cost(Gpu& gpu) {
  double best = 1e30;
  for (int again = 0; again < 5; ++again) {
    auto begin = Clock::now();
    run(gpu, ping_pong, nullptr, {.grid = {20, 1, 1}, .block = {64, 1, 1}});
    best = std::min(best, ns_since(begin));
  }
  std::printf("mbarrier hand-over between two warps: %.1f ns\n", best / (20.0 * kBarriers * 2));
}

void launch_latency(Gpu& gpu, bool yields) {
  std::atomic<u32> ended{0};
  std::vector<double> times;
  std::shared_ptr<const KernelCode> code = make([](WarpCtx*) {}, nullptr, {.yields = yields}, {})->code;
  for (u32 k = 1; k <= 20000; ++k) {
    auto launch = make([](WarpCtx*) {}, nullptr, {.yields = yields}, [&](const Fault&) { ended = k; });
    launch->code = code;
    auto begin = Clock::now();
    gpu.submit(std::move(launch));
    for (int tries = 0; ended != k;)
      if (++tries % 4096 == 0) sched_yield();
    times.push_back(ns_since(begin));
  }
  std::sort(times.begin(), times.end());
  std::printf("empty %s launch, submit to done: median %.0f ns, 95 %% %.0f ns\n",
              yields ? "blocking    " : "non-blocking", times[times.size() / 2], times[times.size() * 95 / 100]);
}

void cta_cost(Gpu& gpu, bool yields, u32 block) {
  double best = 1e30;
  for (int again = 0; again < 5; ++again) {
    auto begin = Clock::now();
    run(gpu, [](WarpCtx*) {}, nullptr, {.grid = {1'000'000, 1, 1}, .block = {block, 1, 1}, .yields = yields});
    best = std::min(best, ns_since(begin));
  }
  std::printf("empty %s CTA of %3u threads: %.1f ns\n", yields ? "blocking    " : "non-blocking", block, best / 1e6);
}

}  // namespace
}  // namespace us::device::testing

int main(int argc, char** argv) {
  using namespace us::device::testing;
  if (argc > 1) {
    us::device::GpuOptions o;
    o.workers = us::u32(std::atoi(argv[1]));
    us::device::Gpu gpu(o);
    for (int k = 0; k < 3; ++k) argc > 2 ? barrier_cost(gpu) : launch_latency(gpu, false);
    return 0;
  }
  fibre_switch();
  for (us::u32 workers : {1u, 2u}) {
    us::device::GpuOptions o;
    o.workers = workers;
    us::device::Gpu gpu(o);
    std::printf("--- %u worker%s\n", workers, workers == 1 ? "" : "s");
    barrier_cost(gpu);
    mbarrier_cost(gpu);
    for (bool yields : {false, true}) launch_latency(gpu, yields);
    for (bool yields : {false, true})
      for (us::u32 block : {32u, 256u}) cta_cost(gpu, yields, block);
  }
}
