// SPDX-License-Identifier: Apache-2.0
// Directed rounding. An f32 result is first computed in f64 together with the sign of what is missing (the residual),
// rounded to nearest f32, then moved one step when the rounded value lies on the wrong side of the exact one. Products
// of two f32 are exact in f64; sums use Knuth's two-sum; quotients and roots take the sign of an exact fma residual.
// f64 results have no wider type to lean on and are computed lane by lane in numerics/. NaN results of f32 are
// canonical, those of f64 keep a payload.
#include "codegen/semantics/float.h"

namespace us::codegen {
namespace {

using device::NumFn;

V widen(Builder& b, V x) { return b.fcvt(FT::F64, FT::F32, x); }
V narrow(Builder& b, V x) { return b.fcvt(FT::F32, FT::F64, x); }
V negated(Builder& b, V x) { return b.xor_(x, like(b, x, format(b.width(x) == 64 ? FT::F64 : FT::F32).sign)); }

// The neighbour of r towards -inf (or +inf).
V step(Builder& b, V r, bool up) {
  V zero = imm32(b, 0), one = imm32(b, 1);
  V negative = b.icmp(ICmp::SLt, r, zero);
  V grows = up ? b.not_(negative) : negative;
  V moved = b.select(grows, b.add(r, one), b.sub(r, one));
  V is_zero = b.icmp(ICmp::Eq, magnitude(b, FT::F32, r), zero);
  return b.select(is_zero, imm32(b, up ? 1 : 0x80000001u), moved);
}
// r, moved one step where it is above (for Down) or below (for Up) the exact value; `positive`: exact value > 0.
V adjust(Builder& b, Rnd m, V r, V above, V below, V positive) {
  V down = b.select(above, step(b, r, false), r), up = b.select(below, step(b, r, true), r);
  if (m == Rnd::Down) return down;
  if (m == Rnd::Up) return up;
  return b.select(positive, down, up);
}
struct Sum {
  V high, low;
};
Sum two_sum(Builder& b, V x, V y) {
  V s = b.fbin(FBin::Add, FT::F64, x, y), y2 = b.fbin(FBin::Sub, FT::F64, s, x);
  V x2 = b.fbin(FBin::Sub, FT::F64, s, y2);
  return {s, b.fbin(FBin::Add, FT::F64, b.fbin(FBin::Sub, FT::F64, x, x2), b.fbin(FBin::Sub, FT::F64, y, y2))};
}
V sum_f32(Builder& b, Rnd m, V x, V y) {  // x, y: f64
  auto [s, e] = two_sum(b, x, y);
  V r = round_f64_to_f32(b, m, s, e);
  if (m != Rnd::Down) return r;
  // An exact zero is -0 unless both terms are +0.
  V sign = narrow(b, b.or_(sign_bit(b, FT::F64, x), sign_bit(b, FT::F64, y)));
  return b.select(b.fcmp(FCmp::Eq, FT::F64, s, like(b, s, 0)), sign, r);
}
// Adjust r, the nearest to a quotient or root, by the sign of `rest` = exact - r (possibly negated by `flip`).
V adjust_by_rest(Builder& b, Rnd m, V r, V rest, V positive) {
  V zero = like(b, rest, 0);
  return adjust(b, m, r, b.fcmp(FCmp::Lt, FT::F64, rest, zero), b.fcmp(FCmp::Gt, FT::F64, rest, zero), positive);
}

}  // namespace

V round_f64_to_f32(Builder& b, Rnd m, V s, V e) {
  V r = narrow(b, s);
  if (m == Rnd::Nearest) return r;
  V back = widen(b, r), zero = like(b, s, 0), same = b.fcmp(FCmp::Eq, FT::F64, back, s);
  V above = b.or_(b.fcmp(FCmp::Gt, FT::F64, back, s), b.and_(same, b.fcmp(FCmp::Lt, FT::F64, e, zero)));
  V below = b.or_(b.fcmp(FCmp::Lt, FT::F64, back, s), b.and_(same, b.fcmp(FCmp::Gt, FT::F64, e, zero)));
  return adjust(b, m, r, above, below, b.fcmp(FCmp::Gt, FT::F64, s, zero));
}

V add_f32(Builder& b, Rnd m, V x, V y) {
  return m == Rnd::Nearest ? b.fbin(FBin::Add, FT::F32, x, y)
                           : canonical(b, FT::F32, sum_f32(b, m, widen(b, x), widen(b, y)));
}
V mul_f32(Builder& b, Rnd m, V x, V y) {
  if (m == Rnd::Nearest) return b.fbin(FBin::Mul, FT::F32, x, y);
  V p = b.fbin(FBin::Mul, FT::F64, widen(b, x), widen(b, y));
  return canonical(b, FT::F32, round_f64_to_f32(b, m, p, like(b, p, 0)));
}
V fma_f32(Builder& b, Rnd m, V x, V y, V z) {
  if (m == Rnd::Nearest) return b.fma(FT::F32, x, y, z);
  return canonical(b, FT::F32, sum_f32(b, m, b.fbin(FBin::Mul, FT::F64, widen(b, x), widen(b, y)), widen(b, z)));
}
V div_f32(Builder& b, Rnd m, V x, V y) {
  if (m == Rnd::Nearest) return b.fbin(FBin::Div, FT::F32, x, y);
  V wx = widen(b, x), wy = widen(b, y);
  V q = b.fbin(FBin::Div, FT::F64, wx, wy), r = narrow(b, q);
  V rest = b.fma(FT::F64, negated(b, widen(b, r)), wy, wx);
  rest = b.xor_(rest, sign_bit(b, FT::F64, wy));
  return canonical(b, FT::F32, adjust_by_rest(b, m, r, rest, b.fcmp(FCmp::Gt, FT::F64, q, like(b, q, 0))));
}
V sqrt_f32(Builder& b, Rnd m, V x) {
  if (m == Rnd::Nearest) return b.fun(FUn::Sqrt, FT::F32, x);
  V wx = widen(b, x), q = b.fun(FUn::Sqrt, FT::F64, wx), r = narrow(b, q), wr = widen(b, r);
  return canonical(b, FT::F32, adjust_by_rest(b, m, r, b.fma(FT::F64, negated(b, wr), wr, wx), b.imm(1, 1)));
}

namespace {
u32 flush_shift(FT t) { return format(t).mantissa + 1; }
}  // namespace
V scale_for_flush(Builder& b, FT t, V x) {
  const FormatBits f = format(t);
  return b.fbin(FBin::Mul, t, x, like(b, x, f.one + (static_cast<u64>(flush_shift(t)) << f.mantissa)));
}
V flush_result(Builder& b, FT t, V result, V scaled) {
  const FormatBits f = format(t);
  V smallest = like(b, scaled, static_cast<u64>(flush_shift(t) + 1) << f.mantissa);
  V tiny = b.fcmp(FCmp::Lt, t, magnitude(b, t, scaled), smallest);
  return b.select(tiny, sign_bit(b, t, result), result);
}

namespace {
NumFn pick(Rnd m, NumFn zero, NumFn down, NumFn up) { return m == Rnd::Zero ? zero : m == Rnd::Down ? down : up; }
}  // namespace
V add_f64(Builder& b, Rnd m, V x, V y) {
  if (m == Rnd::Nearest) return b.fbin(FBin::Add, FT::F64, x, y);
  return b.lanewise(pick(m, NumFn::add_f64_rz, NumFn::add_f64_rm, NumFn::add_f64_rp), {x, y}, 64);
}
V sub_f64(Builder& b, Rnd m, V x, V y) {
  if (m == Rnd::Nearest) return b.fbin(FBin::Sub, FT::F64, x, y);
  return b.lanewise(pick(m, NumFn::sub_f64_rz, NumFn::sub_f64_rm, NumFn::sub_f64_rp), {x, y}, 64);
}
V mul_f64(Builder& b, Rnd m, V x, V y) {
  if (m == Rnd::Nearest) return b.fbin(FBin::Mul, FT::F64, x, y);
  return b.lanewise(pick(m, NumFn::mul_f64_rz, NumFn::mul_f64_rm, NumFn::mul_f64_rp), {x, y}, 64);
}
V fma_f64(Builder& b, Rnd m, V x, V y, V z) {
  if (m == Rnd::Nearest) return b.fma(FT::F64, x, y, z);
  return b.lanewise(pick(m, NumFn::fma_f64_rz, NumFn::fma_f64_rm, NumFn::fma_f64_rp), {x, y, z}, 64);
}
V div_f64(Builder& b, Rnd m, V x, V y) {
  if (m == Rnd::Nearest) return b.fbin(FBin::Div, FT::F64, x, y);
  return b.lanewise(pick(m, NumFn::div_f64_rz, NumFn::div_f64_rm, NumFn::div_f64_rp), {x, y}, 64);
}
V sqrt_f64(Builder& b, Rnd m, V x) {
  if (m == Rnd::Nearest) return b.fun(FUn::Sqrt, FT::F64, x);
  return b.lanewise(pick(m, NumFn::sqrt_f64_rz, NumFn::sqrt_f64_rm, NumFn::sqrt_f64_rp), {x}, 64);
}

}  // namespace us::codegen
