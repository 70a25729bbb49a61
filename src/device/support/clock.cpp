// SPDX-License-Identifier: Apache-2.0
#include "device/support/clock.h"

#include <algorithm>
#include <chrono>

namespace us::device {
namespace {
constexpr u64 kBeginning = 1'767'225'600'000'000'000;  // 2026-01-01, of a clock of its own
constexpr u32 kManyPasses = 1000;
constexpr u64 kShortStepNs = 1'000, kLongStepNs = 100'000;
constexpr u64 kSettledNs = 50'000'000;  // who waited for work that ended has gone on by then
constexpr u64 kSlowness = 64;           // of time while the host may submit something

template <class Source>
u64 nanoseconds() {
  return u64(std::chrono::duration_cast<std::chrono::nanoseconds>(Source::now().time_since_epoch()).count());
}
}  // namespace

u64 now_ns() { return nanoseconds<std::chrono::steady_clock>(); }

Clock::Clock(bool deterministic)
    : own_(deterministic),
      epoch_ns_(deterministic ? kBeginning : nanoseconds<std::chrono::system_clock>() - now_ns()) {}

u64 Clock::step() {
  const u64 now = now_ns(), passed = seen_ns_ ? now - seen_ns_ : 0;
  seen_ns_ = now;
  const bool closed = host.waiting.load(std::memory_order_acquire) > 0 &&
                      host.working.load(std::memory_order_acquire) == 0 &&
                      now - host.changed_ns.load(std::memory_order_acquire) > kSettledNs;
  if (!closed) {
    vain_ = 0;
    return std::min(passed / kSlowness, kShortStepNs);
  }
  return ++vain_ < kManyPasses ? kShortStepNs : kLongStepNs;
}

}  // namespace us::device
