// SPDX-License-Identifier: Apache-2.0
// PTX ISA "Comparison and Selection Instructions", half precision ones included.
#include "codegen/semantics/common.h"

namespace us::codegen {
namespace {

ICmp integer_compare(const Sem& s, bool sign) {
  if (s.has(Tok::eq)) return ICmp::Eq;
  if (s.has(Tok::ne)) return ICmp::Ne;
  if (s.has(Tok::lo)) return ICmp::ULt;
  if (s.has(Tok::ls)) return ICmp::ULe;
  if (s.has(Tok::hi)) return ICmp::UGt;
  if (s.has(Tok::hs)) return ICmp::UGe;
  if (s.has(Tok::lt)) return sign ? ICmp::SLt : ICmp::ULt;
  if (s.has(Tok::le)) return sign ? ICmp::SLe : ICmp::ULe;
  if (s.has(Tok::gt)) return sign ? ICmp::SGt : ICmp::UGt;
  US_CHECK(s.has(Tok::ge));
  return sign ? ICmp::SGe : ICmp::UGe;
}
FCmp float_compare(const Sem& s) {
  static constexpr std::pair<Tok, FCmp> table[] = {
      {Tok::eq, FCmp::Eq},   {Tok::ne, FCmp::Ne},   {Tok::lt, FCmp::Lt},   {Tok::le, FCmp::Le},   {Tok::gt, FCmp::Gt},
      {Tok::ge, FCmp::Ge},   {Tok::equ, FCmp::Equ}, {Tok::neu, FCmp::Neu}, {Tok::ltu, FCmp::Ltu}, {Tok::leu, FCmp::Leu},
      {Tok::gtu, FCmp::Gtu}, {Tok::geu, FCmp::Geu}, {Tok::num, FCmp::Num}, {Tok::nan, FCmp::Nan}};
  for (auto [tok, c] : table)
    if (s.has(tok)) return c;
  US_UNREACHABLE();
}
bool compares_float(Type t) { return isa::is_float(t) || is_half(t); }
V compare(const Sem& s, Type t, V x, V y) {
  Builder& b = s.b;
  if (!compares_float(t)) return b.icmp(integer_compare(s, isa::is_signed(t)), x, y);
  const FT f = float_of(t);
  if (s.has(Tok::ftz)) x = flush(b, f, x), y = flush(b, f, y);
  return b.fcmp(float_compare(s), f, x, y);
}
V combine(const Sem& s, V t, V c) {
  if (!c) return t;
  if (s.has(Tok::and_)) return s.b.and_(t, c);
  if (s.has(Tok::or_)) return s.b.or_(t, c);
  return s.b.xor_(t, c);
}

// What "true" looks like in a destination of type t (one element).
u64 true_value(Type t) { return compares_float(t) ? format(float_of(t)).one : isa::bits_of(t) == 16 ? 0xffffu : ~0u; }

}  // namespace

// setp: p, q (may be absent), a, b, c (may be absent)
void sem_setp(const Sem& s) {
  Builder& b = s.b;
  const Type t = s.i.type();
  const bool one = t == Type::f16 || t == Type::bf16;  // these have no second destination
  const u32 first = one ? 1 : 2;
  V c = s.has_operand(first + 2) ? s.in(first + 2, Type::pred) : V{};
  if (is_wide_half(t)) {
    V x = s.in(2), y = s.in(3);
    for (u32 k = 0; k < 2; ++k) {
      V r = compare(s, t, element(b, x, 16, k), element(b, y, 16, k));
      if (s.has_operand(k)) s.out(k, combine(s, r, c), Type::pred);
    }
    return;
  }
  V r = compare(s, t, s.in(first), s.in(first + 1));
  s.out(0, combine(s, r, c), Type::pred);
  if (!one && s.has_operand(1)) s.out(1, combine(s, b.not_(r), c), Type::pred);
}

// set: d, a, b, c (may be absent); types: destination, source
void sem_set(const Sem& s) {
  Builder& b = s.b;
  const Type d = s.i.type(0), t = s.i.type(1);
  V c = s.has_operand(3) ? s.in(3, Type::pred) : V{};
  V x = s.in(1, t), y = s.in(2, t);
  if (is_wide_half(t)) {
    V r = on_halves(
        b,
        [&](V ex, V ey) {
          return b.select(combine(s, compare(s, t, ex, ey), c), b.imm(16, true_value(is_wide_half(d) ? d : Type::u16)),
                          b.imm(16, 0));
        },
        x, y);
    return s.out(0, r, d);
  }
  const u32 w = isa::bits_of(d);
  s.out(0, b.select(combine(s, compare(s, t, x, y), c), b.imm(w, true_value(d)), b.imm(w, 0)), d);
}

void sem_selp(const Sem& s) { s.out(0, s.b.select(s.in(3, Type::pred), s.in(1), s.in(2))); }

// slct: types: destination, selector (s32 or f32)
void sem_slct(const Sem& s) {
  Builder& b = s.b;
  const Type t = s.i.type(1);
  V c = s.in(3, t), zero = like(b, c, 0);
  if (t == Type::f32 && s.has(Tok::ftz)) c = flush(b, FT::F32, c);
  V choose = t == Type::f32 ? b.fcmp(FCmp::Ge, FT::F32, c, zero) : b.icmp(ICmp::SGe, c, zero);
  s.out(0, b.select(choose, s.in(1), s.in(2)));
}

}  // namespace us::codegen
