// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Extended-Precision Arithmetic Instructions". The carry flag CC.CF is a hidden predicate register: the last
// source of addc, subc, madc and the second destination of the .cc forms. Subtraction adds the complement: its
// carry-out is set when there is no borrow. Programs see that (the compiler's own 128-bit division reads it with addc).
#include "codegen/semantics/common.h"

namespace us::codegen {
namespace {

u32 first_source(const Sem& s) { return s.has(Tok::cc) ? 2 : 1; }
void finish(const Sem& s, V result, V carry) {
  s.out(0, result);
  if (s.has(Tok::cc)) s.out(1, carry, Type::pred);
}
// x + y (+ carry operand k)
void add_with(const Sem& s, V x, V y, u32 carry_operand) {
  Builder& b = s.b;
  V r = b.add(x, y), carry = b.icmp(ICmp::ULt, r, x);
  if (carry_operand) {
    V with = b.add(r, b.zext(s.in(carry_operand, Type::pred), b.width(x)));
    carry = b.or_(carry, b.icmp(ICmp::ULt, with, r));
    r = with;
  }
  finish(s, r, carry);
}
void sub_with(const Sem& s, bool borrow_in) {
  Builder& b = s.b;
  const u32 k = first_source(s);
  V x = s.in(k), y = s.in(k + 1), r = b.sub(x, y), borrow = b.icmp(ICmp::ULt, x, y);
  if (borrow_in) {
    V c = b.zext(b.not_(s.in(k + 2, Type::pred)), b.width(x));
    borrow = b.or_(borrow, b.icmp(ICmp::ULt, r, c));
    r = b.sub(r, c);
  }
  finish(s, r, b.not_(borrow));
}
V half_product(const Sem& s) {
  const Bin op = !s.has(Tok::hi) ? Bin::Mul : isa::is_signed(s.i.type()) ? Bin::MulHiS : Bin::MulHiU;
  return s.b.bin(op, s.in(first_source(s)), s.in(first_source(s) + 1));
}

}  // namespace

void sem_add_cc(const Sem& s) { add_with(s, s.in(2), s.in(3), 0); }
void sem_addc(const Sem& s) { add_with(s, s.in(first_source(s)), s.in(first_source(s) + 1), first_source(s) + 2); }
void sem_sub_cc(const Sem& s) { sub_with(s, false); }
void sem_subc(const Sem& s) { sub_with(s, true); }
void sem_mad_cc(const Sem& s) { add_with(s, half_product(s), s.in(4), 0); }
void sem_madc(const Sem& s) { add_with(s, half_product(s), s.in(first_source(s) + 2), first_source(s) + 3); }

}  // namespace us::codegen
