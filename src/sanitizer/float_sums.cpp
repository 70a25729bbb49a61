// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/float_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "numerics/numerics.h"

namespace us::sanitizer {

using Sum = probe::Access::Sum;

namespace {

using numerics::kBF16, numerics::kF16, numerics::widen;

bool is_bf16(Sum type) { return type == Sum::BF16 || type == Sum::BF16x2; }

u64 half_sum(Sum type, u64 a, u64 b) {
  return is_bf16(type) ? numerics::fma_bf16(a & 0xffff, 0x3f80, b & 0xffff)  // times one
                       : numerics::fma_f16(a & 0xffff, 0x3c00, b & 0xffff);
}

double value_of(Sum type, u64 bits) {
  switch (type) {
    case Sum::F64:
      return std::bit_cast<double>(bits);
    case Sum::F32:
      return std::bit_cast<float>(static_cast<u32>(bits));
    default:
      return widen(bits & 0xffff, is_bf16(type) ? kBF16 : kF16);
  }
}

bool is_number(Sum type, u64 bits) {
  const bool pair = type == Sum::F16x2 || type == Sum::BF16x2;
  return std::isfinite(value_of(type, bits)) && (!pair || std::isfinite(value_of(type, bits >> 16)));
}

struct Group {  // what a warp adds, in its order
  std::vector<u64> added;
  double value = 0;  // of all of it
};

// In the order in which they came first.
std::vector<Group> by_warp(const FloatSum& s) {
  std::vector<Group> groups;
  std::map<std::pair<u64, u32>, std::size_t> of;
  for (const Addition& a : s.added) {
    const auto [at, first] = of.try_emplace({a.cta, a.warp}, groups.size());
    if (first) groups.emplace_back();
    groups[at->second].added.push_back(a.bits);
  }
  return groups;
}

u64 total(Sum type, u64 sum, const Group& g) {
  for (const u64 bits : g.added) sum = added(type, sum, bits);
  return sum;
}

}  // namespace

u64 added(Sum type, u64 a, u64 b) {
  switch (type) {
    case Sum::F64:
      return std::bit_cast<u64>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
    case Sum::F32:
      return std::bit_cast<u32>(std::bit_cast<float>(static_cast<u32>(a)) + std::bit_cast<float>(static_cast<u32>(b)));
    case Sum::F16:
    case Sum::BF16:
      return half_sum(type, a, b);
    case Sum::F16x2:
    case Sum::BF16x2:
      return half_sum(type, a, b) | half_sum(type, a >> 16, b >> 16) << 16;
    case Sum::None:
      break;
  }
  return a;
}

std::optional<u64> another_result(const FloatSum& s) {
  std::vector<Group> groups = by_warp(s);
  if (groups.size() < 2 || !is_number(s.type, s.now)) return {};
  const auto differs = [&]() -> std::optional<u64> {
    u64 sum = s.before;
    for (const Group& g : groups) sum = total(s.type, sum, g);
    const bool pair = s.type == Sum::F16x2 || s.type == Sum::BF16x2;
    const bool same = pair ? sum == s.now : value_of(s.type, sum) == value_of(s.type, s.now);
    if (same || !is_number(s.type, sum)) return {};
    return sum;
  };
  std::ranges::reverse(groups);
  if (const auto other = differs()) return other;
  for (Group& g : groups) g.value = value_of(s.type, total(s.type, 0, g));
  std::ranges::stable_sort(groups, {}, &Group::value);
  if (const auto other = differs()) return other;
  std::ranges::stable_sort(groups, {}, [](const Group& g) { return std::fabs(g.value); });
  if (const auto other = differs()) return other;
  std::ranges::reverse(groups);
  return differs();
}

u32 warps_of(const FloatSum& s) { return static_cast<u32>(by_warp(s).size()); }

std::string text_of(Sum type, u64 bits) {
  const double x = value_of(type, bits);
  if (type == Sum::F16x2 || type == Sum::BF16x2) return fmt::format("({:.5g}, {:.5g})", x, value_of(type, bits >> 16));
  return type == Sum::F64 ? fmt::format("{:.17g}", x) : fmt::format("{:.9g}", x);
}

}  // namespace us::sanitizer
