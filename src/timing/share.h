// SPDX-License-Identifier: Apache-2.0
// What one multiprocessor gets of L2 and DRAM while as many as the launch has are at work.
#pragma once
#include <deque>

#include "timing/multiprocessor.h"
#include "timing/parameters.h"
#include "timing/slices.h"

namespace us::timing {

class Share {
 public:
  Share(const TimedLaunch&, const std::vector<const TimedCta*>&, const Parameters&);
  // When L2 has given so many bytes of so many lines, and DRAM what L2 lacks: `twice` where that is waited for again.
  double load(double at, double bytes, u32 lines, double dram_bytes, bool twice = false);
  struct Stored {
    double taken = 0;  // when the unit of loads and stores goes on
    u64 anew = 0;      // of lines those that did not join what waits
  };
  Stored store(double at, const Lines&, bool narrow);  // `narrow`: words of less than 4 bytes
  Stored store_lines(double at, u32 lines);            // whole ones, whose places are not known
  void rest(double from, double to);                   // the unit of loads and stores had nothing to do
  double flush(double at);                             // all that waits leaves: when it has
  // Sectors of local memory that L1 gives up; DRAM gets some of them.
  void write_back(double at, u32 sectors, double dram_bytes);
  struct Atomic {
    double lines = 1, lanes = 32, sectors = 4, slices = 8, dram_sectors = 0, bytes = 128;
    bool answer = false;
  };
  double atomic(double at, const Atomic&);  // when its answer is there

  double write_rate() const { return write_rate_; }  // bytes a cycle
  double l2_bytes() const { return l2_bytes_; }
  const StoredAgain& stored_again() const { return again_; }

 private:
  void leave(StoreBuffer::Waiting&, double at);
  double make_room(double at);  // for a line: when there is
  double from_dram(double at, double bytes, u32 lines, bool twice = false);
  void take_dram(double at, double cycles, bool writes = false);
  double dram_idle() const;
  double dram_written() const;
  double dram_spread() const;
  double dram_time(double at, double cycles, double idle, bool twice);
  double luck();  // 0 on average

  const Parameters& p_;
  StoreBuffer waiting_, all_stores_;
  double taken_ = 0;           // when a line last took a place
  u64 unknown_ = ~u64{0} - 1;  // lines whose places are not known
  StoredAgain again_;
  const double sms_, written_back_, sooner_;
  const double read_rate_, write_rate_, dram_rate_;              // bytes a cycle
  const double store_pace_, atomic_pace_;                        // cycles for one of a slice
  const double request_cost_;                                    // cycles for a look-up of tags of L2
  double l2_ = 0, tags_ = 0, dram_ = 0, out_ = 0, atomics_ = 0;  // until when each is taken
  double begun_ = 1e18;                                          // the first time that DRAM was asked
  double dram_use_ = 0;                                          // part of DRAM's time that was taken of late
  double dram_mix_[2] = {};                                      // of a longer while, all and what is written
  double dram_seen_ = 0;                                         // when that was looked at
  struct UnderWay {
    double until, cycles;
  };
  std::deque<UnderWay> under_way_;  // loads from DRAM
  double asked_ = 0;                // cycles of DRAM for them
  double l2_bytes_ = 0;
  double by_slices_ = 0, by_dram_ = 0;  // what stores took, if only slices or only DRAM were there
  u32 random_ = 12345;
};

}  // namespace us::timing
