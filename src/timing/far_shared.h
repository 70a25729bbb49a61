// SPDX-License-Identifier: Apache-2.0
// Shared memory of the other CTAs of a cluster: what a multiprocessor asks of its neighbours.
#pragma once
#include <algorithm>
#include <bit>

#include "timing/lines.h"
#include "timing/parameters.h"

namespace us::timing {

class FarShared {
 public:
  explicit FarShared(const Parameters& p) : p_(p) {}

  // The lanes that leave the window of the CTA.
  static u32 leaving(const probe::Record& r, u32 rank) {
    u32 out = 0;
    for (u32 lanes = r.lanes; lanes; lanes &= lanes - 1)
      if (r.address(static_cast<u32>(std::countr_zero(lanes))) / probe::kCtaStride != rank) out |= lanes & ~(lanes - 1);
    return out;
  }
  static probe::Record of_lanes(probe::Record r, u32 lanes) { return r.lanes = lanes, r; }
  struct Done {
    double taken = 0, answered = 0;
  };
  Done load(const probe::Record& r, double at) {
    const Lines lines(r);
    return take(at, p_.far_line * lines.count() + p_.far_sector * lines.sectors());
  }
  Done store(const probe::Record& r, double at) { return take(at, cost_of_store(r)); }
  Done atomic(const probe::Record& r, double at) { return take(at, p_.far_atomic * Lines(r).sectors()); }

 private:
  // Parts of 16 bytes: whole ones go faster than those of which lanes write some bytes.
  double cost_of_store(const probe::Record& r) const {
    constexpr u64 kPart = 16;
    double cycles = 0;
    u64 part = ~u64{0};
    u32 bytes = 0;
    const auto tell = [&] { cycles += !bytes ? 0 : bytes < kPart ? p_.far_part : p_.far_whole_part; };
    for (u32 lanes = r.lanes; lanes; lanes &= lanes - 1) {
      const u64 a = r.address(static_cast<u32>(std::countr_zero(lanes)));
      for (u64 k = a / kPart, end = a + std::max(1u, r.code.bytes); k * kPart < end; ++k) {
        if (k != part) tell(), part = k, bytes = 0;
        bytes += static_cast<u32>(std::min(end, (k + 1) * kPart) - std::max(a, k * kPart));
      }
    }
    return tell(), cycles;
  }
  Done take(double at, double cycles) {
    until_ = std::max(until_, at) + cycles;
    return {until_, until_ + p_.far_latency};
  }

  const Parameters& p_;
  double until_ = 0;  // when the way to the neighbours is free
};

}  // namespace us::timing
