// SPDX-License-Identifier: Apache-2.0
// match.any, match.all and redux: lanes of one membermask that execute together.
#include <fmt/format.h>

#include <algorithm>

#include "device/functions/rt.h"
#include "device/schedule/slot.h"

namespace us::device {
namespace {
u64 low_bits(u64 v, u64 bits) { return bits >= 64 ? v : v & ((u64(1) << bits) - 1); }

u32 equal_lanes(u32 members, const PerLane& values, u64 value, u64 bits) {
  u32 equal = 0;
  for (u32 l : Lanes(members))
    if (low_bits(values[l], bits) == value) equal |= 1u << l;
  return equal;
}

enum Op : u64 { Add, And, Or, Xor, MinU, MaxU, MinS, MaxS };

u32 combine(u64 op, u32 a, u32 b) {
  switch (op) {
    case Add:
      return a + b;
    case And:
      return a & b;
    case Or:
      return a | b;
    case Xor:
      return a ^ b;
    case MinU:
      return std::min(a, b);
    case MaxU:
      return std::max(a, b);
    case MinS:
      return u32(std::min(i32(a), i32(b)));
    case MaxS:
      return u32(std::max(i32(a), i32(b)));
  }
  US_UNREACHABLE();
}

// Lanes with the same membermask as this one execute the instruction together, as on an H100.
u32 partners(u32 mask, const PerLane& membermasks, u32 lane) {
  u32 same = 0;
  for (u32 l : Lanes(mask))
    if (u32(membermasks[l]) == u32(membermasks[lane])) same |= 1u << l;
  return same;
}
}  // namespace

void rt_Stray(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<StrayArgs>(args);
  u32 strays = 0;
  for (u32 l : Lanes(mask))
    if (!(a.membermask[l] >> l & 1)) strays |= 1u << l;
  die(w, Outcome::IllegalInstruction,
      fmt::format("membermask {:#x} does not name lane {}, which executes the instruction",
                  u32(a.membermask[first_lane(strays)]), first_lane(strays)),
      strays, probe::Refused::Membermask);
}

void rt_Match(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  US_RT_ENTER(ctx);
  const auto& a = named<MatchArgs>(args);
  auto& r = named<MatchResults>(results);
  for (u32 left = mask; left;) {
    u32 lane = first_lane(left);
    u32 members = partners(mask, a.membermask, lane);
    u64 bits = a.bits[lane];
    u32 equal = equal_lanes(members, a.value, low_bits(a.value[lane], bits), bits) | 1u << lane;
    bool all = a.all[lane] != 0, same = (members & ~equal) == 0;
    u32 group = all ? members | 1u << lane : equal;
    for (u32 l : Lanes(group & left)) {
      r.mask[l] = all && !same ? 0 : group;
      r.pred[l] = same;
    }
    left &= ~group;
  }
}

void rt_Redux(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  US_RT_ENTER(ctx);
  const auto& a = named<ReduxArgs>(args);
  for (u32 left = mask; left;) {
    u32 lane = first_lane(left);
    u32 members = partners(mask, a.membermask, lane);
    u64 op = a.op[lane];
    u32 value = u32(a.value[lane]);
    for (u32 l : Lanes(members & (members - 1))) value = combine(op, value, u32(a.value[l]));
    for (u32 l : Lanes(members)) results[l] = value;
    left &= ~members;
  }
}

}  // namespace us::device
