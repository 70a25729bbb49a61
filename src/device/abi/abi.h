// SPDX-License-Identifier: Apache-2.0
// What compiled kernels and the device share. Plain data only: compiled code reads these structs by offset, so a change
// of layout must raise kAbiVersion (it is part of the object cache key).
//
// A compiled kernel is `void kernel(WarpCtx*)`: one call runs one warp from start to exit. If the kernel may yield
// (KernelCode::yields) the call runs on a fibre and runtime functions may switch to another warp in the middle.
//
// A runtime function handles one instruction for a whole warp: args are arrays of 32 lanes per argument,
//   args[k * 32 + lane], results[k * 32 + lane], only lanes of `mask` are valid / written. rt_args.h names them.
#pragma once
#include "base/types.h"
#include "probe/counts.h"
#include "probe/quick.h"
#include "probe/records.h"
#include "probe/unheard.h"

namespace us::device {

inline constexpr u32 kAbiVersion = 12;
inline constexpr u64 kCtaSharedStride = 16u << 20;  // bytes between the windows of neighbouring CTAs of a cluster
inline constexpr u32 kAllocaBytes = 16 * 1024;      // of each thread's local memory, for alloca
inline constexpr u32 kReservedShared = 1024;        // bytes at the start of each CTA's window (cc 9.0)
inline constexpr u32 kSharedGrain = 128;            // a block has shared memory in pieces of this size
inline constexpr u32 kParamBytes = 32768;           // that can be read from the start of a kernel's parameters
// What a thread may touch before its first frame and behind its last one, as seen on an H200.
inline constexpr u32 kLocalBefore = 256, kLocalBehind = 80;

struct WarpCtx;
using RtFunction = void (*)(WarpCtx*, u32 mask, const u64* args, u64* results);
using NumFunction = u64 (*)(u64 a, u64 b, u64 c);

enum class RtFn : u16 {
#define US_RT(id, args, results, note) id,
#define US_RT_MANY US_RT
#include "device/abi/rt_functions.inc"
#undef US_RT_MANY
#undef US_RT
  Count
};
enum class NumFn : u16 {
#define US_NUM(id, args, note) id,
#include "numerics/functions.inc"
#undef US_NUM
  Count
};

struct Dim3 {
  u32 x = 1, y = 1, z = 1;
};

// Constant for one launch. Filled by the driver; read by compiled code (fields up to `device_private`).
struct GridCtx {
  const u8* params = nullptr;    // kernel parameter block, readable for the whole grid
  const u64* symbols = nullptr;  // host address of each module symbol, by SymId (global, const); functions: descriptor
  u8* const_bank = nullptr;
  Dim3 grid, block, cluster;  // cluster {1,1,1} when not a cluster launch
  u64 grid_id = 0;
  u32 shared_static = 0;         // bytes of static shared, without the reserved part
  u32 shared_dynamic = 0;        // bytes
  u32 local_bytes = 0;           // per thread
  u32 envreg[4] = {0, 0, 0, 0};  // %envreg1/2: grid workspace address for cooperative groups
  u32 nsmid = 132;
  u32 shared_end = ~u32{0} >> 1;  // bytes of a block's window that it may touch: kReservedShared and all it has
  u64 global_start = 0, global_bytes = ~u64{0};  // addresses that are device memory, if any memory is there
  const void* code = nullptr;  // the launch's KernelCode, for code that is not self-contained (the interpreter)
  u64 graph_exec = 0;          // %current_graph_exec: of a graph that kernels may launch
};

struct CtaCtx {
  const GridCtx* grid = nullptr;
  u8* cluster_window = nullptr;  // host address of shared::cluster offset 0
  Dim3 ctaid;                    // index in the grid
  Dim3 cluster_ctaid;            // index in the cluster
  u32 cluster_rank = 0;
  u32 smid = 0;
  u32 warps = 0;  // warps of this CTA
  u32 threads = 0;
};

// In the argument of RtFn::Yield: the loop does nothing but wait, and has a barrier of the CTA in it.
inline constexpr u64 kYieldAroundBarrier = u64{1} << 32;

// One per warp. Lane l is thread warp_id * 32 + l of the CTA.
struct WarpCtx {
  CtaCtx* cta = nullptr;
  const GridCtx* grid = nullptr;
  const RtFunction* rt = nullptr;    // by RtFn
  const NumFunction* num = nullptr;  // by NumFn
  u8* window = nullptr;              // = cta->cluster_window
  u32 shared_base = 0;               // offset of this CTA in the window: cluster_rank * kCtaSharedStride
  u32 warp_id = 0;
  u32 live = 0;         // lanes that have not exited; compiled code keeps it current before every rt call
  u32 spin = 0;         // iterations left of the spin budget; compiled code counts it down at spinning back edges
  u8* local = nullptr;  // first frame of lane 0, kLocalBefore bytes behind its local memory; lane l: + l * local_stride
  u64 local_stride = 0;  // bytes
  u32 local_top = 0;     // bytes of local memory used by the frames below (device functions' .local)
  u32 line = 0;          // of the program, where it gave way last
  // 1: has left a barrier of the CTA, 2: and has read shared memory since; compiled code lets other warps read first.
  u32 behind_barrier = 0;
  probe::Count* counts = nullptr;          // of the worker, by site; only code that counts reads it
  probe::RecordBuffer* records = nullptr;  // of the worker; only code that records reads it
  u64 record = 0;                          // probe::record_of_warp
  probe::Unheard* unheard = nullptr;       // by site, what needs no record; null: nothing
  u32 probe_site = ~u32{0};  // of the instruction that calls the runtime; only code that tells events sets it
  probe::Quick* quick = &probe::no_quick;  // only code that tells events asks it
};

}  // namespace us::device
