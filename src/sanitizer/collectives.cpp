// SPDX-License-Identifier: Apache-2.0
// Instructions of the lanes of a warp together: who is named, who is there, and whose value it is. The pool of
// registers of a block.
#include <fmt/format.h>

#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Collective;

namespace {

u32 first_of(u32 lanes) { return static_cast<u32>(std::countr_zero(lanes)); }

// Nobody is missing, and everybody names everybody.
bool whole_warp(const probe::Who& who, const u64* members) {
  if (!members || (who.lanes & who.live) != ~0u) return false;
  u64 all = ~u64{0};
  for (u32 l = 0; l < probe::kLanes; l++) all &= members[l];
  return static_cast<u32>(all) == ~0u;
}

}  // namespace

void LaunchChecker::collective(const probe::Who& who, const Collective& c) {
  if (whole_warp(who, c.members) && !lanes_missed_ && !undefined_) return;
  const std::lock_guard held(process_.lock);
  const At p = find(who);
  if (c.kind == Collective::Kind::ActiveMask) return membership(who);
  if (c.members && (unnamed(who, c.members) || masks_differ(who, c.members))) return;
  u32 members = 0;
  for (u32 rest = c.members ? who.lanes : 0; rest; rest &= rest - 1)
    members |= static_cast<u32>(c.members[first_of(rest)]);
  passed_by(p, who, members);
  if (c.kind == Collective::Kind::Shuffle && c.source) shuffle(p, who, c);
}

// Lanes that a mask named, that lived and did not come, meet those that did at another instruction: they have passed it
// by. (Those that come to one of the same kind on their own have executed it in another copy.)
void LaunchChecker::passed_by(const At& p, const probe::Who& who, u32 members) {
  Warp::Missed& m = p.warp->missed;
  if (const u32 gone = members & p.warp->exited) ended_round(who, gone);
  u32 missing = members & who.live & ~who.lanes;
  if (const u32 late = who.lanes & m.missing; late && members & m.lanes) {
    const auto kind = [&](u32 site) {
      const std::string text = site_of(info_->id, site).text;
      return text.substr(0, text.find('.'));
    };
    if (who.lanes & m.lanes || kind(who.site) != kind(m.site)) {
      const u32 came = first_of(m.lanes);
      Actors first = actor(who, came, "warp instruction");
      first.site = m.site;
      raise(
          Check::WarpMask, {actor(who, first_of(late), "next warp instruction"), first}, "mask",
          fmt::format("lanes {:#010x}", m.lanes | m.missing),
          {fmt::format("lanes {:#010x} executed it; its mask names lanes {:#010x}, too, which live and went on to the "
                       "next one",
                       m.lanes, m.missing)},
          "The mask of those who take part (__ballot_sync before the branch), or all lanes at the instruction.");
      m = {};
    } else {
      missing &= ~m.lanes, m.missing &= ~late;
    }
  }
  if (missing) m = {who.site, who.lanes, missing}, lanes_missed_ = true, p.warp->ordinary.forget();
  p.warp->tell_collectives();
}

u32 LaunchChecker::all_come_to(u32 site) {
  const auto [known, first] = behind_.try_emplace(site, probe::kNoSite);
  if (first && site != probe::kNoSite && info_->all_come_to) known->second = info_->all_come_to(site);
  return known->second;
}

// Lanes that a mask names and that have ended: have they come, instead, to what all threads come to behind it?
void LaunchChecker::ended_round(const probe::Who& who, u32 gone) {
  const u32 behind = all_come_to(who.site);
  if (behind == probe::kNoSite) return;
  Actors other = actor(who, first_of(gone), "went on");
  other.site = behind;
  raise(Check::WarpMask, {other, actor(who, first_of(who.lanes), "warp instruction")}, "mask",
        fmt::format("lanes {:#010x}", who.lanes | gone),
        {fmt::format("lanes {:#010x} execute it; the mask names lanes {:#010x}, too, which went round it: all threads "
                     "come to the other instruction before they end",
                     who.lanes, gone)},
        "The mask of those who take part (__ballot_sync before the branch), or all lanes at the instruction.");
}

// They and lanes that executed it come to an access together: they have gone round it.
void LaunchChecker::went_round(const At& p, const probe::Who& who) {
  Warp::Missed& m = p.warp->missed;
  const u32 late = who.lanes & m.missing, came = who.lanes & m.lanes;
  if (!late || !came) return;
  Actors first = actor(who, first_of(came), "warp instruction");
  first.site = m.site;
  raise(Check::WarpMask, {actor(who, first_of(late), "went on"), first}, "mask",
        fmt::format("lanes {:#010x}", m.lanes | m.missing),
        {fmt::format("lanes {:#010x} executed it; its mask names lanes {:#010x}, too, which live and went round it",
                     m.lanes, m.missing)},
        "The mask of those who take part (__ballot_sync before the branch), or all lanes at the instruction.");
  m = {};
}

