// SPDX-License-Identifier: Apache-2.0
// The words that lanes of one warp access together, judged on the planes where all is ordinary. What is not is left as
// it was and told by lane: judge.h judges it.
#pragma once
#include "sanitizer/planes.h"
#include "sanitizer/segments.h"

namespace us::sanitizer {

// What a warp knows in any case, and who it is.
struct RowActor {
  u32 segment = 0;               // of the access
  u32 floor = 1;                 // segments below are known to every lane
  u32 known = 0, known_end = 0;  // and those from .. to
  u32 also[2] = {};              // and these
  u32 copies = 0;                // and as many numbers of asynchronous copies, from the first on
  u16 site = kNoSmallSite;
  // Readers of several warps may be thrown together (planes.h): segments from .. to and this one are of the CTA itself,
  // this one is not.
  bool many = false;
  u32 mine = 0, mine_end = 0, also_mine = kWide, foreign = kWide;
  bool unwritten = false;  // a load of what no kernel has written is ordinary
  bool own = true;         // what the lane itself has written in this segment is
  // A load of what nobody writes in the launch: the segment stands for all threads of the launch, nobody needs to know
  // which of them have read it.
  bool everybody = false;
  bool is_mine(u32 s) const { return s - mine < mine_end - mine || s == also_mine; }
  bool knows(u32 s) const {
    return s < floor || s - known < known_end - known || s == also[0] || s == also[1] || s - Segments::kCopies < copies;
  }
};

// `words` (1, 2 or 4) words of each lane, those of lane 0 at `address`, the others behind each other. Lanes of the
// result are left to others.
u32 read_rows(const Planes&, u64 address, u32 words, u32 lanes, const RowActor&);
u32 write_rows(const Planes&, u64 address, u32 words, u32 lanes, const RowActor&);
// Lane l's words are those of lane 31 - l there: the last lane's at `address`.
u32 read_rows_down(const Planes&, u64 address, u32 words, u32 lanes, const RowActor&);
// All lanes read the same words. False: left to others.
bool read_same(const Planes&, u64 address, u32 words, u32 lanes, const RowActor&);
// One lane.
bool read_lane(const Planes&, u64 address, u32 words, u32 lane, const RowActor&);
bool write_lane(const Planes&, u64 address, u32 words, u32 lane, const RowActor&);
// One lane, those of 32 words whose bits are set in `which`. Words of the result are left to others.
u32 read_range(const Planes&, u64 address, u32 which, u32 lane, const RowActor&);
u32 write_range(const Planes&, u64 address, u32 which, u32 lane, const RowActor&);
// One lane, all words of the whole blocks of [at, end): up to the first that is left to others.
u64 whole_blocks(const Planes&, u64 at, u64 end, bool writes, u32 lane, const RowActor&);

// Lanes whose address is first + lane * stride.
u32 equal_to(const u64* address, u64 first, u64 stride);

// A segment that stands in the way of this lane, to look up; 0: another reason.
struct Obstacle {
  u32 segment = 0;
  bool reads = false;  // it has read the word, or written it
  u32 then = 0;        // another reader, of readers thrown together, or 0
};
Obstacle obstacle(const Planes&, u64 address, u32 words, u32 lane, bool writes, const RowActor&);

}  // namespace us::sanitizer
