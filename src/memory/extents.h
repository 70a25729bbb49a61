// SPDX-License-Identifier: Apache-2.0
// Free extents of an address range.
#pragma once
#include <map>

#include "base/types.h"

namespace us::memory {

class Extents {
 public:
  void give(u64 at, u64 bytes);         // joins its neighbours
  u64 take(u64 bytes, u64 align);       // the first that fits; 0: none
  u64 take_next(u64 bytes, u64 align);  // the first that fits behind the last one taken this way, then from the start
  bool take_at(u64 at, u64 bytes);      // exactly there, if it is free
  bool is_free(u64 at, u64 bytes) const;

 private:
  using Map = std::map<u64, u64>;
  u64 take_from(u64 start, u64 bytes, u64 align);
  void carve(Map::iterator, u64 at, u64 bytes);
  Map free_;  // start → bytes
  u64 cursor_ = 0;
};

inline u64 round_up(u64 v, u64 to) { return (v + to - 1) / to * to; }

}  // namespace us::memory
