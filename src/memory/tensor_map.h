// SPDX-License-Identifier: Apache-2.0
// What the 128 opaque bytes of a CUtensorMap hold: the API writes it, bulk tensor copies read it, tensormap.replace
// changes fields of it. A map that is a kernel parameter is a copy of these bytes.
#pragma once
#include "base/types.h"

namespace us::memory {

struct alignas(64) TensorMap {
  static constexpr u32 kMagic = 0x504d5401;
  enum class Mode : u8 { Tiled, Im2col, Im2colW, Im2colW128 };
  // The numbers of CUtensorMapDataType, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion.
  enum Type : u8 {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    BF16,
    F32Ftz,
    TF32,
    TF32Ftz,
    U4x16,
    U4x16Wide,
    U6x16Wide
  };
  enum Interleave : u8 { NoInterleave, Interleave16, Interleave32 };
  enum Swizzle : u8 {
    NoSwizzle,
    Swizzle32,
    Swizzle64,
    Swizzle128,
    Swizzle128Atom32,
    Swizzle128Atom32Flip8,
    Swizzle128Atom64
  };

  u32 magic = 0;
  Mode mode = Mode::Tiled;
  u8 type = 0, rank = 0, interleave = 0, swizzle = 0, l2_promotion = 0;
  u8 nan_fill = 0;  // out of bounds reads a NaN that fma.oob takes for zero, instead of zero
  u8 unused = 0;
  u64 address = 0;
  u64 strides[4] = {};  // bytes, of dimensions 1 to rank - 1
  u32 last[5] = {};     // size of each dimension in elements, minus one
  u16 box[5] = {};      // Tiled: elements of the box
  u8 element_strides[5] = {};
  i16 lower[3] = {}, upper[3] = {};  // Im2col: corners of the box of pixels, W first
  u16 channels = 0, pixels = 0;      // Im2col: per pixel, per column
  u8 padding[7] = {};

  u64 size(u32 dimension) const { return u64{last[dimension]} + 1; }
  u32 element_bits() const;
};
static_assert(sizeof(TensorMap) == 128);

inline u32 TensorMap::element_bits() const {
  switch (type) {
    case U8:
      return 8;
    case U16:
    case F16:
    case BF16:
      return 16;
    case U64:
    case S64:
    case F64:
      return 64;
    case U4x16:
    case U4x16Wide:
      return 4;
    case U6x16Wide:
      return 6;
    default:
      return 32;
  }
}

}  // namespace us::memory
