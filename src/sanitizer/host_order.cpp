// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/host_order.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace us::sanitizer {

using probe::Memory;
using probe::Work;

namespace {

constexpr std::size_t kMostLaunches = 1 << 16;

// What a copy reads and writes; of many rows nothing is said. A copy to where it comes from changes nothing.
std::optional<probe::Range> overlap(const Work& w) {
  constexpr std::size_t kMostRows = 64;
  if (w.reads.size() > kMostRows || w.writes.size() > kMostRows) return {};
  for (const probe::Range& r : w.reads) {
    for (const probe::Range& to : w.writes) {
      const u64 begin = std::max(r.begin, to.begin), end = std::min(r.begin + r.bytes, to.begin + to.bytes);
      if (begin < end && r.begin != to.begin) return probe::Range{r.space, begin, end - begin};
    }
  }
  return {};
}

}  // namespace

void HostOrder::work(const Work& w) {
  std::lock_guard l(m_);
  switch (w.kind) {
    case Work::Kind::Submitted:
      return submitted(w);
    case Work::Kind::Complete:
      return complete(w.node);
    case Work::Kind::Waited:
      return clocks_.waited(w.node);
    case Work::Kind::Begins:  // a library's own, which tells what it touches, tells the program nothing
      return pending_.contains(w.node) ? void() : clocks_.begins(w.node);
    case Work::Kind::Tells:
      return tells(w);
    case Work::Kind::Hears:
      return hears(w);
  }
}

void HostOrder::submitted(const Work& w) {
  clocks_.submitted(w);
  newest_ = std::max(newest_, w.node);
  if (under_way_.insert(w.node).second) submitted_++;
  if (w.what.find("WriteValue") != w.what.npos || w.what.find("BatchMemOp") != w.what.npos) host_told_ = true;
  if (stack_.take_script && !w.inner) {
    if (HostStack::Addresses from = stack_.take_script(); !from.empty()) launched_from_[w.node] = std::move(from);
    if (launched_from_.size() > kMostLaunches) launched_from_.erase(launched_from_.begin());
  }
  const auto& all = {&w.reads, &w.writes, &w.allocates, &w.frees};
  if (std::ranges::all_of(all, [](const auto* r) { return r->empty(); }) && !pending_.contains(w.node)) return;
  Pending& p = pending_[w.node];
  if (!p.by || p.by->what.empty()) {
    Deed d;
    d.what = w.what;
    d.stream = w.stream;
    d.stack = p.by ? p.by->stack : stack_.take();
    p.by = std::make_shared<const Deed>(std::move(d));
  }
  if (const auto both = overlap(w)) {
    Finding f;
    f.check = Check::RaceHost, f.object = object(both->begin, both->bytes);
    f.parties = {party(Mark{.when = {}, .node = w.node, .does = Does::Write, .by = p.by})};
    f.why = {"Source and destination of the copy overlap: it may read what it has already written."};
    f.fix = "copy through other memory, or by a kernel.";
    sink_.found(f);
  }
  for (const probe::Range& r : w.reads) p.ranges.emplace_back(r, Does::Read);
  for (const probe::Range& r : w.writes) p.ranges.emplace_back(r, Does::Write);
  for (const probe::Range& r : w.allocates) p.ranges.emplace_back(r, Does::Allocate);
  for (const probe::Range& r : w.frees) p.ranges.emplace_back(r, Does::Free);
}

void HostOrder::complete(u64 node) {
  clocks_.complete(node);
  under_way_.erase(node);
  const auto it = pending_.find(node);
  if (it == pending_.end()) return;
  const Pending p = std::move(it->second);
  pending_.erase(it);
  Mark mark{.when = clocks_.moment(node), .node = node, .does = Does::Read, .site = probe::kNoSite, .by = p.by};
  for (const auto& [range, does] : p.ranges) {
    mark.does = does;
    touch(range.begin, range.begin + range.bytes, mark);
  }
}

// What comes or goes at once has waited for all work, or is not known to anybody yet.
void HostOrder::memory(const Memory& m) {
  std::lock_guard l(m_);
  const bool comes = m.kind == Memory::Kind::Allocated || m.kind == Memory::Kind::Mapped;
  if (comes) blocks_[m.begin] = m.bytes;
  if (comes && m.own_pages)
    shared_[m.begin] = m.bytes;
  else
    shared_.erase(m.begin);
  if (m.node == 0) return forget(m.begin, m.begin + m.bytes);
  Deed d;
  d.what = comes ? "allocation" : "free";
  d.stack = stack_.take();
  const probe::Range range{probe::Space::Global, m.begin, m.bytes};
  Pending p{std::make_shared<const Deed>(std::move(d)), {{range, comes ? Does::Allocate : Does::Free}}};
  pending_[m.node] = std::move(p);
  if (clocks_.is_complete(m.node)) complete(m.node);
}

