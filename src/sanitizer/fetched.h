// SPDX-License-Identifier: Apache-2.0
// What a launch reads by paths that have no cells (textures, constants): ranges of addresses, each with a reader: for
// the host's order, and that of launches which meet there.
#pragma once
#include <algorithm>
#include <map>

#include "base/types.h"

namespace us::sanitizer {

class Fetched {
 public:
  void add(u64 begin, u64 bytes, u32 site, bool waited) {
    const u64 end = begin + bytes;
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      if (before->second.end >= end) return void(before->second.waited |= waited);
      if (before->second.end >= begin) next = before;
    }
    Range all{end, site, waited};
    u64 first = begin;
    while (next != ranges_.end() && next->first <= end) {
      first = std::min(first, next->first);
      all = {std::max(all.end, next->second.end), next->second.site, all.waited || next->second.waited};
      next = ranges_.erase(next);
    }
    if (ranges_.size() < kMost) ranges_.emplace_hint(next, first, all);
  }
  template <class F>
  void each(F&& f) const {
    for (const auto& [begin, r] : ranges_) f(begin, r.end - begin, r.site, r.waited);
  }

 private:
  static constexpr std::size_t kMost = 1 << 16;  // others are left out
  struct Range {
    u64 end = 0;
    u32 site = 0;
    bool waited = false;  // some of it was fetched behind griddepcontrol.wait
  };
  std::map<u64, Range> ranges_;
};

}  // namespace us::sanitizer
