// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Floating-Point Instructions" and "Half Precision Floating-Point Instructions" whose results are exact or
// correctly rounded. Every function takes all float types; packed ones go half by half.
#include "codegen/semantics/float.h"

namespace us::codegen {
namespace {

// in: flush subnormal inputs; out: flush, saturate, relu.
struct Modifiers {
  Builder& b;
  FT t;
  bool ftz, sat, relu;
  V in(V x) const { return ftz ? flush(b, t, x) : x; }
  V out(V r) const {
    if (ftz) r = flush(b, t, r);
    if (sat) return saturate(b, t, r);
    if (!relu) return r;
    V positive = b.fcmp(FCmp::Gt, t, r, like(b, r, 0));
    return b.select(is_nan(b, t, r), like(b, r, format(t).nan), b.select(positive, r, like(b, r, 0)));
  }
};
Modifiers modifiers(const Sem& s, FT t) { return {s.b, t, s.has(Tok::ftz), s.has(Tok::sat), s.has(Tok::relu)}; }

// Runs f on the operands, or on their halves for packed types.
template <class F, class... A>
void per_element(const Sem& s, F&& f, A... operands) {
  s.out(0, is_wide_half(s.i.type()) ? on_halves(s.b, f, operands...) : f(operands...));
}

using Two32 = V (*)(Builder&, Rnd, V, V);
void binary(const Sem& s, FBin op, Two32 f32, Two32 f64, bool negate_second = false) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  const Rnd r = rounding_of(s);
  per_element(s, [&](V x, V y) {
    x = m.in(x), y = m.in(y);
    if (r == Rnd::Nearest) return m.out(s.b.fbin(op, t, x, y));
    if (negate_second) y = s.b.xor_(y, like(s.b, y, format(t).sign));
    US_CHECK(t == FT::F32 || t == FT::F64);
    return m.out(t == FT::F32 ? f32(s.b, r, x, y) : f64(s.b, r, x, y));
  }, s.in(1), s.in(2));
}

void min_max(const Sem& s, FBin op) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  per_element(s, [&](V x, V y) {
    x = m.in(x), y = m.in(y);
    V sign;
    if (s.has(Tok::xorsign)) {
      sign = sign_bit(b, t, b.xor_(x, y));
      x = magnitude(b, t, x), y = magnitude(b, t, y);
    }
    V r = b.fbin(op, t, x, y);
    if (s.has(Tok::NaN)) r = b.select(b.fcmp(FCmp::Nan, t, x, y), like(b, r, format(t).nan), r);
    return sign ? b.or_(r, sign) : r;
  }, s.in(1), s.in(2));
}

}  // namespace

void sem_add_float(const Sem& s) { binary(s, FBin::Add, add_f32, add_f64); }
void sem_sub_float(const Sem& s) { binary(s, FBin::Sub, add_f32, add_f64, true); }
void sem_mul_float(const Sem& s) { binary(s, FBin::Mul, mul_f32, mul_f64); }

// fma, and mad on floats (the same since sm_20)
void sem_fma(const Sem& s) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  const Rnd r = rounding_of(s);
  per_element(s, [&](V x, V y, V z) {
    V oob;
    if (s.has(Tok::oob)) {
      V mark = like(b, x, 0xffff);
      oob = b.or_(b.icmp(ICmp::Eq, x, mark), b.icmp(ICmp::Eq, y, mark));
    }
    x = m.in(x), y = m.in(y), z = m.in(z);
    V v = r == Rnd::Nearest ? b.fma(t, x, y, z) : t == FT::F64 ? fma_f64(b, r, x, y, z) : fma_f32(b, r, x, y, z);
    v = m.out(v);
    return oob ? b.select(oob, like(b, v, 0), v) : v;
  }, s.in(1), s.in(2), s.in(3));
}

void sem_neg_float(const Sem& s) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  per_element(s, [&](V x) { return s.b.xor_(m.in(x), like(s.b, x, format(t).sign)); }, s.in(1));
}
void sem_abs_float(const Sem& s) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  per_element(s, [&](V x) { return magnitude(s.b, t, m.in(x)); }, s.in(1));
}
void sem_min_float(const Sem& s) { min_max(s, FBin::Min); }
void sem_max_float(const Sem& s) { min_max(s, FBin::Max); }

