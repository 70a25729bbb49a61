// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Integer Arithmetic Instructions".
#include "codegen/semantics/common.h"
#include "codegen/semantics/detours.h"

namespace us::codegen {
namespace {

V add_saturating(Builder& b, V x, V y) {
  const u32 w = b.width(x);
  V r = b.add(x, y);
  V overflow = b.icmp(ICmp::SLt, b.and_(b.xor_(x, r), b.xor_(y, r)), like(b, x, 0));
  V limit = b.xor_(b.bin(Bin::AShr, x, imm32(b, w - 1)), b.imm(w, (1ull << (w - 1)) - 1));
  return b.select(overflow, limit, r);
}
V sub_saturating(Builder& b, V x, V y) {
  const u32 w = b.width(x);
  V r = b.sub(x, y);
  V overflow = b.icmp(ICmp::SLt, b.and_(b.xor_(x, y), b.xor_(x, r)), like(b, x, 0));
  V limit = b.xor_(b.bin(Bin::AShr, x, imm32(b, w - 1)), b.imm(w, (1ull << (w - 1)) - 1));
  return b.select(overflow, limit, r);
}
V saturating_unsigned(Builder& b, bool add, V x, V y) {
  if (add) {
    V r = b.add(x, y);
    return b.select(b.icmp(ICmp::ULt, r, x), b.not_(like(b, x, 0)), r);
  }
  return b.select(b.icmp(ICmp::ULt, x, y), like(b, x, 0), b.sub(x, y));
}

// One of the two halves, or the whole, of a 2w-bit product.
V product(const Sem& s, V x, V y, Type t) {
  Builder& b = s.b;
  const bool sign = isa::is_signed(t);
  if (s.has(Tok::wide)) {
    const u32 w = 2 * b.width(x);
    return b.mul(b.resize(x, w, sign), b.resize(y, w, sign));
  }
  if (s.has(Tok::hi)) return b.bin(sign ? Bin::MulHiS : Bin::MulHiU, x, y);
  return b.mul(x, y);
}
Type widened(const Sem& s, Type t) {
  if (!s.has(Tok::wide)) return t;
  switch (t) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      US_UNREACHABLE();
  }
}
V product24(const Sem& s, V x, V y) {
  Builder& b = s.b;
  const bool sign = isa::is_signed(s.i.type());
  auto low24 = [&](V v) {
    V up = b.bin(Bin::Shl, v, imm32(b, 8));
    return b.resize(b.bin(sign ? Bin::AShr : Bin::LShr, up, imm32(b, 8)), 64, sign);
  };
  V p = b.mul(low24(x), low24(y));
  return b.resize(s.has(Tok::hi) ? b.bin(Bin::LShr, p, imm32(b, 16)) : p, 32, false);
}

template <class F>
void packed_or_scalar(const Sem& s, F&& f) {
  V x = s.in(1), y = s.in(2);
  s.out(0, is_int_x2(s.i.type()) ? on_halves(s.b, f, x, y) : f(x, y));
}
bool elements_signed(Type t) { return isa::is_signed(t) || t == Type::s16x2; }

void div_rem(const Sem& s, Bin u, Bin i) {
  const V x = s.in(1), y = s.in(2);
  tell_detours_of_quotient(s.b, x, y);
  s.out(0, s.b.bin(isa::is_signed(s.i.type()) ? i : u, x, y));
}
void min_max(const Sem& s, Bin u, Bin i) {
  Builder& b = s.b;
  const bool sign = elements_signed(s.i.type()), relu = s.has(Tok::relu);
  packed_or_scalar(s, [&](V x, V y) {
    V r = b.bin(sign ? i : u, x, y);
    return relu ? b.bin(Bin::SMax, r, like(b, r, 0)) : r;
  });
}

}  // namespace

