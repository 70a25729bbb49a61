// SPDX-License-Identifier: Apache-2.0
#include "driver/memory/advice.h"

#include <algorithm>

namespace us::driver {

// Makes `at` a border between parts.
void Advice::split(u64 at) {
  auto it = parts_.upper_bound(at);
  if (it == parts_.begin()) return;
  --it;
  if (it->first == at || it->second.end <= at) return;
  parts_[at] = it->second;
  it->second.end = at;
}

template <class F>
void Advice::change(u64 at, u64 bytes, F&& f) {
  std::lock_guard l(m_);
  const u64 end = at + bytes;
  split(at);
  split(end);
  for (u64 p = at; p < end;) {
    auto it = parts_.lower_bound(p);
    if (it == parts_.end() || it->first != p)
      it = parts_.emplace(p, Part{it == parts_.end() ? end : std::min(end, it->first), {}}).first;
    f(it->second.said);
    p = it->second.end;
  }
}

void Advice::advise(u64 at, u64 bytes, Kind kind, Location location) {
  change(at, bytes, [&](Said& s) {
    switch (kind) {
      case SetReadMostly:
      case UnsetReadMostly:
        s.read_mostly = kind == SetReadMostly;
        break;
      case SetPreferred:
        s.preferred = location;
        break;
      case UnsetPreferred:
        s.preferred.reset();
        break;
      case SetAccessedBy:
        s.accessed_by.insert(location);
        break;
      case UnsetAccessedBy:
        s.accessed_by.erase(location);
        break;
    }
  });
}

void Advice::prefetched(u64 at, u64 bytes, Location location) {
  change(at, bytes, [&](Said& s) { s.prefetched = location; });
}

void Advice::forget(u64 at, u64 bytes) {
  std::lock_guard l(m_);
  split(at);
  split(at + bytes);
  parts_.erase(parts_.lower_bound(at), parts_.lower_bound(at + bytes));
}

std::vector<Advice::Said> Advice::said(u64 at, u64 bytes) const {
  std::lock_guard l(m_);
  std::vector<Said> out;
  const u64 end = at + bytes;
  auto it = parts_.upper_bound(at);
  if (it != parts_.begin() && std::prev(it)->second.end > at) --it;
  u64 p = at;
  for (; it != parts_.end() && it->first < end; ++it) {
    if (it->first > p) out.emplace_back();
    out.push_back(it->second.said);
    p = it->second.end;
  }
  if (p < end) out.emplace_back();
  return out;
}

}  // namespace us::driver
