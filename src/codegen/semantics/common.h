// SPDX-License-Identifier: Apache-2.0
// Small words shared by the semantics files.
#pragma once
#include "codegen/builder.h"

namespace us::codegen {

using isa::Tok;
using isa::Type;

inline V imm32(Builder& b, u64 v) { return b.imm(32, v); }
inline V like(Builder& b, V a, u64 v) { return b.imm(b.width(a), v); }
inline bool is_wide_half(Type t) { return t == Type::f16x2 || t == Type::bf16x2; }
inline bool is_half(Type t) { return t == Type::f16 || t == Type::bf16 || is_wide_half(t); }
inline bool is_int_x2(Type t) { return t == Type::u16x2 || t == Type::s16x2; }
inline FT float_of(Type t) {
  switch (t) {
    case Type::f64:
      return FT::F64;
    case Type::f32:
    case Type::f32x2:
    case Type::tf32:
      return FT::F32;
    case Type::f16:
    case Type::f16x2:
      return FT::F16;
    case Type::bf16:
    case Type::bf16x2:
      return FT::BF16;
    default:
      US_UNREACHABLE();
  }
}

// Packed values: element k of `bits` wide elements.
inline V element(Builder& b, V packed, u32 bits, u32 k) {
  V v = k ? b.bin(Bin::LShr, packed, imm32(b, k * bits)) : packed;
  return b.resize(v, bits, false);
}
inline V pair(Builder& b, V lo, V hi) {
  const u32 w = b.width(lo);
  return b.or_(b.zext(lo, 2 * w), b.bin(Bin::Shl, b.zext(hi, 2 * w), imm32(b, w)));
}
// f on both halves of equally packed values.
template <class F, class... A>
V on_halves(Builder& b, F&& f, A... packed) {
  V lo = f(b.resize(packed, b.width(packed) / 2, false)...);
  V hi = f(element(b, packed, b.width(packed) / 2, 1)...);
  return pair(b, lo, hi);
}

// v of type t into the register of d, extended as t says.
void write_extended(Builder&, const ir::Operand& d, V v, Type t);

// Facts of a float format.
struct FormatBits {
  u32 bits, mantissa;
  u64 sign, magnitude, inf, nan, one;
};
inline FormatBits format(FT t) {
  switch (t) {
    case FT::F16:
      return {16, 10, 0x8000, 0x7fff, 0x7c00, 0x7fff, 0x3c00};
    case FT::BF16:
      return {16, 7, 0x8000, 0x7fff, 0x7f80, 0x7fff, 0x3f80};
    case FT::F32:
      return {32, 23, 0x80000000u, 0x7fffffffu, 0x7f800000u, 0x7fffffffu, 0x3f800000u};
    case FT::F64:
      break;
  }
  return {64, 52, 1ull << 63, ~(1ull << 63), 0x7ffull << 52, 0xfff8ull << 48, 0x3ffull << 52};
}
inline V sign_bit(Builder& b, FT t, V a) { return b.and_(a, like(b, a, format(t).sign)); }
inline V magnitude(Builder& b, FT t, V a) { return b.and_(a, like(b, a, format(t).magnitude)); }
inline V is_nan(Builder& b, FT t, V a) { return b.icmp(ICmp::UGt, magnitude(b, t, a), like(b, a, format(t).inf)); }
// A NaN becomes the NaN that hardware computes with.
inline V canonical(Builder& b, FT t, V a) { return b.select(is_nan(b, t, a), like(b, a, format(t).nan), a); }
// Subnormals become zero of the same sign.
inline V flush(Builder& b, FT t, V a) {
  V tiny = b.icmp(ICmp::ULt, magnitude(b, t, a), like(b, a, 1ull << format(t).mantissa));
  return b.select(tiny, sign_bit(b, t, a), a);
}
// .sat: clamp to [+0, 1], NaN becomes +0.
inline V saturate(Builder& b, FT t, V a) {
  V zero = like(b, a, 0), one = like(b, a, format(t).one);
  V low = b.select(b.fcmp(FCmp::Gt, t, a, zero), a, zero);
  return b.select(b.fcmp(FCmp::Lt, t, low, one), low, one);
}

}  // namespace us::codegen
