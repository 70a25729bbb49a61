// SPDX-License-Identifier: Apache-2.0
// What an unordered pair of accesses is called, what was missing, and how to mend it.
#include <fmt/format.h>

#include <algorithm>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Scope;
using probe::Space;

namespace {

const char* name(Scope s) {
  switch (s) {
    case Scope::Cta:
      return ".cta";
    case Scope::Cluster:
      return ".cluster";
    case Scope::Gpu:
      return ".gpu";
    case Scope::Sys:
      return ".sys";
  }
  return "";
}

// Advice for kernels that order threads otherwise, too, or mean to: by atomics that are relaxed.
constexpr const char* kWhereHandedOn =
    "; where a flag, a lock or an mbarrier hands it on, a release and an acquire there";
constexpr const char* kWhereLocked =
    "; where a lock or a ticket hands it on, atomics that acquire and release there (cuda::atomic_ref), or "
    "__threadfence() behind taking it and before giving it back: relaxed ones order nothing";

std::string action(const Access& a) {
  if (a.manner == Manner::Async) return a.writes ? "asynchronous write" : "asynchronous read";
  if (a.manner == Manner::Copy) return a.writes ? "cp.async writes" : "cp.async reads";
  if (a.rmw) return "atomic";
  const std::string what = a.writes ? "write" : "read";
  if (a.manner == Manner::Volatile) return "volatile " + what;
  return a.manner == Manner::Strong ? "strong " + what : what;
}

bool is_strong(const Access& a) { return a.manner == Manner::Strong || a.manner == Manner::Volatile; }
bool same_warp(const Conflict& k) {
  return k.mine.segment.cta == k.other.segment.cta && k.mine.segment.slot == k.other.segment.slot;
}
bool of_agent(const Segment& s) { return !s.flying() && s.slot >= kFirstAgent; }
bool same_cta(const Conflict& k) { return k.mine.segment.cta == k.other.segment.cta; }

}  // namespace

// Do the two lanes of the store that runs now write the same to the place?
bool LaunchChecker::lanes_agree(const Conflict& k) const {
  const auto value = [&](u32 lane, u32& v) {
    const u64 offset = (k.address - now_->address[lane]) % probe::kCtaStride, e = offset / now_->bytes;
    if (e >= now_->values.size() || !now_->values[e]) return false;
    v = static_cast<u32>(now_->values[e][lane] >> (8 * (offset % now_->bytes)));
    if (k.bytes == 1) v &= 0xff;
    return true;
  };
  u32 a = 0, b = 0;
  return value(k.mine.lane & 31, a) && value(k.other.lane & 31, b) && a == b;
}

Check LaunchChecker::check_of(const Conflict& k, Space space) const {
  const Access &a = k.mine, &b = k.other;
  if (const auto of_copy = copy_check(k)) return *of_copy;
  const NearMiss* m = miss_between(k);
  if (k.by_volatile) return Check::RaceVolatile;
  if (m && m->why == NearMiss::Why::Domain) return Check::RaceDomain;
  const bool scoped = m && m->why == NearMiss::Why::Scope;
  if (b.segment.launch() != launch_ && !scoped) return info_->dependent ? Check::GridDependency : Check::RaceHost;
  if (a.writes && b.writes && now_ && same_warp(k) && a.site == b.site) {
    const u64 bytes = u64{now_->bytes} * now_->count, other = now_->address[b.lane & 31];
    const u64 offset = space == Space::Shared ? other % probe::kCtaStride : other;
    if (who_->lanes >> (b.lane & 31) & 1 && k.address >= offset && k.address < offset + bytes)
      return now_->kind == probe::Access::Kind::Write && lanes_agree(k) ? Check::RaceSameValue : Check::RaceLanes;
  }
  if (k.same_value) return Check::RaceSameValue;
  const bool both = is_strong(a) && is_strong(b);
  if (both && !k.span_differs && !k.proxy_differs) return Check::RaceScope;
  if (scoped) return Check::RaceScope;
  if (guesses(a, b) || guesses(b, a)) return Check::RaceGuess;
  if ((a.rmw || b.rmw) && (k.span_differs || k.proxy_differs || !both)) return Check::RaceAtomic;
  return space == Space::Shared ? Check::RaceShared : Check::RaceGlobal;
}

