// SPDX-License-Identifier: Apache-2.0
// Caches of one multiprocessor, as far as time depends on them: L1 by lines and sectors, and those of code.
#pragma once
#include <unordered_map>
#include <vector>

#include "probe/records.h"
#include "timing/parameters.h"

namespace us::timing {

// Which line goes is left to chance: a set of lines a little larger than L1, read over and over, hits often (libor in
// oracle/timing/public: 85 %).
class L1 {
 public:
  explicit L1(u64 bytes);
  // Of the sectors of a line those that are not there; `arrives`: when those that are on their way will be.
  u32 missing(u64 line, u32 sectors, double& arrives);
  // Which line went for it, and those of its sectors that are to be written back.
  struct Gone {
    u64 line = 0;
    u32 sectors = 0;
  };
  Gone fill(u64 line, u32 sectors, double arrives);
  // What is stored goes to L2: a second store to a line before the first has left takes the line out
  // (oracle/timing/lanes.txt, InPlace 2: half of the loads hit).
  void store(u64 line, double at, double leaves);
  Gone write_back(u64 line, u32 sectors);  // local memory: L2 gets them when the line goes
  void invalidate() { ++epoch_; }          // all but what is to be written back

 private:
  static constexpr u32 kWays = 64, kNone = ~0u;
  struct Line {
    u32 sectors = 0, dirty = 0;
    u32 epoch = 0;
    double arrives[4] = {};  // each sector
    double leaves = 0;       // what was stored
  };
  u32 set_of(u64 line) const { return static_cast<u32>((line * 0x9e3779b97f4a7c15ull >> 32) % sets_ * kWays); }
  u32 find(u64 line);  // its place, or kNone
  u32 sets_, random_ = 1, epoch_ = 0;
  std::vector<u64> tags_;   // by place
  std::vector<u8> filled_;  // places of each set
  std::vector<Line> lines_;
};

// Instructions come by lines of 128 bytes: from the buffer of a sub-partition, the cache of the multiprocessor, L2, or
// the first time from DRAM. The beginning is asked for when the kernel starts, later the lines behind one that misses.
class InstructionCache {
 public:
  // `all`: the part of the multiprocessors that is at work.
  InstructionCache(const Parameters&, u32 lines, bool warm, double all);
  // When a warp of the sub-partition may issue an instruction of the line, which it comes to now.
  double ready(u32 partition, u32 line, bool jump, double now);

 private:
  // Lines in the order in which they came; the oldest goes.
  class Queue {
   public:
    explicit Queue(u32 most) : most_(most) {}
    bool has(u32 line) const { return line < there_.size() && there_[line]; }
    void add(u32 line);

   private:
    const u32 most_;
    std::vector<bool> there_;
    std::vector<u32> order_;
    std::size_t oldest_ = 0;
  };
  static constexpr u32 kBufferLines = 272, kCacheLines = 1024, kFirstLines = 512, kAhead = 8;
  const Parameters& p_;
  const double near_;  // cycles for a line of the multiprocessor's cache
  std::vector<Queue> buffers_ = std::vector<Queue>(4, Queue(kBufferLines));
  Queue cache_{kCacheLines};
  std::vector<double> arrives_;  // of lines that were ever asked for; 0: never
};

// Constants that are read at an address that lanes compute: lines of 64 bytes, from the cache of the
// multiprocessor, that behind it, or L2. One line after the other.
class ConstantCache {
 public:
  explicit ConstantCache(const Parameters& p) : p_(p) {}
  double read(const probe::Record&, double at);  // until when it is taken

 private:
  static constexpr u64 kLine = 64;
  const Parameters& p_;
  std::vector<u64> near_;                 // the latest last
  std::unordered_map<u64, bool> behind_;  // lines that ever came
};

}  // namespace us::timing
