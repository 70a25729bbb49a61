// SPDX-License-Identifier: Apache-2.0
// What a launch executes of the machine code, and how long an H200 would take: all warps are walked, and the CTAs of a
// few multiprocessors replayed.
#pragma once
#include <functional>
#include <memory>

#include "timing/footprint.h"
#include "timing/hand_overs.h"
#include "timing/kernel_code.h"
#include "timing/launch_profile.h"
#include "timing/slices.h"
#include "timing/traces.h"

namespace us::timing {

class LaunchTime {
 public:
  // `l2`: what launches before it have left there, and it leaves; null: there is nothing, as under Nsight Compute.
  LaunchTime(std::shared_ptr<KernelCode>, const LaunchProfile&, std::shared_ptr<Footprint> l2 = nullptr,
             Footprint::Memory = {});
  // What records of the launch say, in the order in which CTAs run: the warp comes to a block,
  void enter_block(u32 cta, u32 warp, u32 site, u32 lanes, probe::Detour d) {
    traces_.enter_block(cta, warp, site, lanes, d);
  }
  void end_cta(u32 cta) { traces_.end_cta(cta); }
  // and an access, or what it does with mbarriers; the words that the record was read from. `lines`: of an access of
  // global memory, if they are known.
  void add(const probe::Record&, const u64* begin, const u64* end, const Lines* lines = nullptr);
  bool hears(u32 cta) { return traces_.hears(cta); }  // of accesses that are not of global memory, too
  void finish(LaunchProfile&, bool what_ifs = true);
  u64 lines() const { return lines_; }  // that came to L2; when it is finished

 private:
  bool wanted(u32 cta) const;  // to be kept: some of them are replayed
  bool chosen(u32 cta) const;  // by its multiprocessor
  bool with_the_last(u32 cta) const;
  bool last_is_special() const;
  Footprint::Reader reader(const probe::Record&);
  float bring(const probe::Record&);
  float touch(const probe::Record&, const Lines*);
  float touch_atomic(const probe::Record&);
  float touch_line(const probe::Record&, const Lines::Line&, bool write, Footprint::As);
  float span(const probe::Record&, u64 first, u64 end, bool write);
  void store(const Lines::Line&, bool narrow);
  void ask(u32 cta, float sectors);
  u32 hand_over(const probe::Record&);
  double wait_for_others(const TimedLaunch&, std::vector<TimedCta>&);
  void count(LaunchProfile&);
  void count_turns(const std::vector<SmTime::Turns>&, LaunchProfile&) const;
  std::string why_not(const LaunchProfile&) const;  // there is no model of the launch
  std::vector<TimedCta> replayed();
  TimedLaunch launch_of(const LaunchProfile&, const Footprint::Traffic&) const;
  void tell_warps(const SmTime&, const std::vector<const TimedCta*>&, LaunchProfile&) const;
  // Cycles of the multiprocessor that takes longest; `tell` hears of each that was replayed.
  using Tell = std::function<void(const SmTime&, const std::vector<const TimedCta*>&)>;
  double replay(const TimedLaunch&, const std::vector<TimedCta>&, const Parameters&, const Tell& tell) const;
  struct Whole {
    double cycles = 0, load = 1;  // Balance::Of::load
  };
  Whole whole(const SmTime&, const std::vector<const TimedCta*>&, const Balance&) const;
  double busiest_address(double first) const;
  double busiest_slice() const;
  u64 picoseconds(double longest) const;
  void ask_what_if(const TimedLaunch&, const std::vector<TimedCta>&, double first_atomic, double rest,
                   LaunchProfile&) const;
  std::vector<std::vector<const TimedCta*>> by_multiprocessor(const std::vector<TimedCta>&) const;

  const Parameters parameters_;
  const std::shared_ptr<KernelCode> code_;
  const u32 warps_, sms_, resident_;
  const u64 ctas_;
  u64 step_ = 1;         // between the CTAs that are replayed of a small grid
  u64 most_per_sm_ = 0;  // CTAs of each
  const bool l2_is_kept_;
  const std::shared_ptr<Footprint> l2_;
  Footprint& footprint_;
  u64 lines_ = 0;
  bool behind_ = false;                       // TimedAccess, of what is looked at
  Slices of_stores_, of_atomics_, of_again_;  // of stores those that overlap others
  StoreBuffer stores_;
  u64 first_sector_ = ~u64{0};                   // of the last atomic
  double atomics_told_ = 0, atomics_apart_ = 0;  // records, and those that begin elsewhere than the one before
  StoredAgain again_;                            // of the multiprocessors that were replayed
  u64 stored_ = 0;                               // bytes, each time
  std::unordered_map<u64, double> atomics_;      // cycles, by address
  double asked_ = 0;                             // sectors that L2 lacked
  std::unordered_map<u32, double> asked_of_;     // ... of CTAs that may be replayed
  // Sites: atomics of floating point, compare-and-swap, those that one lane does for all.
  std::vector<bool> floats_, swaps_, joined_;
  enum class Tells : u8 { Nothing, Others, Both };  // others, and with an answer
  std::vector<Tells> tells_;                        // by site
  bool looks_ = false;                              // some load may wait for others
  HandOvers hand_overs_;
  std::vector<u32> slot_of_site_;
  Traces traces_;
  std::vector<double> instructions_;  // of each path
};

}  // namespace us::timing
