// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>

#include "timing/accesses.h"

namespace us::timing {

// The lines of global memory that an access touches, and sectors of each.
class Lines {
 public:
  explicit Lines(const probe::Record& r) {
    for (u32 l = 0; l < probe::kLanes; ++l)
      if (r.lanes >> l & 1) add(r.address(l), std::max(1u, r.code.bytes));
  }
  struct Line {
    u64 line = 0;
    u32 sectors = 0;
  };
  const Line* begin() const { return lines_; }
  const Line* end() const { return lines_ + count_; }
  u32 count() const { return count_; }
  u32 sectors() const {
    u32 n = 0;
    for (const Line& l : *this) n += static_cast<u32>(std::popcount(l.sectors));
    return n;
  }

 private:
  void add(u64 address, u32 bytes) {
    for (u64 s = address / kSectorBytes, last = (address + bytes - 1) / kSectorBytes; s <= last; ++s) {
      Line* at = std::find_if(lines_, lines_ + count_, [&](const Line& l) { return l.line == s / 4; });
      if (at == lines_ + count_) {
        if (count_ == std::size(lines_)) return;
        *at = {s / 4, 0}, ++count_;
      }
      at->sectors |= 1u << s % 4;
    }
  }
  Line lines_[2 * probe::kLanes];
  u32 count_ = 0;
};

// Lanes of an atomic operation that come to the same place.
inline u32 most_on_one_address(const probe::Record& r) {
  if (r.code.addresses == probe::RecordCode::Addresses::Same) return static_cast<u32>(std::popcount(r.lanes));
  if (r.code.addresses == probe::RecordCode::Addresses::Row) return 1;
  u32 most = 0;
  for (u32 a = 0; a < probe::kLanes; ++a) {
    u32 n = 0;
    for (u32 b = a; b < probe::kLanes; ++b)
      n += (r.lanes >> a & 1) && (r.lanes >> b & 1) && r.address(a) == r.address(b);
    most = std::max(most, n);
  }
  return most;
}

}  // namespace us::timing
