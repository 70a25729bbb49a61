// SPDX-License-Identifier: Apache-2.0
// Strategy::Records: what compiled code writes into a buffer of its worker, beside its counts: the blocks that a warp
// enters, and the addresses of its accesses.
#pragma once
#include <vector>

#include "probe/counts.h"
#include "probe/events.h"

namespace us::probe {

// A record is two words, and the addresses behind them.
struct RecordCode {
  enum class Kind : u8 {
    Block,  // the warp comes to the first instruction of a block of the program's text: site; or `bytes` is a Detour
    Read,
    Write,
    Atomic,
    CopyRead,  // by a copy of the lane (cp.async), which reads and writes
    CopyWrite,
    End,   // of the CTA: none of its warps writes more
    Sync,  // of mbarriers and bulk copies: `bytes` is a SyncOp, behind it are an address and a value
  };
  enum class Addresses : u8 {
    None,
    Same,     // one: of all lanes
    Row,      // one: of lane l, l elements behind it
    Pattern,  // one, and where 32 distances from it stand, which do not change during the launch
    Each,     // 32
    Pair,     // of Sync: two words
  };
  Kind kind = Kind::Block;
  Addresses addresses = Addresses::None;
  Space space = Space::Global;
  u32 bytes = 0;       // of a lane, up to 64
  bool looks = false;  // in a loop that goes on for as long as others have not changed what is read

  // The upper half of the second word; bits 0 to 4 are the warp's.
  static constexpr u32 kWarpBits = 5;
  constexpr u32 pack() const {
    return static_cast<u32>(kind) << 5 | static_cast<u32>(addresses) << 8 | static_cast<u32>(space) << 11 |
           bytes << 14 | u32{looks} << 31;
  }
  static constexpr RecordCode unpack(u32 w) {
    return {static_cast<Kind>(w >> 5 & 7), static_cast<Addresses>(w >> 8 & 7), static_cast<Space>(w >> 11 & 7),
            w >> 14 & 0x1ffff, w >> 31 != 0};
  }
  bool operator==(const RecordCode&) const = default;
};
// Addresses are those of mbarriers, in the window of the cluster; they are told lane by lane.
enum class SyncOp : u8 {
  Init,    // value: how many arrivals a phase takes
  Arrive,  // value: how many at once, and from bit 32 on the bytes that it expects besides
  ExpectBytes,
  Complete,    // of bytes, by the program itself
  Wait,        // value: the parity of the phase, and from bit 32 on whether it was complete
  CopyArrive,  // when the copies before it are there (cp.async)
  BulkRows,    // what the BulkLoad or BulkStore that follows touches of global memory: BulkRows, at the address
  BulkLoad,    // value: bytes, to shared memory; address: of the mbarrier that is told
  BulkStore,   // value: bytes
};
// Rows of global memory that lie evenly apart; all in units of 16 bytes.
struct BulkRows {
  u16 row = 0, rows = 0;
  i32 stride = 0;
  constexpr u64 pack() const { return row | u64{rows} << 16 | u64{static_cast<u32>(stride)} << 32; }
  static constexpr BulkRows unpack(u64 v) {
    return {static_cast<u16>(v), static_cast<u16>(v >> 16), static_cast<i32>(v >> 32)};
  }
};
inline constexpr u32 kMostRecordWords = 2 + kLanes;

// The second word of the records of a warp, but for its code.
inline constexpr u64 record_of_warp(u64 cta, u32 warp) { return (cta & 0xffffffff) | u64{warp} << 32; }

struct RecordBuffer {
  u64* next = nullptr;
  u64* last = nullptr;                    // kMostRecordWords before the end: behind it there is no room
  void (*full)(RecordBuffer*) = nullptr;  // makes room
};

// A record as its reader has it.
struct Record {
  u32 site = kNoSite, lanes = 0;
  u32 cta = 0;  // linear in the grid; its low 32 bits
  u32 warp = 0;
  RecordCode code;
  u64 first = 0;              // Same, Row, Pattern
  u64 second = 0;             // Pair
  const u64* each = nullptr;  // Each: where they are in the buffer; Pattern: the distances
  // Of a lane in `lanes`; Shared and Local: as in events.h.
  u64 address(u32 lane) const {
    if (code.addresses == RecordCode::Addresses::Each) return each[lane];
    if (code.addresses == RecordCode::Addresses::Pattern) return first + each[lane];
    return code.addresses == RecordCode::Addresses::Row ? first + u64{lane} * code.bytes : first;
  }
};

// Reads one record and returns what follows it.
inline const u64* read_record(const u64* words, Record& r) {
  const u32 high = static_cast<u32>(words[1] >> 32);
  r.site = static_cast<u32>(words[0]), r.lanes = static_cast<u32>(words[0] >> 32);
  r.cta = static_cast<u32>(words[1]), r.warp = high & ((1u << RecordCode::kWarpBits) - 1);
  r.code = RecordCode::unpack(high);
  words += 2;
  if (r.code.addresses == RecordCode::Addresses::None) return words;
  if (r.code.addresses == RecordCode::Addresses::Each) return r.each = words, words + kLanes;
  r.first = *words++;
  if (r.code.addresses == RecordCode::Addresses::Pair) r.second = *words++;
  if (r.code.addresses == RecordCode::Addresses::Pattern) r.each = reinterpret_cast<const u64*>(*words++);
  return words;
}
void write_record(RecordBuffer&, const Record&);

// The buffers of a launch's workers, and what takes them when they are full.
class Recording {
 public:
  // `take` is called by the worker whose records they are.
  using Take = void (*)(void* of, u32 worker, const u64* begin, const u64* end);
  Recording(u32 workers, void* of, Take take) : of_worker_(workers), of_(of), take_(take) {}
  RecordBuffer* buffer(u32 worker);
  void finish();  // takes what is left; when the launch has ended

 private:
  struct Mine : RecordBuffer {
    std::vector<u64> words;
    Recording* all = nullptr;
  };
  static void empty(RecordBuffer*);
  std::vector<Mine> of_worker_;
  void* const of_;
  const Take take_;
};

}  // namespace us::probe
