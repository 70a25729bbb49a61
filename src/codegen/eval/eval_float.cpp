// SPDX-License-Identifier: Apache-2.0
// Float operations with the host's IEEE arithmetic. Halves are computed in f64 and rounded once; NaN results are
// canonical.
#include <bit>
#include <cmath>

#include "codegen/eval/eval_builder.h"
#include "numerics/numerics.h"

namespace us::codegen::eval {
namespace {

using numerics::kBF16, numerics::kF16;
using numerics::Round;

double from_bits(FT t, u64 v) {
  switch (t) {
    case FT::F16:
      return numerics::widen(v, kF16);
    case FT::BF16:
      return numerics::widen(v, kBF16);
    case FT::F32:
      return std::bit_cast<float>(static_cast<u32>(v));
    case FT::F64:
      break;
  }
  return std::bit_cast<double>(v);
}
constexpr u64 kNan32 = 0x7fffffff, kNan64 = 0xfff8000000000000ull;
u64 to_bits32(float v) { return std::isnan(v) ? kNan32 : std::bit_cast<u32>(v); }
u64 to_bits(FT t, double v) {  // rounds to nearest even
  switch (t) {
    case FT::F16:
      return numerics::narrow(v, 0, kF16, Round::Nearest);
    case FT::BF16:
      return numerics::narrow(v, 0, kBF16, Round::Nearest);
    case FT::F32:
      return to_bits32(static_cast<float>(v));
    case FT::F64:
      break;
  }
  return std::isnan(v) ? kNan64 : std::bit_cast<u64>(v);
}
// The NaN that an f64 operation returns: the first NaN among `in`, made quiet.
u64 nan64(std::initializer_list<u64> in) {
  for (u64 v : in)
    if ((v << 1) > 0xffe0000000000000ull) return v | 1ull << 51;
  return kNan64;
}
// A NaN of one format as one of another, sign and upper payload kept.
u64 converted_nan(FT to, FT from, u64 v) {
  auto parts = [](FT t) {
    return t == FT::F64   ? std::pair{64, 52}
           : t == FT::F32 ? std::pair{32, 23}
           : t == FT::F16 ? std::pair{16, 10}
                          : std::pair{16, 7};
  };
  const auto [bits, mantissa] = parts(to);
  const auto [from_bits, from_mantissa] = parts(from);
  const u64 sign = v >> (from_bits - 1) & 1, payload = v << (64 - from_mantissa) >> (64 - mantissa);
  const u64 exponent = (1ull << (bits - 1)) - (1ull << mantissa);
  return sign << (bits - 1) | exponent | payload | 1ull << (mantissa - 1);
}
template <class T>
T less_of(T a, T b) {  // NaN loses, -0 < +0
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}
template <class T>
T arithmetic(FBin op, T a, T b) {
  switch (op) {
    case FBin::Add:
      return a + b;
    case FBin::Sub:
      return a - b;
    case FBin::Mul:
      return a * b;
    case FBin::Div:
      return a / b;
    case FBin::Min:
      return less_of(a, b);
    case FBin::Max:
      return -less_of(-a, -b);
  }
  US_UNREACHABLE();
}
bool compare(FCmp c, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  switch (c) {
    case FCmp::Eq:
      return a == b;
    case FCmp::Ne:
      return !nan && a != b;
    case FCmp::Lt:
      return a < b;
    case FCmp::Le:
      return a <= b;
    case FCmp::Gt:
      return a > b;
    case FCmp::Ge:
      return a >= b;
    case FCmp::Equ:
      return nan || a == b;
    case FCmp::Neu:
      return nan || a != b;
    case FCmp::Ltu:
      return nan || a < b;
    case FCmp::Leu:
      return nan || a <= b;
    case FCmp::Gtu:
      return nan || a > b;
    case FCmp::Geu:
      return nan || a >= b;
    case FCmp::Num:
      return !nan;
    case FCmp::Nan:
      return nan;
  }
  US_UNREACHABLE();
}
double rounded(FUn op, double v) {
  switch (op) {
    case FUn::Sqrt:
      return std::sqrt(v);
    case FUn::Floor:
      return std::floor(v);
    case FUn::Ceil:
      return std::ceil(v);
    case FUn::Trunc:
      return std::trunc(v);
    case FUn::Rint:
      return std::nearbyint(v);
  }
  US_UNREACHABLE();
}

}  // namespace

V EvalBuilder::fbin(FBin op, FT t, V a, V b) {
  return per_lane(bits_of(t), [&](u32 l) -> u64 {
    const u64 x = get(a, l), y = get(b, l);
    if (t == FT::F32)
      return to_bits32(
          arithmetic(op, std::bit_cast<float>(static_cast<u32>(x)), std::bit_cast<float>(static_cast<u32>(y))));
    const u64 r = to_bits(t, arithmetic(op, from_bits(t, x), from_bits(t, y)));
    if (t != FT::F64 || r != kNan64) return r;
    return op == FBin::Div ? nan64({x, y}) : nan64({y, x});
  });
}
V EvalBuilder::fma(FT t, V a, V b, V c) {
  return per_lane(bits_of(t), [&](u32 l) -> u64 {
    const u64 x = get(a, l), y = get(b, l), z = get(c, l);
    if (t == FT::F16) return numerics::fma_f16(x, y, z);
    if (t == FT::BF16) return numerics::fma_bf16(x, y, z);
    if (t == FT::F64) {
      const u64 r = to_bits(t, std::fma(from_bits(t, x), from_bits(t, y), from_bits(t, z)));
      return r == kNan64 ? nan64({y, z, x}) : r;
    }
    return to_bits32(std::fma(std::bit_cast<float>(static_cast<u32>(x)), std::bit_cast<float>(static_cast<u32>(y)),
                              std::bit_cast<float>(static_cast<u32>(z))));
  });
}
V EvalBuilder::fun(FUn op, FT t, V a) {
  return per_lane(bits_of(t), [&](u32 l) -> u64 {
    if (t == FT::F32 && op == FUn::Sqrt) return to_bits32(std::sqrt(std::bit_cast<float>(static_cast<u32>(get(a, l)))));
    const u64 r = to_bits(t, rounded(op, from_bits(t, get(a, l))));
    return t == FT::F64 && r == kNan64 ? nan64({get(a, l)}) : r;
  });
}
V EvalBuilder::fcmp(FCmp c, FT t, V a, V b) {
  return per_lane(1, [&](u32 l) -> u64 { return compare(c, from_bits(t, get(a, l)), from_bits(t, get(b, l))); });
}
V EvalBuilder::fcvt(FT to, FT from, V a) {
  return per_lane(bits_of(to), [&](u32 l) -> u64 {
    const u64 x = get(a, l);
    const double v = from_bits(from, x);
    if (from == FT::BF16 && to == FT::F32) return x << 16;
    if (std::isnan(v) && (from == FT::F64 || to == FT::F64)) return converted_nan(to, from, x);
    return to_bits(to, v);
  });
}
V EvalBuilder::i2f(FT to, V a, bool sign) {
  const u32 w = width(a);
  return per_lane(bits_of(to), [&](u32 l) -> u64 {
    const u64 x = get(a, l);
    const i64 y = static_cast<i64>(x << (64 - w)) >> (64 - w);
    if (to == FT::F32) return to_bits32(sign ? static_cast<float>(y) : static_cast<float>(x));
    return to_bits(to, sign ? static_cast<double>(y) : static_cast<double>(x));
  });
}
V EvalBuilder::f2i(u32 bits, bool sign, FT from, V a) {
  return per_lane(bits, [&](u32 l) -> u64 {
    const double v = std::trunc(from_bits(from, get(a, l)));
    const u64 top = sign ? (1ull << (bits - 1)) - 1 : bits == 64 ? ~0ull : (1ull << bits) - 1;
    if (std::isnan(v)) return 0;
    if (v >= std::ldexp(1.0, static_cast<int>(sign ? bits - 1 : bits))) return top;
    if (sign) return v <= -std::ldexp(1.0, static_cast<int>(bits - 1)) ? ~top : static_cast<u64>(static_cast<i64>(v));
    return v <= 0 ? 0 : static_cast<u64>(v);
  });
}

}  // namespace us::codegen::eval
