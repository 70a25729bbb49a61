// SPDX-License-Identifier: Apache-2.0
// What is remembered of each word of memory: who wrote it last, and who has read it since. Ordinary words stand in
// planes (planes.h). Words that are accessed by bytes are taken apart; words of strong accesses have a location
// (locations.h); unordered readers that do not fit go to a list.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sanitizer/locations.h"
#include "sanitizer/planes.h"
#include "sanitizer/segments.h"

namespace us::sanitizer {

struct Mark {  // lanes of a warp at one time; no lanes: some, it is not known which
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

inline constexpr u32 kPageBits = 8, kPageWords = 1u << (kPageBits - 2);

// The cells of one space: planes where there are any and the word is ordinary, else a cell of its own. Pages of cells
// appear when they are touched.
class Shadow {
 public:
  using Memory = std::function<bool(u64 address, u32& word)>;
  explicit Shadow(const Segments& table) : table_(table) {}
  void set_planes(Planes p) { planes_ = std::move(p); }
  bool split(u64 begin, u64 bytes) { return planes_.split(begin, bytes); }
  Planes take_planes() { return std::move(planes_); }
  const Planes& planes() const { return planes_; }
  void set_memory(Memory m) { memory_ = std::move(m); }  // tells what is there
  bool has_memory() const { return memory_ != nullptr; }

  Cell& word(u64 address);  // as a cell of its own
  Cell look(u64 address);   // the same, left where it is; of a word that is split: nothing
  bool is_split(u64 address) const {
    return planes_.holds(address & ~u64{3}, 4) && planes_.is_split(address & ~u64{3});
  }
  Cell look_byte(u64 address) const { return of_planes(planes_.look_byte(address)); }  // of such a word
  void narrow(u64 address);   // back to the planes, if it is ordinary
  bool written(u64 address);  // any part of the word
  Side& side(Cell& c);
  Side* side_if(const Cell& c) { return c.side ? sides_[c.side].get() : nullptr; }
  std::array<Cell, 4>& split(Cell& c);  // a word into bytes
  Location& location(Cell& c);
  Location* location_if(const Cell& c) { return c.side ? sides_[c.side]->location.get() : nullptr; }
  void drop(u64 begin, u64 bytes);  // as if never touched
  void expect(u64 begin, u64 bytes) { planes_.expect(begin, bytes); }
  void clear();  // all, and the planes are somebody else's
  // All that was done was so long ago, ordered for all: no number of a segment is left. Of the planes: Planes::age.
  void age();
  void age_planes(u64 begin, u64 bytes) { planes_.age(begin, bytes); }

  // Pages of 4 KB that were touched since they were last forgotten, in [begin, begin + bytes) or outside of the planes.
  void touched(u64 begin, u64 bytes, std::vector<u64>& pages) const;
  void touched_elsewhere(std::vector<u64>& pages) const { pages.assign(elsewhere_.begin(), elsewhere_.end()); }
  void forget_touched(u64 page);

 private:
  using Page = std::array<Cell, kPageWords>;
  Cell& cell(u64 address) {
    const u64 n = address >> kPageBits;
    if (n != last_number_ || !last_) find(n);
    return (*last_)[(address >> 2) & (kPageWords - 1)];
  }
  void find(u64 number);
  void forget(Cell& c);
  void age(Cell& c);
  Cell of_planes(const Word&) const;  // but for readers beside the newest
  void widen(Cell& c, u64 address);
  void widen(Cell& c, const Word&);
  void widen_bytes(Cell& c, u64 address);
  bool narrowed(const Cell& c, Word& to) const;  // if it is ordinary
  const Segments& table_;
  Planes planes_;
  Memory memory_;
  std::unordered_map<u64, std::unique_ptr<Page>> pages_;
  std::vector<std::unique_ptr<Side>> sides_{1};
  std::vector<u32> free_sides_;
  std::unordered_set<u64> elsewhere_;
  Page* last_ = nullptr;
  u64 last_number_ = ~u64{0};
};

}  // namespace us::sanitizer
