// SPDX-License-Identifier: Apache-2.0
// Values that a shuffle took from lanes that are not there, on their way through registers.
#pragma once
#include <algorithm>
#include <vector>

#include "sanitizer/copied.h"

namespace us::sanitizer {

// Of a warp: for lanes whose value at `at` is such a one.
struct UndefinedValue {
  u32 at = 0, element = 0;  // site of a store, an atomic or a shuffle
  u32 made = 0;             // site of the shuffle that it came through last
  u32 lanes = 0;
  UnwrittenCopy from;  // of the shuffle that took it
};

class UndefinedValues {
 public:
  static constexpr std::size_t kMost = 512;
  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  void note(const UndefinedValue& v) {
    if (all_.size() < kMost) all_.push_back(v);
  }
  // What the shuffle answered these lanes before is gone.
  void made_anew(u32 site, u32 lanes) {
    for (UndefinedValue& v : all_) v.lanes &= v.made == site ? ~lanes : ~0u;
    std::erase_if(all_, [](const UndefinedValue& v) { return v.lanes == 0; });
  }
  template <class F>
  void each(u32 site, u32 lanes, F&& f) const {
    for (const UndefinedValue& v : all_)
      if (v.at == site && v.lanes & lanes) f(v);
  }
  // Of some of these lanes, at that site; or null.
  const UndefinedValue* find(u32 site, u32 lanes) const {
    const auto v = std::ranges::find_if(all_, [&](const auto& u) { return u.at == site && u.lanes & lanes; });
    return v == all_.end() ? nullptr : &*v;
  }

 private:
  std::vector<UndefinedValue> all_;
};

}  // namespace us::sanitizer