// Lanes that their own mask does not name.
bool LaunchChecker::unnamed(const probe::Who& who, const u64* members) {
  u32 out = 0;
  for (u32 rest = who.lanes; rest; rest &= rest - 1) {
    const u32 lane = first_of(rest);
    if (!(members[lane] >> lane & 1)) out |= 1u << lane;
  }
  if (!out) return false;
  const u32 mask = static_cast<u32>(members[first_of(out)]);
  raise(Check::WarpMask, {actor(who, first_of(out), "warp instruction")}, "mask", fmt::format("mask {:#010x}", mask),
        {fmt::format("lanes {:#010x} execute it; the mask names {:#010x}", who.lanes, mask)},
        "A mask that names every lane that executes the instruction.");
  return true;
}

// Lanes that execute it together and name each other, but not the same lanes.
bool LaunchChecker::masks_differ(const probe::Who& who, const u64* members) {
  for (u32 rest = who.lanes; rest; rest &= rest - 1) {
    const u32 lane = first_of(rest), mask = static_cast<u32>(members[lane]);
    for (u32 named = mask & who.lanes; named; named &= named - 1) {
      const u32 other = first_of(named), its = static_cast<u32>(members[other]);
      if (its != mask) return different_masks(who, lane, mask, other, its), true;
    }
  }
  return false;
}

void LaunchChecker::different_masks(const probe::Who& who, u32 lane, u32 mask, u32 other, u32 its) {
  raise(Check::WarpMask, {actor(who, lane, "warp instruction")}, "mask", fmt::format("mask {:#010x}", mask),
        {fmt::format("lane {} names lane {}, which executes it with the mask {:#010x}", lane, other, its)},
        "One mask for all that meet.");
}

// The value of a lane that takes no part is undefined: an error where something certainly depends on it.
void LaunchChecker::shuffle(const At& p, const probe::Who& who, const Collective& c) {
  u32 absent = 0;
  for (u32 rest = who.lanes; rest; rest &= rest - 1) {
    const u32 lane = first_of(rest), members = c.members ? static_cast<u32>(c.members[lane]) : who.lanes;
    if (!(members & who.live & 1u << (c.source[lane] & 31))) absent |= 1u << lane;
  }
  if (absent || !p.warp->undefined.empty()) carry(p, who, c, absent);
  if (!absent) return;
  const u32 used = consequence(who.site, 0).decides;
  if (used == probe::kNoSite) return;
  const u32 lane = first_of(absent);
  Actors user = actor(who, lane, "use");
  user.site = used;
  taken_from_nobody(
      user, actor(who, lane, "shuffle"),
      fmt::format("{}; lanes {:#010x} take such values",
                  who.live >> (c.source[lane] & 31) & 1 ? "the mask does not name it" : "no such thread is there",
                  absent),
      c.source[lane] & 31);
}

void LaunchChecker::taken_from_nobody(Actors use, Actors shuffle, std::string why, u32 source) {
  raise(Check::WarpSource, {std::move(use), std::move(shuffle)}, "shuffle", fmt::format("the value of lane {}", source),
        {std::move(why)}, "A source among the lanes of the mask that are there, or no use of the value.");
}

// Such values go on to where the text says, from other shuffles, too.
void LaunchChecker::carry(const At& p, const probe::Who& who, const Collective& c, u32 absent) {
  UndefinedValues& all = p.warp->undefined;
  std::vector<UndefinedValue> now;
  for (u32 rest = who.lanes; rest; rest &= rest - 1) {
    const u32 lane = first_of(rest), source = c.source[lane] & 31;
    UnwrittenCopy from{p.cta->key, who.site, who.warp, lane, source + 1};
    if (!(absent >> lane & 1)) {
      const UndefinedValue* const v = all.find(who.site, 1u << source);
      if (!v) continue;
      from = v->from;
    }
    const auto same = std::ranges::find_if(now, [&](const auto& v) { return v.from.site == from.site; });
    if (same == now.end())
      now.push_back({.made = who.site, .lanes = 1u << lane, .from = from});
    else
      same->lanes |= 1u << lane;
  }
  all.made_anew(who.site, who.lanes);
  if (now.empty() || !info_->carried) return;
  undefined_ = true;
  p.warp->ordinary.forget();
  const probe::Carried& to = carried(who.site);
  for (UndefinedValue& v : now) {
    v.element = 0;
    for (const u32 at : to.shuffled) v.at = at, all.note(v);
    for (const auto& [at, element] : to.stored) v.at = at, v.element = element, all.note(v);
  }
  p.warp->tell_collectives();
}

