// SPDX-License-Identifier: Apache-2.0
// --math=fast: the approximate f32 instructions as host operations and polynomials that vectorise. They keep the error
// bounds and the special values of the PTX ISA's tables, but not the bits of the device.
#include <initializer_list>

#include "codegen/semantics/approx.h"
#include "codegen/semantics/float.h"

namespace us::codegen {
namespace {

constexpr FT F = FT::F32;
constexpr u32 kNan = 0x7fffffff, kInf = 0x7f800000;

V num(Builder& b, float f) { return imm32(b, __builtin_bit_cast(u32, f)); }
V add(Builder& b, V x, V y) { return b.fbin(FBin::Add, F, x, y); }
V sub(Builder& b, V x, V y) { return b.fbin(FBin::Sub, F, x, y); }
V mul(Builder& b, V x, V y) { return b.fbin(FBin::Mul, F, x, y); }
V div(Builder& b, V x, V y) { return b.fbin(FBin::Div, F, x, y); }
// Coefficients from the highest power down.
V polynomial(Builder& b, V x, std::initializer_list<float> c) {
  V r;
  for (float f : c) r = r ? b.fma(F, r, x, num(b, f)) : num(b, f);
  return r;
}
// 2^n for integer n in [-126, 127] (as i32)
V power_of_two(Builder& b, V n) { return b.bin(Bin::Shl, b.add(n, imm32(b, 127)), imm32(b, 23)); }

// sin(2 pi r), |r| <= 1/4; error 2^-28
V sin_turns(Builder& b, V r) {
  V p = polynomial(b, mul(b, r, r), {39.53670676f, -76.54978239f, 81.60100408f, -41.34165503f, 6.28318516f});
  return mul(b, p, r);
}
// x / 2 pi less its nearest integer: in [-1/2, 1/2], sign of x where |x| is small
V turns(Builder& b, V x) {
  V t = mul(b, x, num(b, 0.159154943f));
  V small = b.fcmp(FCmp::Lt, F, magnitude(b, F, t), num(b, 0.5f));
  return b.select(small, t, sub(b, t, b.fun(FUn::Rint, F, t)));
}

}  // namespace

V fast_rcp(Builder& b, V x) { return div(b, num(b, 1), x); }
V fast_rsqrt(Builder& b, V x) { return div(b, num(b, 1), b.fun(FUn::Sqrt, F, x)); }
V fast_sqrt(Builder& b, V x) { return b.fun(FUn::Sqrt, F, x); }
V fast_sin(Builder& b, V x) {
  V r = turns(b, x), folded = sub(b, b.or_(num(b, 0.5f), sign_bit(b, F, r)), r);
  return sin_turns(b, b.select(b.fcmp(FCmp::Gt, F, magnitude(b, F, r), num(b, 0.25f)), folded, r));
}
V fast_cos(Builder& b, V x) { return sin_turns(b, sub(b, num(b, 0.25f), magnitude(b, F, turns(b, x)))); }
V fast_lg2(Builder& b, V x) {
  V tiny = b.fcmp(FCmp::Lt, F, x, imm32(b, 0x00800000u)), m = b.select(tiny, mul(b, x, num(b, 16777216.0f)), x);
  V exponent = b.select(tiny, imm32(b, static_cast<u32>(-24)), imm32(b, 0));
  V above = b.sub(m, imm32(b, 0x3f3504f3u));  // relative to sqrt(1/2)
  V k = b.bin(Bin::AShr, above, imm32(b, 23));
  V f = sub(b, b.sub(m, b.bin(Bin::Shl, k, imm32(b, 23))), num(b, 1.0f));
  // log2(1 + f); error 2^-27
  V p = polynomial(b, f,
                   {0.1192267779f, -0.2081906982f, 0.2187425165f, -0.2389036863f, 0.2875459239f, -0.3607001334f,
                    0.4809262961f, -0.7213474534f, 1.4426948285f});
  V r = b.fma(F, p, f, b.i2f(F, b.add(k, exponent), true));
  V inf = imm32(b, kInf), zero = imm32(b, 0);
  r = b.select(b.icmp(ICmp::Eq, x, inf), inf, r);
  r = b.select(b.fcmp(FCmp::Ltu, F, x, zero), imm32(b, kNan), r);
  return b.select(b.fcmp(FCmp::Eq, F, x, zero), imm32(b, 0xff800000u), r);
}
V fast_ex2(Builder& b, V x) {
  V c = b.fbin(FBin::Min, F, b.fbin(FBin::Max, F, x, num(b, -160.0f)), num(b, 160.0f));
  V n = b.fun(FUn::Rint, F, c), f = sub(b, c, n);
  // 2^f, |f| <= 1/2; relative error 2^-29
  V p = polynomial(b, f,
                   {0.000153458122f, 0.00133999312f, 0.00961848896f, 0.0555032878f, 0.240226469f, 0.693147206f, 1.0f});
  V k = b.f2i(32, true, F, n), half = b.bin(Bin::AShr, k, imm32(b, 1));
  V r = mul(b, mul(b, p, power_of_two(b, half)), power_of_two(b, b.sub(k, half)));
  return b.select(is_nan(b, F, x), imm32(b, kNan), r);
}
V fast_tanh(Builder& b, V x) {
  V a = magnitude(b, F, x), x2 = mul(b, x, x);
  V series = polynomial(b, x2, {-0.0539682540f, 0.1333333333f, -0.3333333333f, 1.0f});
  V e = fast_ex2(b, mul(b, a, num(b, 2.885390082f)));
  V far = sub(b, num(b, 1.0f), div(b, num(b, 2.0f), add(b, e, num(b, 1.0f))));
  V r = b.select(b.fcmp(FCmp::Lt, F, a, num(b, 0.3f)), mul(b, a, series), far);
  return b.select(is_nan(b, F, x), imm32(b, kNan), b.or_(r, sign_bit(b, F, x)));
}
// The PTX ISA flushes the quotient where the divisor is above 2^126.
V fast_div(Builder& b, V x, V y, bool full) {
  V q = div(b, x, y);
  if (full) return q;
  V a = magnitude(b, F, y), inf = imm32(b, kInf);
  V huge = b.and_(b.icmp(ICmp::UGt, a, imm32(b, 0x7e800000)), b.icmp(ICmp::ULt, a, inf));
  V bad = b.or_(b.icmp(ICmp::Eq, magnitude(b, F, x), inf), is_nan(b, F, x));
  return b.select(huge, b.select(bad, imm32(b, kNan), sign_bit(b, F, b.xor_(x, y))), q);
}

}  // namespace us::codegen
