// SPDX-License-Identifier: Apache-2.0
#include "codegen/semantics/detours.h"

#include "codegen/semantics/float.h"

namespace us::codegen {
namespace {

using probe::Detour;

V upper(Builder& b, V x) { return b.resize(b.bin(Bin::LShr, x, b.imm(64, 32)), 32, false); }

// Of `slow` lanes those whose operand is zero, infinite or no number have less to do.
void tell(Builder& b, V slow, V special) {
  b.detour(Detour::Short, b.and_(slow, special));
  b.detour(Detour::Long, b.and_(slow, b.not_(special)));
}
V is_special(Builder& b, FT t, V x) {
  V m = magnitude(b, t, x);
  return b.or_(b.icmp(ICmp::Eq, m, like(b, m, 0)), b.icmp(ICmp::UGe, m, like(b, m, format(t).inf)));
}
V is_negative(Builder& b, FT t, V x) { return b.icmp(ICmp::Ne, sign_bit(b, t, x), like(b, x, 0)); }

V exponent(Builder& b, V x) { return b.and_(b.bin(Bin::LShr, x, imm32(b, 23)), imm32(b, 255)); }

}  // namespace

void tell_detours_of_quotient(Builder& b, V x, V y) {
  if (!b.records() || b.width(x) != 64) return;
  b.detour(Detour::Long, b.icmp(ICmp::Ne, upper(b, b.or_(x, y)), imm32(b, 0)));
}

void tell_detours_of_quotient(Builder& b, FT t, V x, V y, V result) {
  if (!b.records()) return;
  V special = b.or_(is_special(b, t, x), is_special(b, t, y));
  if (t == FT::F32) {
    // FCHK looks at exponents alone.
    V ex = exponent(b, x), ey = exponent(b, y), apart = b.add(b.sub(ex, ey), imm32(b, 124));
    V slow = b.or_(b.icmp(ICmp::ULe, ey, imm32(b, 1)), b.icmp(ICmp::UGe, ey, imm32(b, 252)));
    slow = b.or_(slow, b.or_(b.icmp(ICmp::ULe, ex, imm32(b, 24)), b.icmp(ICmp::Eq, ex, imm32(b, 255))));
    return tell(b, b.or_(slow, b.icmp(ICmp::UGt, apart, imm32(b, 250))), special);
  }
  if (t != FT::F64) return;
  // Upper words, as numbers of 32 bits: |quotient| > 2^-129, |dividend| >= 0x1.cp-121.
  V q = upper(b, magnitude(b, t, result)), top = upper(b, magnitude(b, t, x)), bottom = upper(b, magnitude(b, t, y));
  V slow = b.or_(b.icmp(ICmp::ULe, q, imm32(b, 0x100000)), b.icmp(ICmp::UGt, q, imm32(b, 0x7f800000)));
  slow = b.or_(slow,
               b.or_(b.icmp(ICmp::UGe, bottom, imm32(b, 0x7f800000)), b.icmp(ICmp::ULt, bottom, imm32(b, 0x100000))));
  tell(b, b.or_(slow, b.icmp(ICmp::ULt, top, imm32(b, 0x3600000))), special);
}

void tell_detours_of_reciprocal(Builder& b, FT t, V x) {
  if (!b.records()) return;
  V slow;
  if (t == FT::F32) {
    V moved = b.and_(b.add(x, imm32(b, 0x1800000)), imm32(b, 0x7f800000));
    slow = b.icmp(ICmp::ULe, moved, imm32(b, 0x1ffffff));
  } else {
    V moved = b.and_(b.add(upper(b, x), imm32(b, 0x300402)), imm32(b, 0x7fffffff));
    slow = b.icmp(ICmp::ULt, moved, imm32(b, 0x400402));
  }
  tell(b, slow, is_special(b, t, x));
}

void tell_detours_of_root(Builder& b, FT t, V x) {
  if (!b.records()) return;
  V slow = t == FT::F32 ? b.icmp(ICmp::UGt, b.sub(x, imm32(b, 0xd000000)), imm32(b, 0x727fffff))
                        : b.icmp(ICmp::UGe, b.add(upper(b, x), imm32(b, 0xfcb00000)), imm32(b, 0x7ca00000));
  tell(b, slow, b.or_(is_special(b, t, x), is_negative(b, t, x)));
}

void tell_detours_of_reciprocal_root(Builder& b, V x) {
  if (!b.records()) return;
  V slow = b.icmp(ICmp::UGe, b.add(upper(b, x), imm32(b, 0xfff00000)), imm32(b, 0x7fe00000));
  tell(b, slow, b.or_(is_special(b, FT::F64, x), is_negative(b, FT::F64, x)));
}

}  // namespace us::codegen
