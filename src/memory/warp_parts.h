// SPDX-License-Identifier: Apache-2.0
// The steps of warp_sample.h.
#pragma once
#include "memory/sample_rules.h"
#include "memory/warp_sample.h"

// A version per vector width. Not under ThreadSanitizer: the code that picks one runs before the sanitizer's library is
// there, and would call it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define US_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define US_CLONES
#endif
#define US_IN_CLONES __attribute__((always_inline)) inline

namespace us::memory {

// One axis: texel numbers (-1: the border) and the weight of the second, in 256ths.
struct WarpAxis {
  alignas(64) i32 first[kLanes];
  alignas(64) i32 second[kLanes];
  alignas(64) i32 weight[kLanes];
  bool blends = false;   // some weight is not 0
  bool outside = false;  // the border is among them
};
struct AxisRule {
  AddressMode mode = AddressMode::Clamp;
  bool normalised = false, filter = false;
  u32 size = 1;
};
struct WarpSlow {
  alignas(64) u32 lane[kLanes] = {};  // not 0: left to sample()
  u32 any = 0;                        // 0: none is
};
// Second texels and weights only with a filter.
void warp_axis(const AxisRule&, const u64* at, const u64* offset, WarpAxis&, WarpSlow&);
// Integer coordinates: what is outside is -1.
void warp_texels(u32 size, const u64* at, const u64* offset, WarpAxis&);
// Of a cube of `size`: slices are the faces. Where a filter reaches across an edge the lane is slow.
void warp_cube(u32 size, bool filter, const u64* const* at, WarpAxis& x, WarpAxis& y, i32* face, WarpSlow&);
u32 mask_of(const WarpSlow&);

// The texels of a read: one, two or four in each of one or two planes. Words are a texel's bytes, in order.
struct WarpTaps {
  static constexpr u32 kMost = 8;
  alignas(64) u32 word[4][kMost][kLanes];
  alignas(64) u32 weight[kMost][kLanes];
  alignas(64) u32 inside[kMost][kLanes];  // all ones; 0: the border
  u32 count = 0;                          // in a plane
  u32 planes = 1;
  bool border = false;  // some are not inside
};
// One texel or the weighted sum, as channels of the format.
void warp_point(const TextureObject&, const WarpTaps&, u32 channel, u32* out);
void warp_filter(const TextureObject&, const WarpTaps&, u32 channel, u32* out, WarpSlow&);
// The weights of the four texels of a plane that has `total`.
void warp_weights(const WarpAxis& x, const WarpAxis& y, const u32* total, u32 (*out)[kLanes]);

}  // namespace us::memory
