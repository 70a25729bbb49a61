// SPDX-License-Identifier: Apache-2.0
// A segment is what a warp does between two ticks of its clock, or what one agent does: cells of the shadow name it
// by its number. What a segment stands for may change: an asynchronous copy is in flight until somebody has waited
// for it.
#pragma once
#include <deque>

#include "sanitizer/clocks.h"

namespace us::sanitizer {

inline constexpr u8 kLaneOfCell = 0xff;

struct Segment {
  u64 cta = 0;  // launch << 32 | CTA
  u64 cluster = 0;
  u32 slot = 0;
  Clock clock = 0;
  u8 lane = kLaneOfCell;  // or the one who answers for all of it, or kEveryLane
  u32 also_slot = 0;      // an mbarrier (of also_cta) that announces the same, or 0
  Clock also_clock = 0;
  u64 also_cta = 0;
  u32 copy = 0;                          // number of an asynchronous copy or group, or 0
  u8 by_warp = 0, by_lane = 0;           // of a copy: who issued it, where and when
  bool matrix = false, reports = false;  // a wgmma; a copy that completes at an mbarrier
  u32 site = 0;
  Clock issued = 0;
  u64 by_cta = 0;
  Point issue() const { return {by_cta, by_warp, by_lane, issued}; }
  bool flying() const { return slot == kInFlight; }
  u64 launch() const { return cta >> 32; }
  Point point(u32 its_lane) const { return {cta, slot, lane == kLaneOfCell ? its_lane : lane, clock}; }
};

class Segments {
 public:
  Segments() { rows_.emplace_back(); }  // 0 is nobody
  u32 add(const Segment& s) {
    rows_.push_back(s);
    return static_cast<u32>(rows_.size() + gone_ - 1);
  }
  Segment& operator[](u32 n) { return rows_[n - gone_]; }
  const Segment& operator[](u32 n) const { return rows_[n - gone_]; }
  u32 next() const { return static_cast<u32>(rows_.size() + gone_); }
  bool has(u32 n) const { return n >= gone_ && n < next(); }
  void forget_before(u32 n);

 private:
  std::deque<Segment> rows_;
  u32 gone_ = 0;
};

inline void Segments::forget_before(u32 n) {
  while (gone_ < n && rows_.size() > 1) rows_.pop_front(), gone_++;
}

}  // namespace us::sanitizer
