// SPDX-License-Identifier: Apache-2.0
#include "device/functions/rt.h"
#include "device/probe/tell.h"

namespace us::device {

void tell_mbarrier(Warp& w, u32 lanes, const probe::Mbarrier& m) {
  probe::Mbarrier e = m;
  e.remote = e.address / kCtaSharedStride != w.home->cluster_rank;
  w.listener->mbarrier(who(w, lanes), e);
}

void tell_tests(Warp& w, u32 lanes, const MbarTestWaitArgs& a, u32 done, const NoteCode& next) {
  constexpr u64 kParity = 1, kTryWait = 2;
  for (u32 left = lanes; left;) {
    const u32 l = first_lane(left);
    u32 group = 0;
    for (u32 k : Lanes(left))
      if (a.addr[k] == a.addr[l] && a.state[k] == a.state[l] && (done >> k & 1) == (done >> l & 1)) group |= 1u << k;
    left &= ~group;
    const u64 word = *reinterpret_cast<const u64*>(w.window + a.addr[l]);
    probe::Mbarrier m;
    m.kind = probe::Mbarrier::Kind::Test;
    m.address = a.addr[l];
    m.order = next.order, m.scope = next.scope;
    m.by_parity = a.flags[l] & kParity, m.may_block = a.flags[l] & kTryWait, m.done = done >> l & 1;
    m.state = a.state[l];
    m.before = m.after = word;
    tell_mbarrier(w, group, m);
  }
}

}  // namespace us::device
