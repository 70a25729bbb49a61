// SPDX-License-Identifier: Apache-2.0
// CTAs that wait for what others write: which write ended which look at memory, and how long looks last by that.
//
// Each warp is a chain of events: what it tells others (strong stores, atomics) and its looks that loops wait for. The
// time between two of them is its own: what the same two take where they are replayed. A look ends when its own time
// has passed, and no sooner than what it saw has come from where it was written.
#pragma once
#include <map>
#include <unordered_map>
#include <vector>

#include "probe/records.h"
#include "timing/multiprocessor.h"

namespace us::timing {

class HandOvers {
 public:
  HandOvers(const Parameters& p, u32 sms, u32 resident, u64 ctas)
      : p_(p), sms_(sms), resident_(resident), ctas_(static_cast<std::size_t>(ctas)) {}
  // An access of global memory, in the order in which they happened; its number, 0: too many. `looks`: a loop waits for
  // it. `answers`: it brings something. `again`: it stands for the one before it of its warp.
  u32 add(const probe::Record&, bool looks, bool answers, bool again);
  bool any() const { return looks_ > 0; }
  // Where nobody waited.
  void replayed(const SmTime&, const std::vector<const TimedCta*>&);
  // Then: cycles by which the last CTA ends behind the last of those that were replayed.
  double solve();
  double wait_of(u32 event) const { return times_[event].waits; }  // cycles behind its own time

 private:
  static constexpr u32 kBegin = ~0u, kEnd = ~1u;  // of a CTA, in place of a site
  struct Event {
    u32 cta = 0, warp = 0, site = 0;
    u32 before = 0, from = 0;  // of its warp; what it saw
    bool changes = false;      // what it sees
    u64 turn = 0;              // in the order of all; of looks that stand for others the last
  };
  struct Times {
    double issued = 0, done = 0, waits = 0;
  };
  struct Mean {
    double sum = 0, count = 0;
    void add(double t) { sum += t, ++count; }
    double of(double otherwise) const { return count > 0 ? sum / count : otherwise; }
  };
  double own(u32 from, u32 to) const;  // sites
  double start_of(u32 cta);
  void start_up_to(u32 cta);

  const Parameters& p_;
  const u32 sms_, resident_;
  const std::size_t ctas_;
  std::vector<Event> events_{1};  // number 0 is none
  std::unordered_map<u64, u32> last_of_warp_, last_of_word_;
  std::vector<u32> last_of_cta_;
  u64 looks_ = 0, turns_ = 0;
  std::map<std::pair<u32, u32>, Mean> between_;
  std::map<u32, Mean> before_, answers_;  // by site
  std::vector<Mean> starts_;              // of the CTAs of a multiprocessor that are there first
  Mean lasts_;                            // of CTAs, cycles
  std::vector<u32> of_replay_;            // CTAs
  std::vector<Times> times_;
  std::vector<double> begun_;  // by CTA
  std::vector<double> ended_;  // a heap: places that are free again
  u32 next_ = 0;               // CTA that begins
};

}  // namespace us::timing
