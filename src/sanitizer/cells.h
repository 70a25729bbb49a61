// SPDX-License-Identifier: Apache-2.0
// What is remembered of each word of memory: who wrote it last, and who has read it since. Words that are accessed by
// bytes are taken apart; words of strong accesses have a location (locations.h); unordered readers that do not fit go
// to a list.
#pragma once
#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sanitizer/locations.h"
#include "sanitizer/segments.h"

namespace us::sanitizer {

enum class Manner : u8 {
  Generic,  // weak, of the generic proxy
  Volatile,
  Copy,   // cp.async: generic proxy, asynchronous
  Async,  // bulk and tensor copies, st.async, wgmma: async proxy
  Nc,
  Strong,  // of a location: in conflicts only
};

struct Mark {  // lanes of a warp at one time
  u32 segment = 0, lanes = 0, site = 0;
  Manner manner = Manner::Generic;
};

struct Cell {
  static constexpr u8 kWritten = 1, kMbarrier = 2, kValue = 4;
  bool written() const { return w_segment || flags & kWritten; }
  u32 w_segment = 0, w_site = 0;
  u8 w_lane = 0;
  Manner w_manner = Manner::Generic, r_manner = Manner::Generic;
  u8 flags = 0;
  u32 r_segment = 0, r_lanes = 0, r_site = 0;
  u32 side = 0;   // of the shadow's sides, or 0
  u32 value = 0;  // as last written, if kValue
};

struct Side {
  std::vector<Mark> readers;  // beside the cell's own; unordered with it or with each other
  bool many = false;          // there were more: those are forgotten
  std::unique_ptr<Location> location;
  std::unique_ptr<std::array<Cell, 4>> bytes;
};

inline constexpr u32 kPageBits = 12, kPageWords = 1u << (kPageBits - 2);

// The cells of one space. Pages appear when they are touched.
class Shadow {
 public:
  Cell& word(u64 address) {
    const u64 n = address >> kPageBits;
    if (n != last_number_ || !last_) find(n);
    return (*last_)[(address >> 2) & (kPageWords - 1)];
  }
  Side& side(Cell& c);
  Side* side_if(const Cell& c) { return c.side ? sides_[c.side].get() : nullptr; }
  std::array<Cell, 4>& split(Cell& c);  // a word into bytes
  Location& location(Cell& c);
  Location* location_if(const Cell& c) { return c.side ? sides_[c.side]->location.get() : nullptr; }
  void drop(u64 begin, u64 bytes);  // as if never touched

 private:
  using Page = std::array<Cell, kPageWords>;
  void find(u64 number);
  void forget(Cell& c);
  std::unordered_map<u64, std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<Side>> sides_{1};
  std::vector<u32> free_sides_;
  Page* last_ = nullptr;
  u64 last_number_ = ~u64{0};
};

}  // namespace us::sanitizer
