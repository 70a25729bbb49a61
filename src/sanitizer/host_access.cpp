// SPDX-License-Identifier: Apache-2.0
// Accesses of the program itself to pinned and managed memory, against work that it has not waited for.
#include <algorithm>

#include "sanitizer/host_order.h"

namespace us::sanitizer {

namespace {

// Copies and sets without Async in their name have waited where the host can touch what they touch.
bool has_waited(const std::string& call) { return call.starts_with("cu") && call.find("Async") == call.npos; }

}  // namespace

bool HostOrder::known_to_host(const Mark& m) const {
  if (m.does == Does::Allocate || m.does == Does::Free || m.when.inner || clocks_.over_for_host(m.when)) return true;
  return !m.by->launch && has_waited(m.by->what);
}

bool HostOrder::watches_host() const {
  const std::lock_guard l(m_);
  return !host_told_ && !shared_.empty();
}

bool HostOrder::idle() const {
  const std::lock_guard l(m_);
  return under_way_.empty();
}

u64 HostOrder::submitted() const {
  const std::lock_guard l(m_);
  return submitted_;
}

bool HostOrder::shared_block(u64 address) const {
  const auto it = shared_.upper_bound(address);
  return it != shared_.begin() && address - std::prev(it)->first < std::prev(it)->second;
}

bool HostOrder::watches(u64 address) const {
  const std::lock_guard l(m_);
  return shared_block(address);
}

std::vector<HostOrder::Unknown> HostOrder::unknown_to_host() const {
  std::vector<Unknown> all;
  const std::lock_guard l(m_);
  if (host_told_) return all;
  for (const auto& [begin, bytes] : shared_) {
    auto span = spans_.lower_bound(begin);
    if (span != spans_.begin() && std::prev(span)->second.end > begin) --span;
    for (; span != spans_.end() && span->first < begin + bytes; ++span) {
      bool any = false, written = false;
      for (const Mark& m : span->second.marks) {
        if (known_to_host(m)) continue;
        any = true, written |= m.does == Does::Write;
      }
      const u64 first = std::max(span->first, begin), end = std::min(span->second.end, begin + bytes);
      if (any) all.push_back({first, end - first, written});
    }
  }
  return all;
}

const HostOrder::Mark* HostOrder::unordered_with_host(u64 address, bool write) const {
  if (host_told_ || !shared_block(address)) return nullptr;
  auto span = spans_.upper_bound(address);
  if (span == spans_.begin() || address >= (--span)->second.end) return nullptr;
  for (const Mark& m : span->second.marks) {
    const bool conflicts = m.does == Does::Write || (write && m.does == Does::Read);
    if (conflicts && !known_to_host(m)) return &m;
  }
  return nullptr;
}

void HostOrder::host_access(const Mark& other, u64 address, bool write, HostStack::Addresses stack) {
  Finding f;
  f.check = Check::RaceHost;
  f.launch = other.by->launch;
  f.kernel = other.by->kernel;
  f.object = object(address, 1);
  Party host;
  host.action = write ? "write" : "read", host.who = "the host", host.site = stack_.in_words(stack);
  f.parties = {std::move(host), party(other)};
  f.why = {"The host has not waited for that work: it may still be running."};
  f.fix = "cudaStreamSynchronize, cudaEventSynchronize or cudaDeviceSynchronize before the host touches it.";
  add_launches_held(f);
  sink_.found(f);
}

}  // namespace us::sanitizer
