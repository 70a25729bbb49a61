// SPDX-License-Identifier: Apache-2.0
// Ordinary accesses, judged by a call from compiled code with the address alone: who listens to events may give a warp
// such functions, and is told by Listener::access only of what they leave.
#pragma once
#include <bit>

#include "base/types.h"

namespace us::probe {

// A weak load or store of 4, 8 or 16 bytes by each lane.
struct QuickAccess {
  u8 bytes = 4;
  bool write = false, shared = false;  // else global
  bool nc = false;                     // as Access::nc
  u32 pack() const { return std::bit_cast<u32>(*this); }
  static QuickAccess unpack(u32 w) { return std::bit_cast<QuickAccess>(w); }
};
static_assert(sizeof(QuickAccess) == 4);

// Of a warp, from one of its events to the end of its CTA. Addresses as in events.h. What the functions return are the
// lanes that are left: of these the listener is told.
struct Quick {
  // Lane l at address + l * bytes.
  u32 (*row)(Quick*, u32 lanes, u32 site, u32 access, u64 address) = nullptr;
  // All lanes at one address.
  u32 (*same)(Quick*, u32 lanes, u32 site, u32 access, u64 address) = nullptr;
  // Lane l at address[l].
  u32 (*lanes)(Quick*, u32 lanes, u32 site, u32 access, const u64* address) = nullptr;
};

extern Quick no_quick;  // leaves all

}  // namespace us::probe
