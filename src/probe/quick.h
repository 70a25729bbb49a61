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

// Compiled code judges some accesses itself, by what stands in these structures, and calls nobody: rows of 4, 8 or 16
// bytes a lane, all lanes of the instruction active, and loads of one address. The listener may change what stands
// there at any event or call; whatever it says is true until then.

// Of an instruction: where its accesses are in bounds.
struct QuickSite {
  u64 begin = 0, bytes = 0;  // no bytes: all are to be judged by a call
  // Loads of what is only read are marked: bit a / 4 % 32 of the word at words + a / 128 * 4, of each 4 bytes; where
  // there are marks, sites + a / 64 * 2 is the number of who read there last.
  u64 words = 0;  // 0: they have records
  u64 sites = 0;  // without marks: 1 if words that nobody wrote must not be read, else 0
};

// 64 bytes that are touched together have a record of two words of 64 bits:
//   writer | site of the write << 32 | site of the read << 48     writer: a number << 5 | lane of the first word
//   reader | lane of the first word << 32 | kReaderShift, kWriterShift: a lane has 1 << that words, the reader's, the
//   writer's
// A writer of 0 is nobody.
struct QuickRecords {
  static constexpr u32 kCovers = 64, kBytes = 16, kPage = 4096, kReaderShift = 32 + 5, kWriterShift = 32 + 29;
  u64 at = 0;         // of address a: at + a / kCovers * kBytes; 0: none is to be judged
  u64 pages = 0;      // that of address a is touched: a byte at pages + a / kPage; not of shared memory
  u64 limit[2] = {};  // writers and readers below are known to all lanes
  u64 write[2] = {};  // a record of what the warp writes now, but for lanes and sites
  u64 read[2] = {};   // and of what it reads
};

// Of a CTA whose warps run in one call: while fewer than `until` have been passed so, barrier 0 of all threads, which
// each warp comes to whole, is passed with nobody told.
struct QuickBarrier {
  u32 passed = 0, until = 0;
};

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
  const QuickSite* sites = nullptr;  // by site; null: none is judged without a call
  QuickRecords shared, global;
  // Not 0: nobody needs to hear that all that is left of the warp exits, before the CTA's next barrier. Then the site
  // stands in left_at; nothing is told if the CTA ends first.
  u32 ends_untold = 0, left_at = ~0u;
  // Not 0: nobody needs to hear of collectives that all 32 lanes execute and name.
  u32 whole_untold = 0;
  QuickBarrier* barrier = &kEachIsTold;
  // Where an access was last, two of each site, modulo kLast: compiled code guesses the next one's place by it.
  static constexpr u32 kLast = 16;
  u64 last[kLast] = {};
  static QuickBarrier kEachIsTold;
};

extern Quick no_quick;  // leaves all

}  // namespace us::probe
