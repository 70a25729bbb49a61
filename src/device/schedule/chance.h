// SPDX-License-Identifier: Apache-2.0
// The order in which blocks and warps of a grid run, where a seed chooses it: one of many that the programming model
// allows. The same seed gives the same order. Seed 0: the usual order.
#pragma once
#include <bit>

#include "base/types.h"

namespace us::device {

class Chance {
 public:
  void begin(u32 seed, u64 grid) {
    state_ = seed ? (u64{seed} << 32 | (grid & 0xffffffff)) * 0x9e3779b97f4a7c15ull | 1 : 0;
    breaks_ = seed ? kBreaks : 0;
  }
  bool on() const { return state_ != 0; }
  u32 below(u32 n) {  // xorshift64*
    state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
    return n ? static_cast<u32>((state_ * 0x2545f4914f6cdd1dull >> 32) % n) : 0;
  }
  u32 one_of(u32 set) {  // a number of a bit that is set
    for (u32 k = below(static_cast<u32>(std::popcount(set))); k; --k) set &= set - 1;
    return static_cast<u32>(std::countr_zero(set));
  }
  // Shall a warp let others run although it could go on? Not for ever: who waits for others must be seen to wait.
  bool breaks() { return breaks_ && below(4) == 0 && breaks_--; }

 private:
  static constexpr u32 kBreaks = 4096;  // of one grid
  u64 state_ = 0;
  u32 breaks_ = 0;
};

}  // namespace us::device
