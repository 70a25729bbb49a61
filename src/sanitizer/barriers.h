// SPDX-License-Identifier: Apache-2.0
// The 16 barriers of a CTA.
#pragma once
#include <vector>

#include "sanitizer/clocks.h"

namespace us::sanitizer {

struct NamedBarrier {
  struct Arrival {
    u32 warp = 0, lanes = 0, live = 0, site = 0, threads = 0;
    bool only = false;  // bar.arrive
    bool aligned = false;
  };
  struct Phase {
    u32 generation = ~0u;
    View known;
    std::vector<Arrival> arrivals;
    bool done = false, twice = false;  // twice: a warp arrived for it that had arrived for it before
    // Only whole warps that know nothing apart have arrived, for a barrier of all threads: what they know is not in
    // `known`, but put together when it is done.
    bool whole = true;
    void begin(u32 next) {
      if (!whole) known = {};
      arrivals.clear();
      generation = next, done = twice = false, whole = true;
    }
  };
  Phase& phase(u32 generation) {
    Phase& p = phases[generation & 3];
    if (p.generation != generation) p.begin(generation);
    return p;
  }
  void clear() {
    if (!agent && !last_done) return;
    for (Phase& p : phases) p.begin(~0u);
    agent = last_done = 0;
  }
  std::array<Phase, 4> phases;
  u32 agent = 0;      // slot whose clock is the generation: who knows that a phase is over
  u32 last_done = 0;  // phases
};

}  // namespace us::sanitizer
