// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Data Movement and Conversion Instructions: cvt". Types: destination, source.
#include "codegen/semantics/float.h"

namespace us::codegen {
namespace {

using device::NumFn;

// x (source type `from`) clamped to the range of integer type `to`; the result keeps x's width.
V clamp_integer(Builder& b, V x, Type from, Type to) {
  const u32 w = b.width(x), n = isa::bits_of(to);
  const bool sx = isa::is_signed(from), st = isa::is_signed(to);
  const u64 top = st ? (1ull << (n - 1)) - 1 : n == 64 ? ~0ull : (1ull << n) - 1;
  if (sx) {
    if (!st)
      x = b.bin(Bin::SMax, x, b.imm(w, 0));
    else if (n < w)
      x = b.bin(Bin::SMax, x, b.imm(w, ~top));
    const bool fits = st ? n >= w : n + 1 >= w;
    return fits ? x : b.bin(Bin::SMin, x, b.imm(w, top));
  }
  const bool fits = st ? n > w : n >= w;
  return fits ? x : b.bin(Bin::UMin, x, b.imm(w, top));
}

FUn integer_rounding(const Sem& s) {
  if (s.has(Tok::rni)) return FUn::Rint;
  if (s.has(Tok::rmi)) return FUn::Floor;
  if (s.has(Tok::rpi)) return FUn::Ceil;
  return FUn::Trunc;
}
bool rounds_to_integer(const Sem& s) {
  return s.has(Tok::rni) || s.has(Tok::rzi) || s.has(Tok::rmi) || s.has(Tok::rpi);
}

V f64_to_half(Builder& b, FT to, Rnd m, V x) {
  const bool h = to == FT::F16;
  const NumFn fn = m == Rnd::Zero   ? (h ? NumFn::f64_to_f16_rz : NumFn::f64_to_bf16_rz)
                   : m == Rnd::Down ? (h ? NumFn::f64_to_f16_rm : NumFn::f64_to_bf16_rm)
                                    : (h ? NumFn::f64_to_f16_rp : NumFn::f64_to_bf16_rp);
  return b.lanewise(fn, {x}, 16);
}
// Any float to any float in direction m.
V convert_float(Builder& b, FT to, FT from, Rnd m, V x) {
  if (to == from) return x;
  if (m == Rnd::Nearest || bits_of(to) > bits_of(from)) return b.fcvt(to, from, x);
  if (from == FT::F64) return to == FT::F32 ? round_f64_to_f32(b, m, x, b.imm(64, 0)) : f64_to_half(b, to, m, x);
  return canonical(b, to, f64_to_half(b, to, m, b.fcvt(FT::F64, from, x)));
}
V relu(Builder& b, FT t, V r) {
  V positive = b.fcmp(FCmp::Gt, t, r, like(b, r, 0));
  return b.select(is_nan(b, t, r), like(b, r, format(t).nan), b.select(positive, r, like(b, r, 0)));
}
// Infinities become the largest finite number of the same sign.
V satfinite(Builder& b, FT t, V r) {
  const FormatBits f = format(t);
  V inf = b.icmp(ICmp::Eq, magnitude(b, t, r), like(b, r, f.inf));
  return b.select(inf, b.or_(sign_bit(b, t, r), like(b, r, f.inf - 1)), r);
}
V f32_to_half(const Sem& s, FT to, V x) {
  V r = convert_float(s.b, to, FT::F32, rounding_of(s), x);
  if (s.has(Tok::satfinite)) r = satfinite(s.b, to, r);
  return s.has(Tok::relu) ? relu(s.b, to, r) : r;
}

}  // namespace

void sem_cvt_int_int(const Sem& s) {
  Builder& b = s.b;
  const Type to = s.i.type(0), from = s.i.type(1);
  V x = s.in(1, from);
  if (s.has(Tok::sat)) x = clamp_integer(b, x, from, to);
  s.out(0, b.resize(x, isa::bits_of(to), isa::is_signed(from)), to);
}

void sem_cvt_int_float(const Sem& s) {
  Builder& b = s.b;
  const Type to = s.i.type(0), from = s.i.type(1);
  const FT f = float_of(from);
  V x = s.in(1, from);
  if (s.has(Tok::ftz)) x = flush(b, f, x);
  const u32 n = isa::bits_of(to), w = n < 32 ? 32 : n;
  V rounded = s.has(Tok::rzi) ? x : b.fun(integer_rounding(s), f, x);
  V r = b.f2i(w, isa::is_signed(to) || n < 32, f, rounded);
  if (n < 32) r = b.resize(clamp_integer(b, r, Type::s32, to), n, false);
  // NaN: 0, except where the conversion has a 64-bit side.
  if (f == FT::F64 || n == 64) r = b.select(is_nan(b, f, x), b.imm(n, 1ull << (n - 1)), r);
  s.out(0, r, to);
}

namespace {
V wide_int_to_f64(Builder& b, Rnd m, V x, bool sign) {
  if (b.width(x) < 64 || m == Rnd::Nearest) return b.i2f(FT::F64, x, sign);
  const NumFn fn = m == Rnd::Zero   ? (sign ? NumFn::s64_to_f64_rz : NumFn::u64_to_f64_rz)
                   : m == Rnd::Down ? (sign ? NumFn::s64_to_f64_rm : NumFn::u64_to_f64_rm)
                                    : (sign ? NumFn::s64_to_f64_rp : NumFn::u64_to_f64_rp);
  return b.lanewise(fn, {x}, 64);
}
V int_to_float(Builder& b, FT to, Rnd m, V x, bool sign) {
  if (to == FT::F64) return wide_int_to_f64(b, m, x, sign);
  if (m != Rnd::Nearest) return convert_float(b, to, FT::F64, m, wide_int_to_f64(b, m, x, sign));
  if (to == FT::F32) return b.i2f(FT::F32, x, sign);
  if (to == FT::BF16 && b.width(x) == 64) return b.lanewise(sign ? NumFn::s64_to_bf16 : NumFn::u64_to_bf16, {x}, 16);
  return b.fcvt(to, FT::F64, b.i2f(FT::F64, x, sign));  // exact in f64, or far beyond the largest f16
}
}  // namespace
void sem_cvt_float_int(const Sem& s) {
  const Type to = s.i.type(0), from = s.i.type(1);
  const FT t = float_of(to);
  V r = int_to_float(s.b, t, rounding_of(s), s.in(1, from), isa::is_signed(from));
  s.out(0, s.has(Tok::sat) ? saturate(s.b, t, r) : r, to);
}

void sem_cvt_float_float(const Sem& s) {
  Builder& b = s.b;
  const FT to = float_of(s.i.type(0)), from = float_of(s.i.type(1));
  const bool ftz = s.has(Tok::ftz);
  V x = s.in(1, s.i.type(1));
  const Rnd m = rounding_of(s);
  // Rounded up or down, a subnormal f32 leaves its trace in an f16 although .ftz is written (found on an H200).
  const bool directed_f16 = to == FT::F16 && from == FT::F32 && (m == Rnd::Down || m == Rnd::Up);
  if (ftz && from == FT::F32) x = canonical(b, from, directed_f16 ? x : flush(b, from, x));
  if (rounds_to_integer(s)) x = b.fun(integer_rounding(s), from, x);
  V r = convert_float(b, to, from, m, x);
  if (ftz && to == FT::F32) r = flush(b, to, r);
  if ((to == from && bits_of(to) == 16) || (ftz && from == FT::BF16)) r = canonical(b, to, r);
  s.out(0, s.has(Tok::sat) ? saturate(b, to, r) : r, s.i.type(0));
}

void sem_cvt_half_f32(const Sem& s) {
  s.out(0, f32_to_half(s, float_of(s.i.type(0)), s.in(1, Type::f32)), s.i.type(0));
}
// d, a, b: a in the upper half
void sem_cvt_halfx2_f32(const Sem& s) {
  const FT t = float_of(s.i.type(0));
  s.out(0, pair(s.b, f32_to_half(s, t, s.in(2, Type::f32)), f32_to_half(s, t, s.in(1, Type::f32))), s.i.type(0));
}

// tf32: f32 with 10 mantissa bits, kept in the upper bits of a 32-bit register.
void sem_cvt_tf32(const Sem& s) {
  Builder& b = s.b;
  V x = s.in(1, Type::f32), bump = imm32(b, s.has(Tok::rna) ? 0x1000 : 0);
  if (s.has(Tok::rn)) bump = b.add(imm32(b, 0x0fff), b.and_(b.bin(Bin::LShr, x, imm32(b, 13)), imm32(b, 1)));
  V r = b.and_(b.add(x, bump), imm32(b, 0xffffe000u));
  if (s.has(Tok::satfinite)) {
    V inf = b.icmp(ICmp::UGe, magnitude(b, FT::F32, r), imm32(b, 0x7f800000u));
    r = b.select(inf, b.or_(sign_bit(b, FT::F32, r), imm32(b, 0x7f7fe000u)), r);
  }
  if (s.has(Tok::relu)) r = relu(b, FT::F32, r);
  V nan = s.has(Tok::rna) ? b.and_(x, imm32(b, 0xffffe000u)) : imm32(b, 0x7fffe000u);  // .rna only drops bits
  if (s.has(Tok::rna) && s.has(Tok::satfinite)) nan = b.sub(nan, imm32(b, 0x2000));
  s.out(0, b.select(is_nan(b, FT::F32, x), nan, r), Type::b32);
}

// Eight-bit floats. Inputs of the packing forms are f32 or f16; results are clamped to the largest finite value. e4m3
// has no infinity: exponent 15 holds numbers, only mantissa 7 there is NaN.
namespace {
struct Eight {
  u32 mantissa, bias, largest;
};
Eight eight(Type packed) { return packed == Type::e4m3x2 ? Eight{3, 7, 0x7e} : Eight{2, 15, 0x7b}; }

V to_f8(const Sem& s, Type packed, V x) {
  Builder& b = s.b;
  const auto [mantissa, bias, largest] = eight(packed);
  const u32 drop = 23 - mantissa, first_normal = (128 - bias) << 23;
  if (s.has(Tok::relu)) x = relu(b, FT::F32, x);
  V size = magnitude(b, FT::F32, x);
  V odd = b.and_(b.bin(Bin::LShr, size, imm32(b, drop)), imm32(b, 1));
  V rounded = b.add(size, b.add(odd, imm32(b, (1u << (drop - 1)) - 1)));
  V normal = b.sub(b.bin(Bin::LShr, rounded, imm32(b, drop)), imm32(b, (127 - bias) << mantissa));
  // Below the normal numbers: the sum with a power of two whose last bit is worth the smallest result.
  const u32 power = (127 + 24 - bias - mantissa) << 23;
  V small = b.sub(b.fbin(FBin::Add, FT::F32, size, imm32(b, power)), imm32(b, power));
  V r = b.select(b.icmp(ICmp::ULt, size, imm32(b, first_normal)), small, normal);
  r = b.select(b.icmp(ICmp::UGt, r, imm32(b, largest)), imm32(b, largest), r);
  r = b.or_(r, b.bin(Bin::LShr, sign_bit(b, FT::F32, x), imm32(b, 24)));
  return b.resize(b.select(is_nan(b, FT::F32, x), imm32(b, 0x7f), r), 8, false);
}
V from_f8(const Sem& s, Type packed, V code) {
  Builder& b = s.b;
  V x = b.resize(code, 32, false), size = b.and_(x, imm32(b, 0x7f));
  V sign = b.bin(Bin::Shl, b.and_(x, imm32(b, 0x80)), imm32(b, 8)), r, nan;
  if (packed == Type::e5m2x2) {
    r = b.bin(Bin::Shl, size, imm32(b, 8));
    nan = b.icmp(ICmp::UGt, size, imm32(b, 0x7c));
  } else {
    V normal = b.add(b.bin(Bin::Shl, size, imm32(b, 7)), imm32(b, (15 - 7) << 10));
    V small = b.fbin(FBin::Mul, FT::F32, b.i2f(FT::F32, size, false), imm32(b, (127 - 9) << 23));
    V below = b.icmp(ICmp::ULt, size, imm32(b, 8));
    r = b.select(below, b.resize(b.fcvt(FT::F16, FT::F32, small), 32, false), normal);
    nan = b.icmp(ICmp::Eq, size, imm32(b, 0x7f));
  }
  return b.resize(b.select(nan, imm32(b, 0x7fff), b.or_(r, sign)), 16, false);
}
}  // namespace
void sem_cvt_f8x2_f32(const Sem& s) {
  const Type t = s.i.type(0);
  s.out(0, pair(s.b, to_f8(s, t, s.in(2, Type::f32)), to_f8(s, t, s.in(1, Type::f32))), Type::b16);
}
void sem_cvt_f8x2_f16x2(const Sem& s) {
  V x = s.in(1, Type::b32);
  auto half = [&](u32 k) { return to_f8(s, s.i.type(0), s.b.fcvt(FT::F32, FT::F16, element(s.b, x, 16, k))); };
  s.out(0, pair(s.b, half(0), half(1)), Type::b16);
}
void sem_cvt_f16x2_f8x2(const Sem& s) {
  V x = s.in(1, Type::b16);
  auto half = [&](u32 k) {
    V r = from_f8(s, s.i.type(1), element(s.b, x, 8, k));
    return s.has(Tok::relu) ? relu(s.b, FT::F16, r) : r;
  };
  s.out(0, pair(s.b, half(0), half(1)), Type::b32);
}

// cvt.pack.sat: saturated a above saturated b, then c above both for the small types.
void sem_cvt_pack(const Sem& s) {
  Builder& b = s.b;
  const Type to = s.i.type(0);
  const u32 n = isa::bits_of(to);
  auto part = [&](u32 k) {
    return b.and_(clamp_integer(b, s.in(k, Type::s32), Type::s32, to), imm32(b, (1u << n) - 1));
  };
  V r = b.or_(b.bin(Bin::Shl, part(1), imm32(b, n)), part(2));
  if (s.has_operand(3)) r = b.or_(r, b.bin(Bin::Shl, s.in(3, Type::b32), imm32(b, 2 * n)));
  s.out(0, r, Type::b32);
}

}  // namespace us::codegen
