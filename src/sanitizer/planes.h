// SPDX-License-Identifier: Apache-2.0
// What is remembered of the words of a range of addresses, in the ordinary case: weak accesses by one warp at a time.
//
// 16 words that were last touched together, each by the lane next to its neighbour's or all by one, are one Block.
// Others are taken apart, into cells: planes beside each other, one number of each for every word, so that the words of
// 32 lanes are judged together (rows.h).
//
//   w        last writer: segment << 5 | lane; 0 never written; 1 to 31 long ago, ordered for all; kWide: see Shadow
//   r, m     readers since: a segment and its lanes; kWide as w;
//            kMany | s: segment s, then m of another warp of its CTA, and others since the same barrier;
//            kCtas | s: segment s, m of another CTA, and others
//   w_site, r_site   their instructions
//   touched  one byte for each page of 4 KB
//
// A word that is accessed by bytes or halves is split: its four bytes are words of planes of their own
// (`bytes_of_words`), at four times its address, and judged there as words are. Where it is not, its bytes are as never
// touched.
#pragma once
#include <memory>

#include "probe/quick.h"

namespace us::sanitizer {

inline constexpr u32 kWide = ~0u, kMany = 1u << 31, kCtas = 1u << 30, kThrown = kMany | kCtas;
inline constexpr u32 kSplit = 0x5b17e5;  // m of a word that is kWide, but for its bytes
inline constexpr u16 kNoSmallSite = 0xffff;
inline constexpr u32 kTouchedBits = 12;
inline constexpr u32 kBlockWords = 16, kBlockBytes = 4 * kBlockWords;

// Which lane word i of a block belongs to. A lane below 0: no word of its own is in the block.
struct Spread {
  static constexpr u32 kOneLane = 4, kDown = 5;
  i32 lane = 0;   // of the first word
  u32 shift = 0;  // words of a lane: 1 << shift; kOneLane: all are its own; kDown + shift: lanes go down
  u32 of(u32 i) const {
    return shift < kDown ? static_cast<u32>(lane) + (i >> shift) : static_cast<u32>(lane) - (i >> (shift - kDown));
  }
  bool operator==(const Spread&) const = default;
};

// As the cells of its words would be, but for lanes. probe::QuickRecords says it, too.
struct Block {
  u32 w = 0;  // the lane of the first word; kWide: taken apart
  u16 w_site = 0, r_site = 0;
  u32 r = 0;       // not kWide
  u32 m : 29 = 0;  // kMany, kCtas: a segment; else the lane of the first word, and its shift << 5
  u32 w_shift : 3 = 0;
  Spread writer() const { return {static_cast<i32>(w & 31), w_shift}; }
  Spread reader() const { return {static_cast<i32>(m & 31), u32{m} >> 5}; }
  void write(u32 segment, Spread s, u16 site) {
    w = segment << 5 | static_cast<u32>(s.lane), w_shift = s.shift, r = 0, w_site = site;
  }
  void read(u32 segment, Spread s, u16 site) {
    r = segment, m = static_cast<u32>(s.lane) | s.shift << 5, r_site = site;
  }
};
static_assert(sizeof(Block) == probe::QuickRecords::kBytes && kBlockBytes == probe::QuickRecords::kCovers);

struct Word {
  u32 w = 0, r = 0, m = 0;
  u16 w_site = 0, r_site = 0;
  bool operator==(const Word&) const = default;
};

class Planes {
 public:
  Planes() = default;
  Planes(Planes&& o) noexcept { *this = static_cast<Planes&&>(o); }
  Planes& operator=(Planes&& o) noexcept;
  ~Planes();
  // For [begin, begin + bytes); the host's memory is taken where it is touched. False: the host has no room.
  bool reserve(u64 begin, u64 bytes);
  // There is an allocation: a large one gets large pages, or each of the host's pages costs two faults.
  void expect(u64 begin, u64 bytes);
  bool holds(u64 address, u64 bytes) const { return address - begin_ < bytes_ && bytes_ - (address - begin_) >= bytes; }
  u64 begin() const { return begin_; }
  u64 bytes() const { return bytes_; }
  void clear(u64 begin, u64 bytes);  // as if never touched
  void age(u64 begin, u64 bytes);    // what was written was so long ago, ordered for all; who read is forgotten

  Block& block(u64 a) const { return blocks_[(a - begin_) / kBlockBytes]; }
  void take_apart(u64 a) const {
    if (block(a).w != kWide) fill_cells(a);
  }
  Word look(u64 a) const;
  bool is_split(u64 a) const { return bytes_planes_ && block(a).w == kWide && *w(a) == kWide && *m(a) == kSplit; }
  // The words of [begin, begin + bytes). False: one has a cell of its own (Shadow), or there is no room.
  bool split(u64 begin, u64 bytes);
  const Planes& bytes_of_words() const { return *bytes_planes_; }
  Word look_byte(u64 a) const { return bytes_planes_->look(4 * a); }
  void put_byte(u64 a, const Word&) const;
  void put_word(u64 a, const Word& c) const { put(a, c); }  // of a block that is taken apart
  bool split_wide(u64 a);                                   // a word with a cell of its own, which goes
  // Words that are split: their bytes are as never touched, they have cells of their own (Shadow).
  void unsplit(u64 begin, u64 bytes) const;
  u32 writer(u64 a) const {  // Word::w
    const Block& b = block(a);
    if (b.w == kWide) return *w(a);
    return b.w ? (b.w & ~31u) | (b.writer().of(static_cast<u32>((a - begin_) / 4 % kBlockWords)) & 31) : 0;
  }
  // Of words whose block is taken apart.
  u32* w(u64 a) const { return at<u32>(0, a - begin_); }
  u32* r(u64 a) const { return at<u32>(1, a - begin_); }
  u32* m(u64 a) const { return at<u32>(2, a - begin_); }
  u16* w_site(u64 a) const { return at<u16>(6, half(a)); }
  u16* r_site(u64 a) const { return at<u16>(7, half(a)); }
  // As probe::QuickRecords has them. The planes begin at a block.
  u64 quick_records() const { return reinterpret_cast<u64>(blocks_) - begin_ / kBlockBytes * sizeof(Block); }
  u64 quick_pages() const { return reinterpret_cast<u64>(touched_) - (begin_ >> kTouchedBits); }
  u8* touched(u64 a) const { return touched_ + ((a - begin_) >> kTouchedBits); }

 private:
  void fill_cells(u64 a) const;
  bool has_bytes(u64 a, u64 bytes);  // or there is no room
  void put(u64 a, const Word& c) const {
    *w(a) = c.w, *r(a) = c.r, *m(a) = c.m, *w_site(a) = c.w_site, *r_site(a) = c.r_site;
  }
  // A row may begin before the first word, where its first lanes do nothing.
  u64 half(u64 a) const { return static_cast<u64>(static_cast<i64>(a - begin_) / 2); }
  // Half planes of `half_` bytes: 0 w, 2 r, 4 m, 6 w_site, 7 r_site; the blocks begin behind them.
  template <class T>
  T* at(u64 plane, u64 offset) const {
    return reinterpret_cast<T*>(base_ + (plane < 3 ? 2 * plane : plane) * half_ + offset);
  }
  u64 begin_ = 0, bytes_ = 0, half_ = 0, mapped_ = 0;
  u32 large_ = 0;  // allocations with large pages
  std::unique_ptr<Planes> bytes_planes_;
  bool no_bytes_ = false;  // there was no room for them
  u8 *base_ = nullptr, *touched_ = nullptr;
  Block* blocks_ = nullptr;
};

}  // namespace us::sanitizer
