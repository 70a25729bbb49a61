// SPDX-License-Identifier: Apache-2.0
// What is kept of a running launch: clusters of CTAs of warps. Shared memory and its segments live as long as the
// cluster.
#pragma once
#include <map>
#include <optional>

#include "probe/quick.h"
#include "sanitizer/barriers.h"
#include "sanitizer/cells.h"
#include "sanitizer/copied.h"
#include "sanitizer/copies.h"
#include "sanitizer/float_sums.h"
#include "sanitizer/mbarriers.h"
#include "sanitizer/rows.h"
#include "sanitizer/undefined.h"
#include "sanitizer/warp_order.h"

namespace us::sanitizer {

// What a warp was last seen waiting for.
struct Waiting {
  enum class What : u8 { Nothing, Barrier, ClusterBarrier, Mbarrier, Location, Grid } what = What::Nothing;
  u32 site = 0, lanes = 0;
  u32 id = 0;       // barrier
  u64 address = 0;  // mbarrier, location
  u64 phase = 0;
};

class LaunchChecker;
struct Cta;
struct Cluster;
struct Warp;
// Ordinary accesses of a warp (probe/quick.h), as they are judged until one of its events.
struct Ordinary : probe::Quick {
  enum Way : u8 { Shared, Global, Nc, Ways };
  LaunchChecker* checker = nullptr;
  Cluster* cluster = nullptr;
  Cta* cta = nullptr;
  Warp* warp = nullptr;
  WarpTime* time = nullptr;
  RowActor actor[Ways];
  Clock clock = 0;                                         // while the warp has it
  u32 ready = 0;                                           // mask of ways
  void forget() { ready = 0, shared.at = global.at = 0; }  // it may not be so any more
};

struct Warp {
  Warp(u64 cta, u64 cluster, u32 number) : time(cta, cluster, number) { time.tell(&ordinary); }
  WarpTime time;
  WarpOrder order;
  Ordinary ordinary;
  LaneCopies copies;
  LastCopy last_copy;
  Waiting waiting;
  u32 exited = 0;  // lanes
  struct Pool {    // setmaxnreg: registers that were asked for, by how many instructions
    u32 registers = 0, times = 0, site = 0;
  } pool;
  struct Missed {  // an instruction of the warp that named lanes which lived and did not execute it with these
    u32 site = 0, lanes = 0, missing = 0;
  } missed;
  Clock met = 1;        // its clock behind the last barrier of all threads
  u32 behind_wait = 0;  // lanes behind griddepcontrol.wait
  u32 cluster_arrived = 0, peers_started = 0;
  u32 cluster_next = 0;  // generation of the cluster's barrier that it arrives at next
  bool wgmma_fence = false;
  bool special = false;                           // it has done more than ordinary accesses and barriers
  bool again(u64 cta, u64 cluster, u32 number) {  // for another warp, where that is quickly done
    if (special || !time.plain() || !wgmma.empty()) return false;
    time.again(cta, cluster, number);
    ordinary.forget(), ordinary.clock = 0;
    waiting = {}, pool = {}, missed = {};
    exited = behind_wait = cluster_arrived = peers_started = cluster_next = 0;
    met = 1, wgmma_fence = false;
    arrivals.clear(), unwritten.clear(), undefined.clear(), local.clear();
    return true;
  }
  UnwrittenValues unwritten;
  UndefinedValues undefined;
  // Each of its accesses is told: something waits for one.
  void tell_collectives() { ordinary.whole_untold = !missed.missing && undefined.empty(); }  // of whole warps, too
  bool watched(bool write) const { return missed.missing || !undefined.empty() || (write && !unwritten.empty()); }
  std::vector<u32> local;  // of each word of local memory: the lanes that have written into it
  // Where each lane arrived last at an mbarrier, by site.
  static constexpr u64 kNowhere = ~u64{0};
  struct Arrivals {
    u32 site = 0;
    std::array<u64, 32> address;
  };
  std::vector<Arrivals> arrivals;
  void arrived_at(u32 site, u32 lane, u64 address);
  u64 last_arrival(u32 site, u32 lane) const;
  std::vector<std::vector<u32>> wgmma;  // committed groups of segments; the last one is open
};

// Somebody else's access to the shared memory of a CTA.
struct Visit {
  u32 segment = 0, lanes = 0, site = 0;
  u32 before = 0;  // generation of the cluster's barrier that its warp arrives at behind it
};

inline constexpr std::size_t kVisits = 256;

struct Exit {
  u32 warp = 0, lanes = 0, site = 0;
};

// Two warps that came to one phase of a barrier of all threads at different barriers of the program.
struct Parted {
  u32 sites[2] = {0, 0}, warps[2] = {0, 0}, lanes[2] = {0, 0};
};

struct Cta {
  explicit Cta(const Segments& table) : shared(table) {}
  u64 key = 0, linear = 0;  // key: launch << 32 | linear
  u32 rank = 0, threads = 0, live_warps = 0;
  bool begun = false, ended = false;
  Place place;
  std::vector<std::unique_ptr<Warp>> warps;
  Shadow shared;
  // Of this CTA, known to all of its threads: segments of shared memory below, and of global memory from .. to. Those
  // of global memory from `own` on follow each other with no other CTA's between.
  u32 shared_known = 1, known = 0, known_end = 0, own = 0;
  u32 copies_known = 0;  // numbers of asynchronous copies of shared memory, from the first on
  u64 settled = 0;       // probe::Quick::settled
  // Nothing but accesses of `settled` variables or of what is only read has been done since all met at barrier 0.
  bool quiet = false;
  void stir() { quiet = false, barrier.until = 0; }  // something else is done
  // Nothing has been told but that it began and met quietly. The next CTA begins as this one did.
  bool plain = false;
  // Phases of it that are over: all know of them, though only those below `told` are in what they know.
  u32 phases() const { return met + barrier.passed; }
  u32 met = 0, told = 0;
  probe::QuickBarrier barrier;
  u32 looked = 0;         // for variables that may be
  bool together = false;  // its warps run in one call, and meet at barrier 0 only
  std::array<NamedBarrier, 16> barriers;
  std::vector<Exit> exits;                  // since the last barrier of all threads
  std::optional<Parted> parted;             // the first ones
  std::map<u64, MbarrierObject> mbarriers;  // by offset
  u32 agents = kFirstAgent;                 // next free slot
  u32 grid_wait = 0;                        // slot: who knows of it is behind a griddepcontrol.wait of the CTA
  FloatSums sums;
  std::unordered_map<u64, UnwrittenCopy> copied;  // words that hold what nobody wrote
  std::vector<Visit> visits;
  std::size_t most_visits = kVisits;  // before those that are known go
  u32 cluster_left = 0;               // generations of the cluster's barrier that a thread of the block has left
  void clear();                       // for another CTA
  void name(u64 launch, u64 number) { linear = number, key = place.cta = launch << 32 | number; }
};

struct Cluster {
  Segments segments;
  std::vector<std::unique_ptr<Cta>> ctas;   // by rank
  std::vector<std::unique_ptr<Cta>> spare;  // of a cluster that was here before
  struct Arriving {
    u32 generation = ~0u;
    Ref known;
  };
  Arriving arriving[2];
  u32 ended = 0;
  void clear();        // for another cluster
  u64 deliveries = 0;  // of copies to mbarriers: who waits for one learns what was known to who began it, untold
};

}  // namespace us::sanitizer