// A load before a loop of compare-and-swap: a wrong guess costs a round.
bool LaunchChecker::guesses(const Access& load, const Access& atomic) const {
  if (load.writes || load.rmw || !atomic.rmw || load.manner != Manner::Generic || !info_->guesses) return false;
  const auto [known, first] = guesses_.try_emplace(load.site, false);
  if (first) known->second = info_->guesses(load.site);
  return known->second;
}

// Against a copy or wgmma of this launch whose issue is known, but not its end.
std::optional<Check> LaunchChecker::copy_check(const Conflict& k) const {
  const Segment& s = k.other.segment;
  if (!s.copy || s.launch() != launch_) return {};
  if (s.matrix) return s.by_cta == k.mine.segment.cta ? std::optional(Check::WgmmaWait) : std::nullopt;
  if (!issue_known(k)) return {};
  return s.reports ? Check::AsyncMbarrier : Check::AsyncGroup;
}

bool LaunchChecker::issue_known(const Conflict& k) const {
  const Segment& s = k.other.segment;
  const Warp* w = judged_warp();
  if (!w) return false;
  if (w->time.cta() == s.by_cta && w->time.warp() == s.by_warp && s.by_lane == k.mine.lane) return true;
  Segment issue;
  issue.cta = s.by_cta, issue.slot = s.by_warp, issue.lane = s.by_lane, issue.clock = s.issued;
  return w->time.knows(k.mine.lane, issue, s.by_lane);
}

const Cta* LaunchChecker::judged_block() const {
  const Cluster* const cluster = who_ ? find_cluster(who_->cluster) : nullptr;
  return cluster && who_->rank < cluster->ctas.size() ? cluster->ctas[who_->rank].get() : nullptr;
}

const Warp* LaunchChecker::judged_warp() const {
  const Cta* const cta = judged_block();
  return cta && who_->warp < cta->warps.size() ? cta->warps[who_->warp].get() : nullptr;
}

const NearMiss* LaunchChecker::miss_between(const Conflict& k) const {
  const Cta* const cta = judged_block();
  if (!cta) return nullptr;
  const auto of = [&](const Warp* w) -> const NearMiss* {
    if (!w) return nullptr;
    const auto& all = w->order.misses();
    const auto m =
        std::find_if(all.rbegin(), all.rend(), [&](const NearMiss& n) { return n.releaser == k.other.segment.cta; });
    return m == all.rend() ? nullptr : &*m;
  };
  if (const NearMiss* const own = of(judged_warp())) return own;
  for (const auto& w : cta->warps)  // it may have looked for all of them
    if (const NearMiss* const m = of(w.get())) return m;
  return nullptr;
}

