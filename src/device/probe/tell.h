// SPDX-License-Identifier: Apache-2.0
// What happens on the device, told to the launch's listener (probe/events.h). Who has a listener calls these;
// Warp::listener and Grid::listener are null where nobody listens to events.
#pragma once
#include <algorithm>

#include "device/abi/probe_code.h"
#include "device/schedule/resident.h"

namespace us::device {

// Of a warp in a launch with a listener.
struct Told {
  u32 live = 0;  // lanes, as the listener knows them
  u32 met = 0;   // lanes whose bar.warp.sync has been told of with those of other lanes
  // By cp.async (0) or bulk (1) and lane: groups, up to the last one with a copy in it, and those that were waited for.
  u32 filled[2][kWarpSize] = {}, waited[2][kWarpSize] = {};
  bool copies = false;          // any of these, or groups
  NoteCode next;                // of the synchronisation that follows
  u32 looked = ~0u;             // site of the last strong load
  bool spun = false;            // it gave way since it came to a barrier
  u32 gated = 0;                // lanes that wait for others of their warp
  u32 arrived[kWarpSize] = {};  // by lane: the site that NoteCode::What::Arrival came from
  bool arrivals = false;        // any of these
  void arrive(u32 lane, u32 site) { arrived[lane] = site, arrivals = true; }
  void begin(u32 lanes) {
    for (u32 bulk = 0; copies && bulk < 2; ++bulk)
      std::fill_n(filled[bulk], kWarpSize, 0u), std::fill_n(waited[bulk], kWarpSize, 0u);
    if (arrivals) std::fill_n(arrived, kWarpSize, 0u), arrivals = false;
    live = lanes, met = 0, copies = false, next = {}, looked = ~0u, spun = false, gated = 0;
  }
};

probe::Who who(Warp&, u32 lanes);  // at the instruction that runs; exits of other lanes are told first
probe::Who who(const Cta&);        // no warp

void begin_telling(Warp&);  // a CTA begins
void tell_begin(Cta&);
void ask_quick(Warp&);       // behind both
void ask_quick(Cta&);        // of all its warps
void tell_last_exits(Cta&);  // where nothing but the end of the CTA follows
void tell_end(const Cta&);
// Where records are kept (Warp::records).
void record_end(const Cta&);
void record_sync(Warp&, u32 lane, probe::SyncOp, u64 address, u64 value);
void tell_exits(Warp&);
void tell_exit(Warp&, u32 lanes);  // at the instruction that runs

using MeetingKind = probe::Meeting::Kind;
struct BarrierTold {
  u32 id, generation, threads;
  bool arrive_only, aligned;
};
void tell_barrier(Warp&, MeetingKind, u32 lanes, const BarrierTold&);
void tell_barrier_done(const Cta&, u32 id, u32 generation);
// Barrier 0, of all threads, of a kernel whose warps run in one call.
void tell_whole_barrier(Warp&, u32 lanes, BarrierStep, bool aligned);
void tell_cluster(Warp&, MeetingKind, u32 lanes);
void tell_meeting(Warp&, MeetingKind, u32 lanes);
NoteCode take_next(Warp&);  // what was noted about the synchronisation that runs now

void tell_free(Warp&, u32 lane, u64 address);  // of the heap; if somebody listens
// What a lane touches of an image.
void tell_image(Warp&, u32 lane, probe::Image::Kind, u64 object, std::span<const probe::Range>);
// A pointer of the host into memory that a launch may touch.
probe::Range range_at(const Slot&, const u8* at, u64 bytes);

// Copies: `t` gets its number.
void tell_transfer(Slot&, Transfer& t);
// cp.async of all lanes: lane l from src + l * bytes to dst + l * bytes.
void tell_copy_row(Warp&, u32 lanes, u64 dst, u64 src, u64 bytes);
void tell_delivered(Slot&, const Transfer&);  // and what its mbarrier learns of it
void tell_committed(Warp&, u32 lanes, bool bulk, const u32 (&groups)[kWarpSize]);
void tell_waited(Warp&, u32 lanes, bool bulk, bool read_only, const u64* left);
void tell_unfinished(Warp&, u32 gone);  // lanes that exit with copies under way

// wgmma of one warp.
void tell_wgmma_issue(Warp&, u32 lanes, const MmaCode&, u64 a, u64 b, const u64* registers);
void tell_wgmma(Warp&, u32 lanes, probe::Matrix::Kind, u32 left);

// mbarriers: what one lane, or lanes together, do at one. `next` is the order and scope noted for the instruction.
void tell_mbarrier(Warp&, u32 lanes, const probe::Mbarrier&);
// The answer to lanes that tested or waited; args of RtFn::MbarTestWait.
struct MbarTestWaitArgs;
void tell_tests(Warp&, u32 lanes, const MbarTestWaitArgs&, u32 done, const NoteCode& next);

}  // namespace us::device
