// SPDX-License-Identifier: Apache-2.0
// Changes of mbarrier objects, and whom they wake. All CTAs of a cluster run on one worker, so updates are plain.
#include "device/sync/mbarrier.h"

#include <fmt/format.h>

#include "device/functions/rt.h"

namespace us::device {

void bad_mbarrier(Warp& w, u64 addr, u32 lane) {
  bool misaligned = addr % 8 != 0;
  die(w, misaligned ? Outcome::MisalignedAddress : Outcome::IllegalAddress,
      fmt::format("mbarrier at shared address {:#x}: {}", addr,
                  misaligned ? "expected an address divisible by 8" : "outside the shared memory that a block has"),
      1u << lane, misaligned ? probe::Refused::MbarrierAddress : probe::Refused::Shared);
}

void phase_completed(Slot& s, u32 addr) {
  s.phases++;
  Cta& c = *s.cta[addr / kCtaSharedStride];
  for (u32 k : Lanes(c.polling)) {
    Warp& w = *c.warp[k];
    if (w.wait_addr != addr && !w.wait_lanes_differ) continue;
    w.wait_done = true;
    c.polling &= ~(1u << k);
    c.ready |= 1u << k;
  }
}

void complete_tx(Slot& s, u32 address, u32 bytes) {
  u64* at = reinterpret_cast<u64*>(s.window + address);
  Mbarrier b(*at);
  const bool completed = b.complete_tx(i32(bytes));
  *at = b.word();
  s.events++;
  if (completed) phase_completed(s, address);
}

void arrive_at(Slot& s, u32 address) {
  u64* at = reinterpret_cast<u64*>(s.window + address);
  Mbarrier b(*at);
  const bool completed = b.arrive(1);
  *at = b.word();
  s.events++;
  if (completed) phase_completed(s, address);
}

std::string mbarrier_state(const Warp& w) {
  u32 in_cta = w.wait_addr % kCtaSharedStride;
  Mbarrier b(*reinterpret_cast<const u64*>(w.window + w.wait_addr));
  if (!b.initialised()) return fmt::format("mbarrier at shared+{:#x}: not initialised", in_cta);
  std::string text = fmt::format("mbarrier at shared+{:#x} phase {}: {} of {} arrivals pending", in_cta, w.wait_parity,
                                 b.pending(), b.expected());
  if (b.tx() != 0) text += fmt::format(", tx {} bytes missing", b.tx());
  if (b.phase() != w.wait_parity) text += " (of the phase after it)";
  return text;
}

}  // namespace us::device
