// SPDX-License-Identifier: Apache-2.0
// Results that depend on the order of floating-point atomics. Additions to one place that nothing orders are kept, and
// added again in other orders of their warps: what comes out differently is a finding. Lanes of one instruction keep
// their order.
#include <fmt/format.h>

#include <algorithm>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {
namespace {

constexpr std::size_t kOfPlace = 1024, kOfLaunch = 1 << 21;  // additions that are kept
constexpr u32 kOfSite = 64;                                  // findings, before additions there are not looked at
constexpr std::size_t kLooks = 4;

}  // namespace

// `owner`: of shared memory.
void LaunchChecker::sums(Judge& judge, const probe::Access& a, u32 lane, u64 address, const Actor& me, Cta* owner) {
  if (who_->site == probe::kNoSite || a.values.empty()) return;
  if (const auto at = sum_limits_.reported.find(who_->site); at != sum_limits_.reported.end() && at->second >= kOfSite)
    return;
  const u64 mask = a.bytes >= 8 ? ~u64{0} : (u64{1} << (8 * a.bytes)) - 1;
  const u64 old = a.values[0][lane] & mask;
  const Addition mine{.cta = me.time->cta(),
                      .warp = me.time->warp(),
                      .lane = lane,
                      .segment = me.segment,
                      .site = who_->site,
                      .bits = a.addend[lane] & mask};
  FloatSum& s = (owner ? owner->sums : sums_)[address];
  // Is it behind one of them? Those of the warps that came first and last are looked at.
  const auto behind = [&] {
    std::size_t looks = 0;
    const auto one = [&](const Addition& b) {
      if (b.same_warp(mine)) return false;
      looks++;
      return judge.ordered(b.segment, b.lane, me);
    };
    for (std::size_t k = 0; k < s.added.size() && looks < kLooks; k++)
      if (one(s.added[k])) return true;
    looks = 0;
    for (std::size_t k = s.added.size(); k-- > 0 && looks < kLooks;)
      if (one(s.added[k])) return true;
    return false;
  };
  if (!s.added.empty() && (s.type != a.sum || s.now != old || s.added.size() >= kOfPlace || behind()))
    end_sum(s, address, owner);
  if (s.added.empty()) s.type = a.sum, s.bytes = a.bytes, s.before = old;
  s.now = added(a.sum, old, mine.bits);
  if (sum_limits_.kept >= kOfLaunch) return;
  s.added.push_back(mine), sum_limits_.kept++;
}

void LaunchChecker::end_sum(FloatSum& s, u64 address, Cta* owner) {
  sum_limits_.kept -= s.added.size();
  const auto other = another_result(s);
  if (other) {
    const Addition& one = s.added.back();
    sum_limits_.reported[one.site]++;
    const auto actor_of = [](const Addition& a) {
      return Actors{.action = "atomic", .site = a.site, .cta = a.cta, .warp = a.warp, .lane = a.lane};
    };
    const auto first = std::ranges::find_if(s.added, [&](const Addition& a) { return !a.same_warp(one); });
    const probe::Space space = owner ? probe::Space::Shared : probe::Space::Global;
    raise(Check::FloatOrder, {actor_of(one), actor_of(*first)}, object_kind(space, address),
          object_text(space, address, s.bytes, owner),
          {fmt::format("{} additions by {} warps gave {}; in another order they give {}", s.added.size(), warps_of(s),
                       text_of(s.type, s.now), text_of(s.type, *other)),
           "nothing orders them: which comes first is up to the device"},
          "A reduction of fixed order, or integers, where results are to be the same each time.");
  }
  s.added.clear();
}

void LaunchChecker::end_sums(FloatSums& all, Cta* owner) {
  for (auto& [address, s] : all)
    if (!s.added.empty()) end_sum(s, address, owner);
  all.clear();
}

}  // namespace us::sanitizer
