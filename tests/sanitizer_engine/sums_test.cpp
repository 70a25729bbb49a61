// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bit>

#include "sanitizer/float_sums.h"

namespace us::sanitizer {
namespace {

using Sum = probe::Access::Sum;

FloatSum sum_of(Sum type, u64 before, std::vector<Addition> all) {
  FloatSum s{.type = type, .before = before, .now = before, .added = {}};
  for (const Addition& a : all) s.now = added(type, s.now, a.bits), s.added.push_back(a);
  return s;
}
Addition by(u32 warp, u64 bits) { return {.cta = 1, .warp = warp, .bits = bits}; }
u64 f32(float x) { return std::bit_cast<u32>(x); }

// 0x3c00 is one, 0x6800 is 2048, 0x7bff the largest, 0x0001 the smallest number of 16 bits (IEEE 754).
TEST(FloatSums, halves) {
  EXPECT_EQ(added(Sum::F16, 0x3c00, 0x3c00), 0x4000u);   // 2
  EXPECT_EQ(added(Sum::F16, 0x6800, 0x3c00), 0x6800u);   // 2049 is a tie: to even
  EXPECT_EQ(added(Sum::F16, 0x6802, 0x3c00), 0x6802u);   // 2052 + 1: a tie, to even
  EXPECT_EQ(added(Sum::F16, 0x6801, 0x3c00), 0x6802u);   // 2050 + 1: a tie, to even
  EXPECT_EQ(added(Sum::F16, 0x7bff, 0x7bff), 0x7c00u);   // infinite
  EXPECT_EQ(added(Sum::F16, 0x0001, 0x0001), 0x0002u);   // subnormal
  EXPECT_EQ(added(Sum::F16, 0x03ff, 0x0001), 0x0400u);   // the first normal one
  EXPECT_EQ(added(Sum::F16, 0xbc00, 0x3c00), 0x0000u);   // -1 + 1
  EXPECT_EQ(added(Sum::BF16, 0x3f80, 0x3f80), 0x4000u);  // 2
  EXPECT_EQ(added(Sum::BF16, 0x4380, 0x3f80), 0x4380u);  // 257 is a tie: to even
  EXPECT_EQ(added(Sum::F16x2, 0x3c00'6800, 0x3c00'3c00), 0x4000'6800u);
}

TEST(FloatSums, only_what_comes_out_otherwise) {
  const u64 big = f32(1e8f), less = f32(-1e8f), one = f32(1);
  EXPECT_EQ(another_result(sum_of(Sum::F32, 0, {by(0, big), by(1, one), by(2, less)})), f32(1));
  EXPECT_FALSE(another_result(sum_of(Sum::F32, 0, {by(0, big), by(0, one), by(0, less)})));  // one warp's order
  EXPECT_FALSE(another_result(sum_of(Sum::F32, 0, {by(0, f32(0.1f)), by(1, f32(0.1f)), by(2, f32(0.1f))})));
  EXPECT_FALSE(another_result(sum_of(Sum::F32, 0, {by(0, f32(0.5f)), by(1, f32(3)), by(2, f32(1024))})));
  EXPECT_FALSE(another_result(sum_of(Sum::F64, 0, {by(0, std::bit_cast<u64>(0.1)), by(1, std::bit_cast<u64>(0.2))})));
  // 0.1 + 0.2 + 0.3 is 0.6000000000000001, the other way 0.6.
  const auto other = another_result(sum_of(
      Sum::F64, 0, {by(0, std::bit_cast<u64>(0.1)), by(1, std::bit_cast<u64>(0.2)), by(2, std::bit_cast<u64>(0.3))}));
  EXPECT_EQ(other, std::bit_cast<u64>(0.6));
}

}  // namespace
}  // namespace us::sanitizer
