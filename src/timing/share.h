// SPDX-License-Identifier: Apache-2.0
// What one multiprocessor gets of L2 and DRAM while as many as the launch has are at work.
#pragma once
#include "timing/multiprocessor.h"
#include "timing/parameters.h"

namespace us::timing {

class Share {
 public:
  Share(const TimedLaunch&, const std::vector<const TimedCta*>&, const Parameters&);
  // When L2 has given so many bytes of so many lines, and DRAM what L2 lacks.
  double load(double at, double bytes, u32 lines, double dram_bytes);
  // When a store of so many lines has left the multiprocessor and is taken; `slices`: cycles of slices of L2.
  double store(double at, double lines, double slices);
  // Sectors of local memory that L1 gives up; DRAM gets some of them.
  void write_back(double at, u32 sectors, double dram_bytes);
  struct Atomic {
    double lines = 1, lanes = 32, sectors = 4, slices = 8, dram_sectors = 0;
    bool answer = false;
  };
  double atomic(double at, const Atomic&);  // when its answer is there

  double write_rate() const { return write_rate_; }  // bytes a cycle
  double l2_bytes() const { return l2_bytes_; }

 private:
  double from_dram(double at, double bytes, u32 lines);
  void take_dram(double at, double cycles);
  double luck();  // 0 on average

  const Parameters& p_;
  const double sms_, written_back_;
  const double read_rate_, write_rate_, dram_rate_;   // bytes a cycle
  const double store_pace_, atomic_pace_;             // cycles for one of a slice
  const double request_cost_;                         // cycles for a line of L2
  double l2_ = 0, dram_ = 0, out_ = 0, atomics_ = 0;  // until when each is taken
  double begun_ = 1e18;                               // the first time that DRAM was asked
  double dram_use_ = 0, dram_seen_ = 0;               // part of the time of late, and when that was looked at
  double l2_bytes_ = 0;
  u32 random_ = 12345;
};

}  // namespace us::timing
