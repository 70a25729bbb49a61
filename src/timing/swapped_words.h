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
  // of each word.
  u32 swap(const probe::Record& r, double looked, double now) {
    u32 done = 0;
    for (u32 left = r.lanes; left; left &= left - 1) {
      const u32 l = static_cast<u32>(std::countr_zero(left));
      const auto [at, fresh] = changed_.try_emplace(r.address(l), now);
      if (!fresh && at->second > looked) continue;
      at->second = now, done |= 1u << l;
    }
    return done;
  }

 private:
  std::map<u64, double> changed_;
};

}  // namespace us::timing
