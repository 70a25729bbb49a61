// SPDX-License-Identifier: Apache-2.0
// Sums of floating-point numbers that atomics make: would another order of the additions have given another result?
#pragma once
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "probe/events.h"

namespace us::sanitizer {

struct Addition {
  u64 cta = 0;
  u32 warp = 0, lane = 0, segment = 0, site = 0;
  u64 bits = 0;
  bool same_warp(const Addition& a) const { return cta == a.cta && warp == a.warp; }
};

// Of one place, additions that nothing orders but those of one warp.
struct FloatSum {
  probe::Access::Sum type = probe::Access::Sum::None;
  u32 bytes = 4;
  u64 before = 0, now = 0;
  std::vector<Addition> added;
};
using FloatSums = std::unordered_map<u64, FloatSum>;  // by address

u64 added(probe::Access::Sum, u64 a, u64 b);
// Another result, where the warps' additions in another order give one. Those of a warp stay in theirs.
std::optional<u64> another_result(const FloatSum&);
u32 warps_of(const FloatSum&);
std::string text_of(probe::Access::Sum, u64 bits);

// How much of a launch is kept.
struct SumLimits {
  std::unordered_map<u32, u32> reported;  // by site
  std::size_t kept = 0;                   // additions
};

}  // namespace us::sanitizer
