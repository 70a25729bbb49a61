// SPDX-License-Identifier: Apache-2.0
// An mbarrier object: its counts, what its phases publish, and who did what to it.
#pragma once
#include <unordered_map>
#include <vector>

#include "sanitizer/locations.h"

namespace us::sanitizer {

struct MbarrierObject {
  struct Group {  // arrivals of one phase by threads that scopes do not tell apart
    Place place;
    probe::Scope scope = probe::Scope::Cta;
    u32 warp = 0, lane = 0, site = 0;  // the first one
    bool relaxed = false;
    View known;
  };
  struct Step {  // what was done, for reports
    u32 site = 0, warp = 0, lane = 0;
    u64 cta = 0;
    u64 phase = 0;
    i64 amount = 0;
    Clock clock = 0;  // of an arrival by a thread; 0: nobody has to know of it
  };
  bool live = false, was_live = false;
  bool surplus = false;  // at the end bytes are left over
  u32 slot = 0;
  u32 expected = 0;
  i64 pending = 0, tx = 0;
  u64 phase = 0, first_phase = 0;  // completed ones; what it was when the object was initialised
  u64 seen = 0;                    // completed ones, as somebody has seen: by a relaxed wait, too
  Step init;
  Step copy;  // the last copy that reports to it
  bool copied = false;
  u32 init_segment = 0;
  std::vector<Group> arriving, published;          // of this phase, and of the last one
  std::vector<Step> expects, arrivals, delivered;  // of this phase; the first few
  std::vector<Step> arrived_before;                // of the phase before
  // cta << 10 | thread: who has arrived in this phase, in the last one; and Cluster::deliveries then
  std::unordered_map<u64, u64> came, came_before;
  u64 deliveries = 0, deliveries_before = 0;  // Cluster::deliveries at the last arrival of this phase, of the last one
  struct Token {                              // what an arrival of a thread returned
    u64 state = 0, phase = 0;
  };
  std::map<u64, u64> newest;                           // of each state that an arrival returned: its last phase
  std::unordered_map<u64, std::vector<Token>> tokens;  // by thread, as above: the last few
};

}  // namespace us::sanitizer
