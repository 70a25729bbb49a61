// SPDX-License-Identifier: Apache-2.0
#include "timing/hand_overs.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace us::timing {
namespace {

constexpr std::size_t kMostEvents = 2'000'000;
constexpr u32 kWord = 4;  // bytes

u64 key_of(u32 cta, u32 warp) { return u64{cta} << 32 | warp; }

}  // namespace

u32 HandOvers::add(const probe::Record& r, bool looks, bool answers, bool again) {
  if (events_.size() > kMostEvents) return looks_ = 0, 0;
  const bool writes = r.code.kind != probe::RecordCode::Kind::Read;
  u32& last = last_of_warp_[key_of(r.cta, r.warp)];
  const bool stands = again && last && events_[last].site == r.site;
  if (!stands) {
    events_.push_back({r.cta, r.warp, r.site, last, 0, writes, 0});
    last = static_cast<u32>(events_.size() - 1);
    looks_ += looks;
  }
  events_[last].turn = ++turns_;
  if (last_of_cta_.size() <= r.cta) last_of_cta_.resize(r.cta + 1);
  last_of_cta_[r.cta] = last;
  u32 from = 0;
  for (u32 left = r.lanes; left; left &= left - 1) {
    const u64 address = r.address(static_cast<u32>(std::countr_zero(left)));
    for (u64 word = address / kWord; word <= (address + std::max(1u, r.code.bytes) - 1) / kWord; ++word) {
      u32& writer = last_of_word_[word];
      if (answers && writer != last && events_[writer].turn > events_[from].turn) from = writer;
      if (writes) writer = last;
    }
  }
  events_[last].from = from;
  return last;
}

void HandOvers::replayed(const SmTime& sm, const std::vector<const TimedCta*>& list) {
  std::map<u32, std::size_t> place;
  for (std::size_t k = 0; k < list.size(); ++k) place[list[k]->cta] = k, of_replay_.push_back(list[k]->cta);
  std::unordered_map<u32, SmTime::Heard> heard;
  for (const SmTime::Heard& h : sm.heard) heard[h.event] = h;
  for (const auto& [event, h] : heard) {
    const Event& e = events_[event];
    const std::size_t k = place.at(e.cta);
    answers_[e.site].add(h.done - h.issued);
    const auto before = heard.find(e.before);
    if (e.before && before == heard.end()) continue;
    const double since = e.before ? before->second.done : sm.starts[k], passed = h.issued - since;
    between_[{e.before ? events_[e.before].site : kBegin, e.site}].add(passed), before_[e.site].add(passed);
    if (last_of_cta_[e.cta] == event) between_[{e.site, kEnd}].add(sm.ends[k] - h.done);
  }
  const std::size_t first = std::min<std::size_t>(resident_, sm.starts.size());
  if (starts_.size() < first) starts_.resize(first);
  for (std::size_t k = 0; k < first; ++k) starts_[k].add(sm.starts[k]);
  for (std::size_t k = 0; k < sm.starts.size(); ++k) lasts_.add(sm.ends[k] - sm.starts[k]);
}

double HandOvers::own(u32 from, u32 to) const {
  if (const auto it = between_.find({from, to}); it != between_.end()) return it->second.of(0);
  const auto it = before_.find(to);
  return it != before_.end() ? it->second.of(0) : 0;
}

// One CTA after the other: behind those that are there first, each takes the place that is free first.
void HandOvers::start_up_to(u32 cta) {
  for (; next_ <= cta; ++next_) {
    double at = 0;
    if (const u32 k = next_ / sms_; k < resident_) {
      at = k < starts_.size() ? starts_[k].of(k * p_.cta_start) : k * p_.cta_start;
    } else if (!ended_.empty()) {
      std::ranges::pop_heap(ended_, std::greater{});
      at = ended_.back() + p_.cta_restart;
      ended_.pop_back();
    }
    begun_.push_back(at);
    const bool silent = next_ >= last_of_cta_.size() || !last_of_cta_[next_];
    if (silent) ended_.push_back(at + lasts_.of(0)), std::ranges::push_heap(ended_, std::greater{});
  }
}

double HandOvers::start_of(u32 cta) {
  start_up_to(cta);
  return begun_[cta];
}

double HandOvers::solve() {
  times_.assign(events_.size(), {});
  std::vector<double> ends(ctas_, 0);
  double all = 0, of_replay = 0;
  std::vector<u32> order(events_.size() - 1);
  std::iota(order.begin(), order.end(), 1);
  std::ranges::sort(order, {}, [&](u32 k) { return events_[k].turn; });
  for (const u32 k : order) {
    const Event& e = events_[k];
    Times& t = times_[k];
    const double start = start_of(e.cta);
    t.issued = e.before ? times_[e.before].done + own(events_[e.before].site, e.site) : start + own(kBegin, e.site);
    const auto answer = answers_.find(e.site);
    t.done = t.issued + (answer != answers_.end() ? answer->second.of(0) : 0);
    const Event& by = events_[e.from];
    if (e.from && (by.cta != e.cta || by.warp != e.warp)) {
      // Atomics of one word follow each other; who only looks asks again and again.
      const double there = times_[e.from].issued + (e.changes ? 0 : p_.hand_over);
      t.waits = std::max(0.0, there - t.done), t.done += t.waits;
    }
    if (last_of_cta_[e.cta] != k) continue;
    ends[e.cta] = t.done + own(e.site, kEnd);
    all = std::max(all, ends[e.cta]);
    ended_.push_back(ends[e.cta]), std::ranges::push_heap(ended_, std::greater{});
  }
  for (const u32 cta : of_replay_) of_replay = std::max(of_replay, ends[cta]);
  return std::max(0.0, all - of_replay);
}

}  // namespace us::timing