void HostOrder::launched(const probe::LaunchInfo& l) {
  std::lock_guard held(m_);
  if (l.node) node_of_[l.id] = l.node;
  if (node_of_.size() > kMostLaunches) node_of_.erase(node_of_.begin());
}

bool HostOrder::before(u64 a, u64 b, bool waited) const {
  std::lock_guard l(m_);
  const auto first = node_of_.find(a), second = node_of_.find(b);
  if (first == node_of_.end() || second == node_of_.end()) return a < b;
  if (clocks_.before(first->second, second->second, waited)) return true;
  return !talks_.empty() && talked(first->second, clocks_.moment(first->second), second->second);
}

bool HostOrder::node_before(u64 node, u64 launch) const {
  std::lock_guard l(m_);
  const auto at = node_of_.find(launch);
  return at == node_of_.end() || clocks_.before(node, at->second, false);
}

bool HostOrder::launch_before(u64 launch, u64 node) const {
  std::lock_guard l(m_);
  const auto at = node_of_.find(launch);
  return at != node_of_.end() && clocks_.before(at->second, node, false);
}

void HostOrder::touched(const probe::LaunchInfo& l, const std::vector<Touched>& all) {
  std::lock_guard held(m_);
  if (!clocks_.knows(l.node)) return;
  Deed d;
  d.what = "kernel";
  d.kernel = l.kernel;
  d.launch = l.id;
  d.site = l.site;
  Mark mark{.when = clocks_.moment(l.node),
            .node = l.node,
            .does = Does::Read,
            .site = probe::kNoSite,
            .by = std::make_shared<const Deed>(std::move(d))};
  for (const Touched& t : all) {
    mark.does = t.write ? Does::Write : Does::Read;
    mark.site = t.site;
    mark.fetched = t.fetched, mark.waited = t.waited;
    touch(t.begin, t.begin + t.bytes, mark);
  }
}

std::map<u64, HostOrder::Span>::iterator HostOrder::split(u64 at) {
  auto it = spans_.lower_bound(at);
  if (it == spans_.begin()) return it;
  const auto before = std::prev(it);
  if (before->second.end <= at) return it;
  Span rest = before->second;
  before->second.end = at;
  return spans_.emplace_hint(it, at, std::move(rest));
}

void HostOrder::forget(u64 begin, u64 end) {
  const auto first = split(begin);
  split(end);
  spans_.erase(first == spans_.end() || first->first >= begin ? spans_.lower_bound(begin) : first,
               spans_.lower_bound(end));
}

void HostOrder::touch(u64 begin, u64 end, const Mark& mark) {
  if (begin >= end) return;
  if (mark.does == Does::Write)
    for (auto w = words_.lower_bound(begin); w != words_.end() && w->first < end; ++w) w->second.others = true;
  split(begin);
  split(end);
  for (u64 at = begin; at < end;) {
    auto it = spans_.lower_bound(at);
    if (it == spans_.end() || it->first != at) {
      const u64 until = it == spans_.end() ? end : std::min(end, it->first);
      it = spans_.emplace_hint(it, at, Span{until, {}});
    }
    judge(it->second, at, mark);
    at = it->second.end;
  }
}

bool HostOrder::ordered(const Mark& a, const Mark& b) const {
  if (!talks_.empty() && (talked(a.node, a.when, b.node) || talked(b.node, b.when, a.node))) return true;
  if (!a.by->launch || !b.by->launch) return WorkClocks::before(a.when, b.when) || WorkClocks::before(b.when, a.when);
  return clocks_.before(a.node, b.node, b.waited) || clocks_.before(b.node, a.node, a.waited);
}

// Memory of a pool or a graph that is used behind its free. An allocation in between would have cleared the mark.
bool HostOrder::used_behind(const Mark& free, const Mark& use) const {
  const auto known = [](const Mark& m) { return m.when.number && !m.when.inner; };
  if (free.does != Does::Free || use.does == Does::Free || use.does == Does::Allocate) return false;
  return known(free) && known(use) && free.node != use.node && WorkClocks::before(free.when, use.when);
}

