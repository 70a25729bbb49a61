// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/planes.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace us::sanitizer {
namespace {

constexpr u64 kPage = 4096, kApart = 3 * 4096 + 192;  // planes do not share sets of the host's cache

u64 rounded(u64 n) { return (n + kPage - 1) / kPage * kPage; }

// Gives whole pages back, where there are many: [first byte, first byte behind) of them.
std::pair<u8*, u8*> give_back(u8* at, u64 bytes) {
  constexpr u64 kWorth = 16 * kPage;
  if (bytes < kWorth) return {at, at};
  u8* const first = at + -reinterpret_cast<u64>(at) % kPage;
  const u64 whole = static_cast<u64>(at + bytes - first) / kPage * kPage;
  if (::madvise(first, whole, MADV_DONTNEED)) return {at, at};
  return {first, first + whole};
}

// Zeroes. Where there are some already the host may have no memory of its own, and needs none.
void zero(u8* at, u64 bytes) {
  const auto is_zero = [&](u64 n) { return at[0] == 0 && std::memcmp(at, at + 1, n - 1) == 0; };
  while (bytes) {
    const u64 n = std::min(bytes, kPage - reinterpret_cast<u64>(at) % kPage);
    if (!is_zero(n)) std::memset(at, 0, n);
    at += n, bytes -= n;
  }
}
void wipe(u8* at, u64 bytes) {
  const auto [first, end] = give_back(at, bytes);
  zero(at, static_cast<u64>(first - at));
  zero(end, static_cast<u64>(at + bytes - end));
}

}  // namespace

Planes& Planes::operator=(Planes&& o) noexcept {
  std::swap(begin_, o.begin_), std::swap(bytes_, o.bytes_), std::swap(half_, o.half_), std::swap(mapped_, o.mapped_);
  std::swap(base_, o.base_), std::swap(touched_, o.touched_), std::swap(blocks_, o.blocks_);
  std::swap(large_, o.large_), std::swap(bytes_planes_, o.bytes_planes_);
  std::swap(no_bytes_, o.no_bytes_);
  return *this;
}

Planes::~Planes() {
  if (base_) ::munmap(base_ - kPage, mapped_);
}

bool Planes::reserve(u64 begin, u64 bytes) {
  const u64 half = rounded((bytes + 1) / 2) + kApart, touched = rounded((bytes >> kTouchedBits) + 2),
            blocks = (bytes / kBlockBytes + 1) * sizeof(Block);
  const u64 all = rounded(kPage + 8 * half + touched + blocks);
  void* const at = ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return false;
  base_ = static_cast<u8*>(at) + kPage, mapped_ = all, half_ = half;
  touched_ = base_ + 8 * half;
  blocks_ = reinterpret_cast<Block*>(touched_ + touched);
  begin_ = begin, bytes_ = bytes;
  return true;
}

void Planes::expect(u64 begin, u64 bytes) {
  constexpr u64 kLarge = u64{16} << 20;
  constexpr u32 kMost = 1000;  // the system limits in how many ways a process's memory is treated
  if (bytes < kLarge || large_ >= kMost || !holds(begin, bytes)) return;
  large_++;
  const auto advise = [](void* from, u64 n) {
    const u64 first = rounded(reinterpret_cast<u64>(from)), end = (reinterpret_cast<u64>(from) + n) / kPage * kPage;
    if (end > first) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  };
  for (u32* const plane : {w(begin), r(begin), m(begin)}) advise(plane, bytes);
  for (u16* const plane : {w_site(begin), r_site(begin)}) advise(plane, bytes / 2);
  advise(&block(begin), bytes / kBlockBytes * sizeof(Block));
}

Word Planes::look(u64 a) const {
  const Block& b = block(a);
  if (b.w == kWide) return {*w(a), *r(a), *m(a), *w_site(a), *r_site(a)};
  const u32 i = static_cast<u32>((a - begin_) / 4 % kBlockWords);
  Word c{.r = b.r, .m = b.m, .w_site = b.w_site, .r_site = b.r_site};
  c.w = writer(a);
  if (b.r < kCtas) c.m = 1u << b.reader().of(i);
  return c;
}

void Planes::fill_cells(u64 a) const {
  a -= (a - begin_) % kBlockBytes;
  for (u32 i = 0; i < kBlockWords; i++) put(a + 4 * u64{i}, look(a + 4 * u64{i}));
  block(a).w = kWide;
}

bool Planes::has_bytes(u64 a, u64 bytes) {
  if (!bytes_planes_ && !no_bytes_) {
    constexpr u64 kWindow = u64{512} << 30;  // there is not room for four times all of a device's addresses
    const u64 first = begin_ + (a - begin_) / kWindow * kWindow, end = std::min(first + kWindow, begin_ + bytes_);
    auto planes = std::make_unique<Planes>();
    no_bytes_ = !planes->reserve(4 * first, 4 * (end - first));
    if (!no_bytes_) bytes_planes_ = std::move(planes);
  }
  return bytes_planes_ && bytes_planes_->holds(4 * a, 4 * bytes);
}

