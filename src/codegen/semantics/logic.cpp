// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Logic and Shift Instructions" and the byte permutation prmt.
#include "codegen/semantics/common.h"

namespace us::codegen {

void sem_and(const Sem& s) { s.out(0, s.b.and_(s.in(1), s.in(2))); }
void sem_or(const Sem& s) { s.out(0, s.b.or_(s.in(1), s.in(2))); }
void sem_xor(const Sem& s) { s.out(0, s.b.xor_(s.in(1), s.in(2))); }
void sem_not(const Sem& s) { s.out(0, s.b.not_(s.in(1))); }
void sem_cnot(const Sem& s) {
  V x = s.in(1);
  s.out(0, s.b.zext(s.b.icmp(ICmp::Eq, x, like(s.b, x, 0)), s.b.width(x)));
}

namespace {
// The function of three inputs whose truth table is `lut` (bit a*4 + b*2 + c), by splitting on a, then b.
V truth_table(Builder& b, V x, V y, V z, u32 lut) {
  auto of_z = [&](u32 two) -> V {
    if (two == 0) return like(b, x, 0);
    if (two == 3) return b.not_(like(b, x, 0));
    return two == 2 ? z : b.not_(z);
  };
  auto mux = [&](V c, V on, V off) { return b.xor_(off, b.and_(c, b.xor_(on, off))); };
  auto of_yz = [&](u32 four) -> V {
    if ((four & 3) == (four >> 2)) return of_z(four & 3);
    if (four == 0b1000) return b.and_(y, z);
    if (four == 0b1110) return b.or_(y, z);
    if (four == 0b0110) return b.xor_(y, z);
    if (four == 0b1100) return y;
    if (four == 0b0011) return b.not_(y);
    return mux(y, of_z(four >> 2), of_z(four & 3));
  };
  const u32 low = lut & 15, high = lut >> 4;
  if (low == high) return of_yz(low);
  if (low == 0) return b.and_(x, of_yz(high));
  if (high == 15) return b.or_(x, of_yz(low));
  if (high == 0) return b.and_(b.not_(x), of_yz(low));
  if ((low ^ high) == 15) return b.xor_(x, of_yz(low));
  return mux(x, of_yz(high), of_yz(low));
}
V combine(const Sem& s, V t, V c) {
  if (s.has(Tok::and_)) return s.b.and_(t, c);
  if (s.has(Tok::or_)) return s.b.or_(t, c);
  return s.b.xor_(t, c);
}
}  // namespace

// lop3.b32 d, a, b, c, lut;
void sem_lop3(const Sem& s) {
  s.out(0, truth_table(s.b, s.in(1), s.in(2), s.in(3), static_cast<u32>(s.i.ops[4].imm) & 255));
}
// lop3.BoolOp.b32 d|p, a, b, c, lut, q;
void sem_lop3_bool(const Sem& s) {
  V r = truth_table(s.b, s.in(2), s.in(3), s.in(4), static_cast<u32>(s.i.ops[5].imm) & 255);
  s.out(0, r);
  s.out(1, combine(s, s.b.icmp(ICmp::Ne, r, like(s.b, r, 0)), s.in(6, Type::pred)), Type::pred);
}

void sem_shl(const Sem& s) { s.out(0, s.b.bin(Bin::Shl, s.in(1), s.in(2, Type::u32))); }
void sem_shr(const Sem& s) {
  s.out(0, s.b.bin(isa::is_signed(s.i.type()) ? Bin::AShr : Bin::LShr, s.in(1), s.in(2, Type::u32)));
}
void sem_shf(const Sem& s) {
  Builder& b = s.b;
  V n = s.in(3, Type::u32);
  n = s.has(Tok::wrap) ? b.and_(n, imm32(b, 31)) : b.bin(Bin::UMin, n, imm32(b, 32));
  V both = pair(b, s.in(1), s.in(2));
  V shifted =
      s.has(Tok::l) ? element(b, b.bin(Bin::Shl, both, n), 32, 1) : b.resize(b.bin(Bin::LShr, both, n), 32, false);
  s.out(0, shifted);
}

namespace {
// Byte `which` (0..7) of b:a for each result byte, and whether its sign is replicated.
V pick_byte(Builder& b, V both, V which) {
  return b.and_(b.resize(b.bin(Bin::LShr, both, b.bin(Bin::Shl, which, imm32(b, 3))), 32, false), imm32(b, 255));
}
V mode_byte(const Sem& s, V n, u32 k) {
  Builder& b = s.b;
  V at = imm32(b, k);
  if (s.has(Tok::f4e)) return b.add(n, at);
  if (s.has(Tok::b4e)) return b.and_(b.sub(n, at), imm32(b, 7));
  if (s.has(Tok::rc8)) return n;
  if (s.has(Tok::ecl)) return b.bin(Bin::UMax, n, at);
  if (s.has(Tok::ecr)) return b.bin(Bin::UMin, n, at);
  return b.or_(b.bin(Bin::Shl, b.and_(n, imm32(b, 1)), imm32(b, 1)), imm32(b, k & 1));  // rc16
}
}  // namespace
void sem_prmt(const Sem& s) {
  Builder& b = s.b;
  V both = pair(b, s.in(1), s.in(2)), c = s.in(3, Type::b32), r = imm32(b, 0);
  const bool generic = !(s.has(Tok::f4e) || s.has(Tok::b4e) || s.has(Tok::rc8) || s.has(Tok::ecl) || s.has(Tok::ecr) ||
                         s.has(Tok::rc16));
  for (u32 k = 0; k < 4; ++k) {
    V byte;
    if (generic) {
      V nibble = b.bin(Bin::LShr, c, imm32(b, 4 * k));
      byte = pick_byte(b, both, b.and_(nibble, imm32(b, 7)));
      V replicate = b.icmp(ICmp::Ne, b.and_(nibble, imm32(b, 8)), imm32(b, 0));
      V sign = b.and_(b.bin(Bin::AShr, b.bin(Bin::Shl, byte, imm32(b, 24)), imm32(b, 31)), imm32(b, 255));
      byte = b.select(replicate, sign, byte);
    } else {
      byte = pick_byte(b, both, mode_byte(s, b.and_(c, imm32(b, 3)), k));
    }
    r = b.or_(r, b.bin(Bin::Shl, byte, imm32(b, 8 * k)));
  }
  s.out(0, r);
}

}  // namespace us::codegen
