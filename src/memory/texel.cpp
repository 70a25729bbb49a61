// SPDX-License-Identifier: Apache-2.0
#include "memory/texel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "memory/sample_rules.h"
#include "numerics/numerics.h"

namespace us::memory {

TexelKind kind_of(const TextureObject& t, u32 channel) {
  const bool f = t.read_normalised || t.format.normalised();
  switch (t.format.type) {
    case TexelType::U8:
    case TexelType::Unorm8:
      return !f ? TexelKind::Integer : t.srgb && channel < 3 ? TexelKind::Srgb : TexelKind::Unorm8;
    case TexelType::U16:
    case TexelType::Unorm16:
      return f ? TexelKind::Unorm16 : TexelKind::Integer;
    case TexelType::S8:
    case TexelType::Snorm8:
      return f ? TexelKind::Snorm8 : TexelKind::Integer;
    case TexelType::S16:
    case TexelType::Snorm16:
      return f ? TexelKind::Snorm16 : TexelKind::Integer;
    case TexelType::F16:
      return TexelKind::F16;
    case TexelType::F32:
      return TexelKind::F32;
    default:
      return TexelKind::Integer;
  }
}
bool is_signed(TexelType t) {
  return t == TexelType::S8 || t == TexelType::S16 || t == TexelType::S32 || t == TexelType::Snorm8 ||
         t == TexelType::Snorm16;
}

namespace {

using Kind = TexelKind;

u32 raw(const TextureObject& t, const u8* at, u32 channel) {
  const u32 bytes = t.format.channel_bytes();
  u32 v = 0;
  if (bytes == 1) {
    v = at[channel];
  } else if (bytes == 2) {
    std::memcpy(&v, at + channel * 2, 2);
  } else {
    std::memcpy(&v, at + channel * 4, 4);
  }
  if (!is_signed(t.format.type)) return v;
  const u32 up = 32 - 8 * bytes;
  return static_cast<u32>(static_cast<i32>(v << up) >> up);
}

u32 bits(float f) { return std::bit_cast<u32>(f); }
u32 unorm(u32 n) { return bits(static_cast<float>(n / 65535.0)); }
u32 snorm(i64 n) { return bits(static_cast<float>(static_cast<double>(std::max<i64>(n, -32767)) / 32767.0)); }
u32 snorm8(i32 n) { return bits(std::max(static_cast<float>(n / 127.0), -1.0f)); }
u32 half(u32 h) {
  if ((h & 0x7fff) > 0x7c00) return (h & 0x8000) << 16 | 0x7f800000 | (h & 0x3ff) << 13;
  return bits(static_cast<float>(numerics::widen(h, numerics::kF16)));
}

// sRGB code -> significand << 8 | binary exponent; the value is significand * 2^exponent / 2^14. Recorded on an H200.
struct Small {
  u32 significand, exponent;
};
Small linear_of_srgb(u32 code) {
  static constexpr u16 table[256] = {
#include "memory/srgb.inc"
  };
  return {static_cast<u32>(table[code] >> 4), static_cast<u32>(table[code] & 15)};
}
u32 srgb(u32 code) {
  const Small s = linear_of_srgb(code);
  return bits(std::ldexp(static_cast<float>(s.significand), static_cast<int>(s.exponent) - 21));
}

u32 channel_value(const TextureObject& t, u32 channel, u32 v) {
  switch (kind_of(t, channel)) {
    case Kind::Integer:
    case Kind::F32:
      return v;
    case Kind::Unorm8:
      return unorm(v * 257);
    case Kind::Unorm16:
      return unorm(v);
    case Kind::Snorm8:
      return snorm8(static_cast<i32>(v));
    case Kind::Snorm16:
      return snorm(static_cast<i32>(v));
    case Kind::Srgb:
      return srgb(v);
    case Kind::F16:
      return half(v);
  }
  US_UNREACHABLE();
}

// A number as significand * 2^exponent; zero has no exponent.
struct Scaled {
  i64 significand;
  int exponent;
};
constexpr Scaled kZero{0, -100000};
double power_of_two(int e) { return std::bit_cast<double>(static_cast<u64>(e + 1023) << 52); }
// The first `digits` (at most 24) significant bits of a number that is not 0.
Scaled scaled(float f, int digits) {
  const u32 b = std::bit_cast<u32>(f), exponent = b >> 23 & 0xff;
  if (exponent == 0) {
    int e = 0;
    const float m = std::frexp(f, &e);
    return {static_cast<i64>(std::ldexp(m, digits)), e - digits};
  }
  const i64 magnitude = static_cast<i64>((b & 0x7fffff) | 0x800000) >> (24 - digits);
  return {b >> 31 ? -magnitude : magnitude, static_cast<int>(exponent) - 126 - digits};
}
// The significand cut down (toward zero) to a multiple of 2^exponent.
i64 at_exponent(const Scaled& s, int exponent) {
  const int down = exponent - s.exponent;
  if (down <= 0) return s.significand << std::min(-down, 62);
  if (down > 62) return 0;
  return s.significand < 0 ? -(-s.significand >> down) : s.significand >> down;
}
i64 floor_at_exponent(const Scaled& s, int exponent) {
  const int down = exponent - s.exponent;
  return down <= 0 ? s.significand << -down : s.significand >> std::min(down, 63);
}

// `digits` significant bits, halves away from zero.
double rounded(const Scaled& s, int digits) {
  const u64 magnitude = static_cast<u64>(s.significand < 0 ? -s.significand : s.significand);
  const int excess = std::max(static_cast<int>(std::bit_width(magnitude)) - digits, 0);
  const u64 kept = excess ? (magnitude + (u64{1} << (excess - 1))) >> excess : magnitude;
  const double r = static_cast<double>(kept) * power_of_two(s.exponent + excess);
  return s.significand < 0 ? -r : r;
}

// Sums weighted numbers; `extra` bits below the significand of the largest are kept.
class Sum {
  static constexpr u32 kPlanes = 4;

