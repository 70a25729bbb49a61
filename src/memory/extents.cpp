// SPDX-License-Identifier: Apache-2.0
#include "memory/extents.h"

#include <algorithm>
#include <iterator>

namespace us::memory {

void Extents::carve(Map::iterator it, u64 at, u64 bytes) {
  const u64 start = it->first, end = it->first + it->second;
  free_.erase(it);
  if (at > start) free_[start] = at - start;
  if (at + bytes < end) free_[at + bytes] = end - at - bytes;
}

void Extents::give(u64 at, u64 bytes) {
  auto next = free_.lower_bound(at);
  if (next != free_.end() && at + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == at) {
      previous->second += bytes;
      return;
    }
  }
  free_.emplace(at, bytes);
}

u64 Extents::take_from(u64 start, u64 bytes, u64 align) {
  auto it = free_.upper_bound(start);
  if (it != free_.begin()) --it;
  for (; it != free_.end(); ++it) {
    const u64 at = round_up(std::max(start, it->first), align), skipped = at - it->first;
    if (skipped > it->second || bytes > it->second - skipped) continue;
    carve(it, at, bytes);
    return at;
  }
  return 0;
}

u64 Extents::take(u64 bytes, u64 align) { return take_from(0, bytes, align); }

u64 Extents::take_next(u64 bytes, u64 align) {
  u64 at = take_from(cursor_, bytes, align);
  if (!at) at = take_from(0, bytes, align);
  if (at) cursor_ = at + bytes;
  return at;
}

bool Extents::is_free(u64 at, u64 bytes) const {
  auto it = free_.upper_bound(at);
  if (it == free_.begin()) return false;
  --it;
  return at - it->first <= it->second && bytes <= it->second - (at - it->first);
}

bool Extents::take_at(u64 at, u64 bytes) {
  if (!is_free(at, bytes)) return false;
  carve(std::prev(free_.upper_bound(at)), at, bytes);
  return true;
}

}  // namespace us::memory
