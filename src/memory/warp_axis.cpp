// SPDX-License-Identifier: Apache-2.0
// Turns the coordinates of 32 lanes into texel numbers and weights. Doubles hold every intermediate value exactly: what
// would need more bits is so far outside that clamping it changes nothing, or repeats so often that the lane is slow.
#include <algorithm>
#include <bit>
#include <cmath>

#include "memory/warp_parts.h"

namespace us::memory {
namespace {

constexpr double kFar = 1 << 29;      // beyond every texture, in filter coordinates; repeated from farther away is slow
constexpr i32 kMostOffset = 1 << 16;  // more is slow

US_IN_CLONES float real(u64 word) { return std::bit_cast<float>(static_cast<u32>(word)); }
// Written without conditional expressions where a compiler would turn them into branches.
US_IN_CLONES i32 clamped(i32 i, i32 low, i32 high) { return std::min(std::max(i, low), high); }
US_IN_CLONES i32 inside_or_minus_one(i32 i, i32 n) {
  return i | -static_cast<i32>(static_cast<u32>(i) >= static_cast<u32>(n));
}
US_IN_CLONES i32 mirrored(i32 k, i32 n) { return k < n ? k : 2 * n - 1 - k; }
// i modulo n. The quotient of numbers of 30 bits is wrong by one at most.
US_IN_CLONES i32 modulo(i32 i, i32 n, double reciprocal) {
  i32 k = i - static_cast<i32>(std::floor(static_cast<double>(i) * reciprocal)) * n;
  k += k < 0 ? n : 0;
  return k >= n ? k - n : k;
}

// What a coordinate is in texels, times 256 for a filter, rounded down.
template <bool kNormalised, bool kFilter>
US_IN_CLONES double place(u64 word, double steps, double size) {
  constexpr double kUnit = kFilter ? kTexel : 1, kHalf = kFilter ? 0.5 : 0;
  const double given = real(word), x = given == given ? given : 0;
  if constexpr (kNormalised) return std::floor(std::floor(x * steps) * size * (kUnit / steps) + kHalf);
  return std::floor(x * kUnit + kHalf);
}

// Texel i and the next one.
template <AddressMode kMode>
US_IN_CLONES void addressed(i32 i, i32 n, double reciprocal, i32& first, i32& second) {
  if constexpr (kMode == AddressMode::Clamp) {
    first = clamped(i, 0, n - 1), second = clamped(i + 1, 0, n - 1);
  } else if constexpr (kMode == AddressMode::Wrap) {
    first = modulo(i, n, reciprocal);
    second = first + 1 == n ? 0 : first + 1;
  } else if constexpr (kMode == AddressMode::Mirror) {
    const i32 k = modulo(i, 2 * n, reciprocal / 2);
    first = mirrored(k, n), second = mirrored(k + 1 == 2 * n ? 0 : k + 1, n);
  } else {
    first = inside_or_minus_one(i, n), second = inside_or_minus_one(i + 1, n);
  }
}

template <AddressMode kMode, bool kNormalised, bool kFilter, bool kOffset>
US_IN_CLONES void axis(u32 size, const u64* __restrict at, const u64* __restrict offset, WarpAxis& __restrict out,
                       u32* __restrict slow) {
  constexpr bool kRepeats = kMode == AddressMode::Wrap || kMode == AddressMode::Mirror;
  const double steps = static_cast<double>(1u << digits_for(size)), reciprocal = 1.0 / size;
  const i32 n = static_cast<i32>(size);
  i32 weights = 0, outside = 0;
  for (u32 l = 0; l < kLanes; ++l) {
    const double q = place<kNormalised, kFilter>(at[l], steps, size);
    i32 i = static_cast<i32>(std::min(std::max(q, -kFar), kFar));
    u32 rare = kRepeats ? !(std::fabs(q) <= kFar) : 0;
    if constexpr (kOffset) {
      const i32 by = static_cast<i32>(offset[l]);
      const bool near = by > -kMostOffset && by < kMostOffset;
      i += (near ? by : 0) * (kFilter ? kTexel : 1);
      rare |= !near;
    }
    if constexpr (kFilter) i -= kTexel / 2;
    if constexpr (kFilter && kMode == AddressMode::Clamp) i = clamped(i, 0, (n - 1) * kTexel);
    i32 first, second;
    addressed<kMode>(kFilter ? i >> 8 : i, n, reciprocal, first, second);
    out.first[l] = first;
    if constexpr (kFilter) {
      out.second[l] = second, out.weight[l] = i & 255;
      weights |= i & 255;
    }
    if constexpr (kMode == AddressMode::Border) outside |= kFilter ? first | second : first;
    if constexpr (kRepeats || kOffset) slow[l] |= rare;
  }
  out.blends = weights;
  out.outside = outside < 0;
}

#define US_AXIS(mode, normalised, filter)                                                                   \
  US_CLONES void axis_##mode##normalised##filter(u32 size, const u64* at, const u64* offset, WarpAxis& out, \
                                                 u32* slow) {                                               \
    if (offset) return axis<AddressMode::mode, normalised, filter, true>(size, at, offset, out, slow);      \
    axis<AddressMode::mode, normalised, filter, false>(size, at, nullptr, out, slow);                       \
  }
US_AXIS(Clamp, 0, 0)
US_AXIS(Clamp, 0, 1)
US_AXIS(Clamp, 1, 0)
US_AXIS(Clamp, 1, 1)
US_AXIS(Border, 0, 0)
US_AXIS(Border, 0, 1)
US_AXIS(Border, 1, 0)
US_AXIS(Border, 1, 1)
US_AXIS(Wrap, 1, 0)
US_AXIS(Wrap, 1, 1)
US_AXIS(Mirror, 1, 0)
US_AXIS(Mirror, 1, 1)
#undef US_AXIS

// Cubes -------------------------------------------------------------------------------------------------------------
// See sample.cpp: faces are +x -x +y -y +z -z, the largest component picks.
template <bool kFilter>
US_IN_CLONES u32 along_face(double s, i32 n, i32& first, i32& second, i32& weight) {
  constexpr double kUnit = kFilter ? 0x1p-13 : 0x1p-21, kHalf = kFilter ? 0.5 : 0;
  const bool number = s >= 0 && s <= 1;  // not where all coordinates are 0, or one is none
  const i32 q = static_cast<i32>(std::floor(std::floor((number ? s : 0) * 0x1p21) * n * kUnit + kHalf)) -
                (kFilter ? kTexel / 2 : 0);
  const i32 i = kFilter ? q >> 8 : q;
  first = clamped(i, 0, n - 1), second = clamped(i + 1, 0, n - 1);
  weight = kFilter ? q & 255 : 0;
  const u32 edge = kFilter ? static_cast<u32>(static_cast<u32>(q) >= static_cast<u32>((n - 1) * kTexel)) : 0;
  return static_cast<u32>(!number) | edge;
}
template <bool kFilter>
US_IN_CLONES void cube(u32 size, const u64* __restrict ax, const u64* __restrict ay, const u64* __restrict az,
                       WarpAxis& __restrict u, WarpAxis& __restrict v, i32* __restrict face, u32* __restrict slow) {
  const i32 n = static_cast<i32>(size);
  for (u32 l = 0; l < kLanes; ++l) {
    const double x = real(ax[l]), y = real(ay[l]), z = real(az[l]);
    const double wide = std::fabs(x), high = std::fabs(y), deep = std::fabs(z);
    const bool on_z = deep >= wide && deep >= high, on_y = !on_z && high >= wide;
    const double major = on_z ? z : on_y ? y : x, length = std::fabs(major);
    const double sign = major < 0 ? -1 : 1;
    const double to_s = on_z ? sign * x : on_y ? x : -sign * z, to_t = on_y ? sign * z : -y;
    const double s = to_s / length * 0.5 + 0.5, t = to_t / length * 0.5 + 0.5;
    face[l] = (on_z ? 4 : on_y ? 2 : 0) + static_cast<i32>(major < 0);
    i32 first[2], second[2], weight[2];
    const u32 rare = along_face<kFilter>(s, n, first[0], second[0], weight[0]) |
                     along_face<kFilter>(t, n, first[1], second[1], weight[1]);
    u.first[l] = first[0], v.first[l] = first[1];
    if constexpr (kFilter) {
      u.second[l] = second[0], v.second[l] = second[1];
      u.weight[l] = weight[0], v.weight[l] = weight[1];
    }
    slow[l] |= rare;
  }
}
US_CLONES void cube_point(u32 n, const u64* x, const u64* y, const u64* z, WarpAxis& u, WarpAxis& v, i32* face,
                          u32* slow) {
  cube<false>(n, x, y, z, u, v, face, slow);
}
US_CLONES void cube_filter(u32 n, const u64* x, const u64* y, const u64* z, WarpAxis& u, WarpAxis& v, i32* face,
                           u32* slow) {
  cube<true>(n, x, y, z, u, v, face, slow);
}

US_CLONES bool any(const u64* words) {
  u64 all = 0;
  for (u32 l = 0; l < kLanes; ++l) all |= words[l];
  return all;
}

auto axis_for(const AxisRule& a) {
  const u32 way = a.normalised * 2u + a.filter;
  switch (a.mode) {
    case AddressMode::Wrap:
      return a.filter ? axis_Wrap11 : axis_Wrap10;
    case AddressMode::Mirror:
      return a.filter ? axis_Mirror11 : axis_Mirror10;
    case AddressMode::Border:
      return way == 0 ? axis_Border00 : way == 1 ? axis_Border01 : way == 2 ? axis_Border10 : axis_Border11;
    case AddressMode::Clamp:
      break;
  }
  return way == 0 ? axis_Clamp00 : way == 1 ? axis_Clamp01 : way == 2 ? axis_Clamp10 : axis_Clamp11;
}

}  // namespace

