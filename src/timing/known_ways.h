// SPDX-License-Identifier: Apache-2.0
// What accesses of a warp take of shared memory and L1, kept: most are like one before them.
#pragma once
#include <vector>

#include "timing/lines.h"

namespace us::timing {

struct Ways {
  Wavefronts wavefronts;
  u32 look_ups = 0;  // Lines::look_ups
  u32 most() const { return std::max(look_ups, wavefronts.wavefronts); }
};

class KnownWays {
 public:
  Ways of(const probe::Record& r) {
    using Addresses = probe::RecordCode::Addresses;
    if (r.code.addresses == Addresses::Each) return look(r);
    const u64* const pattern = r.code.addresses == Addresses::Pattern ? r.each : nullptr;
    // Banks repeat each line, lines are looked up by whether they are even or odd.
    const u32 place = static_cast<u32>(r.first % (2 * kLineBytes)), code = r.code.pack();
    const u64 mixed = (r.lanes ^ u64{place} << 40 ^ u64{code} << 20) * 0x9e3779b97f4a7c15ull;
    Known& k = known_[mixed >> 32 & (kKnown - 1)];
    if (k.lanes != r.lanes || k.place != place || k.code != code || k.pattern != pattern)
      k = {r.lanes, place, code, pattern, look(r)};
    return k.ways;
  }

 private:
  static Ways look(const probe::Record& r) { return {wavefronts_of(r), Lines(r).look_ups()}; }
  struct Known {
    u32 lanes = 0, place = ~0u, code = 0;
    const u64* pattern = nullptr;
    Ways ways;
  };
  static constexpr u64 kKnown = 256;
  std::vector<Known> known_ = std::vector<Known>(kKnown);
};

}  // namespace us::timing
