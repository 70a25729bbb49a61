// SPDX-License-Identifier: Apache-2.0
#include "memory/warp_sample.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#include "memory/warp_parts.h"

namespace us::memory {
namespace {

// What is read for the border; its place is taken later.
alignas(16) constexpr u8 kNothing[16] = {};

// Addresses of the texels (x, y) of a plane; z may be null.
US_IN_CLONES u64 plane_at(const TextureLevel& l, const i32* z, u32 k) {
  return l.data + (z ? u64{static_cast<u32>(z[k])} * l.slice : 0);
}
US_CLONES void address(const TextureLevel& l, u32 bytes, const i32* __restrict x, const i32* __restrict y,
                       const i32* __restrict z, u64* __restrict out) {
  const u32 pitch = static_cast<u32>(l.pitch);
  for (u32 k = 0; k < kLanes; ++k)
    out[k] = plane_at(l, z, k) + u64{static_cast<u32>(y[k])} * pitch + u64{static_cast<u32>(x[k])} * bytes;
}
US_CLONES void four_addresses(const TextureLevel& l, u32 bytes, const WarpAxis& __restrict x,
                              const WarpAxis& __restrict y, const i32* __restrict z, u64 (*__restrict out)[kLanes]) {
  const u32 pitch = static_cast<u32>(l.pitch);
  for (u32 k = 0; k < kLanes; ++k) {
    const u64 plane = plane_at(l, z, k), low = plane + u64{static_cast<u32>(y.first[k])} * pitch,
              high = plane + u64{static_cast<u32>(y.second[k])} * pitch;
    const u64 near = u64{static_cast<u32>(x.first[k])} * bytes, far = u64{static_cast<u32>(x.second[k])} * bytes;
    out[0][k] = low + near, out[1][k] = low + far, out[2][k] = high + near, out[3][k] = high + far;
  }
}

template <u32 N>
void load_words(const u64* at, u32* out) {
  for (u32 l = 0; l < kLanes; ++l) {
    u32 v = 0;
    std::memcpy(&v, reinterpret_cast<const void*>(at[l]), N);
    out[l] = v;
  }
}
US_CLONES void next_words(const u64* at, u32 by, u64* out) {
  for (u32 l = 0; l < kLanes; ++l) out[l] = at[l] + by;
}
void load(u32 bytes, const u64* at, WarpTaps& taps, u32 k) {
  if (bytes == 1) return load_words<1>(at, taps.word[0][k]);
  if (bytes == 2) return load_words<2>(at, taps.word[0][k]);
  load_words<4>(at, taps.word[0][k]);
  alignas(64) u64 next[kLanes];
  for (u32 w = 1; w < bytes / 4; ++w) {
    next_words(at, 4 * w, next);
    load_words<4>(next, taps.word[w][k]);
  }
}

US_CLONES bool guard(const i32* x, const i32* y, const i32* z, u64* at, u32* inside) {
  u32 all = ~0u;
  for (u32 l = 0; l < kLanes; ++l) {
    const bool in = (x[l] | y[l] | (z ? z[l] : 0)) >= 0;
    at[l] = in ? at[l] : reinterpret_cast<u64>(kNothing);
    inside[l] = in ? ~0u : 0;
    all &= inside[l];
  }
  return !all;
}

// The axes of a read; planes are layers, faces or texels of z.
struct Grid {
  WarpAxis x, y, z;
  alignas(64) i32 slice[kLanes];  // layers and faces
  const i32* near = nullptr;      // the first plane; null: there is one
  bool deep = false;              // there is a second one
  bool outside() const { return x.outside || y.outside || z.outside; }
};

void point_taps(const TextureObject& t, const Grid& g, WarpTaps& taps) {
  alignas(64) u64 at[kLanes];
  const u32 bytes = t.format.texel_bytes();
  address(t.level[0], bytes, g.x.first, g.y.first, g.near, at);
  if (g.outside()) taps.border = guard(g.x.first, g.y.first, g.near, at, taps.inside[0]);
  load(bytes, at, taps, 0);
}

// Those of the four texels that count: an axis whose weights are all 0 has one.
void plane_taps(const TextureObject& t, const Grid& g, const i32* z, const u32* total, WarpTaps& taps, u32 base) {
  alignas(64) u64 at[4][kLanes];
  alignas(64) u32 weight[4][kLanes];
  const u32 bytes = t.format.texel_bytes();
  warp_weights(g.x, g.y, total, weight);
  four_addresses(t.level[0], bytes, g.x, g.y, z, at);
  u32 k = base;
  for (u32 corner = 0; corner < 4; ++corner) {
    if ((corner & 1 && !g.x.blends) || (corner & 2 && !g.y.blends)) continue;
    if (g.outside()) {
      const i32* const x = corner & 1 ? g.x.second : g.x.first;
      taps.border |= guard(x, corner & 2 ? g.y.second : g.y.first, z, at[corner], taps.inside[k]);
    }
    load(bytes, at[corner], taps, k);
    std::memcpy(taps.weight[k++], weight[corner], sizeof weight[corner]);
  }
  taps.count = k - base;
}

US_CLONES void totals(const WarpAxis* z, u32* near, u32* far) {
  for (u32 l = 0; l < kLanes; ++l) {
    const u32 second = z ? static_cast<u32>(z->weight[l]) : 0;
    near[l] = 256 - second;
    far[l] = second;
  }
}

void filter_taps(const TextureObject& t, const Grid& g, WarpTaps& taps) {
  alignas(64) u32 near[kLanes], far[kLanes];
  totals(g.deep ? &g.z : nullptr, near, far);
  plane_taps(t, g, g.near, near, taps, 0);
  if (!g.deep) return;
  taps.planes = 2;
  plane_taps(t, g, g.z.second, far, taps, taps.count);
}

template <bool kFilter>
u32 finish(const TextureObject& t, const Grid& g, WarpSlow& slow, WarpTexels& out) {
  WarpTaps taps;
  if constexpr (kFilter)
    filter_taps(t, g, taps);
  else
    point_taps(t, g, taps);
  for (u32 c = 0; c < t.format.channels; ++c) {
    if constexpr (kFilter)
      warp_filter(t, taps, c, out.c[c], slow);
    else
      warp_point(t, taps, c, out.c[c]);
  }
  return mask_of(slow);
}

US_CLONES void layers(u32 count, u32 each, const u64* layer, i32* slice) {
  for (u32 l = 0; l < kLanes; ++l) {
    const u32 n = layer ? static_cast<u32>(layer[l]) : 0;
    slice[l] = static_cast<i32>((n < count ? n : count - 1) * each);
  }
}
US_CLONES void add(const i32* what, i32* to) {
  for (u32 l = 0; l < kLanes; ++l) to[l] += what[l];
}

AxisRule rule(const TextureObject& t, u32 axis) {
  return {mode_of(t, axis), t.normalised_coords, filters(t), size_of(t.level[0], axis)};
}
// The one row of a one-dimensional texture whose rows do not matter.
void only_row(WarpAxis& y) {
  std::memset(y.first, 0, sizeof y.first);
  std::memset(y.second, 0, sizeof y.second);
  std::memset(y.weight, 0, sizeof y.weight);
}

enum class Planes : u8 { One, Layers, Depth };
template <bool kRows, Planes kPlanes, bool kFilter>
u32 sample_grid(const TextureObject& t, const WarpRead& r, WarpTexels& out) {
  Grid g;
  WarpSlow slow;
  warp_axis(rule(t, 0), r.at[0], r.offset[0], g.x, slow);
  if constexpr (kRows)
    warp_axis(rule(t, 1), r.at[1], r.offset[1], g.y, slow);
  else
    only_row(g.y);
  if constexpr (kPlanes == Planes::Depth) {
    warp_axis(rule(t, 2), r.at[2], r.offset[2], g.z, slow);
    g.near = g.z.first;
    g.deep = g.z.blends;
  } else if constexpr (kPlanes == Planes::Layers) {
    layers(layers_of(t, t.level[0]), 1, r.layer, g.slice);
    g.near = g.slice;
  }
  return finish<kFilter>(t, g, slow, out);
}

template <bool kFilter>
u32 sample_cube(const TextureObject& t, const WarpRead& r, WarpTexels& out) {
  Grid g;
  alignas(64) i32 face[kLanes];
  WarpSlow slow;
  warp_cube(t.level[0].width, kFilter, r.at, g.x, g.y, face, slow);
  layers(t.layered() ? layers_of(t, t.level[0]) : 1, 6, r.layer, g.slice);
  add(face, g.slice);
  g.near = g.slice;
  return finish<kFilter>(t, g, slow, out);
}

u32 fetch_grid(const TextureObject& t, const WarpRead& r, WarpTexels& out) {
  Grid g;
  const TextureLevel& l = t.level[0];
  warp_texels(l.width, r.at[0], r.offset[0], g.x);
  warp_texels(l.height, r.at[1], r.offset[1], g.y);
  if (t.layered()) {
    layers(layers_of(t, l), 1, r.layer, g.slice);
    g.near = g.slice;
  } else {
    warp_texels(l.depth, r.at[2], r.offset[2], g.z);
    g.near = g.z.first;
  }
  WarpTaps taps;
  point_taps(t, g, taps);
  taps.border = false;  // what is outside is 0
  for (u32 c = 0; c < t.format.channels; ++c) warp_point(t, taps, c, out.c[c]);
  return 0;
}

template <bool kRows, Planes kPlanes>
WarpSampler grid(bool filter) {
  return filter ? sample_grid<kRows, kPlanes, true> : sample_grid<kRows, kPlanes, false>;
}

// Sizes and formats that the steps are made for.
bool suits(const TextureObject& t) {
  const TextureLevel& l = t.level[0];
  constexpr u32 kMost = 1u << 20;
  return t.level_count == 1 && l.width <= kMost && l.height <= kMost && l.depth <= kMost && l.pitch <= ~0u;
}
bool plain(float f) { return f == 0 || (std::isfinite(f) && std::fabs(f) >= 0x1p-126f); }

}  // namespace

WarpSampler warp_sampler(const TextureObject& t) {
  const bool filter = filters(t), border = t.address[0] == AddressMode::Border || t.address[1] == AddressMode::Border ||
                                           t.address[2] == AddressMode::Border;
  if (!suits(t) || t.gather || (filter && t.srgb)) return nullptr;
  for (const float f : t.border)
    if (border && !plain(f)) return nullptr;
  const bool rows = mode_of(t, 1) != AddressMode::Clamp;
  switch (t.shape) {
    case TextureShape::Linear:
    case TextureShape::D1:
      return rows ? grid<true, Planes::One>(filter) : grid<false, Planes::One>(filter);
    case TextureShape::D1Layered:
      return grid<false, Planes::Layers>(filter);
    case TextureShape::D2:
      return grid<true, Planes::One>(filter);
    case TextureShape::D2Layered:
      return grid<true, Planes::Layers>(filter);
    case TextureShape::D3:
      return grid<true, Planes::Depth>(filter);
    case TextureShape::Cube:
    case TextureShape::CubeLayered:
      return filter ? sample_cube<true> : sample_cube<false>;
  }
  return nullptr;
}

WarpSampler warp_fetcher(const TextureObject& t) {
  const TextureLevel& l = t.level[0];
  return t.level_count != 1 || t.cube() || l.pitch > ~0u || l.width > INT32_MAX ? nullptr : fetch_grid;
}

namespace {
US_CLONES bool all_are(const u64* words, u64 value) {
  u64 other = 0;
  for (u32 l = 0; l < kLanes; ++l) other |= words[l] ^ value;
  return !other;
}
US_CLONES void put_all(const u32* __restrict from, u64* __restrict to) {
  for (u32 l = 0; l < kLanes; ++l) to[l] = from[l];
}
US_CLONES void put_some(const u32* __restrict from, u32 mask, u64* __restrict to) {
  for (u32 l = 0; l < kLanes; ++l) to[l] = mask >> l & 1 ? from[l] : to[l];
}
}  // namespace

US_CLONES u32 lanes_with(const u64* words, u64 value) {
  if (all_are(words, value)) return ~0u;
  u32 mask = 0;
  for (u32 l = 0; l < kLanes; ++l) mask |= static_cast<u32>(words[l] == value) << l;
  return mask;
}

void put_lanes(const WarpTexels& t, u32 channels, u32 mask, u64* results) {
  static constexpr u32 kZeros[kLanes] = {};
  for (u32 c = 0; c < 4; ++c) {
    const u32* const from = c < channels ? t.c[c] : kZeros;
    mask == ~0u ? put_all(from, results + c * kLanes) : put_some(from, mask, results + c * kLanes);
  }
}

}  // namespace us::memory
