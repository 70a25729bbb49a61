// SPDX-License-Identifier: Apache-2.0
// What an access of shared memory takes of the pipe that all sub-partitions share.
#pragma once
#include <algorithm>

#include "timing/accesses.h"
#include "timing/rows.h"

namespace us::timing {

struct SharedCost {
  double cycles = 1, more = 0;  // of the pipe; until the result is there, beyond those of an access without conflicts
};
inline SharedCost shared_cost(const Row& r, const probe::Record& record, const Wavefronts& f, const Parameters& p) {
  SharedCost c{std::max<double>(r.words, f.wavefronts), p.shared_way * (f.wavefronts - f.passes)};
  // Lanes that ask for the same have it sooner (oracle/timing/mixes.txt, wide_shared: 4.5 cycles for 8 and 16 bytes).
  if (r.kind == Row::Kind::SharedLoad && f.wavefronts < r.words) c.cycles = (r.words + f.wavefronts) / 2.0;
  if (r.spins) {  // whatever the conflicts: who meets another lane tries again
    const u32 halves = ((record.lanes & 0xffff) != 0) + (record.lanes >> 16 != 0);
    return {r.words > 1 ? p.shared_cast_half * halves : p.shared_cast, 0};
  }
  if (r.kind == Row::Kind::SharedAtomic && !r.counts) {  // lanes at one address take turns
    const double each = r.swaps ? p.shared_swap : p.shared_atomic, ways = most_at_one_address(record);
    c.cycles = std::max(c.cycles, each * ways), c.more = std::max(c.more, 2.1 * each * (ways - 1));
  }
  return c;
}

}  // namespace us::timing
