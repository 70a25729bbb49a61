// SPDX-License-Identifier: Apache-2.0
// Words in memory by which the host, streams and kernels that run tell each other that something is done.
//
// A stream that waits for a value is behind the one that wrote it, if only streams write that word.
// In a kernel it is not known which of its accesses lie behind such a word. So one that has looked at what the host or
// a stream writes is behind all that the host knows, and all that came before what a stream has written, at the time of
// the question; and what is submitted after it told the host something is behind it.
#include "sanitizer/host_order.h"

namespace us::sanitizer {

namespace {
constexpr std::size_t kMostTalks = 1 << 12;
}

void HostOrder::tells(const probe::Work& w) {
  clocks_.tells(w.node);
  for (const probe::Work::Value& v : w.values) {
    Word& word = words_[v.address];
    word.node = w.node, word.value = v.value;
  }
}

void HostOrder::hears(const probe::Work& w) {
  std::vector<u64> others;
  for (const probe::Work::Value& v : w.values) {
    const auto word = words_.find(v.address);
    if (word == words_.end() || word->second.others || word->second.value != v.value || shared_block(v.address)) return;
    others.push_back(word->second.node);
  }
  clocks_.follows(w.node, others);
}

void HostOrder::host_is_told(u64 launch, bool by_fence) {
  host_told_ = true;
  const std::lock_guard l(m_);
  const auto at = node_of_.find(launch);
  if (at == node_of_.end() || (by_fence && shared_.empty())) return;
  Talk& t = talks_[at->second];
  if (!t.told_at) t.told_at = newest_;
  if (talks_.size() > kMostTalks) talks_.erase(talks_.begin());
}

void HostOrder::kernel_is_told(u64 launch) {
  const std::lock_guard l(m_);
  const auto at = node_of_.find(launch);
  if (at == node_of_.end()) return;
  talks_[at->second].hears = true;
  if (talks_.size() > kMostTalks) talks_.erase(talks_.begin());
}

bool HostOrder::talked(u64 a, const WorkClocks::Moment& when, u64 b) const {
  const auto teller = talks_.find(a), hearer = talks_.find(b);
  const bool told = teller != talks_.end() && teller->second.told_at;
  const bool hears = hearer != talks_.end() && hearer->second.hears;
  if (told && (hears || b > teller->second.told_at)) return true;
  return hears && (clocks_.over_for_host(when) || clocks_.told(when));
}

}  // namespace us::sanitizer
