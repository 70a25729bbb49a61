// SPDX-License-Identifier: Apache-2.0
// What instrumented code tells the device about an instruction besides values of lanes, in one word each.
#pragma once
#include <bit>

#include "probe/events.h"

namespace us::device {

// Of RtFn::ProbeAccess.
struct AccessCode {
  static constexpr u8 kGeneric = 0x80;  // the space is the address's
  static constexpr u8 kSum = 0x80;      // of detail
  probe::Access::Kind kind = probe::Access::Kind::Read;
  u8 space = 0;  // probe::Space, or kGeneric
  probe::Order order = probe::Order::Weak;
  probe::Scope scope = probe::Scope::Sys;
  // Global: 1 through the read-only path; shared: probe::Access::settled; of atomics, kSum and a probe::Access::Sum:
  // then a third row follows, what is added.
  u8 detail = 0;
  bool sums() const { return kind == probe::Access::Kind::Atomic && detail & kSum; }
  u8 bytes = 4, count = 1;
  u8 values = 0;  // rows

  u64 pack() const { return std::bit_cast<u64>(*this); }
  static AccessCode unpack(u64 w) { return std::bit_cast<AccessCode>(w); }
};
static_assert(sizeof(AccessCode) == 8);

// Of RtFn::ProbeNote: an instruction that has no runtime function, or more about the one that follows.
struct NoteCode {
  enum class What : u8 {
    Fence,
    WarpSync,
    RegisterPool,
    MatrixRows,  // of ldmatrix, stmatrix: the lanes' addresses
    Sync,        // of the synchronisation that follows
    Gate,        // lanes wait for others of their warp that take part
    Arrival,     // lanes come to an instruction that stands in several places and is one, without a site
  };
  static constexpr u8 kEverySpace = 0x80;
  What what = What::Fence;
  probe::Fence::Kind fence = probe::Fence::Kind::Memory;
  probe::Order order = probe::Order::AcqRel;
  probe::Scope scope = probe::Scope::Sys;
  u8 space = kEverySpace;  // Fence: probe::Space, or all
  u8 flag = 0;             // RegisterPool: .dec; Sync: relaxed
  u16 number = 0;          // RegisterPool: registers; MatrixRows: how many

  u64 pack() const { return std::bit_cast<u64>(*this); }
  static NoteCode unpack(u64 w) { return std::bit_cast<NoteCode>(w); }
};
static_assert(sizeof(NoteCode) == 8);
// Of RtFn::ProbeBarrier.
enum class BarrierStep : u8 {
  Arrive,  // a warp
  Done,    // all that are left have arrived
  Leave,   // a warp goes on
  Meet,    // all warps of the CTA, from the first that arrives to the last that goes on
};

// Of RtFn::ProbeHint.
struct HintCode {
  static constexpr u8 kGeneric = AccessCode::kGeneric;
  probe::Hint::Kind kind = probe::Hint::Kind::Prefetch;
  u8 space = kGeneric;  // probe::Space, or kGeneric
  u8 level = 2;
  bool bulk = false;  // cp.async.bulk.prefetch
  u32 unused = 0;

  u64 pack() const { return std::bit_cast<u64>(*this); }
  static HintCode unpack(u64 w) { return std::bit_cast<HintCode>(w); }
};
static_assert(sizeof(HintCode) == 8);

// Of RtFn::ProbeCollective.
struct CollectiveCode {
  probe::Collective::Kind kind = probe::Collective::Kind::Shuffle;
  bool sync = true;

  u64 pack() const { return u64{static_cast<u8>(kind)} | u64{sync} << 8; }
  static CollectiveCode unpack(u64 w) { return {static_cast<probe::Collective::Kind>(w & 0xff), (w >> 8 & 1) != 0}; }
};
using FenceKind = probe::Fence::Kind;
inline constexpr u8 kNoteGlobal = u8(probe::Space::Global), kNoteShared = u8(probe::Space::Shared);

}  // namespace us::device