const probe::Carried& LaunchChecker::carried(u32 site) {
  const auto [known, first] = carried_.try_emplace(site);
  if (first && info_->carried) known->second = info_->carried(site);
  return known->second;
}

// What nobody wrote goes on to other lanes where a shuffle takes it.
void LaunchChecker::carry_unwritten(const At& p, u32 lane, const UnwrittenCopy& from) {
  for (const u32 at : carried(who_->site).shuffled) {
    undefined_ = true;
    // Each of its loads is to be told: the next one may read what has been written.
    if (carries_.insert(who_->site).second) sites_.put(who_->site, {}), unsettle();
    p.warp->ordinary.forget();
    p.warp->undefined.note_lane({.at = at, .made = who_->site, .lanes = 1u << lane, .from = from});
    p.warp->tell_collectives();
  }
}

// A store or an atomic of such a value.
void LaunchChecker::uses_undefined(const At& p, const probe::Who& who, const probe::Access& a) {
  if (a.space == probe::Space::Local) return;
  p.warp->undefined.each(who.site, who.lanes, [&](const UndefinedValue& v) {
    // What was read of global memory may go where nobody looks, beside the last element of an array.
    const bool atomic = a.kind == probe::Access::Kind::Atomic, shared = v.from.space == probe::Space::Shared;
    if (atomic || (a.space == probe::Space::Global && (v.from.shuffled || shared))) {
      const u32 lane = first_of(v.lanes & who.lanes);
      return v.from.shuffled ? undefined_used(who, lane, to_text(a), v.from) : unwritten_used(who, lane, a, v.from);
    }
    for (u32 rest = v.lanes & who.lanes; rest; rest &= rest - 1)
      p.warp->unwritten.note(who.site, v.element, first_of(rest), v.from);
  });
}

void LaunchChecker::undefined_used(const probe::Who& who, u32 lane, std::string action, const UnwrittenCopy& from) {
  taken_from_nobody(actor(who, lane, std::move(action)),
                    {.action = "shuffle", .site = from.site, .cta = from.cta, .warp = from.warp, .lane = from.lane},
                    "the lane is not there, or the mask does not name it; what was made of it is used",
                    from.shuffled - 1);
}

void LaunchChecker::membership(const probe::Who& who) {
  if (who.site == probe::kNoSite || !info_->members || !membership_asked_.insert(who.site).second) return;
  const u32 user = info_->members(who.site);
  if (user == probe::kNoSite) return;
  const probe::SiteInfo place = site_of(info_->id, who.site);
  if (place.frames.empty() || place.frames[0].file.empty() || of_library(place.frames)) return;
  const u32 lane = first_of(who.lanes);
  Actors taken = actor(who, lane, "membermask");
  taken.site = user;
  raise(Check::ActiveMask, {taken, actor(who, lane, "activemask")}, "activemask",
        fmt::format("lanes {:#010x} this time", who.lanes),
        {"which lanes execute __activemask() together is up to the device"},
        "__ballot_sync before the branch, or the mask that is meant.");
}

const probe::Consequence& LaunchChecker::consequence(u32 site, u32 element) {
  const auto [known, first] = consequences_.try_emplace({site, element});
  if (first && site != probe::kNoSite && info_->consequence) known->second = info_->consequence(site, element);
  return known->second;
}

void LaunchChecker::register_pool(const At& p, const probe::Who& who, const probe::Meeting& m) {
  p.warp->pool = {.registers = m.threads, .times = p.warp->pool.times + 1, .site = who.site};
}

// A block has as many registers as its threads began with. One that asks waits until there are enough: for ever, if
// nobody gives more back. (Warps that ask more than once are not judged: it depends on what comes first.)
void LaunchChecker::registers_at_end(const Cta& cta) {
  if (!info_->registers) return;
  const u32 began = (info_->registers + 7) / 8 * 8;
  u32 had = 0, want = 0;
  const Warp* asks = nullptr;
  for (const auto& w : cta.warps) {
    if (!w) continue;
    if (w->pool.times > 1) return;
    had += began, want += w->pool.times ? w->pool.registers : began;
    if (w->pool.times && w->pool.registers > began) asks = w.get();
  }
  if (!asks || want <= had) return;
  raise(Check::Deadlock,
        {{.action = "setmaxnreg",
          .site = asks->pool.site,
          .cta = cta.key,
          .warp = asks->time.warp(),
          .lane = kEveryLane}},
        "registers", "the registers of the block",
        {fmt::format("its warps ask for {} registers of 32 lanes in all, and began with {}", want, had)},
        "setmaxnreg.dec by other warps of as many as are asked for.");
}

}  // namespace us::sanitizer