// copysign d, a, b: b with the sign of a
void sem_copysign(const Sem& s) {
  const FT t = float_of(s.i.type());
  s.out(0, s.b.or_(sign_bit(s.b, t, s.in(1)), magnitude(s.b, t, s.in(2))));
}

void sem_testp(const Sem& s) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const FormatBits f = format(t);
  V m = magnitude(b, t, s.in(1)), inf = like(b, m, f.inf), normal = like(b, m, 1ull << f.mantissa);
  V r;
  if (s.has(Tok::finite)) r = b.icmp(ICmp::ULt, m, inf);
  else if (s.has(Tok::infinite)) r = b.icmp(ICmp::Eq, m, inf);
  else if (s.has(Tok::number)) r = b.icmp(ICmp::ULe, m, inf);
  else if (s.has(Tok::notanumber)) r = b.icmp(ICmp::UGt, m, inf);
  else if (s.has(Tok::normal)) r = b.and_(b.icmp(ICmp::UGe, m, normal), b.icmp(ICmp::ULt, m, inf));
  else r = b.and_(b.icmp(ICmp::Ne, m, like(b, m, 0)), b.icmp(ICmp::ULt, m, normal));
  s.out(0, r, Type::pred);
}

// div.{rn,rz,rm,rp}, div.full, div.approx
void sem_div_float(const Sem& s) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  V x = m.in(s.in(1)), y = m.in(s.in(2));
  V q = t == FT::F64 ? div_f64(b, rounding_of(s), x, y) : div_f32(b, rounding_of(s), x, y);
  if (s.has(Tok::approx)) {  // the reciprocal of a divisor above 2^126 is flushed
    V my = magnitude(b, t, y), huge = b.and_(b.icmp(ICmp::UGt, my, imm32(b, 0x7e800000u)), b.icmp(ICmp::ULt, my, imm32(b, 0x7f800000u)));
    V inf = b.icmp(ICmp::Eq, magnitude(b, t, x), imm32(b, 0x7f800000u));
    V sunk = b.select(b.or_(inf, is_nan(b, t, x)), imm32(b, 0x7fffffffu), sign_bit(b, t, b.xor_(x, y)));
    q = b.select(huge, sunk, q);
  }
  s.out(0, m.out(q));
}

namespace {
// rcp/rsqrt.approx.ftz.f64: only the upper half of the argument is used, only the upper half of the result is set.
V upper_half(Builder& b, V x) { return b.and_(x, b.imm(64, 0xffffffff00000000ull)); }
V rounded_to_upper_half(Builder& b, V r) {
  V up = upper_half(b, b.add(r, b.imm(64, 0x80000000ull)));
  V special = b.icmp(ICmp::UGe, magnitude(b, FT::F64, r), b.imm(64, format(FT::F64).inf));
  return b.select(special, r, up);
}
V one(Builder& b, FT t) { return b.imm(bits_of(t), format(t).one); }
bool gross(const Sem& s, FT t) { return t == FT::F64 && s.has(Tok::approx) && s.has(Tok::ftz); }
}  // namespace

void sem_rcp(const Sem& s) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  V x = m.in(s.in(1));
  if (gross(s, t)) return s.out(0, m.out(rounded_to_upper_half(b, b.fbin(FBin::Div, t, one(b, t), upper_half(b, x)))));
  s.out(0, m.out(t == FT::F64 ? div_f64(b, rounding_of(s), one(b, t), x) : div_f32(b, rounding_of(s), one(b, t), x)));
}
void sem_sqrt(const Sem& s) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  V x = m.in(s.in(1));
  s.out(0, m.out(t == FT::F64 ? sqrt_f64(s.b, rounding_of(s), x) : sqrt_f32(s.b, rounding_of(s), x)));
}
void sem_rsqrt(const Sem& s) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  V x = m.in(s.in(1));
  if (gross(s, t)) x = upper_half(b, x);
  V r = b.fbin(FBin::Div, t, one(b, t), b.fun(FUn::Sqrt, t, x));
  s.out(0, m.out(gross(s, t) ? rounded_to_upper_half(b, r) : r));
}

}  // namespace us::codegen
