// SPDX-License-Identifier: Apache-2.0
#include "sanitizer_engine/reference.h"

#include <algorithm>

namespace us::reference {

Detector::Detector(std::vector<Thread> t) : threads_(std::move(t)) {
  const std::size_t n = threads_.size();
  clocks_.assign(n, Clock(n, 0));
  for (std::size_t i = 0; i < n; i++) clocks_[i][i] = 1;
  fences_.resize(n), pending_.resize(n), open_.resize(n), groups_.resize(n);
}

bool Detector::includes(Scope s, u32 a, u32 b) const {
  if (s == Scope::Cta) return threads_[a].cta == threads_[b].cta;
  if (s == Scope::Cluster) return threads_[a].cluster == threads_[b].cluster;
  return true;
}

bool Detector::ordered(const Access& a, u32 thread, u64 byte) const {
  if (!a.time) return false;
  if (clocks_[thread][a.thread] >= a.time) return true;
  if (a.observers.empty()) return false;
  const auto& of = a.observers[byte - a.begin];
  return std::any_of(of.begin(), of.end(), [&](const auto& o) { return clocks_[thread][o.first] >= o.second; });
}

bool Detector::morally_strong(const Access& a, const Access& b) const {
  return a.strong && b.strong && a.begin == b.begin && a.bytes == b.bytes && includes(a.scope, a.thread, b.thread) &&
         includes(b.scope, b.thread, a.thread);
}

std::set<u64> Detector::judge(const Access& me) {
  std::set<u64> bad;
  for (u64 b = me.begin; b < me.begin + me.bytes; b++) {
    for (const std::size_t i : of_byte_[b]) {
      const Access& o = accesses_[i];
      if ((o.writes || me.writes) && !morally_strong(o, me) && !ordered(o, me.thread, b)) bad.insert(b);
    }
  }
  return bad;
}

std::size_t Detector::remember(const Access& a) {
  accesses_.push_back(a);
  for (u64 b = a.begin; b < a.begin + a.bytes; b++) of_byte_[b].push_back(accesses_.size() - 1);
  return accesses_.size() - 1;
}

std::set<u64> Detector::weak(u32 t, u64 address, u32 bytes, bool writes) {
  tick(t);
  const Access me{
      .thread = t, .time = clocks_[t][t], .writes = writes, .begin = address, .bytes = bytes, .observers = {}};
  const auto bad = judge(me);
  const std::size_t n = remember(me);
  for (u64 b = address; writes && b < address + bytes; b++) last_[b] = {false, n, {}, {}};
  return bad;
}

std::set<u64> Detector::strong(u32 t, u64 address, u32 bytes, bool reads, bool writes, Order order, Scope scope) {
  tick(t);
  Access me{.thread = t,
            .time = clocks_[t][t],
            .writes = writes,
            .strong = true,
            .scope = scope,
            .begin = address,
            .bytes = bytes,
            .observers = {}};
  const auto bad = judge(me);
  const std::size_t n = remember(me);
  const bool acquires = order == Order::Acquire || order == Order::AcqRel,
             releases = order == Order::Release || order == Order::AcqRel;
  const auto fences = fences_[t];
  for (u64 b = address; b < address + bytes; b++) {
    const auto found = last_.find(b);
    const bool sees =
        found != last_.end() && found->second.strong && morally_strong(accesses_[found->second.access], me);
    const Last before = found == last_.end() ? Last{} : found->second;
    if (reads && sees) {
      for (const std::size_t w : before.chain) {
        Access& write = accesses_[w];
        if (write.observers.empty()) write.observers.resize(write.bytes);
        write.observers[b - write.begin].emplace(t, me.time);
      }
      for (const Head& h : before.heads) {
        if (b != address) break;
        pending_[t].push_back(h);
        if (acquires && includes(scope, t, h.thread) && includes(h.scope, h.thread, t)) join(t, h.clock);
      }
    }
    if (!writes) continue;
    Last now{true, n, {n}, {}};
    for (const Head& h : before.heads) {
      if (before.strong && (reads ? sees : h.thread == t)) now.heads.push_back(h);
    }
    if (reads && sees) now.chain.insert(now.chain.end(), before.chain.begin(), before.chain.end());
    now.heads.insert(now.heads.end(), fences.begin(), fences.end());
    if (releases) now.heads.push_back({clocks_[t], t, scope});
    last_[b] = now;
  }
  return bad;
}

std::set<u64> Detector::copy(u32 t, u64 from, u64 to, u32 bytes) {
  tick(t);
  std::set<u64> bad;
  for (const bool writes : {false, true}) {
    Access me{.thread = t, .time = 0, .writes = writes, .begin = writes ? to : from, .bytes = bytes, .observers = {}};
    // Its own group's copies are in flight too: two of one group into one place are unordered.
    for (const u64 b : judge(me)) bad.insert(b);
    open_[t].push_back(remember(me));
    for (u64 b = to; writes && b < to + bytes; b++) last_[b] = {false, open_[t].back(), {}, {}};
  }
  return bad;
}

void Detector::commit(u32 t) {
  groups_[t].push_back(std::move(open_[t]));
  open_[t].clear();
}

void Detector::wait(u32 t, u64 left) {
  tick(t);
  const auto land = [&](std::vector<std::size_t>& g) {
    for (const std::size_t i : g) accesses_[i].time = clocks_[t][t];
    g.clear();
  };
  const bool all = left == ~u64{0};
  for (std::size_t i = 0; i < groups_[t].size(); i++) {
    if (all || groups_[t].size() - i > left) land(groups_[t][i]);
  }
  if (all) land(open_[t]);
}

void Detector::fence(const std::vector<u32>& threads, Order order, Scope scope) {
  for (const u32 t : threads) {
    tick(t);
    if (order != Order::Release) {
      for (const Head& h : pending_[t]) {
        if (includes(scope, t, h.thread) && includes(h.scope, h.thread, t)) join(t, h.clock);
      }
    }
    if (order != Order::Acquire) fences_[t].push_back({clocks_[t], t, scope});
  }
}

void Detector::join(u32 t, const Clock& c) {
  for (std::size_t i = 0; i < c.size(); i++) clocks_[t][i] = std::max(clocks_[t][i], c[i]);
}

void Detector::meet(const std::vector<u32>& arrive, const std::vector<u32>& leave) {
  Clock all(threads_.size(), 0);
  for (const u32 t : arrive) {
    for (std::size_t i = 0; i < all.size(); i++) all[i] = std::max(all[i], clocks_[t][i]);
  }
  for (const u32 t : leave) join(t, all);
}

}  // namespace us::reference
