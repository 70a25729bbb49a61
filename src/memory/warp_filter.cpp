// SPDX-License-Identifier: Apache-2.0
// Channels of 32 lanes: converted, or weighted as texel.h says. Sums of significands are doubles, which hold them
// exactly.
#include <bit>
#include <cmath>

#include "memory/warp_parts.h"

namespace us::memory {
namespace {

US_IN_CLONES u32 bits(float f) { return std::bit_cast<u32>(f); }
US_IN_CLONES float real(u32 b) { return std::bit_cast<float>(b); }
US_IN_CLONES double real(u64 b) { return std::bit_cast<double>(b); }

// As in texel.cpp; a NaN keeps its payload.
US_IN_CLONES u32 half(u32 h) {
  const u32 magnitude = (h & 0x7fff) << 13, exponent = magnitude & 0x0f800000;
  const u32 denormal = bits(real(magnitude + 0x38800000) - 0x1p-14f);
  const u32 number = magnitude + (exponent == 0x0f800000 ? 0x70000000 : 0x38000000);
  return (exponent == 0 ? denormal : number) | (h & 0x8000) << 16;
}

// Where a channel lies in the words of a texel.
struct Place {
  u32 word, up, down;  // shifted up, then down: from both ends
  bool is_signed;
};
Place place_of(const TextureObject& t, u32 channel) {
  const u32 width = t.format.channel_bytes() * 8, at = channel * width;
  return {at / 32, 32 - width - at % 32, 32 - width, is_signed(t.format.type)};
}
US_CLONES void shift(const Place& p, const u32* __restrict from, u32 count, u32* __restrict out) {
  if (p.is_signed)
    for (u32 l = 0; l < count * kLanes; ++l) out[l] = static_cast<u32>(static_cast<i32>(from[l] << p.up) >> p.down);
  else
    for (u32 l = 0; l < count * kLanes; ++l) out[l] = from[l] << p.up >> p.down;
}
US_CLONES void select(const u32* __restrict inside, u32 otherwise, u32 count, u32* __restrict v) {
  for (u32 l = 0; l < count * kLanes; ++l) v[l] = inside[l] ? v[l] : otherwise;
}

US_CLONES void from_codes(const u32* codes, u32* v) {
  for (u32 l = 0; l < kLanes; ++l) v[l] = codes[v[l] & 255];
}
US_CLONES void from_unorm(u32* v) {
  for (u32 l = 0; l < kLanes; ++l)
    v[l] = bits(static_cast<float>(static_cast<double>(static_cast<i32>(v[l])) / 65535.0));
}
US_CLONES void from_snorm(u32* v) {
  for (u32 l = 0; l < kLanes; ++l) {
    const i32 n = static_cast<i32>(v[l]);
    v[l] = bits(static_cast<float>(static_cast<double>(n < -32767 ? -32767 : n) / 32767.0));
  }
}
US_CLONES void from_half(u32 count, u32* v) {
  for (u32 l = 0; l < count * kLanes; ++l) v[l] = half(v[l]);
}

void convert(TexelKind kind, u32* v) {
  switch (kind) {
    case TexelKind::Integer:
    case TexelKind::F32:
      return;
    case TexelKind::Unorm8:
    case TexelKind::Snorm8:
    case TexelKind::Srgb:
      return from_codes(codes_of(kind), v);
    case TexelKind::Unorm16:
      return from_unorm(v);
    case TexelKind::Snorm16:
      return from_snorm(v);
    case TexelKind::F16:
      return from_half(1, v);
  }
}

using Lanes = const u32 (*)[kLanes];  // of every tap

// The first step from sums of weighted numbers to values: 16 bits.
template <TexelKind kKind>
US_IN_CLONES i32 rounded(i32 s) {
  if constexpr (kKind == TexelKind::Unorm8) return (s * 257 + 128) >> 8;
  if constexpr (kKind == TexelKind::Snorm8) return (s * 258 + (s >> 12) * 32 + 128) >> 8;
  return (s + 128) >> 8;
}
template <TexelKind kKind, u32 kCount>
US_IN_CLONES void weigh_steps(Lanes v, Lanes weight, u32* __restrict out) {
  constexpr double kOne = kKind == TexelKind::Unorm8 || kKind == TexelKind::Unorm16 ? 65535 : 32767;
  for (u32 l = 0; l < kLanes; ++l) {
    i32 sum = 0;
    for (u32 k = 0; k < kCount; ++k) sum += static_cast<i32>(v[k][l]) * static_cast<i32>(weight[k][l]);
    const i32 n = rounded<kKind>(sum);
    out[l] = bits(static_cast<float>(static_cast<double>(n < -32767 ? -32767 : n) / kOne));
  }
}
template <TexelKind kKind>
US_IN_CLONES void weigh_steps(u32 count, Lanes v, Lanes weight, u32* out) {
  if (count == 1) return weigh_steps<kKind, 1>(v, weight, out);
  if (count == 2) return weigh_steps<kKind, 2>(v, weight, out);
  if (count == 4) return weigh_steps<kKind, 4>(v, weight, out);
  weigh_steps<kKind, 8>(v, weight, out);
}
US_CLONES void filter_steps(TexelKind kind, u32 count, Lanes v, Lanes weight, u32* out) {
  switch (kind) {
    case TexelKind::Unorm8:
      return weigh_steps<TexelKind::Unorm8>(count, v, weight, out);
    case TexelKind::Unorm16:
      return weigh_steps<TexelKind::Unorm16>(count, v, weight, out);
    case TexelKind::Snorm8:
      return weigh_steps<TexelKind::Snorm8>(count, v, weight, out);
    default:
      return weigh_steps<TexelKind::Snorm16>(count, v, weight, out);
  }
}

// Floating point: significands of kDigits bits and 4 more, at the exponent of a plane's largest texel.
struct F32 {
  static constexpr u32 kDigits = 24, kLeast = 0x00800000;  // no denormal numbers
  static constexpr float kLimit = INFINITY;
};
struct F16 {
  static constexpr u32 kDigits = 11, kLeast = 0;
  static constexpr float kLimit = 65504;
};
struct Plane {
  u32 exponent;  // of the largest
  u32 signs;     // the top bit: all texels are negative
  double sum;
};
// Texels of weight 0 do not count. `rare`: there are infinities, or no numbers.
template <class T, u32 kCount>
US_IN_CLONES Plane weigh(Lanes v, Lanes weight, u32 l, u32& rare) {
  u32 value[kCount], top = 0, signs = ~0u;
  for (u32 k = 0; k < kCount; ++k) {
    const u32 given = v[k][l], kept = (given & 0x7fffffff) < T::kLeast ? given & 0x80000000 : given;
    value[k] = weight[k][l] ? kept : 0;
    signs &= weight[k][l] ? given : ~0u;
    top = top > (value[k] & 0x7fffffff) ? top : value[k] & 0x7fffffff;
  }
  rare |= top >= 0x7f800000;
  const double scale = real(static_cast<u64>(1023 + 130 + T::kDigits - (top >> 23)) << 52);
  double sum = 0;
  for (u32 k = 0; k < kCount; ++k)
    sum +=
        std::trunc(static_cast<double>(real(value[k])) * scale) * static_cast<double>(static_cast<i32>(weight[k][l]));
  return {top >> 23, signs, sum};
}
// sum * 2^exponent of kDigits bits, halves away from zero.
template <class T>
US_IN_CLONES u32 number(double sum, i32 exponent, u32 signs) {
  constexpr u64 kHalf = u64{1} << (52 - T::kDigits);
  const double cut = real((std::bit_cast<u64>(sum) + kHalf) & ~(2 * kHalf - 1));
  const float f = static_cast<float>(cut * real(static_cast<u64>(static_cast<u32>(1023 + exponent)) << 52));
  const u32 magnitude = std::fabs(f) > T::kLimit ? 0x7f800000 : bits(f) & 0x7fffffff;
  return sum == 0 ? signs & 0x80000000 : magnitude | (bits(f) & 0x80000000);
}
template <class T>
constexpr i32 kUnit = -138 - static_cast<i32>(T::kDigits);  // of sums, at exponent 0

template <class T, u32 kCount>
US_IN_CLONES u32 one_plane(Lanes v, Lanes weight, u32* __restrict out, u32* __restrict slow) {
  u32 any = 0;
  for (u32 l = 0; l < kLanes; ++l) {
    u32 rare = 0;
    const Plane p = weigh<T, kCount>(v, weight, l, rare);
    out[l] = number<T>(p.sum, static_cast<i32>(p.exponent) + kUnit<T>, p.signs);
    slow[l] |= rare;
    any |= rare;
  }
  return any;
}
// Two planes: both at two bits below the higher exponent, cut down. A plane that is 0 has none.
template <class T, u32 kCount>
US_IN_CLONES u32 two_planes(Lanes v, Lanes weight, u32* __restrict out, u32* __restrict slow) {
  u32 any = 0;
  for (u32 l = 0; l < kLanes; ++l) {
    u32 rare = 0;
    const Plane a = weigh<T, kCount>(v, weight, l, rare), b = weigh<T, kCount>(v + kCount, weight + kCount, l, rare);
    const u32 ea = a.sum == 0 ? 0 : a.exponent, eb = b.sum == 0 ? 0 : b.exponent, high = ea > eb ? ea : eb;
    const double sum = std::floor(a.sum * real(static_cast<u64>(1023 + 2 + ea - high) << 52)) +
                       std::floor(b.sum * real(static_cast<u64>(1023 + 2 + eb - high) << 52));
    out[l] = number<T>(sum, static_cast<i32>(high) + kUnit<T> - 2, a.signs & b.signs);
    slow[l] |= rare;
    any |= rare;
  }
  return any;
}
template <class T>
US_IN_CLONES u32 filter_floats(u32 count, u32 planes, Lanes v, Lanes weight, u32* out, u32* slow) {
  if (planes == 1) {
    if (count == 1) return one_plane<T, 1>(v, weight, out, slow);
    if (count == 2) return one_plane<T, 2>(v, weight, out, slow);
    return one_plane<T, 4>(v, weight, out, slow);
  }
  if (count == 1) return two_planes<T, 1>(v, weight, out, slow);
  if (count == 2) return two_planes<T, 2>(v, weight, out, slow);
  return two_planes<T, 4>(v, weight, out, slow);
}
US_CLONES u32 filter_f32(u32 count, u32 planes, Lanes v, Lanes weight, u32* out, u32* slow) {
  return filter_floats<F32>(count, planes, v, weight, out, slow);
}
US_CLONES u32 filter_f16(u32 count, u32 planes, Lanes v, Lanes weight, u32* out, u32* slow) {
  return filter_floats<F16>(count, planes, v, weight, out, slow);
}

}  // namespace

void warp_point(const TextureObject& t, const WarpTaps& taps, u32 channel, u32* out) {
  const Place p = place_of(t, channel);
  shift(p, taps.word[p.word][0], 1, out);
  convert(kind_of(t, channel), out);
  if (taps.border) select(taps.inside[0], border_value(t, channel), 1, out);
}

void warp_filter(const TextureObject& t, const WarpTaps& taps, u32 channel, u32* out, WarpSlow& slow) {
  const TexelKind kind = kind_of(t, channel);
  const Place p = place_of(t, channel);
  const u32 count = taps.count * taps.planes;
  Lanes v = taps.word[p.word];
  alignas(64) u32 values[WarpTaps::kMost][kLanes];
  if (kind != TexelKind::F32 || taps.border) {
    shift(p, v[0], count, values[0]);
    if (kind == TexelKind::F16) from_half(count, values[0]);
    v = values;
  }
  if (taps.border) {
    const u32 whole = bits(t.border[channel]);
    const u32 border = kind == TexelKind::F32   ? whole
                       : kind == TexelKind::F16 ? whole & ~0x1fffu
                                                : static_cast<u32>(border_number(t, channel));
    select(taps.inside[0], border, count, values[0]);
  }
  if (kind == TexelKind::F32)
    slow.any |= filter_f32(taps.count, taps.planes, v, taps.weight, out, slow.lane);
  else if (kind == TexelKind::F16)
    slow.any |= filter_f16(taps.count, taps.planes, v, taps.weight, out, slow.lane);
  else
    filter_steps(kind, count, v, taps.weight, out);
}

US_CLONES void warp_weights(const WarpAxis& x, const WarpAxis& y, const u32* total, u32 (*out)[kLanes]) {
  for (u32 l = 0; l < kLanes; ++l) {
    const u32 u = static_cast<u32>(x.weight[l]), v = static_cast<u32>(y.weight[l]);
    const u32 far = part(u, total[l]), near = total[l] - far;
    const u32 far_far = part(far, v), near_near = part(near, 256 - v);
    out[0][l] = near_near, out[1][l] = far - far_far, out[2][l] = near - near_near, out[3][l] = far_far;
  }
}

}  // namespace us::memory
