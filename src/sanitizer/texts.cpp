// SPDX-License-Identifier: Apache-2.0
// Names of things in findings.
#include <fmt/format.h>

#include <algorithm>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Space;

namespace {

std::string triple(u64 linear, const u32 (&size)[3]) {
  const u64 x = std::max(size[0], 1u), y = std::max(size[1], 1u);
  return fmt::format("[{},{},{}]", linear % x, linear / x % y, linear / x / y);
}

std::string variable_text(const char* space, const probe::Symbol& s, u64 address, u32 bytes, const std::string& of) {
  const u64 at = address - s.begin;
  return fmt::format("{}variable `{}`{}, byte {}{}", space, s.name, of, at,
                     bytes && at % bytes == 0 ? fmt::format(" ([{}] as elements of {} bytes)", at / bytes, bytes) : "");
}

}  // namespace

const char* to_text(const probe::Access& a) {
  switch (a.kind) {
    case probe::Access::Kind::Read:
      return "read";
    case probe::Access::Kind::Write:
      return "write";
    case probe::Access::Kind::Atomic:
      return "atomic";
  }
  return "access";
}

std::string LaunchChecker::thread_text(u64 cta, u32 warp, u32 lane) const {
  const auto at = process_.launches.find(cta >> 32);
  const probe::LaunchInfo& l = at == process_.launches.end() ? *info_ : *at->second;
  if (cta == everybody_in(cta >> 32)) return fmt::format("a thread of launch {} ({})", l.id, l.kernel);
  const std::string block = fmt::format("block {}", triple(cta & ~0u, l.grid));
  std::string text;
  if (lane == kEveryLane) {
    text = fmt::format("warp {} of {}", warp, block);
  } else {
    text = fmt::format("thread {} (warp {}) of {}", triple(u64{warp} * 32 + lane, l.block), warp, block);
  }
  return cta >> 32 == info_->id ? text : text + fmt::format(" of launch {} ({})", l.id, l.kernel);
}

const probe::Symbol* LaunchChecker::shared_symbol(u64 offset) const {
  auto at = std::upper_bound(shared_symbols_.begin(), shared_symbols_.end(), offset,
                             [](u64 o, const probe::Symbol& s) { return o < s.begin; });
  return at == shared_symbols_.begin() ? nullptr : &*std::prev(at);
}

std::string LaunchChecker::object_kind(Space space, u64 address) const {
  if (space == Space::Shared) {
    const probe::Symbol* s = shared_symbol(address);
    return s && address < s->begin + s->bytes ? s->name : "shared";
  }
  if (space != Space::Global) return "";
  if (const auto* s = process_.allocations.variable_at(address)) return s->name;
  const auto* b = process_.allocations.live(address);
  return b ? fmt::format("{:x}", b->begin) : "";
}

std::string LaunchChecker::object_text(Space space, u64 address, u32 bytes, const Cta* owner) const {
  if (space == Space::Shared) {
    const std::string of = owner && cluster_size_ > 1 ? fmt::format(" of block rank {}", owner->rank) : "";
    const probe::Symbol* s = shared_symbol(address);
    if (!s || address >= s->begin + s->bytes)
      return fmt::format("{} bytes at offset {} of the shared memory{}", bytes, address, of);
    return variable_text("shared ", *s, address, bytes, of);
  }
  if (const auto* s = process_.allocations.variable_at(address)) return variable_text("", *s, address, bytes, "");
  const auto* b = process_.allocations.live(address);
  if (!b) return fmt::format("{} bytes of global memory at {:#x}", bytes, address);
  return fmt::format("{} bytes at offset {} of {} ({} bytes)", bytes, address - b->begin, to_text(b->owner), b->bytes);
}

probe::SiteInfo LaunchChecker::site_of(u64 launch, u32 site) const {
  const auto at = process_.launches.find(launch);
  if (site == probe::kNoSite || at == process_.launches.end() || !at->second->site) return {};
  return at->second->site(site);
}

bool LaunchChecker::of_library(const std::vector<probe::Frame>& frames) {
  constexpr const char* kHeaders[] = {"cooperative_groups", "/cuda/std/", "/include/cuda/", "/cub/", "/thrust/"};
  return std::ranges::any_of(frames, [&](const probe::Frame& f) {
    return std::ranges::any_of(kHeaders, [&](const char* h) { return f.file.find(h) != f.file.npos; });
  });
}

std::string LaunchChecker::site_text(u32 site) const {
  const probe::SiteInfo s = site_of(info_->id, site);
  std::string text = s.text;
  if (!s.frames.empty() && s.frames[0].line) {
    const probe::Frame& at = s.frames[own_frame(s)];
    text += fmt::format("{}at {}:{}", text.empty() ? "" : " ", at.file, at.line);
  } else if (s.ptx_line) {
    text += fmt::format("{}at PTX line {}", text.empty() ? "" : " ", s.ptx_line);
  }
  return text;
}

Party LaunchChecker::party(const Actors& a) const {
  Party p;
  if (a.host) {
    p.action = a.action, p.site = process_.stack.in_words(*a.host), p.who = "the host";
    return p;
  }
  p.action = a.action, p.site = site_of(a.cta >> 32, a.site), p.who = thread_text(a.cta, a.warp, a.lane);
  p.launch = a.cta >> 32;
  return p;
}

// What a device answers with a fault: the fault itself is no finding then.
bool LaunchChecker::ends_kernels(Check c) {
  switch (c) {
    case Check::BoundsGlobal:
    case Check::BoundsShared:
    case Check::BoundsLocal:
    case Check::BoundsConst:
    case Check::Misaligned:
    case Check::UseAfterFree:
    case Check::InvalidFree:
    case Check::AsyncOperand:
    case Check::MbarrierState:
    case Check::MbarrierCount:
    case Check::BarrierCount:
    case Check::WarpConverged:
    case Check::ClusterExit:
    case Check::ClusterBarrier:
    case Check::ClusterRank:
    case Check::GridSync:
      return true;
    default:
      return false;
  }
}

void LaunchChecker::raise(Check check, const std::vector<Actors>& parties, std::string kind, std::string object,
                          std::vector<std::string> why, std::string fix) {
  fatal_ |= ends_kernels(check);
  if (check == Check::BoundsShared) unsettle();
  const u32 a = parties.empty() ? probe::kNoSite : parties[0].site, b = parties.size() > 1 ? parties[1].site : a;
  const Collector::Key k{check, info_->kernel, a, b, std::move(kind)};
  if (!process_.collector.count(k, parties.empty() ? 0 : parties[0].cta)) return;
  Finding f;
  f.check = check, f.launch = info_->id, f.kernel = info_->kernel, f.object = std::move(object);
  for (const Actors& p : parties) f.parties.push_back(party(p));
  std::erase(why, "");
  f.why = std::move(why), f.fix = std::move(fix);
  process_.collector.keep(k, std::move(f));
}

}  // namespace us::sanitizer
