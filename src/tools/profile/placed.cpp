// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/placed.h"

#include <map>

namespace us::tools {
namespace {

using timing::KernelTime, timing::LaunchProfile, timing::ReusedTime, timing::Timeline, timing::WorkProfile;

struct Told {
  std::vector<const WorkProfile*> work;
  std::map<u64, const LaunchProfile*> launches;  // by node
  std::map<u64, const ReusedTime*> reused;
};

std::optional<KernelTime> time_of(const PlacedWork& w) {
  if (!w.timed()) return std::nullopt;
  if (w.launch) return timing::kernel_time(*w.launch);
  return w.reused->takes;
}

class Process {
 public:
  explicit Process(const Told& t) : told_(t), timeline_(timing::parameters_of(device(t))) {}

  std::vector<PlacedWork> run() {
    for (const WorkProfile* w : told_.work) submit(*w);
    // Nobody told when these could begin.
    for (const auto& [node, l] : told_.launches)
      if (!seen_.contains(node)) submit({.kind = WorkProfile::Kind::Kernel, .node = node, .on_device = true});
    for (PlacedWork& p : all_)
      if (const auto s = timeline_.span(p.work.node)) p.span = *s;
    return std::move(all_);
  }

 private:
  // Of its first kernel.
  static std::string_view device(const Told& t) {
    return t.launches.empty() ? "" : std::string_view(t.launches.begin()->second->residency.device);
  }
  void submit(const WorkProfile& w) {
    using Kind = WorkProfile::Kind;
    if (w.kind == Kind::Waited || w.kind == Kind::Passed) return timeline_.submit(w);
    PlacedWork p{.work = w, .span = {}};
    seen_[w.node] = true;
    if (const auto l = told_.launches.find(w.node); l != told_.launches.end()) p.launch = l->second;
    if (const auto r = told_.reused.find(w.node); r != told_.reused.end()) p.reused = *r->second;
    if (w.kind == Kind::Kernel) timeline_.took(w.node, time_of(p));
    timeline_.submit(w);
    timeline_.complete(w.node);
    all_.push_back(std::move(p));
  }

  const Told& told_;
  Timeline timeline_;
  std::vector<PlacedWork> all_;
  std::map<u64, bool> seen_;
};

}  // namespace

std::vector<PlacedProcess> placed(const std::vector<LaunchProfile>& launches, const ProfiledWork& w) {
  std::map<u32, Told> of;
  for (const LaunchProfile& l : launches) of[l.process].launches[l.node] = &l;
  for (const ReusedTime& r : w.reused) of[r.process].reused[r.node] = &r;
  for (const WorkProfile& p : w.work) of[p.process].work.push_back(&p);
  std::vector<PlacedProcess> all;
  for (const auto& [number, told] : of) all.push_back({number, Process(told).run()});
  return all;
}

}  // namespace us::tools
