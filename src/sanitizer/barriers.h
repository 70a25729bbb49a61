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
  };
  Phase& phase(u32 generation) {
    Phase& p = phases[generation & 3];
    if (p.generation != generation) p = {}, p.generation = generation;
    return p;
  }
  std::array<Phase, 4> phases;
  u32 agent = 0;      // slot whose clock is the generation: who knows that a phase is over
  u32 last_done = 0;  // phases
};

}  // namespace us::sanitizer
