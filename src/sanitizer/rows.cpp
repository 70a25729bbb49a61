// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/rows.h"

#include <bit>

namespace us::sanitizer {
namespace {

struct Lane {
  u32 number[128], bit[128];
};
template <u32 kWords>
constexpr Lane lanes_of(bool down = false) {
  Lane l = {};
  for (u32 i = 0; i < 32 * kWords; i++) {
    const u32 lane = down ? 31 - i / kWords : i / kWords;
    l.number[i] = lane, l.bit[i] = 1u << lane;
  }
  return l;
}
constexpr u32 kNobody = 0x7fffffe0;  // no writer
constexpr Lane kOne = lanes_of<1>(), kTwo = lanes_of<2>(), kFour = lanes_of<4>();
constexpr Lane kOneDown = lanes_of<1>(true), kTwoDown = lanes_of<2>(true), kFourDown = lanes_of<4>(true);

struct Row {
  u32 *w, *r, *m;
  u16 *w_site, *r_site;
};
Row row(const Planes& p, u64 a) { return {p.w(a), p.r(a), p.m(a), p.w_site(a), p.r_site(a)}; }

// Whose each of 32 words is, and the bit of the result that stands for it.
struct Whose {
  const u32 *number, *bit, *position;
};

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors are passed to functions that are always inlined
#define US_WIDE __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))

// 16 words; truth is all bits.
constexpr u32 kV = 16;
using V = u32 __attribute__((vector_size(4 * kV)));
using Sites = u16 __attribute__((vector_size(2 * kV)));

#define US_INLINE [[gnu::always_inline]] inline
US_INLINE V load(const u32* at) {
  V v;
  __builtin_memcpy(&v, at, sizeof v);
  return v;
}
US_INLINE void store(u32* at, const V& v) { __builtin_memcpy(at, &v, sizeof v); }
US_INLINE V choose(const V& which, const V& a, const V& b) { return (which & a) | (~which & b); }
US_INLINE V all(u32 x) { return V{} + x; }
US_INLINE V truth(bool x) { return all(x ? ~0u : 0); }
US_INLINE void store_sites(u16* at, const V& where, u16 site) {
  Sites old;
  __builtin_memcpy(&old, at, sizeof old);
  const Sites m = __builtin_convertvector(where, Sites);
  old = (m & (Sites{} + site)) | (~m & old);
  __builtin_memcpy(at, &old, sizeof old);
}
US_INLINE V known_to(const RowActor& a, const V& x) {
  return V(x < a.floor) | V(x - a.known < a.known_end - a.known) | V(x == a.also[0]) | V(x == a.also[1]) |
         V(x - Segments::kCopies < a.copies);
}
US_INLINE u32 any_of(const V& v) {
  u32 of[kV], one = 0;
  __builtin_memcpy(of, &v, sizeof v);
  for (const u32 x : of) one |= x;
  return one;
}

// Are any of these 8 words asked for?
US_INLINE bool asked(const Whose& of, u32 i, u32 lanes) {
  const u32 one = of.position[i], other = of.position[i + kV - 1], high = one > other ? one : other;
  return (lanes & (2 * high - (one ^ other ^ high))) != 0;
}

enum class Seen : u8 { Old, Together, Other };

// Two kinds of words are the most. Old: the warp knows who wrote them, and nobody has read them since all met.
// Together: ... and readers have been thrown together since, whom this one is added to.
US_INLINE Seen seen_before(const Row& row, const Whose& of, u32 lanes, const RowActor& a) {
  const V unwritten = truth(a.unwritten), everybody = truth(a.everybody);
  V not_old = {}, not_together = {};
  for (u32 i = 0; i < 32; i += kV) {
    if (!asked(of, i, lanes)) continue;
    const V w = load(row.w + i), r = load(row.r + i), active = V((load(of.position + i) & lanes) != 0);
    const V known = V(w >> 5 < a.floor) & (unwritten | V(w != 0));
    const V first = r & ~kThrown, mine = V(first - a.mine < a.mine_end - a.mine) & V(r != kWide);
    not_old |= active & ~(known & (V(r < a.floor) | (everybody & V(r != kWide))));
    not_together |= active & ~(known & V(r >= kCtas) & (V(r < kMany) | mine) & ~known_to(a, first));
  }
  if (!any_of(not_old)) return Seen::Old;
  return a.many && !any_of(not_together) ? Seen::Together : Seen::Other;
}

US_WIDE u32 read_chunk(const Row row, const Whose of, u32 lanes, const RowActor& a) {
  const Seen seen = seen_before(row, of, lanes, a);
  if (seen == Seen::Together) return 0;
  for (u32 i = 0; seen == Seen::Old && i < 32; i += kV) {
    if (!asked(of, i, lanes)) continue;
    const V active = V((load(of.position + i) & lanes) != 0);
    store(row.r + i, choose(active, all(a.segment), load(row.r + i)));
    store(row.m + i, choose(active, load(of.bit + i), load(row.m + i)));
    store_sites(row.r_site + i, active, a.site);
  }
  if (seen == Seen::Old) return 0;
  const u32 own = a.own ? a.segment << 5 : kNobody;
  const V unwritten = truth(a.unwritten), together = truth(a.many), everybody = truth(a.everybody);
  V bad = {};
  for (u32 i = 0; i < 32; i += kV) {
    if (!asked(of, i, lanes)) continue;
    const V w = load(row.w + i), r = load(row.r + i), m = load(row.m + i), bit = load(of.bit + i);
    const V position = load(of.position + i), first = r & ~kThrown;
    const V active = V((position & lanes) != 0), ordinary = V(r != kWide);
    const V ok_w = (unwritten | V(w != 0)) & (known_to(a, w >> 5) | V(w == (load(of.number + i) | own)));
    const V same = V(r == a.segment), thrown = V((r & kThrown) != 0) & ordinary, ctas = thrown & V(r < kMany);
    const V fresh = known_to(a, r) | (thrown & known_to(a, first) & known_to(a, m)) | (everybody & ordinary & ~same);
    const V can = together & ordinary & ~ctas;
    const V warps = can & (V(first - a.mine < a.mine_end - a.mine) | V(first == a.also_mine));
    const V blocks = can & V(first == a.foreign), stay = (together & ctas) | (warps & thrown);
    const V ok = active & ok_w & (same | fresh | warps | blocks | stay);
    const V joined = choose(stay, r, choose(warps, first | kMany, first | kCtas));
    store(row.r + i, choose(ok, choose(same | fresh, all(a.segment), joined), r));
    const V others = choose(stay, m, all(a.segment));
    store(row.m + i, choose(ok, choose(same, m | bit, choose(fresh, bit, others)), m));
    store_sites(row.r_site + i, ok, a.site);
    bad |= active & ~ok & position;
  }
  return any_of(bad);
}

US_WIDE u32 write_chunk(const Row row, const Whose of, u32 lanes, const RowActor& a) {
  const u32 mine = a.segment << 5, own = a.own ? mine : kNobody;
  V bad = {};
  for (u32 i = 0; i < 32; i += kV) {
    if (!asked(of, i, lanes)) continue;
    const V w = load(row.w + i), r = load(row.r + i), m = load(row.m + i), number = load(of.number + i);
    const V position = load(of.position + i), first = r & ~kThrown;
    const V active = V((position & lanes) != 0);
    const V ok_w = known_to(a, w >> 5) | V(w == (number | own));
    const V thrown = V((r & kThrown) != 0) & V(r != kWide);
    const V own_r = V(r == a.segment) & V(m == load(of.bit + i));
    const V ok_r = known_to(a, r) | own_r | (thrown & known_to(a, first) & known_to(a, m));
    const V ok = active & ok_w & ok_r;
    store(row.w + i, choose(ok, number | mine, w));
    store(row.r + i, choose(ok, V{}, r));
    store_sites(row.w_site + i, ok, a.site);
    bad |= active & ~ok & position;
  }
  return any_of(bad);
}

US_WIDE u32 equal_lanes(const u64* address, u64 first, u64 stride) {
  using A = u64 __attribute__((vector_size(32)));
  A next = {first, first + stride, first + 2 * stride, first + 3 * stride}, bit = {1, 2, 4, 8}, found = {};
  for (u32 k = 0; k < 32; k += 4) {
    A at;
    __builtin_memcpy(&at, address + k, sizeof at);
    found |= A(at == next) & bit;
    next += 4 * stride, bit <<= 4;
  }
  return static_cast<u32>(found[0] | found[1] | found[2] | found[3]);
}

#undef US_INLINE
#undef US_WIDE

enum class Judged : u8 { Fine, Left, ByCell };

bool knows_readers(u32 r, u32 m, const RowActor& a) { return a.knows(r & ~kThrown) && (r < kCtas || a.knows(m)); }

// Has the warp itself written all of the block just so?
bool wrote(const Block& b, Spread s, const RowActor& a) { return a.own && b.w >> 5 == a.segment && b.writer() == s; }

// Words of a block by the lanes of `s`: all of it, or some.
Judged read_block(Block& b, Spread s, bool all, const RowActor& a) {
  if (b.w == kWide) return Judged::ByCell;
  if (b.w == 0 && !a.unwritten) return Judged::Left;
  if (!a.knows(b.w >> 5) && !wrote(b, s, a)) return a.own && b.w >> 5 == a.segment ? Judged::ByCell : Judged::Left;
  if (a.everybody) {
    if (b.r == a.segment) return Judged::Fine;
    if (!all) return Judged::ByCell;
    b.read(a.segment, s, a.site);
    return Judged::Fine;
  }
  if (b.r == a.segment) {
    if (b.reader() != s || (!all && b.r_site != a.site)) return Judged::ByCell;
    b.r_site = a.site;
    return Judged::Fine;
  }
  if (knows_readers(b.r, b.m, a)) {
    if (!all) return Judged::ByCell;
    b.read(a.segment, s, a.site);
    return Judged::Fine;
  }
  if (!a.many) return Judged::Left;
  const u32 first = b.r & ~kThrown;
  const bool mine = a.is_mine(first);
  if ((b.r >= kCtas && b.r < kMany) || (mine && b.r >= kMany)) return Judged::Fine;
  if (!mine && first != a.foreign) return Judged::Left;
  if (!all) return Judged::ByCell;
  b.r = first | (mine ? kMany : kCtas), b.m = a.segment, b.r_site = a.site;
  return Judged::Fine;
}

Judged write_block(Block& b, Spread s, bool all, const RowActor& a) {
  if (b.w == kWide) return Judged::ByCell;
  if (!a.knows(b.w >> 5) && !wrote(b, s, a)) return a.own && b.w >> 5 == a.segment ? Judged::ByCell : Judged::Left;
  if (!knows_readers(b.r, b.m, a)) {
    if (b.r != a.segment) return Judged::Left;
    if (b.reader() != s) return Judged::ByCell;
  }
  if (!all) return wrote(b, s, a) && b.r == 0 && b.w_site == a.site ? Judged::Fine : Judged::ByCell;
  b.write(a.segment, s, a.site);
  return Judged::Fine;
}

// How lanes lie on words: word i behind `address` is of lane i >> shift, or all of `lane`.
struct Layout {
  u64 address = 0;
  u32 words = 32;  // there are
  u32 shift = 0;
  i32 lane = -1;                                     // or -1
  bool down = false;                                 // of lane 31 - (i >> shift): masks are turned round
  u32 bits() const { return lane < 0 ? shift : 0; }  // words of a bit of a mask
  Spread from(i32 word) const {
    if (lane >= 0) return {lane, Spread::kOneLane};
    return down ? Spread{31 - (word >> shift), Spread::kDown + shift} : Spread{word >> shift, shift};
  }
};

// blocks(...) judges a block, cells(which) the cells of what is left to them. Bits of masks as in Layout.
template <bool kWrites, class Cells>
u32 by_blocks(const Planes& p, const Layout& l, u32 which, const RowActor& a, Cells&& cells) {
  const i32 before = static_cast<i32>((l.address - p.begin()) % kBlockBytes / 4), per_block = kBlockWords >> l.bits();
  const u32 full = (1u << per_block) - 1;
  const i32 most = static_cast<i32>(l.words >> l.bits());
  u32 left = 0, by_cell = 0, whole = 0;
  for (i32 bit = -(before >> l.bits()); bit < most; bit += per_block) {
    const u32 there = bit < 0 ? full >> -bit : full << bit, asked = there & which;
    if (!asked) continue;
    const i32 word = bit * (1 << l.bits());
    const u64 at = l.address + static_cast<u64>(i64{word} * 4);
    const bool all = bit >= 0 && bit + per_block <= most && asked == there;
    Block& b = p.block(at);
    const Judged found = (kWrites ? write_block : read_block)(b, l.from(word), all, a);
    if (found == Judged::Fine) continue;
    if (found == Judged::Left) {
      left |= asked;
      continue;
    }
    p.take_apart(at);
    by_cell |= asked;
    if (all) whole |= asked;
  }
  if (!by_cell) return left;
  const u32 bad = cells(by_cell);
  for (i32 bit = -(before >> l.bits()); kWrites && whole && bit < most; bit += per_block) {
    const u32 there = bit < 0 ? 0 : full << bit;
    if (!there || (whole & there) != there || bad & there) continue;
    const i32 word = bit * (1 << l.bits());
    p.block(l.address + static_cast<u64>(word) * 4).write(a.segment, l.from(word), a.site);
  }
  return left | bad;
}

template <class F>
u32 rows(const Planes& p, u64 address, u32 words, u32 lanes, F&& chunk) {
  const Lane& all = words == 1 ? kOne : words == 2 ? kTwo : kFour;
  u32 bad = 0;
  for (u32 k = 0; k < words; k++) {
    const u32* const bits = all.bit + 32 * k;
    bad |= chunk(row(p, address + 128 * u64{k}), Whose{all.number + 32 * k, bits, bits});
  }
  return bad & lanes;
}

Layout row_of(u64 address, u32 words) {
  return {.address = address, .words = 32 * words, .shift = static_cast<u32>(std::countr_zero(words))};
}

struct Cell {
  u32 &w, &r, &m;
  u16 &w_site, &r_site;
};
Cell cell(const Planes& p, u64 a) { return {*p.w(a), *p.r(a), *p.m(a), *p.w_site(a), *p.r_site(a)}; }

bool read_cell(const Cell& c, u32 lanes, const RowActor& a, bool own) {
  if (c.w == kWide || (c.w == 0 && !a.unwritten)) return false;
  if (!own && !a.knows(c.w >> 5)) return false;
  if (c.r == a.segment) {
    c.m |= lanes;
  } else if (c.r != kWide && (a.everybody || knows_readers(c.r, c.m, a))) {
    c.r = a.segment, c.m = lanes;
  } else if (a.many && c.r != kWide) {
    const u32 first = c.r & ~kThrown;
    if (c.r >= kMany || c.r < kCtas) {
      if (!a.is_mine(first) && first != a.foreign) return false;
      const u32 to = first | (a.is_mine(first) ? kMany : kCtas);
      if (c.r != to) c.r = to, c.m = a.segment;
    }
  } else {
    return false;
  }
  c.r_site = a.site;
  return true;
}

bool read_word(const Planes& p, u64 at, u32 lane, u32 lanes, const RowActor& a) {
  const auto bit = static_cast<i32>((at - p.begin()) / 4 % kBlockWords);
  const Spread s = lanes & (lanes - 1) ? Spread{-1, Spread::kOneLane} : Spread{static_cast<i32>(lane) - bit, 0};
  const Judged found = read_block(p.block(at), s, false, a);
  if (found != Judged::ByCell) return found == Judged::Fine;
  p.take_apart(at);
  const Cell c = cell(p, at);
  return read_cell(c, lanes, a, a.own && (lanes & (lanes - 1)) == 0 && c.w == (a.segment << 5 | lane));
}

}  // namespace

u32 equal_to(const u64* address, u64 first, u64 stride) { return equal_lanes(address, first, stride); }

u32 read_rows(const Planes& p, u64 address, u32 words, u32 lanes, const RowActor& a) {
  return by_blocks<false>(p, row_of(address, words), lanes, a, [&](u32 which) {
    return rows(p, address, words, which, [&](const Row& r, const Whose& w) { return read_chunk(r, w, which, a); });
  });
}

u32 write_rows(const Planes& p, u64 address, u32 words, u32 lanes, const RowActor& a) {
  return by_blocks<true>(p, row_of(address, words), lanes, a, [&](u32 which) {
    return rows(p, address, words, which, [&](const Row& r, const Whose& w) { return write_chunk(r, w, which, a); });
  });
}

namespace {
u32 turned(u32 lanes) {
  const auto swap = [&](u32 mask, u32 by) { lanes = (lanes >> by & mask) | (lanes & mask) << by; };
  swap(0x55555555, 1), swap(0x33333333, 2), swap(0x0f0f0f0f, 4), swap(0x00ff00ff, 8);
  return lanes >> 16 | lanes << 16;
}
}  // namespace

u32 read_rows_down(const Planes& p, u64 address, u32 words, u32 lanes, const RowActor& a) {
  Layout l = row_of(address, words);
  l.down = true;
  const Lane& all = words == 1 ? kOneDown : words == 2 ? kTwoDown : kFourDown;
  const u32 left = by_blocks<false>(p, l, turned(lanes), a, [&](u32 which) {
    u32 bad = 0;
    for (u32 k = 0; k < words; k++) {
      const u32 *const number = all.number + 32 * k, *const bit = all.bit + 32 * k;
      bad |= read_chunk(row(p, address + 128 * u64{k}), {number, bit, bit}, turned(which), a);
    }
    return turned(bad & turned(which));
  });
  return turned(left);
}

bool read_same(const Planes& p, u64 address, u32 words, u32 lanes, const RowActor& a) {
  const u32 lane = static_cast<u32>(std::countr_zero(lanes));
  for (u32 k = 0; k < words; k++) {
    if (!read_word(p, address + 4 * k, lane, lanes, a)) return false;
  }
  return true;
}

bool read_lane(const Planes& p, u64 address, u32 words, u32 lane, const RowActor& a) {
  return read_same(p, address, words, 1u << lane, a);
}

bool write_lane(const Planes& p, u64 address, u32 words, u32 lane, const RowActor& a) {
  p.take_apart(address);
  for (u32 k = 0; k < words; k++) {
    const Cell c = cell(p, address + 4 * k);
    const u32 me = a.segment << 5 | lane;
    if (c.w == kWide || (c.w != me && !a.knows(c.w >> 5))) return false;
    if (c.r == kWide || (!knows_readers(c.r, c.m, a) && !(c.r == a.segment && c.m == 1u << lane))) return false;
    c.w = me, c.r = 0, c.w_site = a.site;
  }
  return true;
}

namespace {
struct OfOne {
  u32 number[32], bit[32];
  explicit OfOne(u32 lane) {
    for (u32 i = 0; i < 32; i++) number[i] = lane, bit[i] = 1u << lane;
  }
};
Layout range_of(u64 address, u32 lane) { return {.address = address, .lane = static_cast<i32>(lane)}; }
}  // namespace

u32 read_range(const Planes& p, u64 address, u32 which, u32 lane, const RowActor& a) {
  return by_blocks<false>(p, range_of(address, lane), which, a, [&](u32 words) {
    const OfOne one(lane);
    return read_chunk(row(p, address), {one.number, one.bit, kOne.bit}, words, a);
  });
}

u32 write_range(const Planes& p, u64 address, u32 which, u32 lane, const RowActor& a) {
  return by_blocks<true>(p, range_of(address, lane), which, a, [&](u32 words) {
    const OfOne one(lane);
    return write_chunk(row(p, address), {one.number, one.bit, kOne.bit}, words, a);
  });
}

u64 whole_blocks(const Planes& p, u64 at, u64 end, bool writes, u32 lane, const RowActor& a) {
  const Spread one{static_cast<i32>(lane), Spread::kOneLane};
  if ((at - p.begin()) % kBlockBytes) return at;
  for (Block* b = &p.block(at); at + kBlockBytes <= end; at += kBlockBytes, b++)
    if ((writes ? write_block(*b, one, true, a) : read_block(*b, one, true, a)) != Judged::Fine) break;
  return at;
}

Obstacle obstacle(const Planes& p, u64 address, u32 words, u32 lane, bool writes, const RowActor& a) {
  for (u32 k = 0; k < words; k++) {
    const Word c = p.look(address + 4 * k);
    if (c.w == kWide) return {};
    if (!(a.own && c.w == (a.segment << 5 | lane)) && !a.knows(c.w >> 5)) return {c.w >> 5, false};
    if (knows_readers(c.r, c.m, a) || (c.r == a.segment && (!writes || c.m == 1u << lane))) continue;
    const u32 first = c.r & ~kThrown;
    if (a.everybody) continue;
    if (!writes && a.many) {
      const bool ctas = c.r >= kCtas && c.r < kMany;
      if (!ctas && !a.is_mine(first) && first != a.foreign) return {first, true, c.r >= kCtas ? c.m : 0};
      continue;
    }
    if (c.r == a.segment) return {};
    return {a.knows(first) ? c.m : first, true};
  }
  return {};
}

}  // namespace us::sanitizer
