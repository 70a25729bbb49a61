// SPDX-License-Identifier: Apache-2.0
#include "sass/converge.h"

#include <algorithm>
#include <bit>
#include <map>

namespace us::sass {
namespace {

class Warp {
 public:
  Warp(const Map& m, std::span<const LanesOnWay> all) : map_(m) {
    for (const LanesOnWay& l : all) parts_.push_back({.lanes = l.lanes, .way = l.way});
  }

  std::vector<Visit> run() {
    for (;;) {
      Part* first = nullptr;
      for (Part& p : parts_)
        if (p.block() != Map::kNone && !p.waits && (!first || sooner(p, *first))) first = &p;
      if (!first && !let_go()) return std::move(out_);
      if (first) visit(*first);
    }
  }

 private:
  struct Part {  // of the lanes
    u32 lanes = 0;
    const std::vector<u32>* way = nullptr;
    std::size_t at = 0;
    std::vector<u32> calls{};      // that are open: where they come back
    std::map<u32, u32> regions{};  // by barrier and depth of calls: number of the region
    u32 team = 0;                  // those with one number are together
    bool waits = false;
    u32 region = 0;  // for which it waits
    u32 block() const { return at < way->size() ? (*way)[at] : Map::kNone; }
    u32 key(u32 barrier) const { return static_cast<u32>(calls.size()) << 8 | barrier; }
  };
  struct Region {
    u32 in = 0, waiting = 0;  // parts, one bit each
  };

  // Who has not come back from a call goes first, then who is at the lowest address.
  static bool sooner(const Part& a, const Part& b) {
    if (a.calls.size() != b.calls.size()) return a.calls.size() > b.calls.size();
    if (a.block() != b.block()) return a.block() < b.block();
    return a.team < b.team;
  }

  void visit(Part& first) {
    const u32 block = first.block(), team = first.team;
    const Map::Block& b = map_.blocks[block];
    std::vector<Part*> here;
    u32 lanes = 0;
    for (Part& p : parts_) {
      const bool met = b.gathers && p.block() == block && p.calls == first.calls;
      if (p.waits || p.block() == Map::kNone || (p.team != team && !met)) continue;
      here.push_back(&p), lanes |= p.lanes;
    }
    out_.push_back({block, lanes});
    for (const Map::Region& r : b.regions)
      if (r.opens)
        open(r, here);
      else if (!r.guarded)
        for (Part* p : here) leave(*p, p->key(r.barrier));
    std::map<u32, u32> team_of;  // by where they go on
    for (Part* p : here) {
      const u32 barrier = p->key(b.barrier);
      step(*p, b);
      for (const Map::Region& r : b.regions)
        if (!r.opens && r.guarded && p->block() == b.taken) leave(*p, p->key(r.barrier));
      if (p->block() == Map::kNone) {
        while (!p->regions.empty()) leave(*p, p->regions.begin()->first);
        continue;
      }
      p->team = team_of.try_emplace(p->block(), next_team_).first->second;
      next_team_ += p->team == next_team_;
      const auto region = p->regions.find(barrier);
      if (!b.joins || region == p->regions.end()) continue;
      p->waits = true, p->region = region->second;
      p->regions.erase(region);
      regions_[p->region].waiting |= bit(*p);
    }
    if (b.joins)
      for (Part* p : here)
        if (p->waits) complete(p->region);
  }

  static void step(Part& p, const Map::Block& b) {
    ++p.at;
    const u32 to = p.block();
    if (to == Map::kNone) return;
    const bool stays = std::ranges::find(b.next, to) != b.next.end();
    if (b.back != Map::kNone && to != b.back) p.calls.push_back(b.back);
    if (b.returns && !stays && !p.calls.empty()) p.calls.pop_back();
  }

  u32 bit(const Part& p) const { return 1u << (&p - parts_.data()); }

  void open(const Map::Region& r, const std::vector<Part*>& here) {
    const u32 number = static_cast<u32>(regions_.size());
    regions_.emplace_back();
    for (Part* p : here) {
      leave(*p, p->key(r.barrier));
      p->regions[p->key(r.barrier)] = number;
      regions_[number].in |= bit(*p);
    }
  }

  void leave(Part& p, u32 key) {
    const auto at = p.regions.find(key);
    if (at == p.regions.end()) return;
    const u32 number = at->second;
    p.regions.erase(at);
    regions_[number].in &= ~bit(p);
    complete(number);
  }

  void complete(u32 number) {
    Region& r = regions_[number];
    if (r.waiting && r.waiting == r.in) release(r);
  }

  void release(Region& r) {
    std::map<u32, u32> team_of;
    for (Part& p : parts_) {
      if (!(r.waiting & bit(p))) continue;
      p.waits = false;
      p.team = team_of.try_emplace(p.block(), next_team_).first->second;
      next_team_ += p.team == next_team_;
    }
    r = {};
  }

  // All wait, because a way does not fit: those at the lowest address go on.
  bool let_go() {
    Part* first = nullptr;
    for (Part& p : parts_)
      if (p.waits && (!first || sooner(p, *first))) first = &p;
    if (first) release(regions_[first->region]);
    return first;
  }

  const Map& map_;
  std::vector<Part> parts_;
  std::vector<Region> regions_;
  std::vector<Visit> out_;
  u32 next_team_ = 1;
};

}  // namespace

std::vector<Visit> converge(const Map& m, std::span<const LanesOnWay> all) {
  if (all.size() != 1) return Warp(m, all).run();
  std::vector<Visit> out;
  out.reserve(all[0].way->size());
  for (const u32 b : *all[0].way) out.push_back({b, all[0].lanes});
  return out;
}

}  // namespace us::sass