std::vector<std::string> LaunchChecker::reasons(const Conflict& k, Check check) const {
  std::vector<std::string> why;
  const Segment& s = k.other.segment;
  if (check == Check::RaceHost && k.other.segment.launch() != launch_) {
    why.push_back("No stream, event, graph edge or waiting thread orders the two launches.");
  } else if (of_agent(s) && check != Check::RaceHost) {
    why.push_back(
        "The copy reports to an mbarrier, and this thread has not seen the end of that phase, nor met a thread that "
        "has.");
  } else if (check == Check::AsyncGroup && s.flying()) {
    why.push_back(k.other.writes ? "The copy is still under way: no thread has waited for it, or for its group."
                                 : "The copy may not yet have read its source: no wait covers it.");
  } else if (check == Check::WgmmaWait) {
    why.push_back("The matrix instruction is under way: no wgmma.wait_group covers it.");
  } else if (check == Check::RaceLanes) {
    why.push_back("Which of the lanes wins is undefined.");
  } else if (check == Check::GridDependency) {
    why.push_back("The preceding kernel may still run: griddepcontrol.wait has not been executed by this thread.");
  } else if (check == Check::RaceVolatile) {
    why.push_back("In PTX volatile accesses are relaxed accesses of system scope; in CUDA C++ they are no atomics.");
  } else if (k.span_differs) {
    why.push_back("Both are strong, but their addresses or sizes differ, so neither is ordered by the other.");
  } else if (k.proxy_differs) {
    why.push_back(
        "Both are atomic, each in its own proxy: an asynchronous reduction is not atomic with what threads do.");
  } else if (check == Check::RaceScope && is_strong(k.mine) && is_strong(k.other)) {
    const bool mine = k.mine.scope < k.other.scope;
    why.push_back(fmt::format("Scope {} does not include the other thread, so the two are no atomic pair.",
                              name(mine ? k.mine.scope : k.other.scope)));
  } else if (s.copy) {
    why.push_back(
        "The thread that waited for the copy has not met this one since: waiting makes a copy visible to the waiting "
        "thread only.");
  } else if (same_warp(k)) {
    why.push_back(
        "Both threads are lanes of one warp, and no __syncwarp or barrier lies between: lanes are not ordered by "
        "running together.");
  } else if (same_cta(k)) {
    why.push_back("Nothing orders them: no barrier of the block and no release and acquire lies between.");
  } else if (check == Check::RaceHost) {
    why.push_back("The two launches may run at the same time: no stream, event or edge of a graph orders them.");
  } else {
    why.push_back("Nothing orders threads of different blocks here: no release that was acquired lies between.");
  }
  if (const NearMiss* m = miss_between(k)) {
    const std::string at = site_text(m->release_site), by = site_text(m->acquire_site);
    if (m->why == NearMiss::Why::Relaxed) {
      why.push_back(fmt::format("A release ({}) was seen by a relaxed read ({}), with no acquire behind it.", at, by));
    } else if (m->why == NearMiss::Why::Domain) {
      why.push_back(fmt::format(
          "A release ({}) was seen ({}), but scope {} does not reach another memory synchronisation domain.", at, by,
          name(m->release_scope)));
    } else {
      why.push_back(
          fmt::format("A release of scope {} ({}) was seen by an acquire of scope {} ({}): the scopes do not include "
                      "each other's threads.",
                      name(m->release_scope), at, name(m->acquire_scope), by));
    }
  }
  return why;
}

std::string LaunchChecker::fix_of(const Conflict& k, Check check, Space space) const {
  switch (check) {
    case Check::AsyncGroup:
      if (!k.other.writes) return "Wait for the copy's group before its source is written.";
      return "cp.async.wait_group (or wait_all) that covers the copy, then a barrier for other threads.";
    case Check::AsyncMbarrier:
      return "A wait for the phase that the copy completes, by this thread or before a barrier with it.";
    case Check::WgmmaWait:
      return "wgmma.wait_group before the operands are written.";
    case Check::RaceLanes:
      return "Let one lane store, or give each lane its own place.";
    case Check::GridDependency:
      return "griddepcontrol.wait (cudaGridDependencySynchronize) before the first access.";
    case Check::RaceDomain:
      return "Scope .sys (__threadfence_system), or launches of one domain.";
    case Check::RaceScope:
      return same_cta(k) ? ""
                         : "A scope that includes both threads: .cluster, .gpu (cuda::thread_scope_device) or .sys.";
    default:
      break;
  }
  if (check == Check::RaceHost)
    return "Record an event behind the first launch and make the second one's stream wait for it, or use one stream; "
           "between nodes of a graph, add an edge.";
  if (k.span_differs) return "Access it with one size and address.";
  if (k.proxy_differs) return "Order the two, or let one proxy do both.";
  if (check == Check::RaceSameValue) return "";
  if (check == Check::RaceGuess) return "A relaxed atomic load (cuda::atomic_ref), to be sure.";
  if (check == Check::RaceAtomic) return "Atomic accesses on both sides (cuda::atomic_ref), or order between the two.";
  if (of_agent(k.other.segment)) return "A wait for the phase that the copy completes, before this access.";
  if (same_cta(k)) {
    const char* const barrier = same_warp(k) ? "__syncwarp()" : "__syncthreads()";
    const char* const otherwise = !info_->barriers_only ? kWhereHandedOn : asks_atomics_ ? kWhereLocked : "";
    return fmt::format("{} between the two{}.", barrier, otherwise);
  }
  if (space == Space::Shared)
    return "cluster.sync() between the two, or a release of cluster scope behind the first and an acquire before the "
           "second.";
  return fmt::format(
      "A release (store or atomic of gpu scope, or __threadfence() and a flag) behind the first, and an acquire "
      "before the second{}.",
      info_->barriers_only && asks_atomics_ ? kWhereLocked : "");
}