 public:
  Sum(int digits, int extra) : digits_(digits), extra_(extra) {}
  void add(float value, u32 weight, u32 plane) {
    if (!weight) return;
    if (!std::signbit(value)) all_negative_ = false;
    if (!std::isfinite(value)) {
      special_ = any_special_ ? special_ + value : value;
      any_special_ = true;
    }
    if (any_special_ || value == 0) return;
    add(scaled(value, digits_), weight, plane);
  }
  void add(Scaled s, u32 weight, u32 plane) {
    if (!weight || !s.significand) return;
    terms_[plane][count_[plane]++] = {s, weight};
  }
  double result(int digits) const {
    if (any_special_) return special_;
    Scaled sum = kZero;
    for (u32 p = 0; p < kPlanes; ++p) sum = added(sum, plane(p));
    if (!sum.significand) return all_negative_ ? -0.0 : 0.0;
    return rounded(sum, digits);
  }

 private:
  struct Term {
    Scaled value;
    u32 weight;
  };
  static Scaled added(const Scaled& a, const Scaled& b) {
    if (!a.significand) return b;
    if (!b.significand) return a;
    const int e = std::max(a.exponent, b.exponent) - 2;
    return {floor_at_exponent(a, e) + floor_at_exponent(b, e), e};
  }
  Scaled plane(u32 p) const {
    if (!count_[p]) return kZero;
    int e = -100000;
    for (u32 k = 0; k < count_[p]; ++k) e = std::max(e, terms_[p][k].value.exponent);
    Scaled s{0, e - extra_};
    for (u32 k = 0; k < count_[p]; ++k)
      s.significand += at_exponent(terms_[p][k].value, s.exponent) * static_cast<i64>(terms_[p][k].weight);
    s.exponent -= 8;
    return s;
  }
  int digits_, extra_;
  Term terms_[kPlanes][4];
  u32 count_[kPlanes] = {};
  bool any_special_ = false, all_negative_ = true;
  double special_ = 0;
};

u32 canonical(double v) { return std::isnan(v) ? 0x7fffffffu : bits(static_cast<float>(v)); }
double overflow(double v, double limit) { return std::fabs(v) > limit ? std::copysign(INFINITY, v) : v; }

u32 filter_float(const TextureObject& t, std::span<const Tap> taps, u32 channel, bool wide) {
  Sum sum(wide ? 24 : 11, 4);
  for (const Tap& tap : taps) {
    float f = t.border[channel];
    if (tap.at) {
      const u32 v = raw(t, tap.at, channel);
      f = wide ? std::bit_cast<float>(v) : std::bit_cast<float>(half(v));
    }
    if (wide && std::fabs(f) < 0x1p-126f) f = std::copysign(0.0f, f);
    sum.add(f, tap.weight, tap.plane);
  }
  return canonical(overflow(sum.result(wide ? 24 : 11), wide ? 0x1.fffffep127 : 65504.0));
}
u32 filter_srgb(const TextureObject& t, std::span<const Tap> taps, u32 channel) {
  Sum sum(8, 0);
  for (const Tap& tap : taps) {
    if (!tap.at) {
      sum.add(t.border[channel], tap.weight, tap.plane);
      continue;
    }
    const Small s = linear_of_srgb(raw(t, tap.at, channel));
    sum.add(Scaled{s.significand, static_cast<int>(s.exponent) - 21}, tap.weight, tap.plane);
  }
  return canonical(std::fabs(sum.result(11)));
}
// The border's colour as a number of a normalised format: the nearest, halves down.
i64 border_steps(const TextureObject& t, u32 channel, float one, float low) {
  return static_cast<i64>(std::ceil(std::clamp(t.border[channel], low, 1.0f) * one - 0.5f));
}
u32 border_channel(const TextureObject& t, u32 channel) {
  const float b = t.border[channel];
  switch (kind_of(t, channel)) {
    case Kind::Integer: {
      if (t.format.channel_bytes() == 4) return bits(b);
      const double top = is_signed(t.format.type) ? (t.format.channel_bytes() == 1 ? 127 : 32767)
                                                  : (t.format.channel_bytes() == 1 ? 255 : 65535);
      const double low = is_signed(t.format.type) ? -top - 1 : 0;
      return static_cast<u32>(static_cast<i32>(std::clamp<double>(b, low, top)));
    }
    case Kind::Unorm8:
      return channel_value(t, channel, static_cast<u32>(border_steps(t, channel, 255, 0)));
    case Kind::Unorm16:
      return channel_value(t, channel, static_cast<u32>(border_steps(t, channel, 65535, 0)));
    case Kind::Snorm8:
      return channel_value(t, channel, static_cast<u32>(border_steps(t, channel, 127, -1)));
    case Kind::Snorm16:
      return channel_value(t, channel, static_cast<u32>(border_steps(t, channel, 32767, -1)));
    case Kind::Srgb:
    case Kind::F16:
    case Kind::F32:
      return bits(b);
  }
  US_UNREACHABLE();
}

// Channels as integers: the border is what its number is in them.
i64 weighted(const TextureObject& t, std::span<const Tap> taps, u32 channel, float one) {
  i64 s = 0;
  for (const Tap& tap : taps) {
    const i64 v = tap.at ? i64{static_cast<i32>(raw(t, tap.at, channel))}
                         : border_steps(t, channel, one, is_signed(t.format.type) ? -1 : 0);
    s += v * i64{tap.weight};
  }
  return s;
}

u32 filter_channel(const TextureObject& t, std::span<const Tap> taps, u32 channel) {
  switch (kind_of(t, channel)) {
    case Kind::Integer:
      return taps[0].at ? raw(t, taps[0].at, channel) : border_channel(t, channel);
    case Kind::Unorm8:
      return unorm(static_cast<u32>((weighted(t, taps, channel, 255) * 257 + 128) >> 8));
    case Kind::Unorm16:
      return unorm(static_cast<u32>((weighted(t, taps, channel, 65535) + 128) >> 8));
    case Kind::Snorm8: {
      const i64 s = weighted(t, taps, channel, 127);
      return snorm((s * 258 + ((s >> 12) << 5) + 128) >> 8);
    }
    case Kind::Snorm16:
      return snorm((weighted(t, taps, channel, 32767) + 128) >> 8);
    case Kind::Srgb:
      return filter_srgb(t, taps, channel);
    case Kind::F16:
      return filter_float(t, taps, channel, false);
    case Kind::F32:
      return filter_float(t, taps, channel, true);
  }
  US_UNREACHABLE();
}

const std::array<u32, 256>& code_table(Kind kind) {
  static const auto tables = [] {
    std::array<std::array<u32, 256>, 3> all;
    for (u32 v = 0; v < 256; ++v) {
      all[0][v] = unorm(v * 257);
      all[1][v] = snorm8(static_cast<i32>(static_cast<i8>(v)));
      all[2][v] = srgb(v);
    }
    return all;
  }();
  return tables[kind == Kind::Unorm8 ? 0 : kind == Kind::Snorm8 ? 1 : 2];
}

}  // namespace

const u32* codes_of(TexelKind kind) { return code_table(kind).data(); }

i32 border_number(const TextureObject& t, u32 channel) {
  const bool wide = t.format.channel_bytes() == 2, negative = is_signed(t.format.type);
  const float one = wide ? (negative ? 32767 : 65535) : (negative ? 127 : 255);
  return static_cast<i32>(border_steps(t, channel, one, negative ? -1 : 0));
}

u32 border_value(const TextureObject& t, u32 channel) { return border_channel(t, channel); }

Texel read_texel(const TextureObject& t, const u8* at) {
  Texel r;
  if (t.format.channel_bytes() == 4) {  // whatever they are, they are read as they are
    std::memcpy(r.c, at, 4 * std::size_t{t.format.channels});
    return r;
  }
  for (u32 k = 0; k < t.format.channels; ++k) r.c[k] = channel_value(t, k, raw(t, at, k));
  return r;
}

Texel border_texel(const TextureObject& t) {
  Texel r;
  for (u32 k = 0; k < t.format.channels; ++k) r.c[k] = border_channel(t, k);
  return r;
}

Texel filter_taps(const TextureObject& t, std::span<const Tap> taps) {
  Texel r;
  for (u32 k = 0; k < t.format.channels; ++k) r.c[k] = filter_channel(t, taps, k);
  return r;
}

}  // namespace us::memory
