// SPDX-License-Identifier: Apache-2.0
// Reads of a warp from one texture object, 32 lanes at a time, by the rules of sample.h and with the same bits.
//
//   coordinates ─► per axis: two texels and a weight ─► words of the texels ─► channels ─► converted, or weighted
//                  warp_axis.cpp                        warp_sample.cpp                    warp_filter.cpp
//
// Every step is a loop over 32 lanes without branches, compiled for several vector widths; what it depends on (shape,
// filter, address mode, format) is decided outside. All lanes are computed, active or not: addresses are inside the
// texture whatever the coordinates are. Rare lanes (infinities among the texels, edges of cubes, coordinates repeated
// far away) are left to sample().
#pragma once
#include "memory/texture.h"

namespace us::memory {

inline constexpr u32 kLanes = 32;

// What the lanes ask for: 32 words each, the low halves count. Unused ones are null.
struct WarpRead {
  const u64* at[3] = {};
  const u64* layer = nullptr;
  const u64* offset[3] = {};
  u32 component = 0;  // of gather
};
struct WarpTexels {  // the channels that the format has
  alignas(64) u32 c[4][kLanes];
};

// A WarpSampler returns the lanes that it leaves to sample(). An object has one for reads with floating-point
// coordinates and one for integer coordinates without a level. Null: sample() does all lanes.
WarpSampler warp_sampler(const TextureObject&);
WarpSampler warp_fetcher(const TextureObject&);

u32 lanes_with(const u64* words, u64 value);                              // which of 32 words are equal to it
void put_lanes(const WarpTexels&, u32 channels, u32 mask, u64* results);  // of a runtime function: four times 32 words

}  // namespace us::memory
