// SPDX-License-Identifier: Apache-2.0
// Is an access ordered with what was done to its word before? Keeps the cells and calls the listener for what is not.
#pragma once
#include <functional>

#include "sanitizer/cells.h"
#include "sanitizer/warp_time.h"

namespace us::sanitizer {

// A party of a conflict, as it was when it was found.
struct Access {
  Segment segment;
  u32 lane = 0, site = 0;
  bool writes = false, rmw = false;
  Manner manner = Manner::Generic;
  probe::Scope scope = probe::Scope::Sys;
};
struct Conflict {
  Access mine, other;
  u64 address = 0;  // of the word or byte
  u32 bytes = 4;
  bool same_value = false;
  bool by_volatile = false;    // morally strong, but volatile
  bool span_differs = false;   // both strong, of different addresses or sizes
  bool proxy_differs = false;  // both strong, one of the async proxy
};

// Who accesses now.
struct Actor {
  const WarpTime* time = nullptr;
  u32 lane = 0, segment = 0, site = 0;  // segment: what the cells will name
  Manner manner = Manner::Generic;
  const Place* place = nullptr;
  bool rmw = false;  // an atomic
};

class Judge {
 public:
  using Sink = std::function<void(const Conflict&)>;
  // Segments of other launches below `floor` are ordered before this one; about others `before` is asked.
  Judge(Segments& table, Shadow& shadow, u64 launch, Floor floor, std::function<bool(const Segment&)> before, Sink sink)
      : table_(table),
        shadow_(shadow),
        launch_(launch),
        floor_(floor),
        before_(std::move(before)),
        sink_(std::move(sink)) {}

  void read(Cell&, const Actor&, u64 address, u32 bytes);
  void write(Cell&, const Actor&, u64 address, u32 bytes, const u32* value);
  // Strong: judges, and takes part in the location's order.
  void strong(Cell&, const Actor&, Strong op, bool reads, bool writes, u64 address, u32 bytes, const u32* value);
  bool ordered(u32 segment, u32 its_lane, const Actor&);
  bool ordered(const Mark& m, const Actor&);
  Segments& table() { return table_; }
  Shadow& shadow() { return shadow_; }

 private:
  void conflict(const Actor&, bool writes, const Mark& other, bool other_writes, u64 address, u32 bytes, bool same);
  void conflict(const Actor&, bool writes, const Strong* mine, const Strong& other, bool other_writes, u64 address,
                u32 bytes);
  void keep(Side&, const Mark& reader, const Actor&);
  void judge_write(Cell&, const Actor&, u64 address, u32 bytes, const u32* value);
  bool judge_readers(Cell&, const Actor&, u64 address, u32 bytes);
  void judge_writes_of(Location&, const Actor&, bool writes, const Strong* mine, u64 address, u32 bytes);
  void judge_reads_of(Location&, const Actor&, const Strong* mine, u64 address, u32 bytes);
  bool observed(const Location&, std::size_t i, const Actor&);
  Segments& table_;
  Shadow& shadow_;
  const u64 launch_;
  const Floor floor_;
  std::function<bool(const Segment&)> before_;
  Sink sink_;
};

}  // namespace us::sanitizer
