// SPDX-License-Identifier: Apache-2.0
// Compare-and-swap in loops that go on until they succeed. Here threads take turns and succeed at once; on the device,
// of those that try at the same time at one address one succeeds, and the others try again with what it left.
#pragma once
#include <algorithm>
#include <unordered_map>

#include "probe/records.h"

namespace us::timing {

// Addresses that a launch swaps so. `times`: how often, at each; `sm`: the only multiprocessor that does, or kSeveral.
struct Swapped {
  static constexpr u32 kSeveral = ~0u;
  u32 times = 0, sm = 0;
  void add(u32 of) { sm = times++ && sm != of ? kSeveral : of; }
  // For each success here, those on all multiprocessors.
  u32 shared_by(u32 sms) const { return sm == kSeveral ? std::min(sms, times) : 1; }
};
using SwappedAddresses = std::unordered_map<u64, Swapped>;

template <class F>
void for_each_address(const probe::Record& r, F&& f) {  // once for lanes that come to the same
  u64 seen[probe::kLanes];
  u32 n = 0;
  for (u32 l = 0; l < probe::kLanes; ++l) {
    if (!(r.lanes >> l & 1) || std::find(seen, seen + n, r.address(l)) != seen + n) continue;
    seen[n++] = r.address(l);
    f(r.address(l));
  }
}

class Swaps {  // of one multiprocessor
 public:
  // When the access has succeeded that would have at `done`, were it alone.
  // `turn(address)`: from one success to the next.
  template <class Turn>
  double succeed(const probe::Record& r, u64 base, double done, Turn&& turn) {
    double all = done;
    for_each_address(r, [&](u64 address) {
      double& last = last_[base + address];
      last = last > 0 ? std::max(done, last + turn(address)) : done;
      all = std::max(all, last);
    });
    return all;
  }

 private:
  std::unordered_map<u64, double> last_;
};

}  // namespace us::timing
