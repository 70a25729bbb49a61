// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/work_clocks.h"

#include <algorithm>

namespace us::sanitizer {
namespace {

void join(WorkClocks::Clock& to, const WorkClocks::Clock& from) {
  if (to.size() < from.size()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
}

u32 at(const WorkClocks::Clock& c, u32 chain) { return chain < c.size() ? c[chain] : 0; }

}  // namespace

void WorkClocks::submitted(const probe::Work& w) {
  forget_old();
  Node& n = nodes_[w.node];
  n.after = w.after;
  n.overlaps = w.overlaps;
  n.host = host_;
  n.moment.inner = w.inner;
  n.polls = w.polls;
}

// Of a node whose predecessors are timed. A node's own end counts in its chain.
void WorkClocks::time(u64 id) {
  std::vector<u64> stack = {id};
  while (!stack.empty()) {
    Node& n = nodes_.at(stack.back());
    const std::size_t depth = stack.size();
    const auto need = [&](u64 p) {
      const auto it = nodes_.find(p);
      if (it != nodes_.end() && !it->second.timed) stack.push_back(p);
    };
    if (!n.timed) {
      std::ranges::for_each(n.after, need);
      if (n.overlaps) need(n.overlaps);
    }
    if (stack.size() > depth) continue;
    stack.pop_back();
    if (n.timed) continue;
    auto begin = std::make_shared<Clock>(*n.host);
    bool inner = n.moment.inner || n.polls, all_inner = !n.after.empty();
    for (const u64 p : n.after) {
      const auto it = nodes_.find(p);
      if (it == nodes_.end()) continue;
      join(*begin, *it->second.end);
      all_inner &= it->second.moment.inner;
    }
    // It begins when the kernel that it overlaps has begun.
    const auto overlapped = n.overlaps ? nodes_.find(n.overlaps) : nodes_.end();
    if (overlapped != nodes_.end()) join(*begin, *overlapped->second.moment.begin);
    inner |= all_inner;
    if (inner) join(*begin, ends_);
    n.moment.inner = inner;
    // A chain whose end is known goes on here.
    u32 chain = 0;
    while (chain < ends_.size() && at(*begin, chain) != ends_[chain]) ++chain;
    if (chain == ends_.size()) ends_.push_back(0);
    n.moment.chain = chain;
    n.moment.number = ++ends_[chain];
    auto end = std::make_shared<Clock>(*begin);
    if (overlapped != nodes_.end()) join(*end, *overlapped->second.end);
    if (end->size() <= chain) end->resize(chain + 1);
    (*end)[chain] = n.moment.number;
    n.moment.begin = std::move(begin);
    n.end = std::move(end);
    n.timed = true;
    n.after = {};
    n.host = nullptr;
  }
}

void WorkClocks::complete(u64 node) {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return;
  time(node);
  it->second.complete = true;
}

void WorkClocks::waited(u64 node) {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return;
  time(node);
  known(*it->second.end);
}

void WorkClocks::begins(u64 node) {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return;
  time(node);
  known(*it->second.moment.begin);
}

void WorkClocks::tells(u64 node) {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return;
  time(node);
  join(told_, *it->second.moment.begin);
}

void WorkClocks::follows(u64 node, const std::vector<u64>& others) {
  const auto it = nodes_.find(node);
  if (it == nodes_.end() || it->second.timed || !it->second.polls) return;
  it->second.polls = false;
  it->second.after.insert(it->second.after.end(), others.begin(), others.end());
}

bool WorkClocks::told(const Moment& m) const { return m.number != 0 && at(told_, m.chain) >= m.number; }

void WorkClocks::known(const Clock& c) {
  auto host = std::make_shared<Clock>(*host_);
  join(*host, c);
  host_ = std::move(host);
}

WorkClocks::Moment WorkClocks::moment(u64 node) {
  const auto it = nodes_.find(node);
  if (it == nodes_.end()) return {};
  time(node);
  return it->second.moment;
}

bool WorkClocks::before(const Moment& a, const Moment& b) {
  if (a.number == 0 || a.inner || b.inner) return true;
  return b.begin && at(*b.begin, a.chain) >= a.number;
}

bool WorkClocks::before(u64 a, u64 b, bool waited) {
  const Moment first = moment(a), second = moment(b);
  if (before(first, second)) return true;
  const auto it = nodes_.find(b);
  return waited && it != nodes_.end() && it->second.overlaps && a != b &&
         at(*it->second.end, first.chain) >= first.number;
}

bool WorkClocks::over_for_host(const Moment& m) const { return at(*host_, m.chain) >= m.number; }

// What the host knows to be over is before all that comes; only work that runs now could ask about it.
void WorkClocks::forget_old() {
  if (nodes_.size() < forget_at_) return;
  std::erase_if(nodes_, [&](const auto& e) { return e.second.complete && over_for_host(e.second.moment); });
  forget_at_ = std::max<std::size_t>(1 << 16, 2 * nodes_.size());
}

}  // namespace us::sanitizer
