// SPDX-License-Identifier: Apache-2.0
// A launch that ended with a fault: what the device refused, by the name of its check, and where.
#include <algorithm>
#include <charconv>
#include <string_view>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {
namespace {

constexpr u32 kMostSites = 1 << 20;

struct Named {  // part of the device's text, what it is, what the thread did
  std::string_view part;
  Check check;
  const char* action;
};
constexpr Named kFaults[] = {
    {"bulk copy: the size is", Check::AsyncOperand, "asynchronous copy"},
    {"bulk copy: ", Check::Misaligned, "asynchronous copy"},
    {"cp.async of ", Check::Misaligned, "cp.async"},
    {"mbarrier at shared address ", Check::Misaligned, "mbarrier operation"},
    {"multicast to CTAs ", Check::ClusterRank, "multicast copy"},
    {"which has ended; expected barrier.cluster", Check::ClusterExit, "access"},
    {"barrier.cluster.arrive: these threads have arrived", Check::ClusterBarrier, "barrier.cluster.arrive"},
    {"wgmma.mma_async: a matrix sticks out of", Check::BoundsShared, "wgmma"},
};

std::string_view base_name(std::string_view file) { return file.substr(file.rfind('/') + 1); }

std::string_view line_with(std::string_view text, std::string_view mark) {
  const auto at = text.find(mark);
  if (at == text.npos) return {};
  text.remove_prefix(at + mark.size());
  return text.substr(0, text.find('\n'));
}

bool explains(Check c) {
  constexpr Check kCauses[] = {Check::BoundsGlobal, Check::BoundsShared, Check::BoundsLocal,   Check::BoundsConst,
                               Check::Misaligned,   Check::UseAfterFree, Check::ClusterExit,   Check::ClusterRank,
                               Check::BarrierCount, Check::AsyncOperand, Check::ClusterBarrier};
  return std::find(std::begin(kCauses), std::end(kCauses), c) != std::end(kCauses);
}

bool stands_at(const probe::SiteInfo& s, const probe::Frame& place) {
  return !s.frames.empty() && s.frames[0].line == place.line && base_name(s.frames[0].file) == base_name(place.file);
}

// "file:line", as the device writes it.
probe::Frame frame_of(std::string_view place) {
  probe::Frame f;
  const auto colon = place.rfind(':');
  if (colon == place.npos) return f;
  f.file = place.substr(0, colon);
  std::from_chars(place.data() + colon + 1, place.data() + place.size(), f.line);
  return f;
}

}  // namespace

// The device names the innermost line only: the calls around it are those of the sites there, if they agree.
probe::SiteInfo LaunchChecker::site_at(std::string_view place, std::string_view instruction) const {
  probe::SiteInfo info;
  const probe::Frame want = frame_of(place);
  if (!want.line) return info;
  info.frames = {want};
  if (!info_->site) return info;
  bool found = false;
  for (u32 n = 0; n < kMostSites; n++) {
    probe::SiteInfo s = info_->site(n);
    if (s.frames.empty()) break;
    if (!stands_at(s, want) || s.text.rfind(instruction, 0) != 0) continue;
    const auto alike = [](const probe::Frame& a, const probe::Frame& b) {
      return a.file == b.file && a.line == b.line;
    };
    if (found && !std::equal(s.frames.begin(), s.frames.end(), info.frames.begin(), info.frames.end(), alike)) {
      info.frames = {want};
      return info;
    }
    found = true, info = std::move(s);
  }
  return info;
}

// A finding that says why the device refused what stands there.
bool LaunchChecker::explained(const probe::SiteInfo& place) const {
  if (place.frames.empty()) return false;
  return process_.collector.any([&](const Finding& f) {
    return f.launch == info_->id && explains(f.check) && !f.parties.empty() &&
           stands_at(f.parties[0].site, place.frames[0]);
  });
}

void LaunchChecker::refused(const std::string& text) {
  Finding f;
  f.check = Check::DeviceFault, f.launch = info_->id, f.kernel = info_->kernel, f.object = text;
  Party p;
  p.action = "access", p.who = line_with(text, ", block ").empty() ? "" : "block ";
  p.who += line_with(text, ", block ");
  const bool trap = text.rfind("trap instruction", 0) == 0;
  p.site = site_at(line_with(text, "\n  at "), trap ? "trap" : "");
  if (explained(p.site)) return;
  for (const Named& n : kFaults) {
    if (text.find(n.part) == text.npos) continue;
    f.check = n.check, p.action = n.action;
    break;
  }
  const auto of_grid = [](const probe::Frame& at) { return at.function.find("grid_group::sync") != std::string::npos; };
  if (trap && std::any_of(p.site.frames.begin(), p.site.frames.end(), of_grid))
    f.check = Check::GridSync, p.action = "grid.sync";
  if (f.check == Check::DeviceFault && fatal_) return;  // what was found ends the kernel
  if (f.check != Check::DeviceFault) {
    f.parties = {std::move(p)}, f.object.clear();
    f.why = {text.substr(0, text.find('\n'))};
  }
  const Collector::Key k{f.check, info_->kernel, 0, 0, text};
  if (process_.collector.count(k, 0)) process_.collector.keep(k, std::move(f));
}

// Warps that wait for no object, but for memory: only the device knows of them.
void LaunchChecker::spinning(const std::string& text, Finding& f) const {
  std::string_view rest = text, block;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.rfind("  block ", 0) == 0) block = line.substr(2);
    const auto at = line.find(" at "), wait = line.find(" wait"), memory = line.find("for memory that another thread");
    if (line.rfind("    warp", 0) != 0 || memory == line.npos || at == line.npos || wait < at) continue;
    Party p;
    p.action = "wait", p.who = std::string(line.substr(4, at - 4)) + " of " + std::string(block);
    p.site = site_at(line.substr(at + 4, wait - at - 4), "");
    f.parties.push_back(std::move(p));
  }
}

}  // namespace us::sanitizer