void sem_add_int(const Sem& s) {
  packed_or_scalar(s, [&](V x, V y) {
    if (!s.has(Tok::sat)) return s.b.add(x, y);
    return elements_signed(s.i.type()) ? add_saturating(s.b, x, y) : saturating_unsigned(s.b, true, x, y);
  });
}
void sem_sub_int(const Sem& s) {
  packed_or_scalar(s, [&](V x, V y) {
    if (!s.has(Tok::sat)) return s.b.sub(x, y);
    return elements_signed(s.i.type()) ? sub_saturating(s.b, x, y) : saturating_unsigned(s.b, false, x, y);
  });
}
void sem_mul_int(const Sem& s) { s.out(0, product(s, s.in(1), s.in(2), s.i.type()), widened(s, s.i.type())); }
void sem_mad_int(const Sem& s) {
  const Type t = widened(s, s.i.type());
  V p = product(s, s.in(1), s.in(2), s.i.type()), c = s.in(3, t);
  s.out(0, s.has(Tok::sat) ? add_saturating(s.b, p, c) : s.b.add(p, c), t);
}
void sem_mul24(const Sem& s) { s.out(0, product24(s, s.in(1), s.in(2))); }
void sem_mad24(const Sem& s) {
  V p = product24(s, s.in(1), s.in(2)), c = s.in(3);
  s.out(0, s.has(Tok::sat) ? add_saturating(s.b, p, c) : s.b.add(p, c));
}
void sem_sad(const Sem& s) {
  Builder& b = s.b;
  V x = s.in(1), y = s.in(2);
  V less = b.icmp(isa::is_signed(s.i.type()) ? ICmp::SLt : ICmp::ULt, x, y);
  s.out(0, b.add(s.in(3), b.select(less, b.sub(y, x), b.sub(x, y))));
}
void sem_div_int(const Sem& s) { div_rem(s, Bin::UDiv, Bin::SDiv); }
void sem_rem_int(const Sem& s) { div_rem(s, Bin::URem, Bin::SRem); }
void sem_abs_int(const Sem& s) { s.out(0, s.b.un(Un::Abs, s.in(1))); }
void sem_neg_int(const Sem& s) { s.out(0, s.b.un(Un::Neg, s.in(1))); }
void sem_min_int(const Sem& s) { min_max(s, Bin::UMin, Bin::SMin); }
void sem_max_int(const Sem& s) { min_max(s, Bin::UMax, Bin::SMax); }

void sem_popc(const Sem& s) { s.out(0, s.b.resize(s.b.un(Un::PopCount, s.in(1)), 32, false), Type::u32); }
void sem_clz(const Sem& s) { s.out(0, s.b.resize(s.b.un(Un::Clz, s.in(1)), 32, false), Type::u32); }
void sem_bfind(const Sem& s) {
  Builder& b = s.b;
  V x = s.in(1);
  const u32 w = b.width(x);
  if (isa::is_signed(s.i.type())) x = b.xor_(x, b.bin(Bin::AShr, x, imm32(b, w - 1)));
  V zeros = b.resize(b.un(Un::Clz, x), 32, false);
  V pos = s.has(Tok::shiftamt) ? zeros : b.sub(imm32(b, w - 1), zeros);
  s.out(0, b.select(b.icmp(ICmp::Eq, zeros, imm32(b, w)), imm32(b, ~0u), pos), Type::u32);
}
void sem_brev(const Sem& s) { s.out(0, s.b.un(Un::BitReverse, s.in(1))); }

