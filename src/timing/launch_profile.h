// SPDX-License-Identifier: Apache-2.0
// What is known of one launch of a kernel. Plain data: made by LaunchCounts, kept in files, read by reports.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "probe/observer.h"
#include "timing/listing.h"
#include "timing/stalls.h"

namespace us::timing {

// Accesses of one instruction to one kind of memory, of all warps.
struct GlobalAccesses {
  u64 requests = 0, sectors = 0, ideal_sectors = 0, lines = 0;
  GlobalAccesses& operator+=(const GlobalAccesses& a) {
    requests += a.requests, sectors += a.sectors, ideal_sectors += a.ideal_sectors, lines += a.lines;
    return *this;
  }
  u64 excess() const { return sectors - std::min(sectors, ideal_sectors); }
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
  u32 site = 0;
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
  u64 host_written = 0;                 // bytes of the launch, to the host's memory
  u64 fences = 0;                       // instructions of warps, of device or system scope
};

// Of one machine instruction.
struct InstructionProfile {
  u64 warps = 0, lanes = 0;  // that executed it
  u64 stalls[kStalls] = {};  // cycles of warps in front of it, on the multiprocessors that were replayed
};

// One cause of waiting that is taken away.
enum class WhatIf : u8 {
  Coalesced,        // accesses of global memory take as few sectors as their bytes need
  NoBankConflicts,  // of shared memory
  OneMoreCta,       // fits on a multiprocessor
  FastMemory,       // L2 and DRAM give as much as they are asked for; latencies stay
  FastPipes,        // arithmetic never waits for its pipe
};
inline constexpr u32 kWhatIfs = 5;
struct WhatIfProfile {
  WhatIf what = WhatIf::Coalesced;
  u64 picoseconds = 0;
};

// A warp on a multiprocessor that was replayed, in cycles since the first CTA began.
struct ReplayedWarp {
  u32 sm = 0, cta = 0, warp = 0, partition = 0;
  u64 begin = 0, end = 0;
};

struct LaunchProfile {
  u64 id = 0;    // of the launch in its process
  u64 node = 0;  // of the work graph
  u32 process = 0, device = 0;
  std::string program, kernel;
  u32 grid[3] = {1, 1, 1}, block[3] = {1, 1, 1}, cluster[3] = {1, 1, 1};
  u64 shared_static = 0, shared_dynamic = 0;
  probe::Residency residency;
  std::string fault;    // empty: it ended well
  std::string no_time;  // why there is no model of it; empty: there is
  TimeProfile time;
  // Else what follows is summed, as far as metrics need it, with the places of accesses that are most in excess only.
  bool detailed = true;
  std::vector<SiteProfile> sites;           // those that were executed, in the order of the module's text
  std::shared_ptr<const Listing> listing;   // null: there is no machine code
  std::vector<InstructionProfile> machine;  // of its instructions
  std::vector<ReplayedWarp> replay;         // of a few of them
  std::vector<WhatIfProfile> what_ifs;      // of the first launch of a kernel with its shape
};

// What the program submitted, or waited for, in that order.
struct WorkProfile {
  enum class Kind : u8 {
    Join,
    Kernel,
    Copy,
    Set,
    Library,  // a host function that does what a GPU would
    Waited,   // the thread knows that `node` is complete
    Passed,   // only time of the host
    Stamp,    // an event that notes the time
  };
  enum class Place : u8 { None, Pageable, Pinned, Device };
  u32 process = 0;
  Kind kind = Kind::Join;
  u64 node = 0, stream = 0, bytes = 0;
  u64 overlaps = 0;  // a kernel that it may begin before the end of
  u32 device = 0;    // that does it
  Place from = Place::None, to = Place::None;
  bool peers = false;      // a copy between devices
  bool graph = false;      // a node of a graph
  bool on_device = false;  // submitted by what runs, not by a thread of the program
  u32 thread = 0;          // that did it
  double host = 0;         // ns of that thread since what it did before, without waiting
  std::vector<u64> after{};
  std::string what{};
};

// What a kernel takes of the device.
struct KernelTime {
  double active = 0;  // ns, from the first CTA to the last
  double share = 1;   // of the device
  double ctas = 0;    // that are there at a time
  double sms = 0;     // multiprocessors on which it is, a part of all
  u64 split = 0;      // Residency::shared_wish: kernels that want L1 divided otherwise are not on one of them
  double fences = 0;  // of device or system scope, one behind the other
  double holds = 0;   // ns that a fence of another kernel waits while this one runs
};

// A launch that was not modelled, because those before it were: same shape, same counts.
struct ReusedTime {
  u32 process = 0;
  u64 node = 0;
  std::string kernel;
  bool scaled = false;  // by its counts, which were others
  KernelTime takes{};
};

std::string to_record(const LaunchProfile&);
bool is_launch(u8 kind);  // of a record
std::string to_record(const WorkProfile&);
std::string to_record(const ReusedTime&);
// Metrics: without what each machine instruction took, the warps of the replay, and the places of sites whose accesses
// take no more than they need; those are most of a launch.
enum class Detail : u8 { Metrics, All };
std::vector<LaunchProfile> read_profiles(std::string_view bytes, Detail = Detail::All);
std::vector<WorkProfile> read_work(std::string_view bytes);
std::vector<ReusedTime> read_reused(std::string_view bytes);

}  // namespace us::timing
