// SPDX-License-Identifier: Apache-2.0
// An mbarrier object: one 64-bit word in shared memory, opaque to programs.
//
//   63     62    61..41       40..20          19..0      (bit 61..41: 21 bits, two's complement)
//   phase  mark  tx-count     expected        pending
//
// Pending arrivals count down; the phase completes when pending and tx-count are both zero. Then the phase bit flips
// and pending starts again at expected. `mark` tells an initialised object from other memory, for messages only.
// The state that arrive returns is the word as it was before the arrival, so it carries the phase and the pending
// count.
#pragma once
#include <string>

#include "device/access/limits.h"

namespace us::device {

class Mbarrier {
 public:
  static constexpr u32 kMaxCount = (1u << 20) - 1;

  explicit Mbarrier(u64 word) : word_(word) {}
  static Mbarrier initial(u32 count) { return Mbarrier(kMark | u64(count & kMaxCount) << 20 | (count & kMaxCount)); }

  u64 word() const { return word_; }
  u32 pending() const { return u32(word_) & kMaxCount; }
  u32 expected() const { return u32(word_ >> 20) & kMaxCount; }
  i32 tx() const { return i32(i64(word_ << 2) >> 43); }
  u32 phase() const { return u32(word_ >> 63); }
  bool initialised() const { return (word_ & kMark) != 0; }

  // The object is gone, its phase stays readable: a wait for a phase that completed before still ends.
  Mbarrier invalidated() const { return Mbarrier(word_ & ~kMark); }

  // Each returns true if it completed the phase. Counts out of range wrap within their fields: undefined in the ISA.
  bool arrive(u32 count) {
    set_pending(pending() - count);
    return complete_if_due();
  }
  void drop(u32 count) { word_ = (word_ & ~(u64(kMaxCount) << 20)) | u64((expected() - count) & kMaxCount) << 20; }
  void add_pending(u32 count) { set_pending(pending() + count); }
  void expect_tx(i32 bytes) { set_tx(tx() + bytes); }
  bool complete_tx(i32 bytes) {
    set_tx(tx() - bytes);
    return complete_if_due();
  }

 private:
  static constexpr u64 kMark = u64(1) << 62;
  static constexpr u64 kTxMask = u64((1u << 21) - 1) << 41;
  void set_pending(u32 n) { word_ = (word_ & ~u64(kMaxCount)) | (n & kMaxCount); }
  void set_tx(i32 n) { word_ = (word_ & ~kTxMask) | (u64(u32(n)) << 41 & kTxMask); }
  bool complete_if_due() {
    if (word_ & (kTxMask | kMaxCount)) return false;
    word_ = (word_ ^ u64(1) << 63) | expected();
    return true;
  }

  u64 word_;
};

// The word of the mbarrier at this offset in the window; ends the launch if the lane names no place for one.
[[gnu::cold]] void bad_mbarrier(Warp&, u64 address, u32 lane);
inline u64* mbarrier_at(Warp& w, u64 address, u32 lane) {
  if (address % 8 || address >> 32 || !in_shared(w, u32(address), 8)) [[unlikely]]
    bad_mbarrier(w, address, lane);
  return reinterpret_cast<u64*>(w.window + address);
}
void phase_completed(Slot&, u32 address);  // wakes who waits for it
inline void store_mbarrier(Warp& w, u32 address, u64* at, Mbarrier b, bool completed) {
  *at = b.word();
  Slot& s = *w.home->slot;
  s.events++;
  if (completed) phase_completed(s, address);
}
// Transaction bytes have come at the mbarrier at this offset in the window.
void complete_tx(Slot&, u32 address, u32 bytes);
void arrive_at(Slot&, u32 address);
std::string mbarrier_state(const Warp&);  // what a warp that waits for an mbarrier waits for

}  // namespace us::device
