// SPDX-License-Identifier: Apache-2.0
// What happens in a launch, told to its listener in the order in which it happens. Plain data; nothing in here outlives
// the call.
//
// An event belongs to lanes of one warp that execute one instruction together (Who). Addresses:
//   Shared   offset in the window of the cluster: rank * kCtaStride + offset in the CTA's own window
//   Local    offset in the lane's own local memory
//   others   the address itself
// Generic addresses have been resolved: an instruction whose lanes lie in different spaces makes one event for each.
#pragma once
#include <span>

#include "base/types.h"

namespace us::probe {

inline constexpr u32 kLanes = 32, kNoSite = ~0u;
inline constexpr u64 kCtaStride = u64{16} << 20;

enum class Space : u8 { Global, Shared, Local, Const, Param };
enum class Order : u8 { Weak, Volatile, Relaxed, Acquire, Release, AcqRel, SeqCst };
enum class Scope : u8 { Cta, Cluster, Gpu, Sys };

struct Who {
  u64 cluster = 0;     // linear in the grid, counted in clusters
  u64 cta = 0;         // linear in the grid
  u32 rank = 0;        // of the CTA in its cluster
  u32 warp = 0;        // of the CTA
  u32 lanes = 0;       // mask: those that execute it
  u32 live = 0;        // mask: those that have not exited
  u32 site = kNoSite;  // of the instruction (ir/sites.h); kNoSite: none of the program's
};

struct Range {
  Space space = Space::Global;
  u64 begin = 0, bytes = 0;
};

// Loads, stores and atomics of the generic proxy. Told before a load or a store is done, and after an atomic.
struct Access {
  enum class Kind : u8 { Read, Write, Atomic };
  Kind kind = Kind::Read;
  Space space = Space::Global;
  Order order = Order::Weak;
  Scope scope = Scope::Sys;
  bool nc = false;               // ld.global.nc: the value may come from a cache that no store reaches
  u8 settled = 0;                // Shared: Quick::settled
  u32 bytes = 4;                 // of one element
  u32 count = 1;                 // elements, one behind the other
  const u64* address = nullptr;  // [lane]
  const u8* window = nullptr;    // Shared: the byte at address 0, to be read; null: it cannot
  // [element][lane]: what a store writes; of an atomic, what was there. Empty: not known.
  std::span<const u64* const> values = {};
  u32 wrote = ~0u;  // mask: an atomic whose compare failed only read
  enum class Sum : u8 { None, F16, BF16, F16x2, BF16x2, F32, F64 };
  Sum sum = Sum::None;          // an atomic that adds such numbers
  const u64* addend = nullptr;  // [lane], of a sum
};

struct Fence {
  enum class Kind : u8 {
    Memory,        // fence, membar: order and scope
    ProxyAsync,    // fence.proxy.async: space, or all
    ProxyAlias,    // fence.proxy.alias
    MbarrierInit,  // fence.mbarrier_init.release.cluster
    TensormapRelease,
    TensormapAcquire,  // address[lane], 128 bytes
    WgmmaFence,        // wgmma.fence: registers and shared memory of the warpgroup
  };
  Kind kind = Kind::Memory;
  Order order = Order::AcqRel;
  Scope scope = Scope::Sys;
  bool every_space = true;
  Space space = Space::Shared;   // if not every_space
  const u64* address = nullptr;  // [lane], TensormapAcquire
};

// Meetings of threads. Arrival and departure are told apart; what lies between them belongs to others.
struct Meeting {
  enum class Kind : u8 {
    // bar.warp.sync, and the .sync of ldmatrix and stmatrix: told once, when the lanes of `members` are together.
    WarpSync,
    BarrierArrive,  // of the 16 barriers of a CTA: id, threads; told before the arrival counts
    BarrierLeave,   // ... by who waited (sync, red), when it goes on
    BarrierDone,    // the phase completed: Who says which CTA only
    ClusterArrive,
    ClusterLeave,
    GridWait,      // griddepcontrol.wait returned
    GridTrigger,   // griddepcontrol.launch_dependents
    RegisterPool,  // setmaxnreg: threads = registers per thread, arrive_only = .dec
  };
  Kind kind = Kind::WarpSync;
  u32 id = 0;                // barrier
  u32 generation = 0;        // of the barrier or of the cluster's: phases completed before
  u32 threads = 0;           // expected; 0: all of the CTA
  bool arrive_only = false;  // bar.arrive, bar.cta.arrive
  bool aligned = false;
  bool relaxed = false;  // barrier.cluster.arrive.relaxed
  u32 members = 0;       // WarpSync: the membermask
  u32 differ = 0;        // WarpSync: the mask of a lane that is named and executes it with another one, or 0
};

// One lane at one mbarrier object, or (Test) lanes of a warp with one answer.
struct Mbarrier {
  enum class Kind : u8 { Init, Inval, Arrive, ExpectTx, CompleteTx, Test, CopiesArrive /* cp.async.mbarrier.arrive */ };
  Kind kind = Kind::Arrive;
  u64 address = 0;  // in the window of the cluster
  u32 count = 1;    // Init: expected arrivals; Arrive: of this one
  i64 tx = 0;       // bytes: ExpectTx, CompleteTx, and Arrive with .expect_tx
  bool drop = false, no_complete = false, expects = false, remote = false, noinc = false;
  Order order = Order::Release;  // Arrive: Release or Relaxed; Test: Acquire or Relaxed
  Scope scope = Scope::Cta;
  bool by_parity = false, may_block = false, done = false;  // Test; done: the phase has completed
  u64 state = 0;              // Test: the state or the parity that was asked for; Arrive: what it returned
  u64 before = 0, after = 0;  // the word
  bool completed = false;     // this operation completed the phase
};

// Asynchronous copies of one lane. `id` is unique in the launch.
struct Transfer {
  enum class Kind : u8 {
    CpAsync,     // generic proxy; group of the lane
    Bulk,        // cp.async.bulk, cp.reduce.async.bulk
    Tensor,      // cp.async.bulk.tensor and its reductions
    StoreAsync,  // st.async, red.async: no source in memory
    Prefetch,    // no destination
  };
  enum class Completion : u8 { Group, BulkGroup, Mbarrier, None };
  Kind kind = Kind::CpAsync;
  Completion completion = Completion::Group;
  u64 id = 0;
  bool reduces = false, multicast = false;
  std::span<const Range> from, to;
  u64 mbarrier = 0;   // in the window of the cluster
  u64 tx_bytes = 0;   // that the mbarrier will learn of
  u64 tensormap = 0;  // generic address of the map that was used, or 0
  u64 outside = 0;    // elements of the box outside of the tensor
  u64 beyond = 0;     // CpAsync: bytes by which the size of the source exceeds that of the copy
};
// What becomes of copies of a lane.
struct Copies {
  enum class Kind : u8 {
    Delivered,  // one copy has been made: id
    Committed,  // the open copies of the lane are a group: id = its number, from 0
    Waited,     // wait_group returned: all groups but the last `id` (~0: all, groups or not)
    Exited,     // the lane has exited with copies under way
  };
  Kind kind = Kind::Delivered;
  bool bulk = false;       // groups of cp.async.bulk, or of cp.async
  bool read_only = false;  // Waited: .read
  u64 id = 0;
};

// Instructions of the lanes of a warp together, told before they are done, of the lanes that execute it at once.
struct Collective {
  enum class Kind : u8 { Shuffle, Vote, Match, Redux, Elect, ActiveMask };
  Kind kind = Kind::Shuffle;
  bool sync = true;              // false: without a membermask (activemask, vote without .sync)
  const u64* members = nullptr;  // [lane] the membermask, as the lane has it; sync only
  const u64* source =
      nullptr;  // [lane] Shuffle: whose value it gets; itself where the lane asked for leaves its segment
};

// Addresses at which no byte is read: instructions about caches, rows, frees. As in Access.
struct Hint {
  enum class Kind : u8 {
    Prefetch,           // prefetch: of the cache line there
    PrefetchUniform,    // prefetchu: a generic address, which must not lie in const, local or shared memory
    PrefetchTensormap,  // of the map there
    ApplyPriority,
    Discard,    // what the bytes hold is lost
    Free,       // of the device's heap, by its function: told before
    MatrixRow,  // of ldmatrix, stmatrix: an address that a lane gives; its elements are Accesses
  };
  Kind kind = Kind::Prefetch;
  Space space = Space::Global;
  u8 level = 2;                  // of the cache, 1 or 2; of a tensor map, 0
  u32 bytes = 0;                 // ApplyPriority, Discard, PrefetchTensormap, MatrixRow
  const u64* address = nullptr;  // [lane]
};

// What one lane touches through a texture or surface object.
struct Image {
  enum class Kind : u8 { Sample, Read, Write, Reduce };  // tex and tld4; suld; sust; sured
  Kind kind = Kind::Sample;
  u64 object = 0;                  // the handle
  std::span<const Range> touched;  // in memory, a texel each; none: only what lies outside
};

// wgmma of a warpgroup, told once for each of its warps.
struct Matrix {
  enum class Kind : u8 { Issue, Commit, Wait };
  Kind kind = Kind::Issue;
  std::span<const Range> operands;  // Issue: rows in shared memory, A and B
  u32 left = 0;                     // Wait: groups that may be under way
};

}  // namespace us::probe
