// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/float_sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace us::sanitizer {

using Sum = probe::Access::Sum;

namespace {

// A number of 16 bits with `fraction` bits behind the point.
double wide(u32 bits, int fraction) {
  if (fraction == 7) return std::bit_cast<float>(bits << 16);
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double m = bits & 1023, sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return sign * (m != 0 ? NAN : INFINITY);
  return sign * (exponent ? std::ldexp(1024 + m, exponent - 25) : std::ldexp(m, -24));
}

// To the nearest, ties to even. The sum of two such numbers is exact in a double, or so far from a tie that it does not
// matter.
u32 narrow(double x, int fraction) {
  const u32 sign = std::signbit(x) ? 0x8000 : 0;
  const int bias = fraction == 7 ? 127 : 15, top = fraction == 7 ? 255 : 31;
  const u32 infinite = static_cast<u32>(top) << fraction;
  if (std::isnan(x)) return infinite | 1u << (fraction - 1);
  if (std::isinf(x)) return sign | infinite;
  if (x == 0) return sign;
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent = std::max(exponent - 1, 1 - bias);
  const double m = std::nearbyint(std::ldexp(std::fabs(x), fraction - exponent));
  const u32 bits = static_cast<u32>(exponent + bias - 1) * (1u << fraction) + static_cast<u32>(m);
  return sign | std::min(bits, infinite);
}

u32 half_sum(u32 a, u32 b, int fraction) {
  return narrow(wide(a & 0xffff, fraction) + wide(b & 0xffff, fraction), fraction);
}

double value_of(Sum type, u64 bits) {
  switch (type) {
    case Sum::F64:
      return std::bit_cast<double>(bits);
    case Sum::F32:
      return std::bit_cast<float>(static_cast<u32>(bits));
    case Sum::BF16:
    case Sum::BF16x2:
      return wide(bits & 0xffff, 7);
    default:
      return wide(bits & 0xffff, 10);
  }
}

bool is_number(Sum type, u64 bits) {
  const bool pair = type == Sum::F16x2 || type == Sum::BF16x2;
  return std::isfinite(value_of(type, bits)) && (!pair || std::isfinite(value_of(type, bits >> 16)));
}

using Group = std::vector<u64>;  // what a warp adds, in its order

std::vector<Group> by_warp(const FloatSum& s) {
  std::vector<Group> groups;
  std::vector<const Addition*> of;
  for (const Addition& a : s.added) {
    std::size_t k = of.size();
    while (k > 0 && !of[k - 1]->same_warp(a)) k--;
    if (k == 0) of.push_back(&a), groups.emplace_back(), k = of.size();
    groups[k - 1].push_back(a.bits);
  }
  return groups;
}

u64 total(Sum type, u64 sum, const Group& g) {
  for (const u64 bits : g) sum = added(type, sum, bits);
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
      return half_sum(static_cast<u32>(a), static_cast<u32>(b), 10);
    case Sum::BF16:
      return half_sum(static_cast<u32>(a), static_cast<u32>(b), 7);
    case Sum::F16x2:
    case Sum::BF16x2: {
      const int fraction = type == Sum::F16x2 ? 10 : 7;
      const u32 x = static_cast<u32>(a), y = static_cast<u32>(b);
      return half_sum(x, y, fraction) | half_sum(x >> 16, y >> 16, fraction) << 16;
    }
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
  const auto value = [&](const Group& g) { return value_of(s.type, total(s.type, 0, g)); };
  std::ranges::stable_sort(groups, {}, value);
  if (const auto other = differs()) return other;
  std::ranges::stable_sort(groups, {}, [&](const Group& g) { return std::fabs(value(g)); });
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
