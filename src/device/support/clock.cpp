// SPDX-License-Identifier: Apache-2.0
#include "device/support/clock.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace us::device {
namespace {
constexpr u64 kBeginning = 1'767'225'600'000'000'000;  // 2026-01-01, of a clock of its own
constexpr u32 kManyPasses = 1000;
constexpr u64 kShortStepNs = 1'000, kLongStepNs = 100'000;
constexpr u64 kSettledNs = 50'000'000;  // who waited for work that ended has gone on by then
constexpr u64 kSlowness = 64;           // of time while the host may submit something
constexpr u64 kHostShare = 4;           // what the host gets of a sleep, as a multiple
constexpr u64 kNapNs = 1'000'000, kMostNaps = 100;

template <class Source>
u64 nanoseconds() {
  return u64(std::chrono::duration_cast<std::chrono::nanoseconds>(Source::now().time_since_epoch()).count());
}
}  // namespace

u64 now_ns() { return nanoseconds<std::chrono::steady_clock>(); }

Clock::Clock(bool deterministic)
    : own_(deterministic),
      epoch_ns_(deterministic ? kBeginning : nanoseconds<std::chrono::system_clock>() - now_ns()) {}

bool Clock::closed(u64 now) const {
  return host.waiting.load(std::memory_order_acquire) > 0 && host.working.load(std::memory_order_acquire) == 0 &&
         now - host.changed_ns.load(std::memory_order_acquire) > kSettledNs;
}

// Other warps must not run meanwhile: how far they get would depend on the host.
void Clock::wait_for_host(u64 slept_ns) {
  owed_ns_ += kHostShare * slept_ns;
  for (u64 naps = 0;; ++naps) {
    const u64 now = now_ns();
    owed_ns_ -= std::min(owed_ns_, now - std::exchange(slept_ns_, now));
    if (closed(now) || naps == kMostNaps) owed_ns_ = 0;
    if (owed_ns_ < kNapNs) return;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kNapNs));
  }
}

u64 Clock::step() {
  const u64 now = now_ns(), passed = seen_ns_ ? now - seen_ns_ : 0;
  seen_ns_ = now;
  if (!closed(now)) {
    vain_ = 0;
    return std::min(passed / kSlowness, kShortStepNs);
  }
  return ++vain_ < kManyPasses ? kShortStepNs : kLongStepNs;
}

}  // namespace us::device
