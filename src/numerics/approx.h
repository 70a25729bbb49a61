// SPDX-License-Identifier: Apache-2.0
// The interpolation tables of the device's multi-function unit, recovered from recordings (oracle/approx/README.md).
//
// A function is approximated on segments of equal length. The upper bits of the argument's fraction choose the segment,
// the rest is x: 16 bits of 128 segments, or 17 bits of 64. A segment's value is C0 + C1 x + C2 S(x), an exact sum of
// integers that is cut off, never rounded. S is the upper half of a squarer that leaves the products of its low columns
// out: with h and l the upper and the next eight bits of x, S = h*h >> 1 plus, for k = 1..7, h >> (8-k) where bit k of
// l is set. C0 is a whole number of grains of 2^grain, plus a bias that all segments share.
//
// The sum needs 41 bits. With x and C1 moved to the middle of their ranges, x' = x - 2^15 and C1' = C1 - slope * 2^15,
// everything finer than a grain is in t = C1' x' + C2 S(x) + bias, which fits 32 bits and is two 16-bit products:
//   sum = (start + (t >> grain) + (slope * x << 15 - grain)) * 2^grain + (t mod 2^grain)
// Segments of 17 bits are cut in two, so that x has 16 (except in S). Rsqrt and Sqrt, of 128 such segments, add the C1'
// of the upper half instead: C1' << 16 - grain where bit 16 of x is set.
#pragma once
#include <span>

#include "base/types.h"

namespace us::numerics {

enum class Approx : u8 { Rcp, Rsqrt, Sqrt, Ex2, Lg2, Sin, Tanh };
struct ApproxFacts {
  u32 x_bits;   // of x in S
  bool halves;  // each entry of the table serves two halves of a segment
  u32 grain, bias;
  // Bits of the sum below the last place of a 24-bit result. Tanh: see TanhBinade. Sqrt: one more for odd exponents.
  u32 fraction;
  int slope;                                           // -1, 0, 1
  u32 table_bits() const { return halves ? 17 : 16; }  // of x in the table
};
constexpr ApproxFacts facts(Approx f) {
  switch (f) {
    case Approx::Rcp:
      return {16, false, 13, 2023, 15, -1};
    case Approx::Rsqrt:
      return {17, true, 14, 16383, 16, -1};
    case Approx::Sqrt:
      return {17, true, 14, 16383, 16, 1};
    case Approx::Ex2:
      return {17, false, 13, 6114, 15, 1};
    case Approx::Lg2:
      return {17, false, 12, 837, 15, 1};
    case Approx::Sin:
      return {17, false, 12, 0, 14, 0};
    case Approx::Tanh:
      return {17, false, 15, 0, 17, 1};
  }
  return {};
}
constexpr u32 kApproxEntries = 128;
struct ApproxTable {
  std::span<const u32, kApproxEntries> start;   // in grains, modulo 2^32
  std::span<const u32, kApproxEntries> slopes;  // C1' in the lower 16 bits, C2 in the upper 16; both signed
};
ApproxTable approx_table(Approx);

// tanh is tabulated for |x| from 2^-8 (binade 0) to 8 (the end of binade 10), in 1 to 16 segments for each binade.
struct TanhBinade {
  u8 segment;   // the first one
  u8 doubling;  // log2 of the number of segments
  u8 unit;      // the sum counts 2^-unit of the argument's last place
};
inline constexpr TanhBinade kTanhBinades[11] = {{0, 0, 8},   {1, 0, 8},   {2, 0, 8},   {3, 1, 9},
                                                {5, 1, 9},   {7, 2, 11},  {11, 2, 11}, {15, 2, 11},
                                                {19, 3, 13}, {27, 4, 16}, {43, 3, 16}};
// For each binade (16 entries): from bit 0 the segment, from bit 8 on 6 - doubling, from bit 16 on what to add to the
// exponent of the sum.
std::span<const u32> tanh_binades();

}  // namespace us::numerics
