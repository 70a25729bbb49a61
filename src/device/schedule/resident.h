// SPDX-License-Identifier: Apache-2.0
// What is on the machine: grids, and on each worker the clusters (slots) it has admitted, with their CTAs and warps.
//
//   Grid ── shared by all workers: next cluster to issue, clusters not yet ended, first fault
//   Slot ── one resident cluster (most often of one CTA): its shared window and local memory, reused
//   Cta  ── barriers and the sets of warps: ready to run, spun (gave way in this round), the rest wait or have ended
//   Warp ── the WarpCtx that compiled code sees, its fibre and what it waits for
//
// A slot, its CTAs and warps belong to one worker: no locks, no atomics.
#pragma once
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "device/copy/transfer.h"
#include "device/gpu.h"
#include "device/matrix/warpgroup.h"
#include "device/schedule/chance.h"
#include "device/support/fibre.h"

namespace us::device {

struct Worker;
struct Slot;
struct Cta;
struct Told;  // probe/tell.h

inline constexpr u32 kMaxWarps = 32;    // per CTA: 1024 threads
inline constexpr u32 kMaxCluster = 16;  // CTAs
inline constexpr u32 kNamedBarriers = 16;

struct Grid {
  std::unique_ptr<Launch> launch;
  void (*run)(WarpCtx*) = nullptr;  // of launch->code
  KernelCode::RunCta run_cta = nullptr;
  bool yields = false;
  bool shares = false;
  u64 turns_left = 0;  // of CTAs that share loops; then the usual order
  u32 spin_budget = 0;
  bool triggers = false;
  bool tells_begun = false;
  probe::Listener* listener = nullptr;  // launch->listener, if it hears events
  std::atomic<u64> transfers{0};        // that it has been told of
  u32 cluster_ctas = 1;
  u32 cta_threads = 0, cta_warps = 0;
  u64 clusters = 0;
  Dim3 cluster_grid;                // the grid counted in clusters
  u32 resident_limit = 1;           // clusters
  Chance chance;                    // only where there is one worker
  std::atomic<u64> next{0};         // first cluster not issued; beyond `clusters`: none left
  std::atomic<u64> unfinished{0};   // clusters not ended
  std::atomic<u64> untriggered{0};  // CTAs without griddepcontrol.launch_dependents, if the code has it
  std::atomic<u64> not_begun{0};    // clusters, if somebody wants to know
  std::atomic<u32> resident{0};     // clusters admitted on fibres
  std::atomic<bool> failed{false};
  std::atomic<u64> progress_ns{0};  // when something other than spinning last happened
  std::mutex fault_mutex;           // guards fault
  Fault fault;                      // the first one

