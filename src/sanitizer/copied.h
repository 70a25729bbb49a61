// SPDX-License-Identifier: Apache-2.0
// Values that nobody wrote, on their way through registers into memory.
#pragma once
#include <algorithm>
#include <bit>
#include <vector>

#include "probe/events.h"

namespace us::sanitizer {

struct UnwrittenCopy {  // who read it where nobody had written
  u64 cta = 0;
  u32 site = 0, warp = 0, lane = 0;
  u32 shuffled = 0;  // the lane that a shuffle took it from and that is not there, + 1; 0: no shuffle did
  u64 address = 0;   // what was read
  probe::Space space = probe::Space::Global;
};

// Of a warp: stores that follow, and the lanes that will store such a value.
class UnwrittenValues {
 public:
  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  void note(u32 site, u32 element, u32 lane, const UnwrittenCopy& from) {
    for (Value& v : all_) {
      if (v.site == site && v.element == element && v.from.site == from.site && v.from.cta == from.cta)
        return void(v.lanes |= 1u << lane);
    }
    if (all_.size() >= 64) all_.erase(all_.begin());
    all_.push_back({site, element, 1u << lane, from});
  }
  // f(element, lane, from) of those at the site.
  template <class F>
  void take(u32 site, u32 lanes, F&& f) {
    for (Value& v : all_) {
      if (v.site != site) continue;
      for (u32 rest = v.lanes & lanes; rest; rest &= rest - 1)
        f(v.element, static_cast<u32>(std::countr_zero(rest)), v.from);
      v.lanes &= ~lanes;
    }
    std::erase_if(all_, [](const Value& v) { return v.lanes == 0; });
  }

 private:
  struct Value {
    u32 site = 0, element = 0, lanes = 0;
    UnwrittenCopy from;
  };
  std::vector<Value> all_;
};

}  // namespace us::sanitizer
