// SPDX-License-Identifier: Apache-2.0
#include "device/watch.h"

#include <fmt/format.h>

#include "device/barrier.h"
#include "device/machine.h"
#include "device/rt.h"

namespace us::device {
namespace {
// All warps of the cluster wait at barriers: only they could wake each other.
bool cannot_go_on(const Slot& s) {
  if (s.in_flight) return false;
  for (u32 r = 0; r < s.grid->cluster_ctas; ++r) {
    const Cta& c = *s.cta[r];
    if (c.ready | c.spun | c.polling) return false;
  }
  return true;
}

void describe(const Slot& s, std::string& text) {
  for (u32 r = 0; r < s.grid->cluster_ctas; ++r)
    for (u32 k = 0; k < s.grid->cta_warps; ++k) {
      Warp& w = *s.cta[r]->warp[k];
      if (w.ended) continue;
      text += fmt::format("\n{}\n    waits for {}", place_of(w, w.live, line_of_call(w)),
                          w.wait == Wait::Barrier ? barrier_state(*w.home, w.wait_barrier) : "nothing known");
    }
}
}  // namespace

bool watch(Worker& worker, const std::vector<Slot*>& resident) {
  for (Slot* s : resident) {
    if (!cannot_go_on(*s)) continue;
    std::string text = "deadlock: no thread of the block can run";
    describe(*s, text);
    worker.machine.fail(s->grid, Fault{Outcome::Deadlock, std::move(text)});
    return true;
  }
  return false;
}

}  // namespace us::device