  bool exhausted() const { return next.load(std::memory_order_relaxed) >= clusters; }
};

enum class Wait : u8 { None, Barrier, Mbarrier, Cluster, Warpgroup };

struct Warp : WarpCtx {
  Warp();
  ~Warp();
  Cta* home = nullptr;
  Fibre fibre;
  const void* site = nullptr;  // return address of the last runtime call
  u32 seen_live = 0;           // `live` as the CTA last counted it
  Wait wait = Wait::None;
  bool on_fibre = false;  // may block
  bool ended = true;
  bool read_clock = false;  // since its last failing poll
  u8 wait_barrier = 0;
  u8 wait_lanes_differ = 0;  // lanes wait for different mbarriers
  u8 failing_tests = 0;
  u8 gave_way = 0;        // how often a spinning loop used up its budget, counted up to Worker::give_way's last step
  u32 idle_arrivals = 0;  // at barriers, that are part of the loop in which it gave way last
  u32 wait_mask = 0;      // lanes that wait
  u32 wait_addr = 0;      // mbarrier's offset in the window
  u32 wait_parity = 0;
  bool wait_done = false;  // the phase it waits for has completed
  u32 red_value = 0;       // result of bar.red
  // Polls of barriers and mbarriers that failed in a row while nothing in the slot changed
  u32 quiet_polls = 0;
  u32 polled_lanes = 0;
  Wait polled = Wait::None;                         // what the last one asked for: wait_barrier or wait_addr
  u64 poll_events = 0;                              // Slot::events at the last one
  u32 cluster_arrived = 0;                          // lanes that are in the present phase of the cluster's barrier
  bool cluster_counted = false;                     // all its lanes are
  u64 spin_print = 0;                               // fingerprint of its stack at the last look of the watch
  u64 rest_print = 0;                               // ... when the worker last thought of sleeping
  u32 bulk_groups[32] = {}, small_groups[32] = {};  // groups of cp.async.bulk and of cp.async that were committed
  std::vector<u64> tickets[2];  // of its copies in groups of cp.async and of cp.async.bulk, in Slot::queue
  u32 stack_used[32] = {};      // bytes taken by alloca, from the top of each lane's local memory down
  bool stack_touched = false;
  std::unique_ptr<WgmmaQueue> wgmma;    // if it has issued any
  probe::Listener* listener = nullptr;  // Grid::listener
  std::unique_ptr<Told> told;           // if there is a listener
};

// One of the 16 barriers of a CTA. Threads are counted as the ISA counts them: a warp that arrives with all its
// remaining lanes counts 32.
struct Barrier {
  u32 expected = 0;   // threads; 0: all warps of the CTA that have not ended
  u32 arrived = 0;    // threads
  u32 waiting = 0;    // warps to wake
  u32 came = 0;       // warps seen, for reports
  u32 red_count = 0;  // threads with a true predicate
  u32 red_false = 0;  // threads with a false one
  u8 red_op = 0;
  bool open = false;     // a phase has begun
  bool partial = false;  // some warp came in parts: Cta::parts
  bool busy = false;     // some warp came that is not in a loop that waits
};

struct Cta : CtaCtx {
  Slot* slot = nullptr;
  u32 ready = 0;    // warps that can run
  u32 spun = 0;     // warps that can run but gave way
  u32 polling = 0;  // warps that wait for an mbarrier
  u32 open_barriers = 0;
  u32 running_warps = 0;  // not ended
  bool triggered = false;
  std::array<Barrier, kNamedBarriers> barriers;
  std::array<u32, kNamedBarriers> barrier_generation{};  // completed phases
  std::array<u32, kNamedBarriers> barrier_red{};         // result of the last reduction
  // Lanes that came, by barrier and warp.
  std::unique_ptr<std::array<std::array<u32, kMaxWarps>, kNamedBarriers>> parts;
  std::vector<std::unique_ptr<Warp>> warp;
  std::array<std::unique_ptr<Warpgroup>, kMaxWarps / 4> warpgroups;  // that have come to wgmma
};

struct Slot {
  Worker* worker = nullptr;
  std::shared_ptr<Grid> grid;
  u64 bound_to = 0;  // serial of the grid this slot is set up for
  u64 cluster = 0;   // index in the grid
  u8* window = nullptr;
  u8* local = nullptr;
  u64 local_bytes = 0;
  u32 ctas_running = 0;
  bool abandoned = false;
  bool fresh = false;   // has not been stuck yet
  bool breaks = false;  // a warp lets other clusters run
  bool spins = false;   // some warp gave way in its last round
  u64 events = 0;       // barrier phases, mbarrier changes, ended warps: anything but spinning
  // Of these, since the cluster began: barrier phases in which every warp that arrived was waiting in a loop around the
  // barrier.
  u64 idle_events = 0;
  u32 cluster_missing = 0;    // warps that have not all come to the cluster's barrier; 0: no phase has begun
  bool cluster_busy = false;  // like Barrier::busy
  u32 cluster_phases = 0;     // of the cluster's barrier, completed
  u32 closed = 0;             // CTAs that have ended, whose shared memory others must not touch
  TransferQueue queue;        // issued, not delivered: empty under eager delivery
  u64 moved_ns = 0;           // when the watch last saw that stacks of spinning warps had changed
  bool stood = false;         // it has seen them unchanged, since the cluster began
  u64 random = 1;             // of the order of deliveries
  u64 phases = 0;             // of mbarriers, completed
  std::vector<std::unique_ptr<Cta>> cta;
};

inline void count_failed_poll(Warp& w, u32 lanes, Wait what) {
  u64 events = w.home->slot->events;
  if (w.poll_events != events || w.quiet_polls == 0) w.quiet_polls = 0, w.polled_lanes = 0, w.read_clock = false;
  w.quiet_polls++;
  w.polled_lanes |= lanes;
  w.polled = what;
  w.poll_events = events;
}
// The warp comes to a barrier. False: in a loop in which it gave way a few turns ago, so it may do nothing but wait
// there.
inline bool comes_busy(Warp& w) {
  if (w.idle_arrivals == 0) return true;
  --w.idle_arrivals;
  return false;
}
inline void count_begun(Grid& g) {  // one more cluster has
  if (g.tells_begun && g.not_begun.fetch_sub(1) == 1) g.launch->begun();
}
// The CTA lets dependent grids start, or has ended.
void trigger(Cta&);
inline Warp& warp_of(WarpCtx* w) { return *static_cast<Warp*>(w); }
inline Grid& grid_of(Warp& w) { return *w.home->slot->grid; }
inline u64 cluster_window_bytes(const Slot& s) { return s.grid->cluster_ctas * kCtaSharedStride; }

}  // namespace us::device
