// SPDX-License-Identifier: Apache-2.0
// Range reduction, interpolation and assembly of results, as numerics/approx.h describes the tables.
#include "codegen/semantics/approx.h"

#include "codegen/semantics/common.h"
#include "numerics/approx.h"

namespace us::codegen {
namespace {

using numerics::Approx;
using numerics::Part;

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

// high * 2^fraction + low, low unsigned.
struct Sum {
  V high, low;
};
Sum interpolate(Builder& b, Approx function, V segment, V x) {
  const numerics::ApproxFacts f = numerics::facts(function);
  auto look = [&](Part p) { return b.table(numerics::approx_table(function, p), segment); };
  V slopes = look(Part::Slopes), low = look(Part::Low);
  V c1 = masked(b, slopes, 0xffff), c2 = ashr(b, slopes, 16), odd;
  if (function == Approx::Lg2) odd = masked(b, c2, 1), c2 = ashr(b, c2, 1);
  V upper = f.halved ? lshr(b, x, 1) : x;
  if (!f.halved && f.x_bits == 17) upper = lshr(b, x, 1);
  V rest = b.mul(c2, square(b, upper)), product = b.mul(c1, f.halved ? upper : x);
  if (f.halved) {
    V last = b.and_(c1, b.sub(imm32(b, 0), masked(b, x, 1)));
    rest = f.falls ? b.sub(rest, last) : b.add(rest, last);
    if (odd) rest = b.add(rest, odd);
    if (f.odd) rest = b.add(rest, imm32(b, f.odd));
    rest = ashr(b, rest, 1);
  }
  low = f.falls ? b.sub(low, product) : b.add(low, product);
  return {look(Part::High), b.add(low, rest)};
}
// The 24-bit significand of a sum that is known to have 24 bits.
V significand(Builder& b, const Sum& s, V fraction) { return b.add(s.high, b.bin(Bin::LShr, s.low, fraction)); }
V significand(Builder& b, const Sum& s, u32 fraction) { return significand(b, s, imm32(b, fraction)); }

// The whole sum as a 64-bit integer.
V joined(Builder& b, const Sum& s, u32 fraction) {
  return b.add(b.bin(Bin::Shl, b.sext(s.high, 64), b.imm(64, fraction)), b.zext(s.low, 64));
}
// value * 2^scale cut to 24 bits, as f32 bits, for a value below 2^52; 0 gives garbage.
V cut(Builder& b, V value, V scale) {
  V bits = b.resize(b.bin(Bin::LShr, b.i2f(FT::F64, value, true), b.imm(64, 29)), 32, false);
  return b.add(bits, shl(b, b.sub(scale, imm32(b, 1023 - 127)), 23));
}

// x * 2^shift for a shift of either sign; 0 where everything is shifted out on the right, the lowest 32 bits on the left.
V shifted(Builder& b, V x, V shift) {
  return b.or_(b.bin(Bin::Shl, x, shift), b.bin(Bin::LShr, x, b.sub(imm32(b, 0), shift)));
}
V exponent_of(Builder& b, V magnitude) { return lshr(b, magnitude, 23); }
V implied(Builder& b, V x) { return b.or_(masked(b, x, kFraction), imm32(b, kOne)); }

}  // namespace

V unit_rcp(Builder& b, V x) {
  V a = masked(b, x, 0x7fffffff), sign = masked(b, x, kSign);
  V m = significand(b, interpolate(b, Approx::Rcp, masked(b, lshr(b, x, 16), 127), masked(b, x, 0xffff)), 15);
  V r = b.add(m, shl(b, b.sub(imm32(b, 252), exponent_of(b, a)), 23));  // m: 2^24 for a power of two
  r = pick(b, is(b, ICmp::SLt, r, kOne), 0, r);
  r = pick(b, is(b, ICmp::ULt, a, kOne), kInf, r);
  return pick(b, is(b, ICmp::UGt, a, kInf), kNan, b.or_(r, sign));
}

V unit_rcp64(Builder& b, V high) {
  V a = masked(b, high, 0x7fffffff), sign = masked(b, high, kSign);
  V segment = masked(b, lshr(b, high, 13), 127);
  V m = significand(b, interpolate(b, Approx::Rcp, segment, masked(b, shl(b, high, 3), 0xffff)), 15);
  V r = b.add(lshr(b, m, 3), shl(b, b.sub(imm32(b, 2044), lshr(b, a, 20)), 20));
  r = pick(b, is(b, ICmp::SLt, r, 0x100000), 0, r);
  r = pick(b, is(b, ICmp::ULt, a, 0x100000), 0x7ff00000, r);
  return pick(b, is(b, ICmp::UGt, a, 0x7ff00000), kNan, b.or_(r, sign));
}

V unit_rsqrt(Builder& b, V x) {
  V m = significand(b, interpolate(b, Approx::Rsqrt, masked(b, lshr(b, x, 17), 127), masked(b, x, 0x1ffff)), 15);
  V half = ashr(b, b.sub(exponent_of(b, x), imm32(b, 127)), 1);
  V power = is(b, ICmp::Eq, masked(b, x, 0xffffff), kOne);  // of four: exact
  m = pick(b, power, 1u << 24, m);
  V r = b.add(m, shl(b, b.sub(imm32(b, 125), half), 23));
  r = pick(b, is(b, ICmp::Eq, x, kInf), 0, r);
  r = pick(b, is(b, ICmp::UGt, x, kInf), kNan, r);
  return b.select(is(b, ICmp::ULt, masked(b, x, 0x7fffffff), kOne), b.or_(masked(b, x, kSign), imm32(b, kInf)), r);
}

V unit_rsqrt64(Builder& b, V high) {
  V segment = masked(b, lshr(b, high, 14), 127);
  V m = significand(b, interpolate(b, Approx::Rsqrt, segment, masked(b, shl(b, high, 3), 0x1ffff)), 15);
  V half = ashr(b, b.sub(lshr(b, high, 20), imm32(b, 1023)), 1);
  m = pick(b, is(b, ICmp::Eq, masked(b, high, 0x1fffff), 0x100000), 1u << 24, m);
  V r = b.add(lshr(b, m, 3), shl(b, b.sub(imm32(b, 1021), half), 20));
  r = pick(b, is(b, ICmp::Eq, high, 0x7ff00000), 0, r);
  r = pick(b, is(b, ICmp::UGt, high, 0x7ff00000), kNan, r);
  V tiny = is(b, ICmp::ULt, masked(b, high, 0x7fffffff), 0x100000);
  return b.select(tiny, b.or_(masked(b, high, kSign), imm32(b, 0x7ff00000)), r);
}

V unit_sqrt(Builder& b, V x) {
  Sum s = interpolate(b, Approx::Sqrt, masked(b, lshr(b, x, 17), 127), masked(b, x, 0x1ffff));
  V m = significand(b, s, b.add(imm32(b, 15), masked(b, exponent_of(b, x), 1)));
  V half = ashr(b, b.sub(exponent_of(b, x), imm32(b, 127)), 1);
  V r = b.add(m, shl(b, b.add(imm32(b, 126), half), 23));
  r = pick(b, is(b, ICmp::Eq, x, kInf), kInf, r);
  r = pick(b, is(b, ICmp::UGt, x, kInf), kNan, r);
  return b.select(is(b, ICmp::ULt, masked(b, x, 0x7fffffff), kOne), masked(b, x, kSign), r);
}

// The argument becomes a fixed-point number, cut to 23 fractional bits; a negative one is inverted unless that is whole.
V unit_ex2(Builder& b, V x) {
  V a = masked(b, x, 0x7fffffff);
  V c = b.bin(Bin::UMin, a, imm32(b, 0x43000000));  // 128 gives the exponent of infinity
  V fixed = shifted(b, implied(b, c), b.sub(exponent_of(b, c), imm32(b, 127)));
  V whole = is(b, ICmp::Eq, masked(b, fixed, kFraction), 0);
  V down = b.sub(pick(b, whole, 0, imm32(b, 0xffffffffu)), fixed);
  fixed = b.select(is(b, ICmp::SLt, x, 0), down, fixed);
  V f = masked(b, fixed, kFraction), n = ashr(b, fixed, 23);
  V m = significand(b, interpolate(b, Approx::Ex2, lshr(b, f, 17), masked(b, f, 0x1ffff)), 14);
  V r = b.add(m, shl(b, b.add(n, imm32(b, 126)), 23));
  r = pick(b, is(b, ICmp::SLt, n, static_cast<u32>(-126)), 0, r);
  return pick(b, is(b, ICmp::UGt, a, kInf), kNan, r);
}

// Exponent and fraction together are one signed fixed-point number of 36 fractional bits; a negative one is inverted.
V unit_lg2(Builder& b, V x) {
  Sum s = interpolate(b, Approx::Lg2, masked(b, lshr(b, x, 17), 63), masked(b, x, 0x1ffff));
  V n = b.sub(exponent_of(b, x), imm32(b, 127));
  s.high = b.add(s.high, shl(b, n, 23));
  s.low = lshr(b, s.low, 1);
  V v = joined(b, s, 13), negative = b.bin(Bin::AShr, v, b.imm(64, 63));
  V r = cut(b, b.xor_(v, negative), imm32(b, static_cast<u32>(-36)));
  r = b.or_(r, masked(b, n, kSign));
  r = pick(b, is(b, ICmp::Eq, x, 0x3f800000), 0, r);
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
  V v = joined(b, interpolate(b, Approx::Sin, lshr(b, f, 17), masked(b, f, 0x1ffff)), 14);
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
  V v = joined(b, interpolate(b, Approx::Tanh, segment, masked(b, f, 0x1ffff)), 16);
  V r = cut(b, v, ashr(b, binade, 16));
  r = b.select(is(b, ICmp::ULt, a, 0x3b800000), a, r);
  r = pick(b, is(b, ICmp::UGe, a, 0x41000000), 0x3f800000, r);
  return pick(b, is(b, ICmp::UGt, a, kInf), kNan, b.or_(r, sign));
}

}  // namespace us::codegen