void sem_bfe(const Sem& s) {
  Builder& b = s.b;
  const bool sign = isa::is_signed(s.i.type());
  V x = s.in(1);
  const u32 w = b.width(x);
  V pos = s.in(2, Type::u32), len = s.in(3, Type::u32);
  if (w == 32)
    pos = b.and_(pos, imm32(b, 255)), len = b.and_(len, imm32(b, 255));  // hardware takes all bits for 64-bit fields
  V t = b.bin(sign ? Bin::AShr : Bin::LShr, x, pos);
  if (!sign) {
    V mask = b.sub(b.bin(Bin::Shl, like(b, x, 1), len), like(b, x, 1));
    return s.out(0, b.and_(t, mask));
  }
  V rest = b.sub(imm32(b, w), len);
  V field = b.bin(Bin::AShr, b.bin(Bin::Shl, t, rest), rest);
  field = b.select(b.icmp(ICmp::UGe, len, imm32(b, w)), t, field);
  s.out(0, b.select(b.icmp(ICmp::Eq, len, imm32(b, 0)), like(b, x, 0), field));
}
void sem_bfi(const Sem& s) {
  Builder& b = s.b;
  V x = s.in(1), base = s.in(2);
  V pos = s.in(3, Type::u32), len = s.in(4, Type::u32);
  if (b.width(x) == 32) pos = b.and_(pos, imm32(b, 255)), len = b.and_(len, imm32(b, 255));  // as for bfe
  V ones = b.sub(b.bin(Bin::Shl, like(b, x, 1), len), like(b, x, 1));
  V mask = b.bin(Bin::Shl, ones, pos);
  s.out(0, b.or_(b.and_(base, b.not_(mask)), b.and_(b.bin(Bin::Shl, x, pos), mask)));
}
void sem_bmsk(const Sem& s) {
  Builder& b = s.b;
  V pos = s.in(1, Type::b32), len = s.in(2, Type::b32), all = imm32(b, ~0u), five = imm32(b, 31);
  V short_len = b.and_(len, five), first = s.has(Tok::clamp) ? pos : b.and_(pos, five);
  V above = b.bin(Bin::Shl, all, b.add(b.and_(pos, five), short_len));
  if (s.has(Tok::clamp)) above = b.select(b.icmp(ICmp::UGt, len, five), imm32(b, 0), above);
  s.out(0, b.and_(b.bin(Bin::Shl, all, first), b.not_(above)));
}
void sem_szext(const Sem& s) {
  Builder& b = s.b;
  V x = s.in(1), n = s.in(2, Type::u32);
  V low = b.and_(n, imm32(b, 31));
  V mask = b.bin(Bin::Shl, imm32(b, ~0u), low);
  if (s.has(Tok::clamp)) mask = b.select(b.icmp(ICmp::UGe, n, imm32(b, 32)), imm32(b, 0), mask);
  V field = b.and_(x, b.not_(mask));
  if (isa::is_signed(s.i.type())) {
    V top = b.and_(b.bin(Bin::LShr, x, b.and_(b.sub(low, imm32(b, 1)), imm32(b, 31))), imm32(b, 1));
    V extend = b.select(b.icmp(ICmp::Eq, low, imm32(b, 0)), imm32(b, 0), top);
    field = b.or_(field, b.and_(mask, b.un(Un::Neg, extend)));
  }
  s.out(0, field);
}
void sem_fns(const Sem& s) {
  s.out(0, s.b.lanewise(device::NumFn::fns, {s.in(1, Type::b32), s.in(2, Type::b32), s.in(3, Type::s32)}, 32));
}

namespace {
V dot(const Sem& s, u32 bits_a, u32 count, u32 first_b) {
  Builder& b = s.b;
  const bool sa = isa::is_signed(s.i.type(0)), sb = isa::is_signed(s.i.type(1));
  V x = s.in(1, Type::b32), y = s.in(2, Type::b32), sum = s.in(3, Type::b32);
  for (u32 k = 0; k < count; ++k) {
    V ea = b.resize(element(b, x, bits_a, k), 32, sa), eb = b.resize(element(b, y, 8, first_b + k), 32, sb);
    sum = b.add(sum, b.mul(ea, eb));
  }
  return sum;
}
}  // namespace
void sem_dp4a(const Sem& s) { s.out(0, dot(s, 8, 4, 0)); }
void sem_dp2a(const Sem& s) { s.out(0, dot(s, 16, 2, s.has(Tok::hi) ? 2 : 0)); }

}  // namespace us::codegen
