// SPDX-License-Identifier: Apache-2.0
// What the instruction at which a warp is accesses now.
#pragma once
#include <algorithm>

#include "timing/resident.h"

namespace us::timing {

struct NextAccess {
  probe::Record r;
  float cost = 0;       // TimedAccess
  bool behind = false;  // TimedAccess
  u32 event = 0;        // TimedAccess
  float waits = 0;      // TimedAccess
  bool known = false;
  bool none = false;  // the guards of all lanes were false
};

// Where the compiler joined or left out accesses, the numbers do not fit; then what came last is taken again.
// `addresses`: room for those of lanes that the record has in another width. `comes_again`: it remains the next.
inline NextAccess next_access(const TimedLaunch& launch, Warp& w, u64 (&addresses)[probe::kLanes],
                              bool comes_again = false) {
  NextAccess n;
  const u32 site = launch.code.sites[w.pc];
  const u32 slot = site < launch.slot_of_site.size() ? launch.slot_of_site[site] : ~0u;
  if (slot >= w.work->accesses.size()) return n;
  const auto& all = w.work->accesses[slot];
  if (all.empty()) return n.none = true, n;
  u32& at = w.cursors[slot];
  n.known = true;
  const bool further = launch.code.rows[w.pc].further && at > 0;  // of what came last, which is on its way
  const TimedAccess& a = all[std::min<std::size_t>(at - further, all.size() - 1)];
  if (!further && at < all.size())
    n.cost = a.cost, n.behind = a.behind, n.event = a.event, n.waits = a.waits, at += !comes_again;
  probe::read_record(a.words, n.r);
  if (const u32 bytes = launch.code.bytes[w.pc]; bytes && bytes != n.r.code.bytes) {
    for (u32 l = 0; l < probe::kLanes; ++l) addresses[l] = n.r.lanes >> l & 1 ? n.r.address(l) : 0;
    n.r.code.addresses = probe::RecordCode::Addresses::Each, n.r.each = addresses;
    n.r.code.bytes = bytes;
  }
  return n;
}

}  // namespace us::timing
