// SPDX-License-Identifier: Apache-2.0
// Rounding of f64 values to narrow formats, and the half precision operations built on it: sums and products of halves
// are exact in f64 up to a residual, whose sign is enough to round once.
#include <bit>
#include <cmath>

#include "numerics/numerics.h"

namespace us::numerics {
namespace {

double f64(u64 bits) { return std::bit_cast<double>(bits); }
u64 bits_of(double v) { return std::bit_cast<u64>(v); }

bool rounds_up(Round r, bool negative, u64 kept, u64 rest, u64 half) {
  switch (r) {
    case Round::Nearest:
      return rest > half || (rest == half && (kept & 1));
    case Round::Zero:
      return false;
    case Round::Down:
      return negative && rest;
    case Round::Up:
      return !negative && rest;
  }
  US_UNREACHABLE();
}

}  // namespace

u64 narrow(double value, double residual, Format f, Round r) {
  const int width = 1 + f.exponent + f.mantissa, bias = (1 << (f.exponent - 1)) - 1;
  const u64 inf = ((1ull << f.exponent) - 1) << f.mantissa;
  const bool negative = std::signbit(value);
  const u64 sign = negative ? 1ull << (width - 1) : 0;
  if (std::isnan(value)) return (1ull << (width - 1)) - 1;
  if (std::isinf(value)) return sign | inf;
  if (value == 0) return sign;

  int exponent;  // value = m * 2^(exponent - 56)
  u64 m = bits_of(value) & ((1ull << 52) - 1);
  if (const int field = static_cast<int>(bits_of(value) >> 52 & 0x7ff))
    m = (m | 1ull << 52) << 3, exponent = field - 1022;
  else
    m = static_cast<u64>(std::ldexp(std::frexp(std::fabs(value), &exponent), 53)) << 3;
  if (residual != 0) m = (residual < 0) == negative ? m | 1 : m - 1;
  if (m < (1ull << 55)) m = m << 1 | 1, --exponent;  // the residual took the leading bit

  int biased = exponent - 1 + bias;
  int drop = 55 - f.mantissa;  // bits of m below the last kept one
  if (biased < 1) drop += 1 - biased, biased = 1;
  if (drop > 62) drop = 62;
  const u64 kept = m >> drop, rest = m & ((1ull << drop) - 1);
  u64 out = (static_cast<u64>(biased - 1) << f.mantissa) + kept;  // the hidden bit, if there, adds one to the exponent
  if (rounds_up(r, negative, kept, rest, 1ull << (drop - 1))) ++out;
  if (biased - 1 >= (1 << f.exponent) - 1 || out >= inf) {
    const bool to_max = r == Round::Zero || (r == Round::Down && !negative) || (r == Round::Up && negative);
    out = to_max ? inf - 1 : inf;
  }
  return sign | out;
}

double widen(u64 bits, Format f) {
  const int bias = (1 << (f.exponent - 1)) - 1, top = (1 << f.exponent) - 1;
  const bool negative = bits >> (f.exponent + f.mantissa) & 1;
  const int e = static_cast<int>(bits >> f.mantissa) & top;
  const u64 m = bits & ((1ull << f.mantissa) - 1);
  double v;
  if (e == top)
    v = m ? std::nan("") : INFINITY;
  else if (e == 0)
    v = std::ldexp(static_cast<double>(m), 1 - bias - f.mantissa);
  else
    v = std::ldexp(static_cast<double>(m | 1ull << f.mantissa), e - bias - f.mantissa);
  return negative ? -v : v;
}

namespace {
// A NaN keeps its sign and the upper bits of its payload.
u64 converted(u64 a, Format f, Round r) {
  if (!std::isnan(f64(a))) return narrow(f64(a), 0, f, r);
  const int width = 1 + f.exponent + f.mantissa;
  const u64 exponent = ((1ull << f.exponent) - 1) << f.mantissa;
  return a >> 63 << (width - 1) | exponent | 1ull << (f.mantissa - 1) | a << 12 >> (64 - f.mantissa);
}
}  // namespace
#define US_DIRECTED(name, format)                                                       \
  u64 f64_to_##name(u64 a, u64, u64) { return converted(a, format, Round::Nearest); }   \
  u64 f64_to_##name##_rz(u64 a, u64, u64) { return converted(a, format, Round::Zero); } \
  u64 f64_to_##name##_rm(u64 a, u64, u64) { return converted(a, format, Round::Down); } \
  u64 f64_to_##name##_rp(u64 a, u64, u64) { return converted(a, format, Round::Up); }   \
  u64 name##_to_f64(u64 a, u64, u64) { return bits_of(widen(a, format)); }
US_DIRECTED(f16, kF16)
US_DIRECTED(bf16, kBF16)
#undef US_DIRECTED

namespace {
u64 fma_narrow(u64 a, u64 b, u64 c, Format f) {
  const double p = widen(a, f) * widen(b, f), z = widen(c, f), s = p + z;
  const double z2 = s - p, e = (p - (s - z2)) + (z - z2);
  return narrow(s, std::isfinite(e) ? e : 0, f, Round::Nearest);
}
u64 integer_to_bf16(bool negative, u64 magnitude) {
  const bool fits = magnitude >> 53 == 0;  // else the lower bits only count as "more than"
  const double high = static_cast<double>(fits ? magnitude : magnitude & ~0xfffull),
               low = fits ? 0.0 : static_cast<double>(magnitude & 0xfff);
  return narrow(negative ? -high : high, negative ? -low : low, kBF16, Round::Nearest);
}
}  // namespace
u64 fma_f16(u64 a, u64 b, u64 c) { return fma_narrow(a, b, c, kF16); }
u64 fma_bf16(u64 a, u64 b, u64 c) { return fma_narrow(a, b, c, kBF16); }
u64 u64_to_bf16(u64 a, u64, u64) { return integer_to_bf16(false, a); }
u64 s64_to_bf16(u64 a, u64, u64) {
  const bool negative = static_cast<i64>(a) < 0;
  return integer_to_bf16(negative, negative ? 0 - a : a);
}

// Eight-bit floats. e4m3 has no infinity: exponent 15 holds numbers, only mantissa 7 there is NaN.
u64 f32_to_e4m3(u64 a, u64, u64) {
  const float x = std::bit_cast<float>(static_cast<u32>(a));
  if (std::isnan(x)) return 0x7f;
  const u64 sign = std::signbit(x) ? 0x80 : 0;
  const double m = std::fabs(static_cast<double>(x));
  if (m >= 464) return sign | 0x7e;
  if (m < 0x1p-6) return sign | static_cast<u64>(std::nearbyint(m * 512));
  int e;
  const double q = std::nearbyint(std::frexp(m, &e) * 16);  // 8..16: hidden bit and three more
  const u64 out = (static_cast<u64>(e - 1 + 7) << 3) + static_cast<u64>(q) - 8;
  return sign | (out > 0x7e ? 0x7e : out);
}
u64 f32_to_e5m2(u64 a, u64, u64) {
  const float x = std::bit_cast<float>(static_cast<u32>(a));
  if (std::isnan(x)) return 0x7f;
  const u64 r = narrow(x, 0, {5, 2}, Round::Nearest);
  return (r & 0x7f) >= 0x7c ? (r & 0x80) | 0x7b : r;
}
u64 e5m2_to_f16(u64 a, u64, u64) {
  a &= 0xff;
  return (a & 0x7f) > 0x7c ? 0x7fff : a << 8;
}
u64 e4m3_to_f16(u64 a, u64, u64) {
  const u64 sign = (a & 0x80) << 8, m = a & 0x7f;
  if (m == 0x7f) return 0x7fff;
  const double v = m >= 8 ? std::ldexp(static_cast<double>(8 | (m & 7)), static_cast<int>(m >> 3) - 10)
                          : static_cast<double>(m) / 512;
  return sign | narrow(v, 0, kF16, Round::Nearest);
}

u64 fns(u64 a, u64 b, u64 c) {
  const u32 mask = static_cast<u32>(a);
  const i32 offset = static_cast<i32>(c);
  i64 at = static_cast<u32>(b);
  if (at > 31) return ~0u;
  if (offset == 0) return mask >> at & 1 ? static_cast<u64>(at) : ~0u;
  const int step = offset > 0 ? 1 : -1;
  for (i64 count = std::abs(static_cast<i64>(offset)) - 1; at >= 0 && at < 32; at += step) {
    if (!(mask >> at & 1)) continue;
    if (count-- == 0) return static_cast<u64>(at);
  }
  return ~0u;
}

}  // namespace us::numerics
