// SPDX-License-Identifier: Apache-2.0
// The approximate instructions: one operation of the multi-function unit each, with the scaling that the stock
// assembler puts around it for arguments and results that the unit would flush.
#include "codegen/semantics/approx.h"

#include "codegen/semantics/detours.h"
#include "codegen/semantics/float.h"

namespace us::codegen {
namespace {

constexpr FT F = FT::F32;
constexpr u32 kSmallest = 0x00800000, kTwo24 = 0x4b800000, kQuarter = 0x3e800000, kOne = 0x3f800000;

V mul(Builder& b, V x, V y) { return b.fbin(FBin::Mul, F, x, y); }
V mul(Builder& b, V x, u32 y) { return mul(b, x, imm32(b, y)); }
V mul_ftz(Builder& b, V x, V y) {
  x = flush(b, F, x), y = flush(b, F, y);
  return flush_result(b, F, mul(b, x, y), mul(b, scale_for_flush(b, F, x), y));
}
// |x| < 2^-126; false for NaN
V is_tiny(Builder& b, V x) { return b.icmp(ICmp::ULt, magnitude(b, F, x), imm32(b, kSmallest)); }
// 2^126 < |x|; the reciprocal of such a number is flushed
V is_huge(Builder& b, V x) {
  V a = magnitude(b, F, x);
  return b.and_(b.icmp(ICmp::UGt, a, imm32(b, 0x7e800000)), b.icmp(ICmp::ULe, a, imm32(b, 0x7f800000)));
}
// op(x), or for tiny x op(2^24 x) * rescale.
template <V (*op)(Builder&, V), u32 rescale>
V scaled(Builder& b, V x) {
  V tiny = is_tiny(b, x), r = op(b, b.select(tiny, mul(b, x, kTwo24), x));
  return b.select(tiny, mul(b, r, rescale), r);
}
V scaled_rcp(Builder& b, V x) {
  V scale = b.select(is_tiny(b, x), imm32(b, kTwo24), imm32(b, kOne));
  scale = b.select(is_huge(b, x), imm32(b, kQuarter), scale);
  return mul(b, scale, unit_rcp(b, mul(b, x, scale)));
}
V scaled_lg2(Builder& b, V x) {
  V tiny = is_tiny(b, x), r = unit_lg2(b, b.select(tiny, mul(b, x, kTwo24), x));
  return b.select(tiny, b.fbin(FBin::Add, F, r, imm32(b, 0xc1c00000)), r);  // -24
}
V scaled_ex2(Builder& b, V x) {
  V low = b.fcmp(FCmp::Lt, F, x, imm32(b, 0xc2fc0000));  // -126
  V r = unit_ex2(b, b.select(low, mul(b, x, 0x3f000000), x));
  return b.select(low, mul(b, r, r), r);
}
// True: the instruction has been done the fast way.
bool fast(const Sem& s, Builder::Operation operation) {
  if (!s.b.fast_math()) return false;
  const bool ftz = s.has(Tok::ftz);
  V r = operation(s.b, ftz ? flush(s.b, F, s.in(1)) : s.in(1));
  s.out(0, ftz ? flush(s.b, F, r) : r);
  return true;
}
void f32(const Sem& s, Builder::Operation quick, const Ordinary& o, Builder::Operation flushing,
         Builder::Operation scaled) {
  if (!fast(s, quick)) s.out(0, s.b.quick(s.in(1), o.test, o.operation, s.has(Tok::ftz) ? flushing : scaled));
}
// f32 bits cut to a half
V cut(Builder& b, FT t, V x) {
  V a = magnitude(b, F, x), sign = b.bin(Bin::LShr, sign_bit(b, F, x), imm32(b, 16)), r;
  if (t == FT::BF16) {
    r = b.bin(Bin::LShr, a, imm32(b, 16));
  } else {
    V normal = b.bin(Bin::LShr, b.sub(a, imm32(b, 112u << 23)), imm32(b, 13));
    V significand = b.or_(b.and_(a, imm32(b, 0x7fffff)), imm32(b, kSmallest));
    V subnormal = b.bin(Bin::LShr, significand, b.sub(imm32(b, 126), b.bin(Bin::LShr, a, imm32(b, 23))));
    r = b.select(b.icmp(ICmp::UGe, a, imm32(b, 113u << 23)), normal, subnormal);
    r = b.select(b.icmp(ICmp::UGe, a, imm32(b, 0x47800000)), imm32(b, 0x7c00), r);
  }
  return b.resize(b.select(is_nan(b, F, x), imm32(b, 0x7fff), b.or_(r, sign)), 16, false);
}
void halves(const Sem& s, V (*op)(Builder&, V)) {
  const Type type = s.i.type();
  const FT t = float_of(type);
  auto one = [&](V x) { return cut(s.b, t, op(s.b, s.b.fcvt(F, t, x))); };
  s.out(0, is_wide_half(type) ? on_halves(s.b, one, s.in(1)) : one(s.in(1)));
}
// On the upper word of an f64; the lower word of the result is zero.
void upper_word(const Sem& s, V (*op)(Builder&, V)) {
  Builder& b = s.b;
  V high = op(b, b.resize(b.bin(Bin::LShr, s.in(1), b.imm(64, 32)), 32, false));
  s.out(0, b.bin(Bin::Shl, b.zext(high, 64), b.imm(64, 32)));
}

}  // namespace

void sem_rcp_approx(const Sem& s) {
  if (s.i.type() == Type::f64) return upper_word(s, unit_rcp64);
  f32(s, fast_rcp, kOrdinaryRcp, unit_rcp, scaled_rcp);
}
void sem_rsqrt_approx(const Sem& s) {
  if (s.i.type() == Type::f64) return upper_word(s, unit_rsqrt64);
  f32(s, fast_rsqrt, kOrdinaryRsqrt, unit_rsqrt, scaled<unit_rsqrt, 0x45800000>);
}
void sem_sqrt_approx(const Sem& s) { f32(s, fast_sqrt, kOrdinarySqrt, unit_sqrt, scaled<unit_sqrt, 0x39800000>); }

// rsqrt.approx.f64: one step of refinement from the unit's 20 bits, with subnormal arguments scaled by 2^54.
void sem_rsqrt_f64(const Sem& s) {
  constexpr FT D = FT::F64;
  Builder& b = s.b;
  auto num = [&](double d) { return b.imm(64, __builtin_bit_cast(u64, d)); };
  V x = s.in(1), a = magnitude(b, D, x), sign = sign_bit(b, D, x), zero = b.imm(64, 0), inf = b.imm(64, format(D).inf);
  tell_detours_of_reciprocal_root(b, x);
  V tiny = b.icmp(ICmp::ULt, a, b.imm(64, 1ull << 52));
  V y = b.select(tiny, b.fbin(FBin::Mul, D, x, num(0x1p54)), x);
  V high = unit_rsqrt64(b, b.resize(b.bin(Bin::LShr, y, b.imm(64, 32)), 32, false));
  V r0 = b.bin(Bin::Shl, b.zext(high, 64), b.imm(64, 32));
  V square = b.xor_(b.fbin(FBin::Mul, D, r0, r0), b.imm(64, format(D).sign));
  V error = b.fma(D, y, square, num(1)), weight = b.fma(D, error, num(0.375), num(0.5));
  V r = b.fma(D, weight, b.fbin(FBin::Mul, D, r0, error), r0);
  r = b.select(tiny, b.fbin(FBin::Mul, D, r, num(0x1p27)), r);
  r = b.select(b.icmp(ICmp::Eq, a, inf), zero, r);
  r = b.select(b.icmp(ICmp::Ne, sign, zero), b.imm(64, 0xfff8ull << 48), r);
  r = b.select(b.icmp(ICmp::UGt, a, inf), b.or_(x, b.imm(64, 1ull << 51)), r);
  s.out(0, b.select(b.icmp(ICmp::Eq, a, zero), b.or_(sign, inf), r));
}

// div.approx, div.full: a * (1 / b)
void sem_div_approx(const Sem& s) {
  Builder& b = s.b;
  const bool ftz = s.has(Tok::ftz), full = s.has(Tok::full);
  V x = s.in(1), y = s.in(2);
  if (b.fast_math()) {
    if (ftz) x = flush(b, F, x), y = flush(b, F, y);
    V q = fast_div(b, x, y, full);
    return s.out(0, ftz ? flush(b, F, q) : q);
  }
  if (full) {
    V scale = b.select(is_huge(b, y), imm32(b, kQuarter), imm32(b, kOne));
    x = ftz ? mul_ftz(b, x, scale) : mul(b, x, scale);
    y = ftz ? mul_ftz(b, y, scale) : mul(b, y, scale);
  }
  if (!ftz) {
    V scale = b.select(is_tiny(b, y), imm32(b, kTwo24), imm32(b, kOne));
    x = mul(b, x, scale), y = mul(b, y, scale);
  }
  V r = unit_rcp(b, y);
  s.out(0, ftz ? mul_ftz(b, x, r) : mul(b, x, r));
}

void sem_lg2(const Sem& s) { f32(s, fast_lg2, kOrdinaryLg2, unit_lg2, scaled_lg2); }
void sem_ex2(const Sem& s) {
  if (is_half(s.i.type())) return halves(s, unit_ex2);
  f32(s, fast_ex2, kOrdinaryEx2, unit_ex2, scaled_ex2);
}
void sem_tanh(const Sem& s) {
  if (is_half(s.i.type())) return halves(s, unit_tanh);
  if (!fast(s, fast_tanh)) s.out(0, unit_tanh(s.b, s.in(1)));
}
void sem_sin(const Sem& s) {
  if (!fast(s, fast_sin)) s.out(0, unit_sin(s.b, s.in(1), false));
}
void sem_cos(const Sem& s) {
  if (!fast(s, fast_cos)) s.out(0, unit_sin(s.b, s.in(1), true));
}

}  // namespace us::codegen
