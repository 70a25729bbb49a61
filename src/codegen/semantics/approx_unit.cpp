// SPDX-License-Identifier: Apache-2.0
// Range reduction, interpolation and assembly of results, as numerics/approx.h describes the tables.
#include "codegen/semantics/approx.h"

#include "codegen/semantics/common.h"
#include "numerics/approx.h"

namespace us::codegen {
namespace {

using numerics::Approx;

constexpr u32 kFraction = 0x7fffff, kOne = 0x800000, kInf = 0x7f800000u, kNan = 0x7fffffffu, kSign = 0x80000000u;

V shl(Builder& b, V x, u32 n) { return b.bin(Bin::Shl, x, imm32(b, n)); }
V lshr(Builder& b, V x, u32 n) { return b.bin(Bin::LShr, x, imm32(b, n)); }
V ashr(Builder& b, V x, u32 n) { return b.bin(Bin::AShr, x, imm32(b, n)); }
V masked(Builder& b, V x, u32 m) { return b.and_(x, imm32(b, m)); }
V is(Builder& b, ICmp c, V x, u32 y) { return b.icmp(c, x, imm32(b, y)); }
V pick(Builder& b, V cond, u32 value, V otherwise) { return b.select(cond, imm32(b, value), otherwise); }

// S of the upper 16 bits of x.
V square(Builder& b, V upper) {
  V x = b.resize(upper, 16, false), h = b.bin(Bin::LShr, x, like(b, x, 8));
  V s = b.bin(Bin::LShr, b.mul(h, h), like(b, x, 1));
  for (u32 k = 1; k < 8; ++k) {
    V bit = b.icmp(ICmp::Ne, b.and_(x, like(b, x, 1u << k)), like(b, x, 0));
    s = b.select(bit, b.add(s, b.bin(Bin::LShr, h, like(b, x, 8 - k))), s);
  }
  return b.zext(s, 32);
}

// The sum at `place`: the segment and, below it, x.
Builder::Interpolated interpolate(Builder& b, Approx function, V place) {
  Builder::Interpolated r;
  if (b.interpolate(function, place, r)) return r;
  const numerics::ApproxFacts f = numerics::facts(function);
  const numerics::ApproxTable table = numerics::approx_table(function);
  V segment = lshr(b, place, f.table_bits()), slopes = b.table(table.slopes, segment);
  V c1 = ashr(b, shl(b, slopes, 16), 16), c2 = ashr(b, slopes, 16);
  V x = b.sub(masked(b, place, 0xffff), imm32(b, 0x8000));
  V t = b.add(b.mul(c1, x), b.mul(c2, square(b, lshr(b, place, f.x_bits - 16))));
  t = b.add(t, imm32(b, f.bias));
  r.high = b.add(b.table(table.start, segment), ashr(b, t, f.grain));
  r.low = masked(b, t, (1u << f.grain) - 1);
  if (f.slope) {
    V term = shl(b, masked(b, place, (1u << f.table_bits()) - 1), 15 - f.grain);
    r.high = f.slope > 0 ? b.add(r.high, term) : b.sub(r.high, term);
  }
  if (f.halves) {
    V upper = is(b, ICmp::Ne, masked(b, place, 1u << 16), 0);
    r.high = b.select(upper, b.add(r.high, shl(b, c1, 16 - f.grain)), r.high);
  }
  return r;
}
// The 24-bit significand of a sum that is known to have 24 bits.
V significand(Builder& b, Approx function, V place) {
  const numerics::ApproxFacts f = numerics::facts(function);
  return lshr(b, interpolate(b, function, place).high, f.fraction - f.grain);
}
// The whole sum as a 64-bit integer.
V joined(Builder& b, Approx function, V place) {
  Builder::Interpolated s = interpolate(b, function, place);
  const u32 grain = numerics::facts(function).grain;
  return b.or_(b.bin(Bin::Shl, b.sext(s.high, 64), b.imm(64, grain)), b.zext(s.low, 64));
}
// value * 2^scale cut to 24 bits, as f32 bits, for a value below 2^52; 0 gives garbage.
V cut(Builder& b, V value, V scale) {
  V bits = b.resize(b.bin(Bin::LShr, b.i2f(FT::F64, value, true), b.imm(64, 29)), 32, false);
  return b.add(bits, shl(b, b.sub(scale, imm32(b, 1023 - 127)), 23));
}

// x * 2^shift for a shift of either sign; 0 where everything is shifted out on the right, the lowest 32 bits on the
// left.
V shifted(Builder& b, V x, V shift) {
  return b.or_(b.bin(Bin::Shl, x, shift), b.bin(Bin::LShr, x, b.sub(imm32(b, 0), shift)));
}
V exponent_of(Builder& b, V magnitude) { return lshr(b, magnitude, 23); }
V implied(Builder& b, V x) { return b.or_(masked(b, x, kFraction), imm32(b, kOne)); }

}  // namespace

V unit_rcp(Builder& b, V x) {
  V a = masked(b, x, 0x7fffffff), sign = masked(b, x, kSign);
  V m = significand(b, Approx::Rcp, masked(b, x, kFraction));
  V r = b.add(m, shl(b, b.sub(imm32(b, 252), exponent_of(b, a)), 23));  // m: 2^24 for a power of two
  r = pick(b, is(b, ICmp::SLt, r, kOne), 0, r);
  r = pick(b, is(b, ICmp::ULt, a, kOne), kInf, r);
  return pick(b, is(b, ICmp::UGt, a, kInf), kNan, b.or_(r, sign));
}

V unit_rcp64(Builder& b, V high) {
  V a = masked(b, high, 0x7fffffff), sign = masked(b, high, kSign);
  V m = significand(b, Approx::Rcp, masked(b, shl(b, high, 3), kFraction));
  V r = b.add(lshr(b, m, 3), shl(b, b.sub(imm32(b, 2044), lshr(b, a, 20)), 20));
  r = pick(b, is(b, ICmp::SLt, r, 0x100000), 0, r);
  r = pick(b, is(b, ICmp::ULt, a, 0x100000), 0x7ff00000, r);
  return pick(b, is(b, ICmp::UGt, a, 0x7ff00000), kNan, b.or_(r, sign));
}

V unit_rsqrt(Builder& b, V x) {
  V m = significand(b, Approx::Rsqrt, masked(b, x, kOne | kFraction));
  V half = ashr(b, b.sub(exponent_of(b, x), imm32(b, 127)), 1);
  V power = is(b, ICmp::Eq, masked(b, x, 0xffffff), kOne);  // of four: exact
  m = pick(b, power, 1u << 24, m);
  V r = b.add(m, shl(b, b.sub(imm32(b, 125), half), 23));
  r = pick(b, is(b, ICmp::Eq, x, kInf), 0, r);
  r = pick(b, is(b, ICmp::UGt, x, kInf), kNan, r);
  return b.select(is(b, ICmp::ULt, masked(b, x, 0x7fffffff), kOne), b.or_(masked(b, x, kSign), imm32(b, kInf)), r);
}

V unit_rsqrt64(Builder& b, V high) {
  V m = significand(b, Approx::Rsqrt, masked(b, shl(b, high, 3), kOne | kFraction));
  V half = ashr(b, b.sub(lshr(b, high, 20), imm32(b, 1023)), 1);
  m = pick(b, is(b, ICmp::Eq, masked(b, high, 0x1fffff), 0x100000), 1u << 24, m);
  V r = b.add(lshr(b, m, 3), shl(b, b.sub(imm32(b, 1021), half), 20));
  r = pick(b, is(b, ICmp::Eq, high, 0x7ff00000), 0, r);
  r = pick(b, is(b, ICmp::UGt, high, 0x7ff00000), kNan, r);
  V tiny = is(b, ICmp::ULt, masked(b, high, 0x7fffffff), 0x100000);
  return b.select(tiny, b.or_(masked(b, high, kSign), imm32(b, 0x7ff00000)), r);
}

V unit_sqrt(Builder& b, V x) {
  V m = b.bin(Bin::LShr, significand(b, Approx::Sqrt, masked(b, x, kOne | kFraction)), masked(b, exponent_of(b, x), 1));
  V half = ashr(b, b.sub(exponent_of(b, x), imm32(b, 127)), 1);
  V r = b.add(m, shl(b, b.add(imm32(b, 126), half), 23));
  r = pick(b, is(b, ICmp::Eq, x, kInf), kInf, r);
  r = pick(b, is(b, ICmp::UGt, x, kInf), kNan, r);
  return b.select(is(b, ICmp::ULt, masked(b, x, 0x7fffffff), kOne), masked(b, x, kSign), r);
}

// The argument becomes a fixed-point number, cut to 23 fractional bits; a negative one is inverted unless that is
// whole.
V unit_ex2(Builder& b, V x) {
  V a = masked(b, x, 0x7fffffff);
  V c = b.bin(Bin::UMin, a, imm32(b, 0x43000000));  // 128 gives the exponent of infinity
  V fixed = shifted(b, implied(b, c), b.sub(exponent_of(b, c), imm32(b, 127)));
  V whole = is(b, ICmp::Eq, masked(b, fixed, kFraction), 0);
  V down = b.sub(pick(b, whole, 0, imm32(b, 0xffffffffu)), fixed);
  fixed = b.select(is(b, ICmp::SLt, x, 0), down, fixed);
  V f = masked(b, fixed, kFraction), n = ashr(b, fixed, 23);
  V m = significand(b, Approx::Ex2, f);
  V r = b.add(m, shl(b, b.add(n, imm32(b, 126)), 23));
  r = pick(b, is(b, ICmp::SLt, n, static_cast<u32>(-126)), 0, r);
  return pick(b, is(b, ICmp::UGt, a, kInf), kNan, r);
}

// Exponent and fraction together are one signed fixed-point number of 36 fractional bits; a negative one is inverted.
static V log_of_normal(Builder& b, V x) {
  V n = b.sub(exponent_of(b, x), imm32(b, 127));
  V v = b.bin(Bin::LShr, joined(b, Approx::Lg2, masked(b, x, kFraction)), b.imm(64, 2));
  v = b.add(v, b.bin(Bin::Shl, b.sext(n, 64), b.imm(64, 36)));
  V negative = b.bin(Bin::AShr, v, b.imm(64, 63));
  V r = cut(b, b.xor_(v, negative), imm32(b, static_cast<u32>(-36)));
  return b.or_(r, masked(b, n, kSign));
}
V unit_lg2(Builder& b, V x) {
  V r = pick(b, is(b, ICmp::Eq, x, 0x3f800000), 0, log_of_normal(b, x));
  r = pick(b, is(b, ICmp::Eq, x, kInf), kInf, r);
  r = pick(b, is(b, ICmp::UGt, x, kInf), kNan, r);
  return pick(b, is(b, ICmp::ULt, masked(b, x, 0x7fffffff), kOne), 0xff800000u, r);
}

// x / 2 pi cut to 24 bits, then to 25 fractional bits of a turn: two for the quadrant, 23 for the place in it, which is
// inverted in every second quadrant.
V unit_sin(Builder& b, V x, bool cosine) {
  V a = masked(b, x, 0x7fffffff), m = shl(b, implied(b, a), 8);
  V product = b.bin(Bin::MulHiU, m, imm32(b, 0xa2f983 << 1));  // of the significands: 24 or 25 bits
  product = b.and_(product, b.not_(lshr(b, product, 24)));
  V fixed = shifted(b, product, b.sub(exponent_of(b, a), imm32(b, 128)));
  if (cosine) fixed = b.add(fixed, imm32(b, kOne));
  V odd = ashr(b, shl(b, fixed, 8), 31), f = masked(b, b.xor_(fixed, odd), kFraction);
  V v = joined(b, Approx::Sin, f);
  V r = cut(b, v, imm32(b, static_cast<u32>(-37)));
  r = pick(b, is(b, ICmp::Eq, f, 0), 0, r);
  V sign = masked(b, shl(b, fixed, 7), kSign);
  r = b.or_(r, cosine ? sign : b.xor_(sign, masked(b, x, kSign)));
  return pick(b, is(b, ICmp::UGe, a, kInf), kNan, r);
}

V unit_tanh(Builder& b, V x) {
  V a = masked(b, x, 0x7fffffff), sign = masked(b, x, kSign);
  V binade = b.table(numerics::tanh_binades(), b.sub(exponent_of(b, a), imm32(b, 0x77)));
  V f = b.bin(Bin::LShr, masked(b, a, kFraction), masked(b, lshr(b, binade, 8), 15));
  V segment = b.add(masked(b, binade, 255), lshr(b, f, 17));
  V v = b.bin(Bin::LShr, joined(b, Approx::Tanh, b.or_(shl(b, segment, 17), masked(b, f, 0x1ffff))), b.imm(64, 1));
  V r = cut(b, v, ashr(b, binade, 16));
  r = b.select(is(b, ICmp::ULt, a, 0x3b800000), a, r);
  r = pick(b, is(b, ICmp::UGe, a, 0x41000000), 0x3f800000, r);
  return pick(b, is(b, ICmp::UGt, a, kInf), kNan, b.or_(r, sign));
}

namespace {

// low <= |x| < end
template <u32 low, u32 end>
V in_range(Builder& b, V x) {
  return is(b, ICmp::ULt, b.sub(masked(b, x, 0x7fffffff), imm32(b, low)), end - low);
}
V is_normal_positive(Builder& b, V x) { return is(b, ICmp::ULt, b.sub(x, imm32(b, kOne)), kInf - kOne); }

V ordinary_rcp(Builder& b, V x) {
  V r = b.sub(significand(b, Approx::Rcp, masked(b, x, kFraction)), masked(b, x, kInf));
  return b.or_(b.add(r, imm32(b, 252u << 23)), masked(b, x, kSign));
}
V ordinary_rsqrt(Builder& b, V x) {
  V m = significand(b, Approx::Rsqrt, masked(b, x, kOne | kFraction));
  V power = is(b, ICmp::Eq, masked(b, x, 0xffffff), kOne);
  V exponent = lshr(b, b.sub(imm32(b, (377u << 23) + 0xffffff), x), 24);  // 125 - half, rounded as unit_rsqrt does
  return b.add(pick(b, power, 1u << 24, m), shl(b, exponent, 23));
}
V ordinary_sqrt(Builder& b, V x) {
  V m = significand(b, Approx::Sqrt, masked(b, x, kOne | kFraction));
  m = b.bin(Bin::LShr, m, masked(b, lshr(b, x, 23), 1));
  return b.add(m, shl(b, lshr(b, b.add(x, imm32(b, 125u << 23)), 24), 23));
}
V ordinary_ex2(Builder& b, V x) {
  V a = masked(b, x, 0x7fffffff);
  V fixed = shifted(b, implied(b, x), b.sub(exponent_of(b, a), imm32(b, 127)));
  V whole = is(b, ICmp::Eq, masked(b, fixed, kFraction), 0);
  V down = b.sub(pick(b, whole, 0, imm32(b, 0xffffffffu)), fixed);
  fixed = b.select(is(b, ICmp::SLt, x, 0), down, fixed);
  V m = significand(b, Approx::Ex2, masked(b, fixed, kFraction));
  return b.add(m, b.add(masked(b, fixed, 0xff800000u), imm32(b, 126u << 23)));
}
V ordinary_lg2(Builder& b, V x) { return pick(b, is(b, ICmp::Eq, x, 0x3f800000), 0, log_of_normal(b, x)); }

}  // namespace

const Ordinary kOrdinaryRcp = {in_range<kOne, 0x7e800001>, ordinary_rcp};
const Ordinary kOrdinaryRsqrt = {is_normal_positive, ordinary_rsqrt};
const Ordinary kOrdinarySqrt = {is_normal_positive, ordinary_sqrt};
const Ordinary kOrdinaryEx2 = {in_range<0, 0x42fc0000>, ordinary_ex2};
const Ordinary kOrdinaryLg2 = {is_normal_positive, ordinary_lg2};

}  // namespace us::codegen
