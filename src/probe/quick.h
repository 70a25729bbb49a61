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
  u8 detail = 0;                       // global: Access::nc; shared: Access::settled
  bool nc() const { return !shared && detail; }
  u32 settled() const { return shared ? detail : 0; }
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
  // Some accesses cannot race, as the program's barriers stand, and stay in one shared variable: they have its number,
  // from 1 on. Where bit number - 1 is set nobody wants to hear of them any more.
  const u64* settled = &kNothingSettled;
  static const u64 kNothingSettled;
};

extern Quick no_quick;  // leaves all

}  // namespace us::probe
