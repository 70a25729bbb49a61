// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Video Instructions": operations on selected bytes or half-words, one at a time or as two or four lanes.
// Types: result, a, b. Intermediate values are 64-bit signed integers, wide enough for every sum and difference.
#include "codegen/semantics/common.h"

namespace us::codegen {
namespace {

enum class VideoOp : u8 { Add, Sub, AbsDiff, Min, Max, Average, Shl, Shr, Set };

V word(Builder& b, i64 v) { return b.imm(64, static_cast<u64>(v)); }
V smin(Builder& b, V x, V y) { return b.bin(Bin::SMin, x, y); }
V smax(Builder& b, V x, V y) { return b.bin(Bin::SMax, x, y); }

// Clamp to the range of `bits` wide integers of that signedness.
V clamped(Builder& b, V v, u32 bits, bool sign) {
  const i64 top = sign ? (i64{1} << (bits - 1)) - 1 : (i64{1} << bits) - 1;
  return smax(b, smin(b, v, word(b, top)), word(b, sign ? -top - 1 : 0));
}
V set_compare(const Sem& s, V x, V y) {
  const ICmp c = s.has(Tok::eq)   ? ICmp::Eq
                 : s.has(Tok::ne) ? ICmp::Ne
                 : s.has(Tok::lt) ? ICmp::SLt
                 : s.has(Tok::le) ? ICmp::SLe
                 : s.has(Tok::gt) ? ICmp::SGt
                                  : ICmp::SGe;
  return s.b.zext(s.b.icmp(c, x, y), 64);
}
V compute(const Sem& s, VideoOp op, V x, V y) {
  Builder& b = s.b;
  switch (op) {
    case VideoOp::Add:
      return b.add(x, y);
    case VideoOp::Sub:
      return b.sub(x, y);
    case VideoOp::AbsDiff:
      return b.un(Un::Abs, b.sub(x, y));
    case VideoOp::Min:
      return smin(b, x, y);
    case VideoOp::Max:
      return smax(b, x, y);
    case VideoOp::Average: {
      V sum = b.add(x, y), up = b.zext(b.icmp(ICmp::SGe, sum, word(b, 0)), 64);
      return b.bin(Bin::AShr, b.add(sum, up), word(b, 1));
    }
    case VideoOp::Shl:
    case VideoOp::Shr: {
      V n = s.has(Tok::wrap) ? b.and_(y, word(b, 31)) : b.bin(Bin::UMin, y, word(b, 32));
      return b.bin(op == VideoOp::Shl ? Bin::Shl : Bin::AShr, x, n);
    }
    case VideoOp::Set:
      return set_compare(s, x, y);
  }
  US_UNREACHABLE();
}

// The part of a 32-bit operand that its selector names (Operand::comp: 1..4 bytes, 5, 6 half-words), extended by type
// t.
struct Part {
  u32 bits, at;
};
Part part_of(const ir::Operand& o) {
  if (o.comp >= 1 && o.comp <= 4) return {8, 8u * (o.comp - 1u)};
  if (o.comp == 5 || o.comp == 6) return {16, 16u * (o.comp - 5u)};
  return {32, 0};
}
V selected(const Sem& s, u32 k, Type t) {
  const Part p = part_of(s.i.ops[k]);
  V v = s.b.bin(Bin::LShr, s.in(k, Type::b32), imm32(s.b, p.at));
  return s.b.resize(s.b.resize(v, p.bits, false), 64, isa::is_signed(t));
}
V second_operation(const Sem& s, V r, V c) {
  Builder& b = s.b;
  const bool sign = isa::is_signed(s.i.type());
  if (s.has(Tok::add)) return b.add(r, c);
  if (s.has(Tok::min)) return b.bin(sign ? Bin::SMin : Bin::UMin, r, c);
  return b.bin(sign ? Bin::SMax : Bin::UMax, r, c);
}
// .sat. A whole unsigned sum or difference loses its carry, as on an H200: only what is negative is clamped.
V saturated(const Sem& s, VideoOp op, V r, u32 bits) {
  const bool sign = isa::is_signed(s.i.type());
  if (bits == 32 && !sign && (op == VideoOp::Add || op == VideoOp::Sub || op == VideoOp::AbsDiff))
    return smax(s.b, r, word(s.b, 0));
  return clamped(s.b, r, bits, sign);
}
// d, a, b, c (may be absent): c is merged around the selected part of d, or taken by the second operation.
void scalar(const Sem& s, VideoOp op, bool second) {
  Builder& b = s.b;
  const Part to = part_of(s.i.ops[0]);
  const bool compares = op == VideoOp::Set;
  const Type ta = compares ? s.i.type(0) : s.i.type(1), tb = compares ? s.i.type(1) : s.i.type(2);
  V r = compute(s, op, selected(s, 1, ta), selected(s, 2, tb));
  if (s.has(Tok::sat)) r = saturated(s, op, r, to.bits);
  r = b.resize(r, 32, false);
  if (second) return s.out(0, second_operation(s, r, s.in(3, Type::b32)), Type::b32);
  if (to.bits == 32) return s.out(0, r, Type::b32);
  const u64 mask = ((1ull << to.bits) - 1) << to.at;
  V rest = s.has_operand(3) ? b.and_(s.in(3, Type::b32), imm32(b, ~mask & 0xffffffffu)) : imm32(b, 0);
  s.out(0, b.or_(rest, b.and_(b.bin(Bin::Shl, r, imm32(b, to.at)), imm32(b, mask))), Type::b32);
}

// vmad: a product of selected parts plus c, one of the two negated at most, scaled down. 64 bits are enough: sums are
// below 2^64 if nothing is signed, and 2^63 away from zero at most otherwise, but for the negated product of two
// unsigned words.
V part_times(const Sem& s, u32 k, Type t) {
  ir::Operand plain = s.i.ops[k];
  plain.negated = false;
  const Part p = part_of(plain);
  plain.comp = 0;
  V v = s.b.bin(Bin::LShr, s.b.read(plain, Type::b32), imm32(s.b, p.at));
  return s.b.resize(s.b.resize(v, p.bits, false), 64, isa::is_signed(t));
}
V mad_clamped(Builder& b, V r, V huge, bool sign) {
  if (!sign) return b.bin(Bin::UMin, r, word(b, 0xffffffff));
  return b.select(huge, word(b, INT32_MIN), clamped(b, r, 32, true));
}

// Lanes. Selectors of a and b pick lanes 0.. of a, then those of b; the selector of d masks lanes.
u32 lane_digit(const ir::Operand& o, u32 lane, u32 otherwise) {
  return o.comp == 7 ? static_cast<u32>(o.imm >> (4 * lane)) & 15 : otherwise;
}
bool lane_written(const ir::Operand& d, u32 lane, u32 count) {
  if (d.comp == 0) return true;
  if (d.comp != 7) return part_of(d).at == lane * (32 / count);
  for (i64 digits = d.imm, k = 0; k < count; ++k, digits >>= 4)
    if (static_cast<u32>(digits & 15) == lane && (k == 0 || digits)) return true;
  return false;
}
void lanes(const Sem& s, VideoOp op, u32 count, bool accumulate) {
  Builder& b = s.b;
  const u32 bits = 32 / count;
  const bool compares = op == VideoOp::Set;
  const Type ta = compares ? s.i.type(0) : s.i.type(1), tb = compares ? s.i.type(1) : s.i.type(2);
  V a = s.in(1, Type::b32), second = s.in(2, Type::b32), c = s.in(3, Type::b32), sum = c, packed = imm32(b, 0);
  auto lane = [&](u32 k, u32 digit, Type t) {
    (void)k;
    V from = digit < count ? a : second;
    return b.resize(element(b, from, bits, digit % count), 64, isa::is_signed(t));
  };
  for (u32 k = 0; k < count; ++k) {
    V r = compute(s, op, lane(1, lane_digit(s.i.ops[1], k, k), ta), lane(2, lane_digit(s.i.ops[2], k, count + k), tb));
    if (s.has(Tok::sat)) r = clamped(b, r, bits, isa::is_signed(s.i.type()));
    const bool written = lane_written(s.i.ops[0], k, count);
    if (accumulate) {
      if (written) sum = b.add(sum, b.resize(r, 32, false));
      continue;
    }
    V part = written ? b.resize(r, bits, false) : element(b, c, bits, k);
    packed = b.or_(packed, b.bin(Bin::Shl, b.zext(part, 32), imm32(b, k * bits)));
  }
  s.out(0, accumulate ? sum : packed, Type::b32);
}

}  // namespace

void sem_vmad(const Sem& s) {
  Builder& b = s.b;
  const bool minus_product = s.i.ops[1].negated != s.i.ops[2].negated, minus_c = s.i.ops[3].negated;
  const bool sign = isa::is_signed(s.i.type(1)) || isa::is_signed(s.i.type(2)) || minus_product || minus_c;
  V product = b.mul(part_times(s, 1, s.i.type(1)), part_times(s, 2, s.i.type(2)));
  V c = part_times(s, 3, sign ? Type::s32 : Type::u32);
  V huge = b.and_(b.imm(1, minus_product), b.icmp(ICmp::UGe, product, word(b, i64{1} << 62)));
  if (isa::is_signed(s.i.type(1)) || isa::is_signed(s.i.type(2))) huge = b.imm(1, 0);
  V r = minus_product ? b.sub(c, product) : minus_c ? b.sub(product, c) : b.add(product, c);
  if (s.i.form == isa::Form::vmad_po) r = b.add(r, word(b, 1));
  const i64 scale = s.has(Tok::shr7) ? 7 : s.has(Tok::shr15) ? 15 : 0;
  r = b.bin(sign ? Bin::AShr : Bin::LShr, r, word(b, scale));
  if (s.has(Tok::sat)) r = mad_clamped(b, r, huge, sign);
  s.out(0, b.resize(r, 32, false), Type::b32);
}

#define US_VIDEO(name, op)                                          \
  void sem_v##name(const Sem& s) { scalar(s, VideoOp::op, false); } \
  void sem_v##name##_op2(const Sem& s) { scalar(s, VideoOp::op, true); }
#define US_VIDEO_LANES(name, op)                                            \
  void sem_v##name##2(const Sem& s) { lanes(s, VideoOp::op, 2, false); }    \
  void sem_v##name##2_add(const Sem& s) { lanes(s, VideoOp::op, 2, true); } \
  void sem_v##name##4(const Sem& s) { lanes(s, VideoOp::op, 4, false); }    \
  void sem_v##name##4_add(const Sem& s) { lanes(s, VideoOp::op, 4, true); }
US_VIDEO(add, Add)
US_VIDEO(sub, Sub)
US_VIDEO(absdiff, AbsDiff)
US_VIDEO(min, Min)
US_VIDEO(max, Max)
US_VIDEO(shl, Shl)
US_VIDEO(shr, Shr)
US_VIDEO(set, Set)
US_VIDEO_LANES(add, Add)
US_VIDEO_LANES(sub, Sub)
US_VIDEO_LANES(absdiff, AbsDiff)
US_VIDEO_LANES(min, Min)
US_VIDEO_LANES(max, Max)
US_VIDEO_LANES(avrg, Average)
US_VIDEO_LANES(set, Set)
#undef US_VIDEO
#undef US_VIDEO_LANES

}  // namespace us::codegen
