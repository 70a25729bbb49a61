// SPDX-License-Identifier: Apache-2.0
// Values that a shuffle took from lanes that are not there, and those that nobody wrote on their way through shuffles.
#pragma once
#include <algorithm>
#include <vector>

#include "sanitizer/copied.h"

namespace us::sanitizer {

// Of a warp: for lanes whose value at `at` is such a one.
struct UndefinedValue {
  u32 at = 0, element = 0;  // site of a store, an atomic or a shuffle
  u32 made = 0;             // site of the shuffle that it came through last, or of the load
  u32 lanes = 0;
  UnwrittenCopy from;  // of the shuffle or load that took it
};

class UndefinedValues {
 public:
  static constexpr std::size_t kMost = 512;
  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  void note(const UndefinedValue& v) {
    if (all_.size() < kMost) all_.push_back(v);
  }
  // The same of another lane is one with it.
  void note_lane(const UndefinedValue& v) {
    const auto same = std::ranges::find_if(all_, [&](const auto& o) {
      return o.at == v.at && o.element == v.element && o.made == v.made && o.from.site == v.from.site &&
             o.from.cta == v.from.cta && o.from.shuffled == v.from.shuffled;
    });
    same == all_.end() ? note(v) : void(same->lanes |= v.lanes);
  }
  // What the shuffle or load answered these lanes before is gone.
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
