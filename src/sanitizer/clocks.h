// SPDX-License-Identifier: Apache-2.0
// Who knows what.
//
// Time belongs to warps: the clock of a warp grows when one of its lanes publishes something after an access, and an
// access is {CTA, slot, lane, clock}. Slots 0 to 31 of a CTA are its warps; the others are agents without lanes: the
// mbarriers of the CTA, whose clock is the phase (an asynchronous copy that reports to an mbarrier writes as that
// agent).
//
//   Part   what is known of one CTA: a floor for each slot (every lane's accesses with a smaller clock), and single
//          lanes that are known further than their warp
//   Node   a Part and the Nodes that it rests on: what a release publishes. Immutable, shared; looked up flat
//   View   what a lane, or every lane of a warp, knows: a Part of its own CTA, and a Node for all others
//
// Beside each knowledge stands how much of it other proxies know (Pushed).
#pragma once
#include <array>
#include <memory>
#include <vector>

#include "base/types.h"

namespace us::sanitizer {

using Clock = u32;
inline constexpr u32 kFirstAgent = 32;  // slots from here are agents
inline constexpr u32 kInFlight = ~0u;   // slot of what nobody can know yet
inline constexpr u32 kEveryLane = 32;   // a lane number: all of the warp
enum Pushed : u32 { kShared, kGlobal, kMbarrierInit, kTensormap, kAlias, kPushed };

struct Point {
  u64 cta = 0;
  u32 slot = 0, lane = 0;
  Clock clock = 0;
};

class Part {
 public:
  Part() = default;
  explicit Part(u64 of) : cta(of) {}
  bool knows(u32 slot, u32 lane, Clock c) const;
  bool floor_knows(u32 slot, Clock c) const { return slot < floor_.size() && floor_[slot] > c; }
  Clock floor(u32 slot) const { return slot < floor_.size() ? floor_[slot] : 0; }
  void raise(u32 slot, Clock c);  // all accesses before c
  void raise_lane(u32 slot, u32 lane, Clock c);
  void join(const Part&);
  void join_floors(const Part&);
  bool plain() const { return lanes_.empty(); }  // only floors
  bool covers(const Part&) const;
  void clear(u64 of) { cta = of, floor_.clear(), lanes_.clear(); }
  bool empty() const { return floor_.empty() && lanes_.empty(); }
  u64 cta = ~u64{0};

 private:
  struct Lane {
    u32 key;  // slot << 5 | lane
    Clock clock;
  };
  void tidy();
  std::vector<Clock> floor_;
  std::vector<Lane> lanes_;  // sorted by key
};

struct Node;
using Ref = std::shared_ptr<const Node>;
using PartRef = std::shared_ptr<const Part>;

using Pushes = std::array<Ref, kPushed>;
void join(Pushes& to, const Pushes&);
inline bool none(const Pushes& all) {
  for (const Ref& p : all)
    if (p) return false;
  return true;
}

struct Node {
  PartRef own;  // may be null
  mutable std::vector<Ref> parents;
  mutable std::vector<PartRef> flat;  // sorted by CTA, when it was asked for; then no parents
  mutable bool is_flat = false;
  mutable u32 depth = 0;  // of the chain of nodes that it rests on
  Pushes pushed;
  bool knows(const Point&) const;
  const Part* of(u64 cta) const;  // everything known of a CTA, or null
  void flatten() const;
  ~Node();
};
Ref join(const Ref& a, const Ref& b);  // what both know

struct View {
  View() = default;
  explicit View(u64 cta) : own(cta) {}
  bool knows(const Point&) const;
  bool knows_of(u64 cta) const;  // anything at all
  void join(const View&);
  void join(const Ref&);
  Ref publish() const;
  std::shared_ptr<Node> known() const;  // the same without `pushed`, which nobody asks of what was pushed
  bool empty() const;
  bool plain() const { return none(pushed) && !far && own.plain(); }

  Part own;
  Ref far;
  Pushes pushed;
};

}  // namespace us::sanitizer
