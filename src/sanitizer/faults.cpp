// SPDX-License-Identifier: Apache-2.0
// A launch that ended with a fault: what the device refused, by the name of its check, and where.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {
namespace {

using probe::Refused;

struct Named {  // what was refused, what that is, what the thread did
  Refused what;
  Check check;
  const char* action;
};
constexpr Named kFaults[] = {
    {Refused::Global, Check::BoundsGlobal, "access"},
    {Refused::Shared, Check::BoundsShared, "access"},
    {Refused::Local, Check::BoundsLocal, "access"},
    {Refused::Free, Check::InvalidFree, "free"},
    {Refused::Alignment, Check::Misaligned, "access"},
    {Refused::CopySize, Check::AsyncOperand, "asynchronous copy"},
    {Refused::CopyAddress, Check::Misaligned, "asynchronous copy"},
    {Refused::MbarrierAddress, Check::Misaligned, "mbarrier operation"},
    {Refused::Barrier, Check::BarrierCount, "barrier"},
    {Refused::Membermask, Check::WarpMask, "warp instruction"},
    {Refused::Warpgroup, Check::WarpConverged, "wgmma"},
    {Refused::ClusterRank, Check::ClusterRank, "multicast copy"},
    {Refused::ClusterArrival, Check::ClusterBarrier, "barrier.cluster.arrive"},
    {Refused::EndedBlock, Check::ClusterExit, "access"},
    {Refused::MatrixOperand, Check::BoundsShared, "wgmma"},
};

bool explains(Check c) {
  constexpr Check kCauses[] = {Check::BoundsGlobal, Check::BoundsShared, Check::BoundsLocal,    Check::BoundsConst,
                               Check::Misaligned,   Check::UseAfterFree, Check::ClusterExit,    Check::ClusterRank,
                               Check::BarrierCount, Check::AsyncOperand, Check::ClusterBarrier, Check::WarpMask,
                               Check::InvalidFree};
  return std::find(std::begin(kCauses), std::end(kCauses), c) != std::end(kCauses);
}

bool stands_at(const probe::SiteInfo& s, const probe::SiteInfo& place) {
  if (s.frames.empty() || place.frames.empty()) return false;
  const probe::Frame &a = s.frames[0], &b = place.frames[0];
  if (!a.line && !b.line) return s.ptx_line == place.ptx_line && s.text == place.text;
  return a.line == b.line && a.file == b.file;
}

}  // namespace

// A finding that says why the device refused what stands there.
// Tests of addresses may be made behind the next accesses are told: then the warp has one.
bool LaunchChecker::explained(const probe::SiteInfo& place, const Actors& who) const {
  if (place.frames.empty()) return false;
  const std::string warp = fmt::format("warp {}", who.warp), text = thread_text(who.cta, who.warp, who.lane);
  const std::string block = text.substr(std::min(text.size(), text.find(" of ")));
  return process_.collector.any([&](const Finding& f) {
    if (f.launch != info_->id || !explains(f.check) || f.parties.empty()) return false;
    const std::string& by = f.parties[0].who;
    return stands_at(f.parties[0].site, place) || (by.find(warp) != by.npos && by.ends_with(block));
  });
}

void LaunchChecker::refused(const probe::Fault& fault, const std::string& text) {
  Finding f;
  f.check = Check::DeviceFault, f.launch = info_->id, f.kernel = info_->kernel;
  Actors who{.action = "access", .site = fault.site, .cta = key(fault.cta), .warp = fault.warp, .lane = kEveryLane};
  if (std::popcount(fault.lanes) == 1) who.lane = static_cast<u32>(std::countr_zero(fault.lanes));
  const probe::SiteInfo place = site_of(info_->id, fault.site);
  if (explained(place, who)) return;
  for (const Named& n : kFaults) {
    if (n.what == fault.refused) f.check = n.check, who.action = n.action;
  }
  const auto of_grid = [](const probe::Frame& at) { return at.function.find("grid_group::sync") != std::string::npos; };
  if (fault.refused == Refused::Trap && std::any_of(place.frames.begin(), place.frames.end(), of_grid))
    f.check = Check::GridSync, who.action = "grid.sync";
  if (f.check == Check::DeviceFault && fatal_) return;  // what was found ends the kernel
  if (f.check != Check::DeviceFault) {
    f.parties = {party(who)};
    f.why = {text.substr(0, text.find('\n'))};
  } else {
    f.object = text;
    if (fault.lanes) f.parties = {party(who)};
  }
  const Collector::Key k{f.check, info_->kernel, 0, 0, text};
  if (process_.collector.count(k, 0)) process_.collector.keep(k, std::move(f));
}

}  // namespace us::sanitizer