Party LaunchChecker::party(const Access& a) const {
  Party p;
  p.action = action(a), p.site = site_of(a.segment.cta >> 32, a.site), p.launch = a.segment.cta >> 32;
  const bool agent = a.segment.flying() || a.segment.slot >= kFirstAgent;
  const u32 warp = agent ? a.segment.by_warp : a.segment.slot;
  const u32 lane = agent || a.segment.copy         ? a.segment.by_lane
                   : a.segment.lane == kLaneOfCell ? a.lane
                                                   : a.segment.lane;
  p.who = thread_text(a.segment.copy ? a.segment.by_cta : a.segment.cta, warp, lane);
  return p;
}

// Scratch memory of collectives of several warps: their headers count on lanes that run together.
bool LaunchChecker::of_collective(const Party& p) {
  if (p.site.frames.empty()) return false;
  const std::string& file = p.site.frames.front().file;
  constexpr const char* kHeaders[] = {"reduce.h", "scan.h", "sync.h"};
  return file.find("cooperative_groups/details/") != file.npos &&
         std::ranges::any_of(kHeaders, [&](const char* h) { return file.ends_with(h); });
}

void LaunchChecker::conflict(const Conflict& k, Space space, const Cta* owner) {
  if (space == Space::Shared && k.address < kReserved) return;  // what the system and the toolkit keep there
  if (process_.on_conflict) process_.on_conflict(k, space, owner ? owner->linear : 0);
  const Check check = check_of(k, space);
  const Collector::Key key{check, info_->kernel, k.mine.site, k.other.site, object_kind(space, k.address)};
  const u32 apart = same_warp(k) ? 0 : same_cta(k) ? 1 : 2;
  const bool part = in_parts_.word != InParts::kNone;
  if (part) {
    const auto same = [&](const Collector::Key& o) { return !(o < key) && !(key < o); };
    if (std::ranges::any_of(in_parts_.found, same)) return;
    in_parts_.found.push_back(key);
  }
  if (!process_.collector.count(key, k.mine.segment.cta, apart)) return;
  Finding f;
  f.check = check, f.launch = info_->id, f.kernel = info_->kernel;
  f.object = object_text(space, part ? in_parts_.word : k.address, part ? 4 : k.bytes, owner);
  f.parties = {party(k.mine), party(k.other)};
  // The toolkit's headers know what they compile to.
  const auto in_header = [](const Party& p) { return !p.site.frames.empty() && of_library({p.site.frames.front()}); };
  if (check == Check::RaceVolatile && std::ranges::all_of(f.parties, in_header)) return;
  if (std::ranges::all_of(f.parties, of_collective)) return;
  f.why = reasons(k, check), f.fix = fix_of(k, check, space);
  process_.collector.keep(key, std::move(f));
}

}  // namespace us::sanitizer