void warp_axis(const AxisRule& a, const u64* at, const u64* offset, WarpAxis& out, WarpSlow& slow) {
  const u64* const by = offset && any(offset) ? offset : nullptr;
  axis_for(a)(a.size, at, by, out, slow.lane);
  slow.any |= by || a.mode == AddressMode::Wrap || a.mode == AddressMode::Mirror;
}

US_CLONES void warp_texels(u32 size, const u64* at, const u64* offset, WarpAxis& out) {
  const i64 n = size;
  u32 outside = 0;
  for (u32 l = 0; l < kLanes; ++l) {
    const i64 i = static_cast<i64>(static_cast<i32>(at[l])) + (offset ? static_cast<i32>(offset[l]) : 0);
    out.first[l] = i >= 0 && i < n ? static_cast<i32>(i) : -1;
    outside |= static_cast<u32>(out.first[l]) >> 31;
  }
  out.outside = outside;
}

void warp_cube(u32 size, bool filter, const u64* const* at, WarpAxis& x, WarpAxis& y, i32* face, WarpSlow& slow) {
  slow.any = true;
  (filter ? cube_filter : cube_point)(size, at[0], at[1], at[2], x, y, face, slow.lane);
  x.blends = y.blends = true;
}

US_CLONES u32 mask_of(const WarpSlow& slow) {
  if (!slow.any) return 0;
  u32 mask = 0;
  for (u32 l = 0; l < kLanes; ++l) mask |= static_cast<u32>(slow.lane[l] != 0) << l;
  return mask;
}

}  // namespace us::memory
