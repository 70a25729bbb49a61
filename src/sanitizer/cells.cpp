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
  address &= ~u64{3};
  if (!planes_.holds(address, 4)) return c;
  *planes_.touched(address) = 1;
  planes_.take_apart(address);
  if (*planes_.w(address) != kWide) {
    widen(c, address);
  } else if (planes_.is_split(address)) {
    widen_bytes(c, address);
  }
  return c;
}

bool Shadow::written(u64 address) {
  address &= ~u64{3};
  if (planes_.holds(address, 4)) {
    if (const u32 w = planes_.writer(address); w != kWide) return w != 0;
    if (planes_.is_split(address)) {
      for (u32 b = 0; b < 4; b++)
        if (planes_.look_byte(address + b).w) return true;
      return false;
    }
  }
  return cell(address).written();
}

Cell Shadow::look(u64 address) {
  address &= ~u64{3};
  if (!planes_.holds(address, 4)) return cell(address);
  const Word w = planes_.look(address);
  if (w.w != kWide) return of_planes(w);
  return planes_.is_split(address) ? Cell{} : cell(address);
}

Cell Shadow::of_planes(const Word& of) const {
  const auto site = [](u16 s) { return s == kNoSmallSite ? probe::kNoSite : u32{s}; };
  const u32 w = of.w, r = of.r, m = of.m;
  Cell c;
  c.w_segment = w >> 5, c.w_lane = w & 31, c.w_site = site(of.w_site);
  c.w_manner = table_.manner_of(c.w_segment);
  if (w) c.flags |= Cell::kWritten;
  c.r_site = site(of.r_site);
  c.r_segment = r < kCtas ? r : m, c.r_lanes = r < kCtas ? m : 0;
  if (c.r_segment) c.r_manner = table_.manner_of(c.r_segment);
  return c;
}

void Shadow::widen(Cell& c, const Word& of) {
  c = of_planes(of);
  if (of.r >= kCtas) side(c).readers.push_back({.segment = of.r & ~kThrown, .lanes = 0, .site = c.r_site});
}

void Shadow::widen(Cell& c, u64 address) {
  const Word of = planes_.look(address);
  widen(c, of);
  // What a copy writes is not there before it has landed.
  if (of.w && !table_[of.w >> 5].copy && memory_ && memory_(address, c.value)) c.flags |= Cell::kValue;
  *planes_.w(address) = *planes_.r(address) = kWide, *planes_.m(address) = 0;
}

void Shadow::widen_bytes(Cell& c, u64 address) {
  forget(c);
  c = Cell{};
  side(c).bytes = std::make_unique<std::array<Cell, 4>>();
  u32 value = 0;
  const bool known = memory_ && memory_(address, value);
  for (u32 b = 0; b < 4; b++) {
    Cell& part = (*sides_[c.side]->bytes)[b];
    const Word of = planes_.look_byte(address + b);
    widen(part, of);
    if (of.w) c.flags |= Cell::kWritten;
    if (of.w && known && !table_[of.w >> 5].copy) part.value = value >> (8 * b) & 0xff, part.flags |= Cell::kValue;
  }
  planes_.unsplit(address, 4);
}

bool Shadow::narrowed(const Cell& c, Word& to) const {
  if (c.flags & Cell::kMbarrier || (c.flags & Cell::kValue && !memory_) || c.side) return false;
  const auto fits = [](u32 segment, u32 site) { return !segment || site < kNoSmallSite || site == probe::kNoSite; };
  if (!fits(c.w_segment, c.w_site) || !fits(c.r_segment, c.r_site)) return false;
  if (c.w_segment && table_.manner_of(c.w_segment) != c.w_manner) return false;
  if (c.r_segment && (table_.manner_of(c.r_segment) != c.r_manner || !c.r_lanes)) return false;
  to.w = c.w_segment ? c.w_segment << 5 | (c.w_lane & 31) : c.flags & Cell::kWritten ? 1 : 0;
  to.r = c.r_segment, to.m = c.r_lanes;
  to.w_site = static_cast<u16>(c.w_site), to.r_site = static_cast<u16>(c.r_site);
  return true;
}

void Shadow::narrow(u64 address) {
  address &= ~u64{3};
  if (!planes_.holds(address, 4) || planes_.writer(address) != kWide || planes_.is_split(address)) return;
  Cell& c = cell(address);
  Side* const s = side_if(c);
  const auto plain = [](const Side* of) {
    return !of || !(of->location || of->bytes || of->many || !of->readers.empty());
  };
  const auto drop_side = [&](Cell& of) {
    if (of.side && plain(side_if(of))) forget(of), of.side = 0;
  };
  Word to[4];
  if (s && s->bytes) {
    if (c.flags & Cell::kMbarrier || s->location) return;
    for (u32 b = 0; b < 4; b++) {
      drop_side((*s->bytes)[b]);
      if (!narrowed((*s->bytes)[b], to[b])) return;
    }
    if (to[0] == to[1] && to[0] == to[2] && to[0] == to[3]) {
      planes_.put_word(address, to[0]);
    } else {
      *planes_.m(address) = 0;
      if (!planes_.split_wide(address)) return;
      for (u32 b = 0; b < 4; b++) planes_.put_byte(address + b, to[b]);
    }
  } else {
    drop_side(c);
    if (!narrowed(c, to[0])) return;
    planes_.put_word(address, to[0]);
  }
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
