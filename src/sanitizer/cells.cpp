// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/cells.h"

namespace us::sanitizer {

void Shadow::find(u64 number) {
  auto& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  last_ = page.get(), last_number_ = number;
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
  const auto clear = [&](u64 number, Page& page) {
    for (u64 i = 0; i < kPageWords; i++) {
      const u64 at = (number << kPageBits) + i * 4;
      if (at >= begin && at < end) forget(page[i]), page[i] = Cell{};
    }
  };
  const u64 first = begin >> kPageBits, last = bytes ? (end - 1) >> kPageBits : first;
  if (last - first < pages_.size()) {
    for (u64 n = first; n <= last; n++) {
      if (auto at = pages_.find(n); at != pages_.end()) clear(n, *at->second);
    }
    return;
  }
  for (auto& [n, page] : pages_) {
    if (n >= first && n <= last) clear(n, *page);
  }
}

}  // namespace us::sanitizer
