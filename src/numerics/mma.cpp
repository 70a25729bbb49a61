// SPDX-License-Identifier: Apache-2.0
#include "numerics/mma.h"

#include <algorithm>
#include <bit>

#include "numerics/numerics.h"

// Not under ThreadSanitizer: what picks a clone runs before its library is there, and would call it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define US_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define US_CLONES
#endif

namespace us::numerics {
namespace {

struct Facts {
  u32 bits, exponent, mantissa;
  bool infinite;  // the largest exponent field means infinity and NaN
};
constexpr Facts facts(MmaType t) {
  switch (t) {
    case MmaType::F16:
      return {16, 5, 10, true};
    case MmaType::BF16:
      return {16, 8, 7, true};
    case MmaType::TF32:
      return {19, 8, 10, true};
    case MmaType::E4M3:
      return {8, 4, 3, false};
    case MmaType::E5M2:
      return {8, 5, 2, true};
    default:
      return {32, 8, 23, true};
  }
}

constexpr i32 kNowhere = -100000;  // exponent of what does not count
constexpr u32 kPoint = 10;         // fraction bits of a decoded factor
constexpr i32 kLeast = -126;
enum Class : u8 { Zero, Finite, Infinite, NotANumber };

Class classify(u32 v, Facts f) {
  const u32 mantissa = v & ((1u << f.mantissa) - 1), exponent = v >> f.mantissa & ((1u << f.exponent) - 1);
  const bool top = exponent == (1u << f.exponent) - 1;
  if (f.infinite && top) return mantissa ? NotANumber : Infinite;
  if (!f.infinite && top && mantissa == (1u << f.mantissa) - 1) return NotANumber;
  return exponent | mantissa ? Finite : Zero;
}

// n numbers taken apart; returns whether any is an infinity or a NaN.
inline __attribute__((always_inline)) bool take_apart(Facts f, u32 point, const u32* v, u32 n, i32* significand,
                                                      i32* exponent, i32* sign, i32 zero) {
  const u32 fields = (1u << f.exponent) - 1, low = (1u << f.mantissa) - 1, bias = fields >> 1;
  u32 special = 0;
  for (u32 k = 0; k < n; ++k) {
    const u32 x = v[k], m = x & low, e = x >> f.mantissa & fields, absent = 0u - (x >> 31 & (f.bits < 32));
    special |= (f.infinite ? e == fields : (e == fields) & (m == low)) & ~absent;
    const u32 s = (m | (e ? low + 1 : 0)) & ~absent;
    significand[k] = i32(s << (point - f.mantissa));
    exponent[k] = s ? i32(e ? e : 1) - i32(bias) : zero;
    sign[k] = -i32(x >> (f.bits - 1) & 1);
  }
  return special & 1;
}

// total * 2^scale, cut off
u32 to_f32(i64 total, i32 scale) {
  if (!total) return 0;
  const u32 sign = total < 0 ? 0x80000000u : 0;
  const u64 m = total < 0 ? 0 - u64(total) : u64(total);
  const i32 exponent = 63 - std::countl_zero(m) + scale;
  if (exponent > 127) return sign | 0x7f800000u;
  const i32 shift = std::max(exponent - 23, -149) - scale;
  const u64 r = shift <= 0 ? m << -shift : shift > 63 ? 0 : m >> shift;
  return sign | (r >> 23 ? u32(exponent + 127) << 23 | (u32(r) & 0x7fffff) : u32(r));
}
u32 to_f16(i64 total, i32 scale) {
  const double power = std::bit_cast<double>(u64(scale + 1023) << 52);
  const u32 r = u32(narrow(double(total) * power, 0, kF16, Round::Nearest));
  return r == 0x8000 ? 0 : r;  // what rounds to zero is +0
}
u32 nan_of(MmaType d) { return d == MmaType::F16 ? 0x7fff : 0x7fffffffu; }
u32 infinity_of(MmaType d, bool negative) {
  return d == MmaType::F16 ? (negative ? 0xfc00 : 0x7c00) : (negative ? 0xff800000u : 0x7f800000u);
}
// Where fewer fraction bits are kept than an f32 has, its last ones are zero.
u32 rounded(const MmaStep& s, i64 total, i32 largest) {
  const i32 scale = largest - i32(s.fraction);
  if (s.d == MmaType::F16) return to_f16(total, scale);
  return to_f32(total, scale) & (s.fraction < 23 ? ~((1u << (23 - s.fraction)) - 1) : ~0u);
}

// What infinities and NaNs make of a sum; 0: there are none.
u32 special_result(const MmaStep& s, const MmaTile::Column* ta, const u32 (*tb)[kMmaColumns], const MmaTile::Column* tc,
                   u32 i, u32 j) {
  bool nan = false, up = false, down = false;
  auto infinite = [&](bool negative) { (negative ? down : up) = true; };
  const Facts fa = facts(s.a), fb = facts(s.b), fc = facts(s.d);
  for (u32 k = s.first; k < s.last; ++k) {
    const u32 a = ta[k][i], b = tb[k][j];
    if (a == kMmaAbsent) continue;
    const Class x = classify(a, fa), y = classify(b, fb);
    if (x == NotANumber || y == NotANumber) nan = true;
    if (x != Infinite && y != Infinite) continue;
    if (x == Zero || y == Zero)
      nan = true;
    else if (x != NotANumber && y != NotANumber)
      infinite((a >> (fa.bits - 1) ^ b >> (fb.bits - 1)) & 1);
  }
  const Class z = classify(tc[j][i], fc);
  if (z == NotANumber) nan = true;
  if (z == Infinite) infinite(tc[j][i] >> (fc.bits - 1) & 1);
  if (nan || (up && down)) return nan_of(s.d);
  return up || down ? infinity_of(s.d, down) : 0;
}

struct Factors {
  alignas(64) i32 significand[kMmaDepth * kMmaRows];
  alignas(64) i32 exponent[kMmaDepth * kMmaRows];
  alignas(64) i32 sign[kMmaDepth * kMmaRows];
};

// Sums of one column for 16 rows. At most 8 products of less than 2^28 fit an i32, so a step is summed in parts of 8.
US_CLONES void sum_column(const Factors& a, const Factors& b, const Factors& c, u32 j, u32 depth, u32 fraction,
                          i64* total, i32* largest) {
  constexpr u32 n = kMmaRows;
  alignas(64) i32 most[n], part[n];
  alignas(64) i64 sum[n];
  const i32* ce = c.exponent + j * n;
  for (u32 i = 0; i < n; ++i) most[i] = std::max(ce[i], kLeast);
  for (u32 k = 0; k < depth; ++k) {
    const i32 be = b.exponent[k * kMmaColumns + j];
    const i32* ae = a.exponent + k * n;
    for (u32 i = 0; i < n; ++i) most[i] = std::max(most[i], ae[i] + be);
  }
  const i32 left = fraction > 2 * kPoint ? i32(fraction - 2 * kPoint) : 0;
  const i32 right = fraction > 2 * kPoint ? 0 : i32(2 * kPoint - fraction);
  for (u32 i = 0; i < n; ++i) {
    const i32 away = std::min(most[i] - ce[i] + i32(fraction < 23 ? 23 - fraction : 0), 31);
    const u32 m = u32(c.significand[j * n + i]) << (fraction > 23 ? fraction - 23 : 0) >> away;
    const i32 g = c.sign[j * n + i];
    sum[i] = (i32(m) ^ g) - g;
  }
  for (u32 first = 0; first < depth; first += 8) {
    for (u32 i = 0; i < n; ++i) part[i] = 0;
    const u32 last = std::min(first + 8, depth);
    for (u32 k = first; k < last; ++k) {
      const i32 be = b.exponent[k * kMmaColumns + j], bs = b.significand[k * kMmaColumns + j];
      const i32 bg = b.sign[k * kMmaColumns + j];
      const i32 *ae = a.exponent + k * n, *as = a.significand + k * n, *ag = a.sign + k * n;
      for (u32 i = 0; i < n; ++i) {
        const i32 away = std::min(most[i] - (ae[i] + be) + right, 31), g = ag[i] ^ bg;
        const u32 m = u32(as[i] * bs) << left >> away;
        part[i] += (i32(m) ^ g) - g;
      }
    }
    for (u32 i = 0; i < n; ++i) sum[i] += part[i];
  }
  for (u32 i = 0; i < n; ++i) total[i] = sum[i], largest[i] = most[i];
}

US_CLONES bool decode(MmaType t, const u32* v, u32 n, Factors& f, u32 point, i32 zero) {
  switch (t) {  // one loop for each format, with its constants in place
    case MmaType::F16:
      return take_apart(facts(MmaType::F16), point, v, n, f.significand, f.exponent, f.sign, zero);
    case MmaType::BF16:
      return take_apart(facts(MmaType::BF16), point, v, n, f.significand, f.exponent, f.sign, zero);
    case MmaType::TF32:
      return take_apart(facts(MmaType::TF32), point, v, n, f.significand, f.exponent, f.sign, zero);
    case MmaType::E4M3:
      return take_apart(facts(MmaType::E4M3), point, v, n, f.significand, f.exponent, f.sign, zero);
    case MmaType::E5M2:
      return take_apart(facts(MmaType::E5M2), point, v, n, f.significand, f.exponent, f.sign, zero);
    default:
      return take_apart(facts(MmaType::F32), point, v, n, f.significand, f.exponent, f.sign, zero);
  }
}
}  // namespace

u32 bits_of(MmaType t) {
  switch (t) {
    case MmaType::F16:
    case MmaType::BF16:
      return 16;
    case MmaType::F64:
      return 64;
    case MmaType::E4M3:
    case MmaType::E5M2:
    case MmaType::U8:
    case MmaType::S8:
      return 8;
    case MmaType::U4:
    case MmaType::S4:
      return 4;
    case MmaType::B1:
      return 1;
    default:
      return 32;
  }
}

namespace {
// Any numbers.
void step_general(const MmaStep& s, const u32* ta, const u32* tb, const MmaTile::Column* tc, MmaTile::Column* td) {
  Factors a, b, c;
  const u32 depth = s.last - s.first;
  bool special = decode(s.a, ta, depth * kMmaRows, a, kPoint, kNowhere);
  special |= decode(s.b, tb, depth * kMmaColumns, b, kPoint, kNowhere);
  special |= decode(s.d, tc[0], kMmaColumns * kMmaRows, c, 23, kLeast);
  MmaStep whole = s;
  whole.first = 0, whole.last = depth;
  for (u32 j = 0; j < kMmaColumns; ++j) {
    i64 total[kMmaRows];
    i32 largest[kMmaRows];
    sum_column(a, b, c, j, depth, s.fraction, total, largest);
    for (u32 i = 0; i < kMmaRows; ++i) {
      u32 r = 0;
      if (special)
        r = special_result(whole, reinterpret_cast<const MmaTile::Column*>(ta),
                           reinterpret_cast<const u32(*)[kMmaColumns]>(tb), tc, i, j);
      td[j][i] = r ? r : rounded(s, total[i], largest[i]);
    }
  }
}

// Elements as floats, and the powers of two below them. Returns whether all are tame.
template <MmaType T>
inline __attribute__((always_inline)) bool make_floats(const u32* v, u32 n, float* value, float* power) {
  constexpr Facts f = facts(T);
  constexpr u32 fields = (1u << f.exponent) - 1, low = (1u << f.mantissa) - 1, bias = fields >> 1;
  constexpr bool wide = f.exponent == 8;  // of narrower formats everything is tame but infinities and NaNs
  u32 wild = 0;
  for (u32 k = 0; k < n; ++k) {
    const u32 x = v[k] & (0u - u32(v[k] != kMmaAbsent)), m = x & low, e = x >> f.mantissa & fields;
    const u32 any = 0u - u32((m | e) != 0), sign = (x >> (f.bits - 1) & 1) << 31;
    if (wide)
      wild |= any & u32((e < 127 - 48) | (e > 127 + 60));
    else
      wild |= u32(f.infinite ? e == fields : (e == fields) & (m == low));
    const u32 exponent = ((e ? e : 1) + 127 - bias) << 23;
    const float small = float(i32(m)) * std::bit_cast<float>((128 - bias - f.mantissa) << 23);
    const u32 magnitude = wide || e ? exponent | m << (23 - f.mantissa) : std::bit_cast<u32>(small);
    value[k] = std::bit_cast<float>((sign | magnitude) & any);
    power[k] = std::bit_cast<float>(exponent & any);
  }
  return !wild;
}
US_CLONES bool as_floats(MmaType t, const u32* v, u32 n, float* value, float* power) {
  switch (t) {
    case MmaType::F16:
      return make_floats<MmaType::F16>(v, n, value, power);
    case MmaType::BF16:
      return make_floats<MmaType::BF16>(v, n, value, power);
    case MmaType::TF32:
      return make_floats<MmaType::TF32>(v, n, value, power);
    case MmaType::E4M3:
      return make_floats<MmaType::E4M3>(v, n, value, power);
    case MmaType::E5M2:
      return make_floats<MmaType::E5M2>(v, n, value, power);
    default:
      return false;
  }
}

// Sixteen rows at once, as vectors of the compiler. No comparisons: it would take them apart.
using Floats [[gnu::may_alias]] = float __attribute__((vector_size(64)));
using Ints [[gnu::may_alias]] = i32 __attribute__((vector_size(64)));
using Words [[gnu::may_alias]] = u32 __attribute__((vector_size(64)));
using Doubles [[gnu::may_alias]] = double __attribute__((vector_size(128)));
using Longs [[gnu::may_alias]] = i64 __attribute__((vector_size(128)));

// From tame elements: products and scales are floats without an error, and turning a float into an integer cuts off as
// the rule says. Sixteen products of less than 2^27 (of the largest significands) fit an i32. Returns whether all
// results are done: elements of c that are not finite, and results below the smallest normal f32, are left to
// step_general().
US_CLONES bool tame_columns(const MmaElements& a, const MmaElements& b, const MmaTile::Column* c, u32 depth,
                            u32 fraction, MmaTile::Column* d) {
  const i32 up = fraction > 23 ? i32(fraction) - 23 : 0, down = fraction < 23 ? 23 - i32(fraction) : 0;
  const i64 cut = fraction < 23 ? -(i64(1) << (52 - fraction)) : -(i64(1) << 29);
  const auto* of_value = reinterpret_cast<const Floats*>(a.value);
  const auto* of_power = reinterpret_cast<const Floats*>(a.power);
  Ints wild = {};
  for (u32 j = 0; j < kMmaColumns; ++j) {
    const Words x = *reinterpret_cast<const Words*>(c[j]);
    const Ints e = Ints(x >> 23 & 255), subnormal = (e - 1) >> 31;
    wild |= (254 - e) >> 31;
    const Ints exponent = e - subnormal;  // of subnormals as of the smallest normal numbers
    Ints most = exponent << 23;
    for (u32 k = 0; k < depth; ++k) {  // not negative: ordered as integers are
      const Ints more = Ints(of_power[k] * b.power[k * kMmaColumns + j]) - most;
      most += more & ~(more >> 31);
    }
    const Ints largest = (most >> 23) - 127;
    const Words significand = (x & 0x7fffff) | (Words(~subnormal) & 0x800000);
    const Ints further = largest - exponent + (127 + down - 31), away = 31 + (further & (further >> 31));
    const Ints short_of = i32(fraction) - largest - 127,
               place = 127 + (short_of & (short_of >> 31));  // no product is so small
    const Ints negative = Ints(x) >> 31, of_c = (Ints(significand << up >> Words(away)) ^ negative) - negative;
    const Floats scale = Floats((place + 127) << 23);
    Doubles sum = __builtin_convertvector(of_c, Doubles);
    Words low = Words(of_c);  // of the sum
    for (u32 first = 0; first < depth; first += 16) {
      const u32 last = std::min(first + 16, depth);
      Ints part = {};
      for (u32 k = first; k < last; ++k)
        part += __builtin_convertvector(of_value[k] * b.value[k * kMmaColumns + j] * scale, Ints);
      sum += __builtin_convertvector(part, Doubles);
      low += Words(part);
    }
    const Longs power = (__builtin_convertvector(largest, Longs) + (1023 - i64(fraction))) << 52;
    const Floats r = __builtin_convertvector(Doubles(Longs(sum * Doubles(power)) & cut), Floats);
    const Ints small = (Ints(Words(r) >> 23 & 255) - 1) >> 31, some = Ints(low | -low) >> 31;
    wild |= small & some;  // so small a sum is less than 2^25 units
    *reinterpret_cast<Floats*>(d[j]) = r;
  }
  i32 any = 0;
  for (u32 i = 0; i < kMmaRows; ++i) any |= wild[i];
  return !any;
}
}  // namespace

MmaElements mma_elements(MmaType t, const u32* bits, u32 n, float* storage) {
  MmaElements e{bits, storage, storage + n, false};
  e.tame = as_floats(t, bits, n, e.value, e.power);
  return e;
}

void mma_step(const MmaStep& s, const MmaElements& a, const MmaElements& b, const MmaTile::Column* c,
              MmaTile::Column* d) {
  const bool done = a.tame && b.tame && s.d == MmaType::F32 && tame_columns(a, b, c, s.last - s.first, s.fraction, d);
  if (!done) step_general(s, a.bits, b.bits, c, d);
}

void mma_step(const MmaStep& s, MmaTile& t) {
  alignas(64) float of_a[2 * kMmaDepth * kMmaRows], of_b[2 * kMmaDepth * kMmaColumns];
  const u32 depth = s.last - s.first;
  const MmaElements a = mma_elements(s.a, t.a[s.first], depth * kMmaRows, of_a);
  mma_step(s, a, mma_elements(s.b, t.b[s.first], depth * kMmaColumns, of_b), t.c, t.d);
}

void mma_step_reference(const MmaStep& s, MmaTile& t) {
  struct Term {
    bool negative;
    i32 exponent;
    u64 significand;  // with 40 bits behind the point
  };
  auto number = [](u32 v, Facts f) {
    const u32 e = v >> f.mantissa & ((1u << f.exponent) - 1), m = v & ((1u << f.mantissa) - 1);
    return Term{(v >> (f.bits - 1) & 1) != 0, i32(e ? e : 1) - i32((1u << (f.exponent - 1)) - 1),
                u64(e ? m | 1u << f.mantissa : m) << (40 - f.mantissa)};
  };
  for (u32 j = 0; j < kMmaColumns; ++j)
    for (u32 i = 0; i < kMmaRows; ++i) {
      if (const u32 r = special_result(s, t.a, t.b, t.c, i, j)) {
        t.d[j][i] = r;
        continue;
      }
      Term terms[kMmaDepth + 1];
      u32 n = 0;
      Term c = number(t.c[j][i], facts(s.d));
      i32 largest = std::max(c.significand ? c.exponent : kLeast, kLeast);
      terms[n++] = c;
      for (u32 k = s.first; k < s.last; ++k) {
        if (t.a[k][i] == kMmaAbsent) continue;
        const Term x = number(t.a[k][i], facts(s.a)), y = number(t.b[k][j], facts(s.b));
        if (!x.significand || !y.significand) continue;
        terms[n++] = {x.negative != y.negative, x.exponent + y.exponent, (x.significand >> 20) * (y.significand >> 20)};
        largest = std::max(largest, terms[n - 1].exponent);
      }
      i64 total = 0;
      for (u32 k = 0; k < n; ++k) {
        const i32 away = largest - terms[k].exponent + 40 - i32(s.fraction);
        const i64 m = away > 63 ? 0 : i64(terms[k].significand >> away);
        total += terms[k].negative ? -m : m;
      }
      t.d[j][i] = rounded(s, total, largest);
    }
}

US_CLONES static void integers(MmaType t, const u32* v, u32 n, i32* out) {
  switch (t) {
    case MmaType::S8:
      for (u32 k = 0; k < n; ++k) out[k] = v[k] == kMmaAbsent ? 0 : i8(v[k]);
      break;
    case MmaType::S4:
      for (u32 k = 0; k < n; ++k) out[k] = v[k] == kMmaAbsent ? 0 : i32(v[k] << 28) >> 28;
      break;
    default:
      for (u32 k = 0; k < n; ++k) out[k] = v[k] == kMmaAbsent ? 0 : i32(v[k]);
  }
}

US_CLONES void mma_integer(MmaType ta, MmaType tb, u32 depth, bool saturate, MmaTile& t) {
  alignas(64) i32 a[kMmaDepth * kMmaRows], b[kMmaDepth * kMmaColumns];
  integers(ta, t.a[0], depth * kMmaRows, a);
  integers(tb, t.b[0], depth * kMmaColumns, b);
  for (u32 j = 0; j < kMmaColumns; ++j) {
    alignas(64) i32 sum[kMmaRows] = {};
    for (u32 k = 0; k < depth; ++k) {
      const i32 of_b = b[k * kMmaColumns + j];
      for (u32 i = 0; i < kMmaRows; ++i) sum[i] += a[k * kMmaRows + i] * of_b;
    }
    if (saturate)
      for (u32 i = 0; i < kMmaRows; ++i)
        t.d[j][i] = u32(std::clamp<i64>(i64(sum[i]) + i32(t.c[j][i]), INT32_MIN, INT32_MAX));
    else
      for (u32 i = 0; i < kMmaRows; ++i) t.d[j][i] = u32(sum[i]) + t.c[j][i];
  }
}

void mma_bits(bool exclusive, u32 words, MmaTile& t) {
  for (u32 j = 0; j < kMmaColumns; ++j)
    for (u32 i = 0; i < kMmaRows; ++i) {
      u32 n = t.c[j][i];
      for (u32 k = 0; k < words; ++k) {
        const u32 a = t.a[k][i], b = t.b[k][j];
        n += u32(std::popcount(exclusive ? a ^ b : a & b));
      }
      t.d[j][i] = n;
    }
}

}  // namespace us::numerics