// What two kernels do to cells the launches judge. A mark that comes before it, and conflicts with no more than it
// does, is not needed any longer.
void HostOrder::judge(Span& span, u64 begin, const Mark& mark) {
  const auto lasting = [](Does d) { return d == Does::Allocate || d == Does::Free; };
  bool told = false;
  for (const Mark& other : span.marks) {
    if (!told && used_behind(other, mark)) report(other, mark, begin, span.end - begin), told = true;
    const bool reads = other.does == Does::Read && mark.does == Does::Read;
    const bool both = lasting(other.does) && lasting(mark.does);
    const bool cells = other.by->launch && mark.by->launch && !other.fetched && !mark.fetched;
    if (reads || both || cells || told || other.node == mark.node || ordered(other, mark)) continue;
    report(other, mark, begin, span.end - begin);
    told = true;
  }
  if (mark.does == Does::Allocate || told) span.marks.clear();
  std::erase_if(span.marks, [&](const Mark& other) {
    const bool weaker = mark.does != Does::Read || other.does == Does::Read;
    return weaker && !(lasting(other.does) && !lasting(mark.does)) && WorkClocks::before(other.when, mark.when);
  });
  const bool known = std::ranges::any_of(span.marks, [&](const Mark& o) {
    return o.node == mark.node && (o.does == Does::Write || (o.does == mark.does && o.fetched >= mark.fetched));
  });
  if (!known) span.marks.push_back(mark);
}

Party HostOrder::party(const Mark& m) const {
  constexpr const char* names[] = {"read", "write", "allocation", "free"};
  Party p;
  p.action = m.by->what.empty() ? names[static_cast<u32>(m.does)] : m.by->what;
  if (m.does == Does::Read || m.does == Does::Write)
    p.action += m.fetched ? " fetches" : m.does == Does::Read ? " reads" : " writes";
  p.launch = m.by->launch;
  if (m.by->launch) {
    if (m.by->site && m.site != probe::kNoSite) p.site = m.by->site(m.site);
    p.who = m.by->kernel;
  } else {
    p.site = stack_.in_words(m.by->stack);
    if (m.by->stream) p.who = m.by->stream == 1 ? "the legacy stream" : fmt::format("stream {}", m.by->stream);
  }
  return p;
}

std::string HostOrder::object(u64 begin, u64 bytes) const {
  const auto it = blocks_.upper_bound(begin);
  if (it == blocks_.begin() || begin - std::prev(it)->first >= std::prev(it)->second)
    return fmt::format("{} bytes at 0x{:x}", bytes, begin);
  const auto& [block, all] = *std::prev(it);
  return fmt::format("{} bytes at offset {} of an allocation of {} bytes", bytes, begin - block, all);
}

void HostOrder::report(const Mark& earlier, const Mark& later, u64 begin, u64 bytes) {
  const auto any = [&](Does d) { return earlier.does == d || later.does == d; };
  Finding f;
  const bool dependent =
      earlier.by->launch && later.by->launch &&
      (clocks_.before(earlier.node, later.node, true) || clocks_.before(later.node, earlier.node, true));
  const bool behind = used_behind(earlier, later);
  f.check = behind                ? Check::UseAfterFree
            : any(Does::Free)     ? Check::FreePending
            : any(Does::Allocate) ? Check::UseBeforeAlloc
            : dependent           ? Check::GridDependency
                                  : Check::RaceHost;
  f.launch = std::max(earlier.by->launch, later.by->launch);
  f.kernel = later.by->launch ? later.by->kernel : earlier.by->kernel;
  f.object = object(begin, bytes);
  f.parties = {party(later), party(earlier)};
  f.why = {behind      ? "The free comes before the use."
           : dependent ? "The preceding kernel may still run: the thread has not executed griddepcontrol.wait."
                       : "No stream, event, graph edge or waiting thread orders the two."};
  f.fix = behind      ? "free it behind its last use."
          : dependent ? "griddepcontrol.wait (cudaGridDependencySynchronize) before the first access."
          : f.check == Check::RaceHost
              ? "record an event behind the one and make the other's stream wait for it; between nodes of a "
                "graph, add an edge."
          : f.check == Check::FreePending
              ? "free behind the work: in its stream, or in one that waits for an event recorded behind it."
              : "make the stream wait for an event recorded behind the allocation.";
  add_launches_held(f);
  sink_.found(f);
}

void HostOrder::add_launches(Finding& f) const {
  const std::lock_guard held(m_);
  add_launches_held(f);
}

void HostOrder::add_launches_held(Finding& f) const {
  std::vector<u64> launches;
  for (const Party& p : f.parties)
    if (p.launch && std::ranges::find(launches, p.launch) == launches.end()) launches.push_back(p.launch);
  if (launches.empty() && f.launch) launches.push_back(f.launch);
  for (const u64 launch : launches) {
    const auto node = node_of_.find(launch);
    if (node == node_of_.end()) continue;
    const auto from = launched_from_.find(node->second);
    if (from == launched_from_.end()) continue;
    Party p;
    p.action = "launched", p.site = stack_.in_words(from->second);
    if (launches.size() > 1) p.who = fmt::format("launch {}", launch);
    f.parties.push_back(std::move(p));
  }
}

}  // namespace us::sanitizer
