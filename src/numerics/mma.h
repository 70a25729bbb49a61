// SPDX-License-Identifier: Apache-2.0
// The arithmetic of tensor cores, as recorded on an H200 (oracle/numerics).
//
// One step adds up to 32 products to an accumulator. A product is exact: significand times significand (not normalised,
// in [0, 4)), exponent plus exponent; subnormals keep the smallest exponent and have no leading one. All terms and the
// accumulator are shifted right to the largest exponent among them, which is at least -126 (an accumulator of zero
// counts, a product with a zero does not); what lies more than `fraction` bits behind its point is cut off, in sign and
// magnitude:
//
//     a0 b0      1x.xxxxxxxxxxxxxxxxxxxx|
//     a1 b1        .00000xx.xxxxxxxxxxxx|xxxxxxxx     cut off
//     c          0x.xxxxxxxxxxxxxxxxxxxx|
//                                    ^ 2^(largest - fraction)
//
// `fraction` is 25; for the 8-bit floats of wgmma it is 13, and an f32 result keeps 13 bits, too (mma.sync multiplies
// 8-bit floats as halves). The sum of what is left is exact. It is cut off again to an f32, or rounded to the nearest
// f16. The sum of nothing is +0. Infinities and NaNs follow IEEE 754; every NaN result is all ones with sign 0.
#pragma once
#include "base/types.h"

namespace us::numerics {

enum class MmaType : u8 { F16, BF16, TF32, F32, F64, E4M3, E5M2, S32, U8, S8, U4, S4, B1 };
u32 bits_of(MmaType);
inline bool is_integer(MmaType t) { return t >= MmaType::S32; }

inline constexpr u32 kMmaRows = 16, kMmaColumns = 8, kMmaDepth = 128;
inline constexpr u32 kMmaAbsent = 1u << 31;  // instead of an element: there is none (sparse matrices)

// One tile: elements as bits (TF32: without the 13 low bits, which are ignored), k by k.
struct MmaTile {
  using Column = u32[kMmaRows];
  alignas(64) Column a[kMmaDepth];
  alignas(64) u32 b[kMmaDepth][kMmaColumns];
  alignas(64) Column c[kMmaColumns];
  alignas(64) Column d[kMmaColumns];
};

// Elements of a or b made ready for many products. `tame`: every element that is not zero lies in [2^-48, 2^61), so
// that floats hold all products and scales exactly; then `value` are the elements as floats and `power` the powers of
// two below them (of zero: zero).
struct MmaElements {
  const u32* bits = nullptr;  // not copied
  float *value = nullptr, *power = nullptr;
  bool tame = false;
};
// storage: 2n floats, at a multiple of 64 bytes
MmaElements mma_elements(MmaType, const u32* bits, u32 n, float* storage);

// c and d are F32 or F16 both. Products k of [first, last) make one step.
struct MmaStep {
  MmaType a, b, d;
  u32 fraction = 25;
  u32 first = 0, last = 16;
};
void mma_step(const MmaStep&, MmaTile&);  // d = c + a b, fast
// The same for elements k = 0 .. last - first of a and b that are ready, which stand where `first` is zero.
void mma_step(const MmaStep&, const MmaElements& a, const MmaElements& b, const MmaTile::Column* c, MmaTile::Column* d);
void mma_step_reference(const MmaStep&, MmaTile&);  // the same, as the text above says it

// Integers: the sum of [0, depth) and c, modulo 2^32 or clamped.
void mma_integer(MmaType a, MmaType b, u32 depth, bool saturate, MmaTile&);
// Bits: words of 32; the number of ones of a xor b, or a and b.
void mma_bits(bool exclusive, u32 words, MmaTile&);

}  // namespace us::numerics
