// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Floating-Point Instructions" and "Half Precision Floating-Point Instructions" whose results are exact or
// correctly rounded. Every function takes all float types; packed ones go half by half.
#include "codegen/semantics/float.h"

#include "codegen/semantics/detours.h"

namespace us::codegen {
namespace {

// in: flush subnormal inputs; out: flush, saturate, relu.
struct Modifiers {
  Builder& b;
  FT t;
  bool ftz, sat, relu;
  V in(V x) const { return ftz ? flush(b, t, x) : x; }
  // f(x) computes the result from one of its operands, x.
  template <class F>
  V rounded(F&& f, V x) const {
    V r = f(x);
    return out(ftz ? flush_result(b, t, r, f(scale_for_flush(b, t, x))) : r, false);
  }
  V out(V r, bool may_be_subnormal = true) const {
    if (ftz && may_be_subnormal) r = flush(b, t, r);
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

using Two = V (*)(Builder&, Rnd, V, V);
void binary(const Sem& s, FBin op, Two f32, Two f64) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  const Rnd r = rounding_of(s);
  per_element(
      s,
      [&](V x, V y) {
        y = m.in(y);
        auto f = [&](V first) {
          if (r == Rnd::Nearest) return s.b.fbin(op, t, first, y);
          US_CHECK(t == FT::F32 || t == FT::F64);
          return t == FT::F32 ? f32(s.b, r, first, y) : f64(s.b, r, first, y);
        };
        // Only a product can round up to the smallest normal number; sums of normal numbers are exact there.
        return op == FBin::Mul ? m.rounded(f, m.in(x)) : m.out(f(m.in(x)));
      },
      s.in(1), s.in(2));
}
V sub_f32(Builder& b, Rnd m, V x, V y) { return add_f32(b, m, x, b.xor_(y, like(b, y, format(FT::F32).sign))); }

void min_max(const Sem& s, FBin op) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  per_element(
      s,
      [&](V x, V y) {
        x = m.in(x), y = m.in(y);
        V sign;
        if (s.has(Tok::xorsign)) {
          sign = sign_bit(b, t, b.xor_(x, y));
          x = magnitude(b, t, x), y = magnitude(b, t, y);
        }
        V r = b.fbin(op, t, x, y);
        if (s.has(Tok::NaN)) r = b.select(b.fcmp(FCmp::Nan, t, x, y), like(b, r, format(t).nan), r);
        return sign ? canonical(b, t, b.or_(r, sign)) : r;
      },
      s.in(1), s.in(2));
}

}  // namespace

void sem_add_float(const Sem& s) { binary(s, FBin::Add, add_f32, add_f64); }
void sem_sub_float(const Sem& s) { binary(s, FBin::Sub, sub_f32, sub_f64); }
void sem_mul_float(const Sem& s) { binary(s, FBin::Mul, mul_f32, mul_f64); }

// fma, and mad on floats (the same since sm_20)
void sem_fma(const Sem& s) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  const Rnd r = rounding_of(s);
  per_element(
      s,
      [&](V x, V y, V z) {
        x = m.in(x), y = m.in(y), z = m.in(z);
        auto f = [&](V first, V third) {
          return r == Rnd::Nearest ? b.fma(t, first, y, third)
                 : t == FT::F64    ? fma_f64(b, r, first, y, third)
                                   : fma_f32(b, r, first, y, third);
        };
        V v = f(x, z);
        if (m.ftz) v = flush_result(b, t, v, f(scale_for_flush(b, t, x), scale_for_flush(b, t, z)));
        return m.out(v, false);
      },
      s.in(1), s.in(2), s.in(3));
}

// fma.oob: zero if a factor is the NaN that a bulk tensor copy fills with where it is out of bounds (measured).
void sem_fma_oob(const Sem& s) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  per_element(
      s,
      [&](V x, V y, V z) {
        auto outside = [&](V v) { return b.icmp(ICmp::Eq, magnitude(b, t, v), like(b, v, 0x7ff7)); };
        return b.select(b.or_(outside(x), outside(y)), like(b, x, 0), m.out(b.fma(t, x, y, z), false));
      },
      s.in(1), s.in(2), s.in(3));
}

// neg and abs are additions to hardware: a NaN comes out canonical, of f64 quiet and otherwise unchanged.
namespace {
V sign_result(const Sem& s, FT t, V r, V x) {
  V nan = t == FT::F64 ? s.b.or_(x, s.b.imm(64, 1ull << 51)) : like(s.b, x, format(t).nan);
  return s.b.select(is_nan(s.b, t, x), nan, r);
}
}  // namespace
void sem_neg_float(const Sem& s) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  per_element(
      s, [&](V x) { return sign_result(s, t, s.b.xor_(m.in(x), like(s.b, x, format(t).sign)), x); }, s.in(1));
}
void sem_abs_float(const Sem& s) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  per_element(
      s, [&](V x) { return sign_result(s, t, magnitude(s.b, t, m.in(x)), x); }, s.in(1));
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
  if (s.has(Tok::finite))
    r = b.icmp(ICmp::ULt, m, inf);
  else if (s.has(Tok::infinite))
    r = b.icmp(ICmp::Eq, m, inf);
  else if (s.has(Tok::number))
    r = b.icmp(ICmp::ULe, m, inf);
  else if (s.has(Tok::notanumber))
    r = b.icmp(ICmp::UGt, m, inf);
  else if (s.has(Tok::normal))
    r = b.or_(b.icmp(ICmp::Eq, m, like(b, m, 0)), b.and_(b.icmp(ICmp::UGe, m, normal), b.icmp(ICmp::ULt, m, inf)));
  else
    r = b.and_(b.icmp(ICmp::Ne, m, like(b, m, 0)), b.icmp(ICmp::ULt, m, normal));
  s.out(0, r, Type::pred);
}

// div, rcp, sqrt: the correctly rounded forms; see approx.cpp for the others.
void sem_div_float(const Sem& s) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  V x = m.in(s.in(1)), y = m.in(s.in(2));
  auto f = [&](V first) {
    return t == FT::F64 ? div_f64(s.b, rounding_of(s), first, y) : div_f32(s.b, rounding_of(s), first, y);
  };
  V r = m.rounded(f, x);
  if (rounding_of(s) == Rnd::Nearest) tell_detours_of_quotient(s.b, t, x, y, r);
  s.out(0, r);
}

namespace {
V one(Builder& b, FT t) { return b.imm(bits_of(t), format(t).one); }
}  // namespace

void sem_rcp(const Sem& s) {
  Builder& b = s.b;
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  V x = m.in(s.in(1));
  auto f = [&](V first) {
    return t == FT::F64 ? div_f64(b, rounding_of(s), first, x) : div_f32(b, rounding_of(s), first, x);
  };
  if (rounding_of(s) == Rnd::Nearest) tell_detours_of_reciprocal(b, t, x);
  s.out(0, m.rounded(f, one(b, t)));
}
void sem_sqrt(const Sem& s) {
  const FT t = float_of(s.i.type());
  const Modifiers m = modifiers(s, t);
  V x = m.in(s.in(1));
  if (rounding_of(s) == Rnd::Nearest) tell_detours_of_root(s.b, t, x);
  s.out(0, m.out(t == FT::F64 ? sqrt_f64(s.b, rounding_of(s), x) : sqrt_f32(s.b, rounding_of(s), x)));
}

}  // namespace us::codegen
