// SPDX-License-Identifier: Apache-2.0
// What happens on the device, told to the launch's listener (probe/events.h). Who has a listener calls these; Warp::listener
// and Grid::listener are null where nobody listens to events.
#pragma once
#include "device/abi/probe_code.h"
#include "device/schedule/resident.h"

namespace us::device {

// Of a warp in a launch with a listener.
struct Told {
  u32 live = 0;   // lanes, as the listener knows them
  u32 met = 0;    // lanes whose bar.warp.sync has been told of with those of other lanes
  NoteCode next;  // of the synchronisation that follows
};

probe::Who who(Warp&, u32 lanes);  // at the instruction that runs; exits of other lanes are told first
probe::Who who(const Cta&);        // no warp

void begin_telling(Warp&);  // a CTA begins
void tell_begin(Cta&);
void tell_end(const Cta&);
void tell_exits(Warp&);

using MeetingKind = probe::Meeting::Kind;
struct BarrierTold {
  u32 id, generation, threads;
  bool arrive_only, aligned;
};
void tell_barrier(Warp&, MeetingKind, u32 lanes, const BarrierTold&);
void tell_barrier_done(const Cta&, u32 id, u32 generation);
void tell_cluster(Warp&, MeetingKind, u32 lanes);
void tell_meeting(Warp&, MeetingKind, u32 lanes);
NoteCode take_next(Warp&);  // what was noted about the synchronisation that runs now

}  // namespace us::device