bool Planes::split_wide(u64 a) {
  const bool can = has_bytes(a, 4);
  if (can) *m(a) = kSplit;
  return can;
}

bool Planes::split(u64 begin, u64 bytes) {
  if (!has_bytes(begin & ~u64{3}, begin % 4 + bytes)) return false;
  bool all = true;
  for (u64 a = begin & ~u64{3}; a < begin + bytes; a += 4) {
    const Word c = look(a);
    if (c.w == kWide) {
      all = all && c.m == kSplit;
      continue;
    }
    for (u32 b = 0; (c.w || c.r) && b < 4; b++) put_byte(a + b, c);
    take_apart(a);
    *w(a) = *r(a) = kWide, *m(a) = kSplit;
  }
  return all;
}

void Planes::put_byte(u64 a, const Word& c) const {
  bytes_planes_->take_apart(4 * a);
  bytes_planes_->put(4 * a, c);
}

void Planes::unsplit(u64 begin, u64 bytes) const {
  bytes_planes_->clear(4 * begin, 4 * bytes);
  for (u64 a = begin; a < begin + bytes; a += 4) *m(a) = 0;
}

void Planes::clear(u64 begin, u64 bytes) {
  const u64 from = begin < begin_ ? begin_ : begin & ~u64{3};
  const u64 end = begin + bytes < begin_ + bytes_ ? begin + bytes : begin_ + bytes_;
  if (from >= end) return;
  if (bytes_planes_) bytes_planes_->clear(4 * from, 4 * (end + 3 - (end + 3) % 4 - from));
  const auto word = [this](u64 a) {
    if (const Block& b = block(a); b.w || b.r) take_apart(a), *w(a) = *r(a) = 0;
  };
  const auto starts_block = [this](u64 a) { return (a - begin_) % kBlockBytes == 0; };
  u64 first = from,
      last = end == begin_ + bytes_ ? end + (kBlockBytes - (end - begin_) % kBlockBytes) % kBlockBytes : end;
  for (; first < last && !starts_block(first); first += 4) word(first);
  for (; last > first && !starts_block(last); last -= last % 4 ? last % 4 : 4) word((last - 1) & ~u64{3});
  if (first >= last) return;
  wipe(reinterpret_cast<u8*>(&block(first)), (last - first) / kBlockBytes * sizeof(Block));
  give_back(reinterpret_cast<u8*>(w(first)), last - first);
  give_back(reinterpret_cast<u8*>(r(first)), last - first);
  give_back(reinterpret_cast<u8*>(m(first)), last - first);
}

void Planes::age(u64 begin, u64 bytes) {
  if (!holds(begin, bytes) || !bytes) return;
  if (Planes* const p = bytes_planes_.get()) {
    const u64 from = std::max(4 * begin, p->begin_), end = std::min(4 * (begin + bytes), p->begin_ + p->bytes_);
    if (from < end) p->age(from, end - from);
  }
  const auto old = [](u32 w) { return w && w != kWide ? 1u : w; };
  const auto age_block = [&](Block& b, u64 address) {
    if (b.w != kWide) {
      b.r = 0, b.w_shift = Spread::kOneLane;
      if (b.w) b.w = 1;
      return;
    }
    u32 *const its_w = w(address), *const its_r = r(address);
    for (u32 i = 0; i < kBlockWords; i++) {
      its_w[i] = old(its_w[i]);
      if (its_r[i] != kWide) its_r[i] = 0;
    }
  };
  const u64 first = (begin - begin_) / kBlockBytes, end = (begin + bytes - 1 - begin_) / kBlockBytes + 1;
  constexpr u64 kOfPage = kPage / sizeof(Block);
  u8* const from = reinterpret_cast<u8*>(blocks_ + first / kOfPage * kOfPage);
  const u64 pages = (end - 1) / kOfPage - first / kOfPage + 1;
  std::vector<u8> there(pages, 1);  // which pages of blocks the host has
  static_assert(kPage % sizeof(Block) == 0);
  if (::mincore(from, pages * kPage, there.data())) std::ranges::fill(there, u8{1});
  for (u64 p = 0; p < pages; p++)
    for (u64 k = std::max(first, (first / kOfPage + p) * kOfPage);
         there[p] & 1 && k < std::min(end, (first / kOfPage + p + 1) * kOfPage); k++)
      age_block(blocks_[k], begin_ + k * kBlockBytes);
}

}  // namespace us::sanitizer
