// SPDX-License-Identifier: Apache-2.0
// The interpolation tables of the device's multi-function unit, recovered from recordings (oracle/approx/README.md).
//
// A function is approximated on segments of equal length. The upper bits of the argument's fraction choose the segment, the
// rest is x: 16 bits of 128 segments, or 17 bits of 64. A segment's value is C0 + C1 x + C2 S(x), an exact sum of integers
// that is cut off, never rounded. S is the upper half of a squarer that leaves the products of its low columns out:
// with h and l the upper and the next eight bits of x, S = h*h >> 1 plus, for k = 1..7, h >> (8-k) where bit k of l is set.
//
// The sum needs 41 bits. Here it is kept as high * 2^fraction + low with 0 <= low < 2^32, where `low` can be computed with 32-bit
// operations that wrap. Seventeen bits of x times sixteen of C1 are one bit too many for that, so functions with `halved`
// compute floor(sum / 2) from x >> 1 and x & 1.
#pragma once
#include <span>

#include "base/types.h"

namespace us::numerics {

enum class Approx : u8 { Rcp, Rsqrt, Sqrt, Ex2, Lg2, Sin, Tanh };
enum class Part : u8 {
  High,
  Low,     // what to start `low` with
  Slopes,  // |C1| in the lower 16 bits, C2 in the upper 16 (Lg2: C2 * 2 + lowest bit of C0)
};
struct ApproxFacts {
  u32 x_bits;
  u32 fraction;  // of the last place of a 24-bit result (Tanh: see TanhBinade; Sqrt: one more for odd exponents)
  bool falls;    // C1 is negative
  bool halved;
  u32 odd;  // halved: the lowest bit of every C0 (Lg2: in the table)
};
constexpr ApproxFacts facts(Approx f) {
  switch (f) {
    case Approx::Rcp:
      return {16, 15, true, false, 0};
    case Approx::Rsqrt:
      return {17, 15, true, true, 1};
    case Approx::Sqrt:
      return {17, 15, false, true, 1};
    case Approx::Ex2:
      return {17, 14, false, true, 0};
    case Approx::Lg2:
      return {17, 14, false, true, 0};
    case Approx::Sin:
      return {17, 14, false, false, 0};
    case Approx::Tanh:
      return {17, 16, false, true, 0};
  }
  return {};
}
// Tables have a power of two entries.
std::span<const u32> approx_table(Approx, Part);

// tanh is tabulated for |x| from 2^-8 (binade 0) to 8 (the end of binade 10), in 1 to 16 segments for each binade.
struct TanhBinade {
  u8 segment;   // the first one
  u8 doubling;  // log2 of the number of segments
  u8 unit;      // the sum counts 2^-unit of the argument's last place
};
inline constexpr TanhBinade kTanhBinades[11] = {{0, 0, 8},   {1, 0, 8},   {2, 0, 8},   {3, 1, 9},
                                                {5, 1, 9},   {7, 2, 11},  {11, 2, 11}, {15, 2, 11},
                                                {19, 3, 13}, {27, 4, 16}, {43, 3, 16}};
// For each binade (16 entries): segment, 6 - doubling in bits 8.., and what to add to the exponent of the sum in bits 16..
std::span<const u32> tanh_binades();

}  // namespace us::numerics
