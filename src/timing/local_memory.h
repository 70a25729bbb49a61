// SPDX-License-Identifier: Apache-2.0
// Local memory of one multiprocessor: what is written stays in L1 until its line goes, then in L2 as far as that has
// room for that of all multiprocessors, else in DRAM.
#pragma once
#include <unordered_set>

#include "timing/caches.h"
#include "timing/lines.h"
#include "timing/share.h"

namespace us::timing {

class LocalMemory {
 public:
  LocalMemory(const TimedLaunch& l, const Parameters& p, L1& l1, Share& share)
      : p_(p), sms_(l.active_sms), l1_(l1), share_(share) {}

  // In a line the same word of all lanes lies together. The warp that comes next in the place of one has its memory,
  // too. `r`: null where there is no record: what the assembler keeps in the frame.
  static Lines lines(u32 warp, const Row&, const probe::Record* r);
  void write(const Lines&, double at);
  struct Answer {
    double done = 0;
    u32 missing = 0;  // sectors
  };
  Answer read(const Lines&, double at, double hit);  // `hit`: when L1 would have answered
  void give_back(const L1::Gone&, double at);        // which L1 has no place for

  double read_bytes() const { return read_; }  // of DRAM
  double written_bytes() const { return written_; }

 private:
  double beyond(double bytes) const;

  const Parameters& p_;
  const u32 sms_;
  L1& l1_;
  Share& share_;
  std::unordered_set<u64> lines_;  // in use
  double read_ = 0, written_ = 0;
};

}  // namespace us::timing
