// SPDX-License-Identifier: Apache-2.0
// Rules that one read (sample.cpp) and the reads of a warp (warp_*.cpp) share.
#pragma once
#include "memory/texture.h"

namespace us::memory {

inline constexpr i32 kTexel = 256;  // a texel, in filter coordinates

// Fraction bits of a normalised coordinate.
inline u32 digits_for(u32 size) { return size > 8192 ? 22 : 21; }

inline AddressMode mode_of(const TextureObject& t, u32 axis) {
  if (axis == 1 && t.shape == TextureShape::D1Layered) return AddressMode::Clamp;  // its one row has no border
  const AddressMode m = t.address[axis];
  const bool repeats = m == AddressMode::Wrap || m == AddressMode::Mirror;
  return repeats && !t.normalised_coords ? AddressMode::Clamp : m;
}
inline u32 size_of(const TextureLevel& l, u32 axis) { return axis == 0 ? l.width : axis == 1 ? l.height : l.depth; }
inline bool filters(const TextureObject& t) { return t.filter == FilterMode::Linear && t.reads_float(); }
inline u32 layers_of(const TextureObject& t, const TextureLevel& l) {
  const u32 layers = t.shape == TextureShape::CubeLayered ? l.depth / 6 : l.depth;
  return layers ? layers : 1;
}

// a * b of 256ths, to the nearest: how weights are divided.
inline u32 part(u32 a, u32 b) { return (a * b + 128) >> 8; }

// How the channels of an object take part in arithmetic.
enum class TexelKind : u8 { Integer, Unorm8, Unorm16, Snorm8, Snorm16, Srgb, F16, F32 };
TexelKind kind_of(const TextureObject&, u32 channel);
bool is_signed(TexelType);
// The border's colour as a number of a normalised kind.
i32 border_number(const TextureObject&, u32 channel);
// What a point of the border is read as.
u32 border_value(const TextureObject&, u32 channel);
// What the 256 codes of an 8-bit kind are read as: bits of f32.
const u32* codes_of(TexelKind);

}  // namespace us::memory
