// SPDX-License-Identifier: Apache-2.0
// The clock of a warp and what its lanes know. Lanes share the clock, not the knowledge: what every lane knows stands
// once, what single lanes know beyond it is kept for them alone until a sync of all lanes makes it common.
//
// The clock grows only if an access has used it. A sync of all lanes that live also speaks for those that have exited;
// a release does not.
#pragma once
#include "probe/quick.h"
#include "sanitizer/clocks.h"
#include "sanitizer/segments.h"

namespace us::sanitizer {

class WarpTime {
 public:
  WarpTime(u64 cta, u64 cluster, u32 warp) : all_(cta), cta_(cta), cluster_(cluster), warp_(warp) {}
  void again(u64 cta, u64 cluster, u32 warp);  // if it is plain: as if it were another warp's
  // Of the same warp of another CTA, if nothing has been said of it but `number`.
  void rename(u64 cta, u64 cluster) {
    all_.own.cta = cta_ = cta, cluster_ = cluster;
    used_ = false, segment_ = {};
  }
  bool knows(u32 lane, const Segment&, u32 its_lane) const;
  bool pushed(u32 lane, Pushed, const Segment&, u32 its_lane) const;
  // What every lane of the segment did is pushed by what all lanes here know.
  bool pushed_all(Pushed to, const Segment& s) const;
  bool floor_knows(const Segment& s) const { return s.cta == cta_ && all_.own.floor_knows(s.slot, s.clock); }
  bool floor_knows(u32 lane, const Segment& s) const {  // all lanes of the segment, if not in flight
    return s.cta == cta_ && !s.flying() && floor(lane, s.slot) > s.clock;
  }
  bool knows_of(u32 lane, u64 cta) const;
  bool any_knows(const Segment&, u32 its_lane) const;  // any lane
  Clock floor(u32 lane, u32 slot) const;               // of a slot of this CTA
  bool knows_phase(u32 lane, u64 cta, u32 slot, Clock phase) const;

  // A release: what these lanes know together, their own accesses too. At barriers, which take those that have exited
  // for come, all lanes that live speak for them as well.
  enum class Exited : u8 { Silent, Counted };
  void gather(u32 lanes, View& into, Exited = Exited::Silent);
  Ref release(u32 lanes, Exited = Exited::Silent);
  void acquire(u32 lanes, const Ref&);
  void acquire(u32 lanes, const View&);
  void sync(u32 lanes);                                   // of these lanes with each other
  void acquire_phase(u32 lanes, u32 slot, Clock before);  // of a slot of this CTA: what it did before
  // Nothing is known of other CTAs, by single lanes, or to other proxies.
  bool plain() const { return differ_ == 0 && !pushes_ && all_.plain(); }
  // Nothing is known of other CTAs, or to single lanes. Such warps meet by joining what they know.
  bool together() const { return differ_ == 0 && !all_.far; }
  void meet(Part& all, Pushes& pushed) const;  // but for its own accesses
  void met(const Part& all, const Pushes& pushed);
  void push(u32 lanes, Pushed);  // a proxy fence: what each lane knows is pushed
  void push_shared(u32 lanes);   // to kShared and kMbarrierInit
  void exited(u32 lanes) { live_ &= ~lanes; }
  void set_live(u32 lanes) { live_ = lanes, born_ = born_ ? born_ : lanes; }

  u32 segment(Segments& table, u32 which);  // of accesses made now; which: 0 shared, 1 global
  void number(u32 segment, u32 which) { used_ = true, segment_[which] = segment; }  // they have none yet
  u64 cta() const { return cta_; }
  u64 cluster() const { return cluster_; }
  u32 warp() const { return warp_; }
  u32 live() const { return live_; }
  Clock clock() const { return clock_; }
  void tell(probe::Quick* q) { quick_ = q; }      // what it says of records holds until the clock goes on
  Clock tick();                                   // the first clock behind every access made so far
  Clock touch() { return used_ = true, clock_; }  // as if of an access made now
  const View& common() const { return all_; }
  bool alike() const { return differ_ == 0; }

 private:
  View& of(u32 lane);
  void join_pushes(u32 lanes, Pushes& into) const;
  void keep_pushes(Pushed);
  View all_;
  std::array<std::unique_ptr<View>, 32> of_lane_;
  // What each of these lanes pushed of its own accesses before that clock, when all that live pushed at once.
  struct Push {
    Clock before = 0;
    u32 lanes = 0;
  };
  std::array<Push, kPushed> push_ = {};
  bool pushes_ = false;
  u32 differ_ = 0, live_ = ~0u, born_ = 0;  // born: lanes that there were
  u64 cta_, cluster_;
  u32 warp_;
  Clock clock_ = 1;
  bool used_ = false;
  std::array<u32, 2> segment_ = {};
  probe::Quick* quick_ = nullptr;
};

}  // namespace us::sanitizer
