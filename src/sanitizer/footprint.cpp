// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/footprint.h"

#include <algorithm>

namespace us::sanitizer {

constexpr u64 kTensormap = 128;  // bytes

void Footprint::note(u64 begin, u64 bytes, bool write, u32 site) {
  for (const u64 end = begin + bytes; begin < end;) {
    const u64 number = begin / kPage, until = std::min(end, (number + 1) * kPage);
    if (!last_ || last_number_ != number) last_ = &pages_[number], last_number_ = number;
    if (last_->site[write] == probe::kNoSite) last_->site[write] = site;
    for (u64 at = begin; at < until; ++at) last_->bytes[write].set(at % kPage);
    begin = until;
  }
}

void Footprint::access(const probe::Who& w, const probe::Access& a) {
  if (a.space == probe::Space::Global) {
    using Kind = probe::Access::Kind;
    std::lock_guard l(m_);
    const u64 bytes = u64{a.bytes} * a.count;
    for (u32 lane = 0; lane < probe::kLanes; ++lane) {
      if (!(w.lanes >> lane & 1)) continue;
      if (a.kind != Kind::Write) note(a.address[lane], bytes, false, w.site);
      if (a.kind != Kind::Read && (a.kind != Kind::Atomic || a.wrote >> lane & 1))
        note(a.address[lane], bytes, true, w.site);
    }
  }
  next_->access(w, a);
}

void Footprint::transfer(const probe::Who& w, const probe::Transfer& t) {
  {
    std::lock_guard l(m_);
    for (const probe::Range& r : t.from)
      if (r.space == probe::Space::Global) note(r.begin, r.bytes, false, w.site);
    for (const probe::Range& r : t.to)
      if (r.space == probe::Space::Global) note(r.begin, r.bytes, true, w.site);
    if (t.tensormap) note(t.tensormap, kTensormap, false, w.site);
  }
  next_->transfer(w, t);
}

void Footprint::ended() {
  std::vector<HostOrder::Touched> all;
  for (const auto& [number, page] : pages_)
    for (const bool write : {false, true})
      for (u64 at = 0; at < kPage;) {
        if (!page.bytes[write].test(at)) {
          ++at;
          continue;
        }
        u64 end = at;
        while (end < kPage && page.bytes[write].test(end)) ++end;
        all.push_back({number * kPage + at, end - at, write, page.site[write]});
        at = end;
      }
  next_->ended();
  ended_(all);
}

}  // namespace us::sanitizer
