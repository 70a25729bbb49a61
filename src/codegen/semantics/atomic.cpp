// SPDX-License-Identifier: Apache-2.0
#include "codegen/semantics/atomic.h"

#include "codegen/semantics/common.h"

namespace us::codegen {
namespace {

using numerics::AtomicType;

struct BuilderArithmetic {
  using Value = V;
  AtomicType type;
  Builder& b;
  FT format;
  u32 bits;

  V number(u64 v) const { return b.imm(bits, v); }
  V add(V x, V y) const { return b.add(x, y); }
  V subtract(V x, V y) const { return b.sub(x, y); }
  V bit_and(V x, V y) const { return b.and_(x, y); }
  V bit_or(V x, V y) const { return b.or_(x, y); }
  V bit_xor(V x, V y) const { return b.xor_(x, y); }
  V at_least(V x, V y) const { return b.icmp(ICmp::UGe, x, y); }
  V above(V x, V y) const { return b.icmp(ICmp::UGt, x, y); }
  V equal(V x, V y) const { return b.icmp(ICmp::Eq, x, y); }
  V either(V x, V y) const { return b.or_(x, y); }
  V select(V c, V x, V y) const { return b.select(c, x, y); }
  V extreme(bool least, V x, V y) const {
    const bool sign = type.number == AtomicType::Number::Signed;
    return b.bin(least ? (sign ? Bin::SMin : Bin::UMin) : (sign ? Bin::SMax : Bin::UMax), x, y);
  }
  V flushed(V x) const { return flush(b, format, x); }
  V sum(V x, V y) const { return b.fbin(FBin::Add, format, x, y); }
  V float_extreme(bool least, V x, V y) const { return b.fbin(least ? FBin::Min : FBin::Max, format, x, y); }
  template <class F>
  V on_halves(F&& f, V x, V y) const {
    return codegen::on_halves(
        b, [&](V p, V q) { return f(p, q); }, x, y);
  }
};

}  // namespace

AtomicType atomic_type(Type t, bool shared) {
  using Number = AtomicType::Number;
  AtomicType r;
  r.shared = shared, r.packed = is_wide_half(t);
  if (isa::is_signed(t)) r.number = Number::Signed;
  if (is_half(t)) r.number = float_of(t) == FT::F16 ? Number::F16 : Number::BF16;
  if (t == Type::f32) r.number = Number::F32;
  if (t == Type::f64) r.number = Number::F64;
  return r;
}

V updated(Builder& b, AtomOp op, Type t, V old, V x, V y, bool shared) {
  const bool is_float = op == AtomOp::FAdd || op == AtomOp::FMin || op == AtomOp::FMax;
  const BuilderArithmetic a{atomic_type(t, shared), b, is_float ? float_of(t) : FT::F32, isa::bits_of(t)};
  return numerics::updated(a, op, old, x, y);
}

}  // namespace us::codegen
