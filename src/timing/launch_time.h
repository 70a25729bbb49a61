// SPDX-License-Identifier: Apache-2.0
// What a launch executes of the machine code, and how long an H200 would take: all warps are walked, and the CTAs of a
// few multiprocessors replayed.
#pragma once
#include <memory>

#include "timing/footprint.h"
#include "timing/kernel_code.h"
#include "timing/launch_profile.h"
#include "timing/traces.h"

namespace us::timing {

class LaunchTime {
 public:
  LaunchTime(std::shared_ptr<KernelCode>, const LaunchProfile&);
  // A record of the launch, and the words that it was read from; in the order in which CTAs run.
  void add(const probe::Record&, const u64* begin, const u64* end);
  void finish(LaunchProfile&);

 private:
  bool wanted(u32 cta) const;
  u32 bring(const probe::Record&);
  u32 touch(const probe::Record&);
  u32 span(u64 first, u64 end);
  void count(LaunchProfile&);
  std::string why_not(const LaunchProfile&) const;  // there is no model of the launch
  std::vector<TimedCta> replayed();
  TimedLaunch launch_of(const LaunchProfile&) const;
  std::vector<std::vector<const TimedCta*>> by_multiprocessor(const std::vector<TimedCta>&) const;

  const Parameters parameters_;
  const std::shared_ptr<KernelCode> code_;
  const u32 warps_, sms_, resident_;
  const u64 ctas_;
  u64 step_ = 1;         // between the multiprocessors that are replayed
  u64 most_per_sm_ = 0;  // CTAs of each
  Footprint footprint_;
  u64 read_ = 0, written_ = 0;            // sectors that DRAM gave, that were written first
  std::unordered_map<u64, u64> atomics_;  // lanes, by address
  std::vector<u32> slot_of_site_;
  Traces traces_;
};

}  // namespace us::timing
