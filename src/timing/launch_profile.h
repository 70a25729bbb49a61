// SPDX-License-Identifier: Apache-2.0
// What is known of one launch of a kernel. Plain data: made by LaunchCounts, kept in files, read by reports.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "probe/observer.h"
#include "timing/stalls.h"

namespace us::timing {

// Accesses of one instruction to one kind of memory, of all warps.
struct GlobalAccesses {
  u64 requests = 0, sectors = 0, ideal_sectors = 0, lines = 0;
  GlobalAccesses& operator+=(const GlobalAccesses& a) {
    requests += a.requests, sectors += a.sectors, ideal_sectors += a.ideal_sectors, lines += a.lines;
    return *this;
  }
};
struct SharedAccesses {
  u64 requests = 0, wavefronts = 0, passes = 0, ideal_wavefronts = 0;
  SharedAccesses& operator+=(const SharedAccesses& a) {
    requests += a.requests, wavefronts += a.wavefronts, passes += a.passes, ideal_wavefronts += a.ideal_wavefronts;
    return *this;
  }
  u64 conflicts() const { return wavefronts - passes; }
};
enum class AccessKind : u8 { None, Load, Store, Atomic, Copy };

struct SiteProfile {
  probe::SiteInfo at;
  probe::Count executed;
  AccessKind kind = AccessKind::None;
  GlobalAccesses global;
  SharedAccesses shared;
  u64 local_requests = 0;
};

// What the machine code of a launch executed, and what the model says of an H200.
struct TimeProfile {
  u64 warps = 0, lanes = 0;    // instructions of warps, of threads
  u64 lost = 0;                // warps without a way through the machine code
  u64 cycles = 0, active = 0;  // of the device; of the busiest multiprocessor
  u64 picoseconds = 0;
  // Of the multiprocessors that were replayed, together.
  u64 replayed = 0, replayed_cycles = 0, issued = 0, warp_cycles = 0;
  u64 l1_sectors = 0, l1_hits = 0, shared_cycles = 0;
  u64 stalls[kStalls] = {};             // cycles of warps
  u64 dram_read = 0, dram_written = 0;  // bytes of the launch
  u64 l2_bytes = 0;                     // of those that were replayed
};

struct LaunchProfile {
  u64 id = 0;  // of the launch in its process
  u32 process = 0, device = 0;
  std::string program, kernel;
  u32 grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  u64 shared_static = 0, shared_dynamic = 0;
  probe::Residency residency;
  std::string fault;    // empty: it ended well
  std::string no_time;  // why there is no model of it; empty: there is
  TimeProfile time;
  std::vector<SiteProfile> sites;  // those that were executed, in the order of the module's text
};

std::string to_record(const LaunchProfile&);
std::vector<LaunchProfile> read_profiles(std::string_view bytes);

}  // namespace us::timing
