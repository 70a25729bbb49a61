// SPDX-License-Identifier: Apache-2.0
#include "timing/timeline.h"

#include <algorithm>
#include <cmath>

namespace us::timing {
namespace {

constexpr std::size_t kMostSteps = 20000;  // of what multiprocessors had to do, looked back
constexpr double kNothing = 1e-6;          // of the device
constexpr double kLookBack = 1e9;          // ns: nothing begins so long before what was placed last
constexpr double kAfar = 1e18;
constexpr double kBusy = 0.85;  // of its time a kernel writes as fast as can be

using Place = WorkProfile::Place;

bool on_host(Place p) { return p == Place::Pageable || p == Place::Pinned; }

constexpr u64 kLeftAtOnce = 64 << 10;  // bytes of pageable memory that the host copies and does not wait for
constexpr u64 kLargeSet = 16 << 10;    // bytes that a kernel sets

struct Transfer {
  u32 engine;
  double gap, least, rate;  // before it and behind it, where something else is
};

Transfer transfer_of(const WorkProfile& w, const Parameters& p) {
  if (w.kind == WorkProfile::Kind::Set) return {3, p.gap_copy, p.copy_least, p.set_rate};
  if (w.from == Place::Pageable) return {0, 0, 0, p.copy_pageable};
  if (w.to == Place::Pageable) return {1, p.gap_host_copy, p.copy_host_least, p.copy_pageable};
  if (on_host(w.from)) return {0, p.gap_host_copy, p.copy_host_least, p.copy_to_device};
  if (on_host(w.to)) return {1, p.gap_host_copy, p.copy_host_least, p.copy_to_host};
  if (w.peers) return {2, p.gap_copy, p.peer_least, p.peer_rate};
  const bool fits = 2 * static_cast<double>(w.bytes) <= p.l2_bytes;
  return {2, p.gap_copy, p.copy_least, fits ? p.copy_in_l2 : p.copy_on_device};
}

bool left_at_once(const WorkProfile& w) {
  return w.kind == WorkProfile::Kind::Copy && w.from == Place::Pageable && w.bytes <= kLeftAtOnce;
}

bool moves(WorkProfile::Kind k) { return k == WorkProfile::Kind::Copy || k == WorkProfile::Kind::Set; }

// A fence waits until what is on the way to the host, or to DRAM that has all it can take, has arrived, whoever wrote
// it, and in whatever domain.
double holds(const TimeProfile& t, double active, double sms, const Parameters& p) {
  const double to_host = static_cast<double>(t.host_written) / p.host_write;
  if (to_host > kBusy * active) return std::min(p.host_way, p.host_way_sm * sms) / p.host_write;
  const double to_dram = static_cast<double>(t.dram_written) / (p.dram_rate * p.sm_clock);
  return to_dram > kBusy * active ? p.fence_dram : 0;
}

}  // namespace

std::optional<KernelTime> kernel_time(const LaunchProfile& l) {
  if (!l.no_time.empty()) return std::nullopt;
  const double ctas = static_cast<double>(l.grid[0]) * l.grid[1] * l.grid[2];
  const double room = static_cast<double>(std::max(1u, l.residency.sms)) * std::max(1u, l.residency.blocks);
  KernelTime t;
  t.active = static_cast<double>(l.time.active) / parameters_of(l.residency.device).sm_clock;
  t.share = std::min(1.0, ctas / room);
  t.ctas = std::min(ctas, room);
  t.sms = std::min(1.0, ctas / std::max(1u, l.residency.sms));
  t.split = l.residency.shared_wish;
  const double threads = static_cast<double>(l.block[0]) * l.block[1] * l.block[2], warps = std::ceil(threads / 32);
  const double fences = static_cast<double>(l.time.fences) / t.ctas;
  t.fences = std::max(fences / warps, std::min(1.0, fences));  // one warp of each CTA may do it for all
  t.holds = holds(l.time, t.active, std::min<double>(t.ctas, l.residency.sms), parameters_of(l.residency.device));
  return t;
}

// A thread that was not seen before began when another got here.
double& Timeline::clock(u32 thread) {
  for (const auto& [t, now] : clocks_) latest_ = std::max(latest_, now);
  return clocks_.try_emplace(thread, latest_).first->second;
}

// What its bytes take of DRAM.
KernelTime Timeline::library_time(u64 bytes) const {
  const double n = static_cast<double>(bytes), rate = p_.dram_rate * p_.sm_clock;
  const double sms = std::clamp(n / 32768, 1.0, 132.0);
  return {std::max(p_.library_least, n / rate), sms / 132, sms};
}

void Timeline::submit(const WorkProfile& w) {
  if (!w.on_device) pass(w.thread, w.host);
  if (w.kind == Kind::Waited) return wait(w.thread, w.node);
  if (w.kind == Kind::Passed) return;
  if (!w.on_device) pass_for(w);
  Op& op = pending_[w.node];
  op.work = w;
  op.arrival = w.on_device || w.kind == Kind::Join ? 0 : clock(w.thread) + p_.enqueue;
  if (w.on_device && w.after.empty() && last_complete_) op.work.after.push_back(last_complete_);
  if (w.overlaps) op.work.after.push_back(w.overlaps);
  op.ready = op.arrival;
  if (const auto it = early_.find(w.node); it != early_.end()) op.takes = it->second, early_.erase(it);
  for (const u64 a : op.work.after) {
    if (done_.contains(a)) {
      op.ready = std::max(op.ready, behind(a, op));
    } else if (const auto p = pending_.find(a); p != pending_.end()) {
      p->second.successors.push_back(w.node);
      ++op.missing;
    }
  }
}

// What the call took of the host because of what it submitted.
void Timeline::pass_for(const WorkProfile& w) {
  const bool within = w.kind == Kind::Copy && w.from == Place::Device && w.to == Place::Device;
  if (w.graph) return pass(w.thread, w.kind == Kind::Join ? 0 : p_.host_graph_node);
  if (w.kind == Kind::Stamp) pass(w.thread, p_.host_stamp);
  if (within) pass(w.thread, p_.host_copy_on_device);
  if (left_at_once(w)) pass(w.thread, static_cast<double>(w.bytes) / p_.copy_pageable);
  if (w.kind == Kind::Set && w.bytes >= kLargeSet) pass(w.thread, p_.host_set_large);
}

void Timeline::took(u64 node, std::optional<KernelTime> t) {
  if (!t) t = KernelTime{0, 0, 0};
  if (const auto it = pending_.find(node); it != pending_.end())
    it->second.takes = *t;
  else
    early_[node] = *t;
}

void Timeline::complete(u64 node) {
  last_complete_ = node;
  const auto it = pending_.find(node);
  if (it == pending_.end() || it->second.known) return;
  it->second.known = true;
  offer(node, it->second);
}

void Timeline::offer(u64 node, Op& op) {
  if (op.known && !op.missing) turns_.push({op.ready, submitted_++, node});
}

void Timeline::wait(u32 thread, u64 node) {
  const auto s = span(node);
  if (s && done_.at(node).left_at_once) return;
  double& now = clock(thread);
  if (s && done_.at(node).next > now) now = done_.at(node).next + p_.host_wake;
}

std::optional<Timeline::Span> Timeline::span(u64 node) {
  if (!place_until(node)) return std::nullopt;
  return done_.at(node).span;
}

bool Timeline::place_until(u64 node) {
  while (!done_.contains(node) && !turns_.empty()) {
    const u64 next = turns_.top().node;
    turns_.pop();
    place(next);
  }
  return done_.contains(node);
}

// When the work may begin, if only that were before it.
double Timeline::behind(u64 node, const Op& op) const {
  const WorkProfile& w = op.work;
  const Done& before = done_.at(node);
  const bool kernel = w.kind == Kind::Kernel || w.kind == Kind::Library;
  const bool after_kernel = before.kind == Kind::Kernel || before.kind == Kind::Library;
  if (kernel && after_kernel) {
    if (w.overlaps == node)
      return before.last + std::max(p_.gap_programmatic, p_.gap_programmatic_cta * before.ctas) - head();
    if (w.graph) return before.last + std::max(p_.gap_graph, p_.gap_graph_cta * before.ctas) - head();
  }
  double at = before.next;
  if (moves(w.kind) && before.kind != Kind::Join) {
    const Transfer t = transfer_of(w, p_);
    if (!moves(before.kind) || before.engine != t.engine || t.engine >= 2) at += t.gap;
  } else if (moves(before.kind) && w.kind != Kind::Join) {
    at += before.gap;
  }
  if (w.kind == Kind::Join && before.stream && w.stream && before.stream != w.stream) at += p_.gap_events;
  return at;
}

void Timeline::place(u64 node) {
  const auto it = pending_.find(node);
  const Op op = std::move(it->second);
  pending_.erase(it);
  Done d;
  d.kind = op.work.kind, d.stream = op.work.stream;
  switch (op.work.kind) {
    case Kind::Kernel:
    case Kind::Library:
      place_kernel(op, d);
      break;
    case Kind::Copy:
    case Kind::Set:
      place_copy(op, d);
      break;
    case Kind::Stamp:
      d.span = {op.ready, op.ready}, d.last = op.ready, d.next = op.ready + p_.event_stamp;
      break;
    case Kind::Join:
    case Kind::Waited:
    case Kind::Passed:
      d.span = {op.ready, op.ready}, d.last = d.next = op.ready;
      break;
  }
  last_end_ = std::max(last_end_, d.next);
  done_[node] = d;
  for (const u64 s : op.successors) {
    Op& next = pending_.at(s);
    next.ready = std::max(next.ready, behind(node, next));
    if (--next.missing == 0) offer(s, next);
  }
}

void Timeline::place_kernel(const Op& op, Done& d) {
  const KernelTime t = op.work.kind == Kind::Library ? library_time(op.work.bytes) : op.takes;
  if (!t.share) {  // without a figure
    d.span = {op.ready, op.ready}, d.last = d.next = op.ready;
    d.kind = Kind::Join;
    return;
  }
  double begin = 0, ready = op.ready;
  Device& device = devices_[op.work.device];
  if (op.work.graph) ready = std::max(ready, device.graph_nodes), device.graph_nodes = ready + p_.graph_node;
  d.last = run_on(device, divide(device, ready + head(), t), t, begin);
  if (t.split) {
    std::erase_if(device.divided, [&](const Device::Divided& k) { return k.end < ready - kLookBack; });
    device.divided.push_back({d.last, t.sms, t.split});
  }
  if (t.holds) {
    std::erase_if(device.holding, [&](const Device::Holding& k) { return k.end < ready - kLookBack; });
    device.holding.push_back({begin, d.last, t.holds});
  }
  d.span = {begin - head(), d.last + head()};
  d.ctas = t.ctas;
  d.next = d.span.end + p_.gap_cta * t.ctas;
}

void Timeline::place_copy(const Op& op, Done& d) {
  const Transfer t = transfer_of(op.work, p_);
  double& free = devices_[op.work.device].engines[t.engine];
  d.gap = t.gap, d.engine = t.engine;
  d.left_at_once = left_at_once(op.work);
  d.span.begin = std::max(op.ready, free);
  d.span.end = d.last = d.next = free = d.span.begin + t.least + static_cast<double>(op.work.bytes) / t.rate;
}

// When there are enough multiprocessors that are not divided in another way, for kernels that still run there.
double Timeline::divide(const Device& device, double from, const KernelTime& t) {
  if (!t.split) return from;
  std::vector<Device::Divided> others;
  for (const Device::Divided& k : device.divided)
    if (k.split != t.split && k.end > from) others.push_back(k);
  std::ranges::sort(others, std::greater<>(), &Device::Divided::end);
  double taken = t.sms;
  for (const Device::Divided& k : others)
    if ((taken += k.sms) > 1 + kNothing) return k.end;
  return from;
}

// How much longer its fences take because of what others write.
double Timeline::held(const Device& device, double from, const KernelTime& t) {
  if (!t.fences) return 0;
  const double each = t.active / t.fences;
  double more = 0;
  for (const Device::Holding& k : device.holding) {
    const double begin = std::max(from, k.begin), before = std::max(0.0, begin - from - more);
    if (k.end <= begin || before >= t.active) continue;
    more += std::min(t.fences - before / each, (k.end - begin) / (each + k.ns)) * k.ns;
  }
  return more;
}

// Takes what is free, up to its share, until it has had enough.
double Timeline::run_on(Device& device, double from, const KernelTime& t, double& begin) {
  std::map<double, double>& used = device.used;
  while (used.size() > kMostSteps) used.erase(used.begin());
  if (used.empty()) used[-kAfar] = 0;
  const auto step_at = [&](double at) {  // a step begins there
    auto it = std::prev(used.upper_bound(std::max(at, used.begin()->first)));
    return it->first == at ? it : used.emplace_hint(std::next(it), at, it->second);
  };
  double left = t.active * t.share, at = from;
  bool began = false;
  for (auto step = step_at(from);; ++step) {
    const auto next = std::next(step);
    const double until = next == used.end() ? kAfar : next->first, free = std::min(t.share, 1 - step->second);
    at = step->first;
    if (free < kNothing) continue;
    if (!began) begin = at, began = true, left += held(device, at, t) * t.share;
    if (left / free <= until - at) {
      const double end = at + left / free;
      if (end < until) step_at(end);
      step->second += free;
      return end;
    }
    left -= free * (until - at);
    step->second += free;
  }
}

}  // namespace us::timing
