// SPDX-License-Identifier: Apache-2.0
// Loops around a compare-and-swap of shared memory, which the compiler makes for what shared memory has no instruction
// for (sums of floating point, of 64 bits): load, compute, swap, and again for those lanes whose word another has
// changed in between.
#pragma once
#include <bit>
#include <map>

#include "probe/records.h"

namespace us::timing {

// The words of a CTA, and when each was changed last.
class SwappedWords {
 public:
  // Of the lanes of the record, who have seen their words at `looked`, those that have changed them at `now`: the first
  // of each bank, with words of 64 bits of each half of a warp (oracle/timing/meets.txt: shared_at_random turns as
  // often as most lanes have one bank).
  u32 swap(const probe::Record& r, double looked, double now) {
    u32 done = 0, taken = 0;
    for (u32 left = r.lanes; left; left &= left - 1) {
      const u32 l = static_cast<u32>(std::countr_zero(left));
      const u32 bank = bank_of(r, l);
      if (taken >> bank & 1) continue;
      taken |= 1u << bank;
      const auto [at, fresh] = changed_.try_emplace(r.address(l), now);
      if (!fresh && at->second > looked) continue;
      at->second = now, done |= 1u << l;
    }
    return done;
  }

 private:
  static u32 bank_of(const probe::Record& r, u32 lane) {
    return static_cast<u32>(r.code.bytes > 4 ? r.address(lane) / 8 % 16 + (lane & 16) : r.address(lane) / 4 % 32);
  }
  std::map<u64, double> changed_;
};

}  // namespace us::timing
