// SPDX-License-Identifier: Apache-2.0
// What a launch executes of the machine code, and how long an H200 would take: all warps are walked, and the CTAs of a
// few multiprocessors replayed.
#pragma once
#include <functional>
#include <memory>

#include "timing/footprint.h"
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
  // A record of the launch, and the words that it was read from; in the order in which CTAs run.
  void add(const probe::Record& r, const u64* begin, const u64* end) {
    using Kind = probe::RecordCode::Kind;
    if (r.code.kind == Kind::Block) return traces_.enter_block(r);
    if (r.code.kind == Kind::End) return traces_.end_cta(r.cta);
    add_access(r, begin, end);
  }
  void finish(LaunchProfile&, bool what_ifs = true);
  u64 lines() const { return lines_; }  // that came to L2; when it is finished

 private:
  void add_access(const probe::Record&, const u64* begin, const u64* end);
  bool wanted(u32 cta) const;
  Footprint::Reader reader(const probe::Record&);
  float bring(const probe::Record&);
  float touch(const probe::Record&);
  float touch_atomic(const probe::Record&);
  float span(const probe::Record&, u64 first, u64 end, bool write);
  float store(const probe::Record&, u64 line, const u8 (&bytes)[4]);
  void count(LaunchProfile&);
  std::string why_not(const LaunchProfile&) const;  // there is no model of the launch
  std::vector<TimedCta> replayed();
  TimedLaunch launch_of(const LaunchProfile&, const Footprint::Traffic&) const;
  void tell_warps(const SmTime&, const std::vector<const TimedCta*>&, LaunchProfile&) const;
  // Cycles of the multiprocessor that takes longest; `tell` hears of each that was replayed.
  using Tell = std::function<void(const SmTime&, const std::vector<const TimedCta*>&)>;
  double replay(const TimedLaunch&, const std::vector<TimedCta>&, const Parameters&, const Tell& tell) const;
  double whole(const SmTime&, const std::vector<const TimedCta*>&, const Balance&) const;
  double busiest_address() const;
  double busiest_slice() const;
  u64 picoseconds(double longest) const;
  void ask_what_if(const TimedLaunch&, const std::vector<TimedCta>&, LaunchProfile&) const;
  std::vector<std::vector<const TimedCta*>> by_multiprocessor(const std::vector<TimedCta>&) const;

  const Parameters parameters_;
  const std::shared_ptr<KernelCode> code_;
  const u32 warps_, sms_, resident_;
  const u64 ctas_;
  u64 step_ = 1;         // between the multiprocessors that are replayed
  u64 most_per_sm_ = 0;  // CTAs of each
  const bool l2_is_kept_;
  const std::shared_ptr<Footprint> l2_;
  Footprint& footprint_;
  u64 lines_ = 0;
  Slices of_stores_, of_atomics_;
  StoreBuffer stores_;
  u64 stored_ = 0;                           // sectors, each time
  std::unordered_map<u64, double> atomics_;  // cycles, by address
  // Sites: atomics of floating point, compare-and-swap, those that one lane does for all.
  std::vector<bool> floats_, swaps_, joined_;
  std::vector<u32> slot_of_site_;
  Traces traces_;
  std::vector<double> instructions_;  // of each path
};

}  // namespace us::timing
