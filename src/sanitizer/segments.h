// SPDX-License-Identifier: Apache-2.0
// A segment is what a warp does between two ticks of its clock, or what one agent does: cells of the shadow name it
// by its number. What a segment stands for may change: an asynchronous copy is in flight until somebody has waited
// for it.
//
// Warps and asynchronous copies are numbered apart: the numbers of warps grow in the order of time, so that "older than
// the last barrier of the CTA" is one comparison.
#pragma once
#include <deque>
#include <vector>

#include "sanitizer/clocks.h"

namespace us::sanitizer {

inline constexpr u8 kLaneOfCell = 0xff;
// The CTA of a segment that stands for all threads of a launch (RowActor::everybody).
inline constexpr u64 everybody_in(u64 launch) { return launch << 32 | 0xffffffff; }

enum class Manner : u8 {
  Generic,  // weak, of the generic proxy
  Volatile,
  Copy,    // cp.async: generic proxy, asynchronous
  Async,   // bulk and tensor copies, st.async, wgmma: async proxy
  Strong,  // of a location: in conflicts only
};

struct Segment {
  u64 cta = 0;  // launch << 32 | CTA
  u64 cluster = 0;
  u32 slot = 0;
  Clock clock = 0;
  u8 lane = kLaneOfCell;  // or the one who answers for all of it, or kEveryLane
  Manner manner = Manner::Generic;
  u32 also_slot = 0;  // an mbarrier (of also_cta) that announces the same, or 0
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

// Numbers of segments below these.
struct Floor {
  u32 warps = 0, copies = 0;
  bool holds(u32 n) const;
  u32 of_copies() const;  // how many
};

// Of a warp: all that there is to say. One is made for each that touches global memory.
struct WarpSegment {
  u64 cta = 0;
  u32 cluster = 0;
  u32 clock : 27 = 0, slot : 5 = 0;
};

// Numbers of warps of one CTA that follow each other, as they do, have one record, and so have those of CTAs that do
// nothing but follow each other.
class WarpSegments {
 public:
  void clear() { runs_.assign(1, {}), of_group_.assign(1, 0), next_ = 1; }  // 0 is nobody
  u32 next() const { return next_; }
  u32 add(const WarpSegment& s) {
    const Run& last = runs_.back();
    const WarpSegment& of = last.segment;
    if (last.warps || of.cta != s.cta || of.clock != s.clock || of.slot + (next_ - last.first) != s.slot ||
        of.cluster != s.cluster)
      runs_.push_back({s, next_});
    count(1);
    return next_ - 1;
  }
  // Of a CTA of its own cluster, from warp 0 on.
  u32 add_warps(const WarpSegment& s, u32 warps) {
    const Run& last = runs_.back();
    const WarpSegment& of = last.segment;
    const u32 before = last.warps ? (next_ - last.first) / last.warps : 0;
    if (last.warps != warps || of.cta + before != s.cta || of.cluster + before != s.cluster || of.clock != s.clock)
      runs_.push_back({s, next_, warps});
    count(warps);
    return next_ - warps;
  }
  WarpSegment operator[](u32 n) const {
    std::size_t r = of_group_[n / kGroup];
    while (r + 1 < runs_.size() && runs_[r + 1].first <= n) r++;
    WarpSegment s = runs_[r].segment;
    u32 i = n - runs_[r].first;
    if (const u32 warps = runs_[r].warps) s.cta += i / warps, s.cluster += i / warps, i %= warps;
    s.slot = (s.slot + i) & 31;
    return s;
  }

 private:
  static constexpr u32 kGroup = 8;
  struct Run {
    WarpSegment segment;  // the first
    u32 first = 0;
    u32 warps = 0;  // of each CTA, where there may be several
  };
  void count(u32 n) {
    for (u32 k = (next_ + kGroup - 1) / kGroup; k * kGroup < next_ + n; k++)
      of_group_.push_back(static_cast<u32>(runs_.size() - 1));
    next_ += n;
  }
  std::vector<Run> runs_;
  std::vector<u32> of_group_;  // the run of number group * kGroup
  u32 next_ = 1;
};

class Segments {
 public:
  static constexpr u32 kCopies = 1u << 26;  // the first number of a copy; a number has 27 bits
  Segments() { clear(); }
  void clear() {
    if (next_.warps == 1 && next_.copies == kCopies + 1) return;
    warps_.clear(), copies_.assign(1, {});  // 0 is nobody
    next_ = {1, kCopies + 1};
  }
  u32 add(const WarpSegment& s) { return next_.warps++, warps_.add(s); }
  u32 add_warps(const WarpSegment& s, u32 warps) { return next_.warps += warps, warps_.add_warps(s, warps); }
  u32 add_copy(const Segment& s) { return copies_.push_back(s), next_.copies++; }
  Segment& copy(u32 n) { return copies_[n - kCopies]; }
  Segment operator[](u32 n) const {
    if (n >= kCopies) return copies_[n - kCopies];
    const WarpSegment s = warps_[n];
    return {.cta = s.cta, .cluster = s.cluster, .slot = s.slot, .clock = s.clock};
  }
  Manner manner_of(u32 n) const { return n < kCopies ? Manner::Generic : copies_[n - kCopies].manner; }
  u64 launch_of(u32 n) const { return (n < kCopies ? warps_[n].cta : copies_[n - kCopies].cta) >> 32; }
  const Floor& next() const { return next_; }
  static constexpr u32 kSpare = 1u << 16;  // for one event
  bool full() const { return next_.warps >= kCopies - kSpare || next_.copies >= 2 * kCopies - kSpare; }

 private:
  WarpSegments warps_;
  std::deque<Segment> copies_;
  Floor next_;
};

inline u32 Floor::of_copies() const { return copies > Segments::kCopies ? copies - Segments::kCopies : 0; }
inline bool Floor::holds(u32 n) const { return n < warps || (n >= Segments::kCopies && n < copies); }

}  // namespace us::sanitizer
