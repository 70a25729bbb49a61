// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/cells.h"

namespace us::sanitizer {

void Shadow::find(u64 number) {
  auto& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  last_ = page.get(), last_number_ = number;
  if (const u64 at = number << kPageBits; !planes_.holds(at, 4)) elsewhere_.insert(at >> kTouchedBits);
}

Cell& Shadow::word(u64 address) {
  Cell& c = cell(address);
  if (!planes_.holds(address & ~u64{3}, 4)) return c;
  *planes_.touched(address) = 1;
  planes_.take_apart(address);
  if (*planes_.w(address & ~u64{3}) != kWide) widen(c, address & ~u64{3});
  return c;
}

bool Shadow::written(u64 address) {
  address &= ~u64{3};
  if (planes_.holds(address, 4)) {
    if (const u32 w = planes_.writer(address); w != kWide) return w != 0;
  }
  return cell(address).written();
}

Cell Shadow::look(u64 address) {
  address &= ~u64{3};
  if (!planes_.holds(address, 4)) return cell(address);
  const Word w = planes_.look(address);
  if (w.w == kWide) return cell(address);
  Cell c;
  fill(c, w);
  return c;
}

void Shadow::fill(Cell& c, const Word& of) const {
  const auto site = [](u16 s) { return s == kNoSmallSite ? probe::kNoSite : u32{s}; };
  const u32 w = of.w, r = of.r, m = of.m;
  c.w_segment = w >> 5, c.w_lane = w & 31, c.w_site = site(of.w_site);
  c.w_manner = table_.manner_of(c.w_segment);
  if (w) c.flags |= Cell::kWritten;
  c.r_site = site(of.r_site);
  c.r_segment = r < kCtas ? r : m, c.r_lanes = r < kCtas ? m : 0;
  if (c.r_segment) c.r_manner = table_.manner_of(c.r_segment);
}

void Shadow::widen(Cell& c, u64 address) {
  u32 &w = *planes_.w(address), &r = *planes_.r(address);
  fill(c, planes_.look(address));
  // What a copy writes is not there before it has landed.
  if (w && !table_[w >> 5].copy && memory_ && memory_(address, c.value)) c.flags |= Cell::kValue;
  if (r >= kCtas) side(c).readers.push_back({.segment = r & ~kThrown, .lanes = 0, .site = c.r_site});
  w = r = kWide;
}

void Shadow::narrow(u64 address) {
  address &= ~u64{3};
  if (!planes_.holds(address, 4) || planes_.writer(address) != kWide) return;
  Cell& c = cell(address);
  if (c.flags & Cell::kMbarrier || (c.flags & Cell::kValue && !memory_)) return;
  if (const Side* s = side_if(c); s && (s->location || s->bytes || s->many || !s->readers.empty())) return;
  const auto fits = [](u32 segment, u32 site) { return !segment || site < kNoSmallSite || site == probe::kNoSite; };
  if (!fits(c.w_segment, c.w_site) || !fits(c.r_segment, c.r_site)) return;
  if (c.w_segment && table_.manner_of(c.w_segment) != c.w_manner) return;
  if (c.r_segment && (table_.manner_of(c.r_segment) != c.r_manner || !c.r_lanes)) return;
  const u32 w = c.w_segment << 5 | (c.w_lane & 31);
  *planes_.w(address) = c.w_segment ? w : c.flags & Cell::kWritten ? 1 : 0;
  *planes_.r(address) = c.r_segment, *planes_.m(address) = c.r_lanes;
  *planes_.w_site(address) = static_cast<u16>(c.w_site), *planes_.r_site(address) = static_cast<u16>(c.r_site);
  forget(c);
  c = Cell{};
}

Side& Shadow::side(Cell& c) {
  if (!c.side) {
    if (free_sides_.empty()) {
      c.side = static_cast<u32>(sides_.size());
      sides_.push_back(std::make_unique<Side>());
    } else {
      c.side = free_sides_.back();
      free_sides_.pop_back();
      sides_[c.side] = std::make_unique<Side>();
    }
  }
  return *sides_[c.side];
}

std::array<Cell, 4>& Shadow::split(Cell& c) {
  Side& s = side(c);
  if (s.bytes) return *s.bytes;
  s.bytes = std::make_unique<std::array<Cell, 4>>();
  auto& bytes = *s.bytes;
  for (u32 i = 0; i < 4; i++) {
    bytes[i] = c;
    bytes[i].side = 0;
    bytes[i].value = c.value >> (8 * i) & 0xff;
    const Side& whole = *sides_[c.side];
    if (whole.readers.empty() && !whole.location) continue;
    Side& own = side(bytes[i]);
    own.readers = whole.readers, own.many = whole.many;
    if (whole.location) own.location = std::make_unique<Location>(*whole.location);
  }
  return bytes;
}

Location& Shadow::location(Cell& c) {
  Side& s = side(c);
  if (!s.location) s.location = std::make_unique<Location>();
  return *s.location;
}

void Shadow::forget(Cell& c) {
  if (!c.side) return;
  if (auto& bytes = sides_[c.side]->bytes) {
    for (Cell& b : *bytes) forget(b);
  }
  sides_[c.side].reset();
  free_sides_.push_back(c.side);
}

void Shadow::drop(u64 begin, u64 bytes) {
  const u64 end = begin + bytes;
  planes_.clear(begin, bytes);
  const auto clear = [&](u64 number, Page& page) {
    for (u64 i = 0; i < kPageWords; i++) {
      const u64 at = (number << kPageBits) + i * 4;
      if (at >= begin && at < end) forget(page[i]), page[i] = Cell{};
    }
  };
  const u64 first = begin >> kPageBits, last = bytes ? (end - 1) >> kPageBits : first;
  last_ = nullptr;
  if (last - first < pages_.size()) {
    for (u64 n = first; n <= last; n++) {
      const auto at = pages_.find(n);
      if (at == pages_.end()) continue;
      clear(n, *at->second);
      if (n > first && n < last) pages_.erase(at);
    }
    return;
  }
  std::erase_if(pages_, [&](auto& p) {
    if (p.first >= first && p.first <= last) clear(p.first, *p.second);
    return p.first > first && p.first < last;
  });
}

void Shadow::clear() {
  memory_ = nullptr;
  last_ = nullptr, last_number_ = ~u64{0};
  if (pages_.empty()) return;
  pages_.clear(), elsewhere_.clear(), free_sides_.clear();
  sides_.clear(), sides_.emplace_back();
}

void Shadow::age(Cell& c) {
  if (c.written()) c.flags |= Cell::kWritten;
  c.w_segment = 0, c.r_segment = 0, c.r_lanes = 0;
  Side* const s = side_if(c);
  if (!s) return;
  if (!s->bytes) return forget(c), void(c.side = 0);
  s->readers.clear(), s->many = false, s->location.reset();
  for (Cell& b : *s->bytes) age(b);
}

void Shadow::age() {
  for (auto& [n, page] : pages_)
    for (Cell& c : *page) age(c);
}

void Shadow::touched(u64 begin, u64 bytes, std::vector<u64>& pages) const {
  constexpr u64 kPage = u64{1} << kTouchedBits;
  for (u64 at = begin & ~(kPage - 1); at < begin + bytes; at += kPage) {
    if (planes_.holds(at, 1) && *planes_.touched(at)) pages.push_back(at >> kTouchedBits);
  }
}

void Shadow::forget_touched(u64 page) {
  if (planes_.holds(page << kTouchedBits, 1)) {
    *planes_.touched(page << kTouchedBits) = 0;
  } else {
    elsewhere_.erase(page);
    last_ = nullptr;
  }
}

}  // namespace us::sanitizer
