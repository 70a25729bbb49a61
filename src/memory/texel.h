// SPDX-License-Identifier: Apache-2.0
// Texels: what a channel in memory means, and how the texture unit combines several weighted values into one.
//
// Weights are 8-bit fractions that add up to 256. How they are applied was measured on an H200 and is the same for 1-D
// and 2-D filters of every format (3-D ones add two planes):
//   8 and 16 bits, read as [0, 1]    the channel as 16 bits, times weights, to the nearest of 65535 steps
//   8 and 16 bits, read as [-1, 1]   the same with 32767 steps
//   sRGB                             8 significant bits, at the exponent of the largest texel
//   f16, f32                         significand and 4 more bits at the exponent of the largest texel, rounded once,
//                                    halves away from zero; texels of weight 0 do not count
#pragma once
#include <span>

#include "memory/texture.h"

namespace us::memory {

struct Texel {
  u32 c[4] = {0, 0, 0, 0};  // red green blue alpha: bits of f32, or an integer
};

struct Tap {
  const u8* at = nullptr;  // null: the border
  u32 weight = 256;
  u32 plane = 0;  // 0 to 3; planes are summed on their own first
};

// One texel, as `t` is read. Channels that the format lacks are 0.
Texel read_texel(const TextureObject& t, const u8* at);
Texel border_texel(const TextureObject& t);
// The weighted sum of taps of an object that reads floating point.
Texel filter_taps(const TextureObject& t, std::span<const Tap> taps);

}  // namespace us::memory
