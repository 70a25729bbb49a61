// SPDX-License-Identifier: Apache-2.0
// One multiprocessor: the instructions of its warps, issued as control words, pipes, queues and memory let them. It
// knows time only: where warps go and what they access is recorded. Nothing is stepped while nobody can issue.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <vector>

#include "probe/records.h"
#include "sass/executed.h"
#include "timing/rows.h"
#include "timing/slices.h"
#include "timing/stalls.h"

namespace us::timing {

// The code of a kernel as the model has it.
struct TimedCode {
  struct Block {
    u32 first = 0, end = 0;
    bool for_each_lane = false;
    bool retries = false;  // a loop around a swap in shared memory
  };
  std::vector<Row> rows{};
  std::vector<u32> sites{};  // of each row: that of the PTX statement; kNoSite: none
  std::vector<u32> bytes{};  // of a lane's access
  std::vector<Block> blocks{};
};

// One access, with what it finds in L2.
struct TimedAccess {
  const u64* words = nullptr;
  // Loads, atomics: sectors whose time DRAM needs; negative: another CTA has asked for them (Footprint::read). Stores:
  // cycles of slices of L2.
  float cost = 0;
  bool behind = false;  // a load: other sectors of the line had been written
  u32 event = 0;        // HandOvers; 0: none
  float waits = 0;      // cycles for others, behind what it takes itself
};
struct TimedWarp {
  std::vector<sass::Visit> visits{};
  std::vector<std::vector<TimedAccess>> accesses{};  // of each site of memory (TimedLaunch::slot_of_site)
};
struct TimedCta {
  u32 cta = 0;
  std::vector<TimedWarp> warps{};
  double asked = 0;  // sectors that L2 lacks
};

struct TimedLaunch {
  TimedCode code{};
  std::vector<u32> slot_of_site{};
  u32 resident = 1;          // CTAs of an SM at a time
  u32 active_sms = 1;        // of the device, that have CTAs
  u64 l1_bytes = 0;          // what shared memory leaves
  double asked = 0;          // of an average CTA
  double asked_apart = 0;    // part of the lines that CTAs of several GPCs ask for at the same time
  double asked_at_once = 1;  // requests for lines that go to L2 as one
  double written_back = 0;   // bytes whose time DRAM needs for each that is stored
  // What the busiest slice of L2 has to do of all stores, of all atomics.
  double store_share = 0, atomic_share = 0;
  bool warm_code = false;  // it ran before, and caches were kept
  u32 grid[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  u32 rank_of(u32 cta) const {  // in its cluster
    const u32 x = cta % grid[0], y = cta / grid[0] % grid[1], z = cta / grid[0] / grid[1];
    return x % cluster[0] + cluster[0] * (y % cluster[1] + cluster[1] * (z % cluster[2]));
  }
};

struct SmTime {
  double cycles = 0;  // from the first CTA's start to the end of the last and of what it wrote
  u64 issued = 0;
  u64 warp_cycles = 0;   // of all warps, from start to end
  u64 issue_cycles = 0;  // cycles in which a sub-partition had a warp
  std::array<double, kPipes> pipe_cycles{};
  double shared_cycles = 0, l2_bytes = 0, l1_sectors = 0, l1_hits = 0;
  double first_atomic = std::numeric_limits<double>::infinity();  // of global memory
  StoredAgain stored_again{};
  double local_read = 0, local_written = 0;        // bytes of local memory, of DRAM
  std::vector<std::array<u64, kStalls>> stalls{};  // of each row
  std::vector<double> ends{}, starts{};            // of each CTA
  struct Turns {                                   // of a loop that retries: all, and the first of each warp
    u64 warps = 0, lanes = 0, first_warps = 0, first_lanes = 0;
    u64 apart = 0;  // lanes left it while others stayed
    void add(u32 mask, bool first) {
      const u64 n = static_cast<u64>(std::popcount(mask));
      ++warps, lanes += n, first_warps += first, first_lanes += first ? n : 0;
    }
    Turns& operator+=(const Turns& o) {
      warps += o.warps, lanes += o.lanes, first_warps += o.first_warps, first_lanes += o.first_lanes, apart += o.apart;
      return *this;
    }
  };
  std::vector<Turns> turns{};  // of each block
  struct Span {
    std::size_t cta = 0;  // in the order in which the SM gets them
    u32 warp = 0, partition = 0;
    double begin = 0, end = 0;
  };
  std::vector<Span> spans{};  // of warps
  struct Heard {
    u32 event = 0;
    double issued = 0, done = 0;
  };
  std::vector<Heard> heard{};  // of HandOvers
  void hear(u32 event, double now, double done) {
    if (event) heard.push_back({event, now, done});
  }
  void count_pipe(const Row& r) {
    if (r.pipe == Pipe::None) return;
    const double cycles = r.twice ? 2 * r.interval : r.interval;
    pipe_cycles[static_cast<u32>(r.pipe)] += cycles;
    if (r.pipe == Pipe::Fma) pipe_cycles[static_cast<u32>(Pipe::FmaHeavy)] += cycles;
  }
  // The part of the time in which the busiest of schedulers, pipes and L1 is.
  double busy() const {
    const double most = std::max(static_cast<double>(issued), *std::ranges::max_element(pipe_cycles)) / 4;
    return cycles > 0 ? std::min(1.0, std::max(most, shared_cycles) / cycles) : 0;
  }
};

// The CTAs in the order in which the SM gets them.
SmTime run_multiprocessor(const TimedLaunch&, const std::vector<const TimedCta*>&, const Parameters&);

}  // namespace us::timing
