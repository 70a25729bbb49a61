// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/reach.h"

#include <algorithm>
#include <optional>

#include "memory/address_space.h"

namespace us::codegen {
namespace {

using ir::Operand;
using isa::Form;

constexpr i64 kFar = static_cast<i64>(memory::AddressSpace::kReach);

// What a value can be, as a signed number of its width.
struct Range {
  i64 low = 0, high = 0;
};
using Known = std::optional<Range>;

bool fits(__int128 v) { return v >= -kFar && v <= kFar; }
Known range(__int128 low, __int128 high) {
  if (!fits(low) || !fits(high)) return std::nullopt;
  return Range{static_cast<i64>(low), static_cast<i64>(high)};
}
Known sum(const Known& a, const Known& b, bool minus) {
  if (!a || !b) return std::nullopt;
  return minus ? range(__int128{a->low} - b->high, __int128{a->high} - b->low)
               : range(__int128{a->low} + b->low, __int128{a->high} + b->high);
}
Known product(const Known& a, const Known& b) {
  if (!a || !b) return std::nullopt;
  const __int128 p[] = {__int128{a->low} * b->low, __int128{a->low} * b->high, __int128{a->high} * b->low,
                        __int128{a->high} * b->high};
  return range(*std::min_element(p, p + 4), *std::max_element(p, p + 4));
}
Known of_type(isa::Type t) {
  const u32 bits = isa::bits_of(t);
  if (bits > 32) return std::nullopt;
  const i64 span = i64{1} << bits;
  return isa::is_signed(t) ? range(-span / 2, span / 2 - 1) : range(0, span - 1);
}

class ReachOf {
 public:
  ReachOf(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg, const Analysis& a)
      : m_(m), f_(f), cfg_(cfg), a_(a), at_(f.regs.size()), ranges_(f.regs.size()), seen_(f.regs.size(), 0) {}

  // One pass in reverse post-order: what comes round a loop has a root of its own.
  std::vector<Reach> run() {
    for (u32 b : cfg_.rpo) block(f_.blocks[b]);
    return std::move(at_);
  }

 private:
  bool wide(ir::ValueId v) const { return f_.regs[v.v] == ir::Width::B64; }
  bool followed(ir::ValueId v) const { return wide(v) || f_.regs[v.v] == ir::Width::B32; }
  // Numbers of a register, as signed ones.
  Known in_width(ir::ValueId v, const Known& k) const {
    const bool fits = k && (wide(v) || (k->low >= -(i64{1} << 31) && k->high < i64{1} << 31));
    return fits ? k : std::nullopt;
  }
  // What the analysis of shapes knows: thread indices above all.
  Known of_shape(ir::ValueId v) const {
    const Shape& s = a_.shapes[v.v];
    if (s.varying() || s.guarded || s.bits != ir::bits_of(f_.regs[v.v])) return std::nullopt;
    const u64 low = s.known ? s.value : s.lo, high = s.known ? s.value : s.hi;
    if (high >= u64{1} << 31) return std::nullopt;
    return range(static_cast<i64>(low) + (s.pattern() ? s.min_offset() : 0),
                 static_cast<i64>(high) + (s.pattern() ? s.max_offset() : 0));
  }

  void block(const ir::Block& b) {
    for (const ir::Phi& p : b.phis) define(p.dest, merged(p.in), range_of(p.in));
    for (const ir::Inst& i : b.insts)
      ir::for_each_def(const_cast<ir::Inst&>(i), [&](ir::ValueId d) {
        const bool plain = i.call.empty() && i.guard.kind == Operand::Kind::None && !i.ops.empty() &&
                           i.ops[0].kind == Operand::Kind::Value && i.ops[0].value == d;
        define(d, plain ? result(i) : Reach{}, plain ? range_of(i) : std::nullopt);
      });
  }
  void define(ir::ValueId v, Reach r, const Known& k) {
    if (!r.root.valid() && !r.symbol.valid()) r = {v, {}, 0, 0};
    seen_[v.v] = 1;
    at_[v.v] = r;
    ranges_[v.v] = in_width(v, k);
    if (!ranges_[v.v] && followed(v)) ranges_[v.v] = in_width(v, of_shape(v));
  }

  // --- addresses
  Reach of(const Operand& o) const {
    if (o.kind == Operand::Kind::Symbol && m_.symbols[o.sym.v].kind == ir::Symbol::Kind::Variable && fits(o.imm))
      return {{}, o.sym, o.imm, o.imm};
    if (o.kind != Operand::Kind::Value || !seen_[o.value.v] || !followed(o.value)) return {};
    return at_[o.value.v];
  }
  Reach of_symbol(const Operand& o) const {
    const Reach r = of(o);
    return r.symbol.valid() ? r : Reach{};
  }
  static Reach moved(Reach r, const Known& by, bool minus = false) {
    const Known k = sum(Range{r.low, r.high}, by, minus);
    if (!k || (!r.root.valid() && !r.symbol.valid())) return {};
    r.low = k->low, r.high = k->high;
    return r;
  }
  Reach merged(const std::vector<Operand>& in) const {
    Reach r;
    for (const Operand& o : in) {
      if (o.kind == Operand::Kind::None) continue;
      const Reach x = of(o);
      if (!x.root.valid() && !x.symbol.valid()) return {};
      if (!r.root.valid() && !r.symbol.valid()) r = x;
      if (r.root != x.root || r.symbol != x.symbol) return {};
      r.low = std::min(r.low, x.low), r.high = std::max(r.high, x.high);
    }
    return r;
  }
  // Addresses of 32 bits, those of shared memory, are followed from variables only: they wrap.
  Reach result(const ir::Inst& i) const {
    if (!followed(i.ops[0].value)) return {};
    const Reach r = result_of(i);
    return wide(i.ops[0].value) || r.symbol.valid() ? r : Reach{};
  }
  Reach result_of(const ir::Inst& i) const {
    switch (i.form) {
      case Form::mov:
        return of(i.ops[1]);
      case Form::cvta:  // global addresses are generic ones; of the other spaces only in themselves
      case Form::cvta_to:
        return i.has(isa::Tok::global) ? of(i.ops[1]) : Reach{};
      case Form::add_int: {
        const Reach r = moved(of(i.ops[1]), known(i.ops[2]));
        return r.root.valid() || r.symbol.valid() ? r : moved(of(i.ops[2]), known(i.ops[1]));
      }
      case Form::sub_int:
        return moved(of(i.ops[1]), known(i.ops[2]), true);
      case Form::mad_wide:
        return moved(of(i.ops[3]), product(narrow(i.ops[1], i.type()), narrow(i.ops[2], i.type())));
      case Form::mad_lo:
        return moved(of(i.ops[3]), product(known(i.ops[1]), known(i.ops[2])));
      case Form::cvt_int_int:  // of 32 bits, between registers
        return isa::bits_of(i.type(0)) == isa::bits_of(i.type(1)) || wide(i.ops[0].value) ? of_symbol(i.ops[1])
                                                                                          : Reach{};
      case Form::selp:
        return merged({i.ops[1], i.ops[2]});
      default:
        return {};
    }
  }

  // --- numbers: only those of 64 bits are followed
  Known known(const Operand& o) const {
    if (o.kind == Operand::Kind::Imm) return range(o.imm, o.imm);
    if (o.kind != Operand::Kind::Value || !seen_[o.value.v] || !followed(o.value)) return std::nullopt;
    return ranges_[o.value.v];
  }
  Known converted(const ir::Inst& i) const {
    const Known to = of_type(i.type(0)), k = known(i.ops[1]);
    const Known from = isa::bits_of(i.type(1)) == 64 ? k : narrow(i.ops[1], i.type(1));
    if (isa::bits_of(i.type(0)) == 64) return from;
    const bool same = from && to && from->low >= to->low && from->high <= to->high;
    return same ? from : to;
  }
  Known narrow(const Operand& o, isa::Type t) const {
    const Known all = of_type(t);
    const bool literal = o.kind == Operand::Kind::Imm && all && o.imm >= all->low && o.imm <= all->high;
    if (literal) return range(o.imm, o.imm);
    const Known k = known(o);
    return k && all && k->low >= all->low && k->high <= all->high ? k : all;
  }
  Known range_of(const std::vector<Operand>& in) const {
    Known r;
    for (const Operand& o : in) {
      if (o.kind == Operand::Kind::None) continue;
      const Known x = known(o);
      if (!x) return std::nullopt;
      r = r ? Range{std::min(r->low, x->low), std::max(r->high, x->high)} : *x;
    }
    return r;
  }
  Known range_of(const ir::Inst& i) const {
    if (!followed(i.ops[0].value)) return std::nullopt;
    if (i.type_count && isa::class_of(i.type()) == isa::TypeClass::Packed) return std::nullopt;
    switch (i.form) {
      case Form::mov:
        return known(i.ops[1]);
      case Form::cvt_int_int:
        return converted(i);
      case Form::add_int:
        return sum(known(i.ops[1]), known(i.ops[2]), false);
      case Form::sub_int:
        return sum(known(i.ops[1]), known(i.ops[2]), true);
      case Form::mul_wide:
        return product(narrow(i.ops[1], i.type()), narrow(i.ops[2], i.type()));
      case Form::mad_wide:
        return sum(product(narrow(i.ops[1], i.type()), narrow(i.ops[2], i.type())), known(i.ops[3]), false);
      case Form::mul_lo:
        return product(known(i.ops[1]), known(i.ops[2]));
      case Form::mad_lo:
        return sum(product(known(i.ops[1]), known(i.ops[2])), known(i.ops[3]), false);
      case Form::bfe:
        if (isa::is_signed(i.type()) || i.ops[3].kind != Operand::Kind::Imm || i.ops[3].imm < 0 || i.ops[3].imm > 30)
          return std::nullopt;
        return range(0, (i64{1} << i.ops[3].imm) - 1);
      case Form::shr: {
        const u32 bits = isa::bits_of(i.type());
        if (i.ops[2].kind != Operand::Kind::Imm || i.ops[2].imm < 0 || i.ops[2].imm >= bits) return std::nullopt;
        const Known k = known(i.ops[1]);
        if (k && k->low >= 0) return range(k->low >> i.ops[2].imm, k->high >> i.ops[2].imm);
        const bool clears = !isa::is_signed(i.type()) && i.ops[2].imm > 0;
        return clears && bits == 32 ? range(0, 0xffffffffll >> i.ops[2].imm) : std::nullopt;
      }
      case Form::shl:
        if (i.ops[2].kind != Operand::Kind::Imm || i.ops[2].imm < 0 || i.ops[2].imm > 37) return std::nullopt;
        return product(known(i.ops[1]), Range{i64{1} << i.ops[2].imm, i64{1} << i.ops[2].imm});
      case Form::and_:
        for (int k : {1, 2})
          if (const Operand& o = i.ops[static_cast<std::size_t>(k)]; o.kind == Operand::Kind::Imm && o.imm >= 0)
            return range(0, o.imm);
        return std::nullopt;
      case Form::ld:
        return isa::bits_of(i.type()) < ir::bits_of(f_.regs[i.ops[0].value.v]) ? of_type(i.type()) : std::nullopt;
      case Form::selp:
        return range_of({i.ops[1], i.ops[2]});
      default:
        return std::nullopt;
    }
  }

  const ir::Module& m_;
  const ir::Function& f_;
  const ir::Cfg& cfg_;
  const Analysis& a_;
  std::vector<Reach> at_;
  std::vector<Known> ranges_;
  std::vector<u8> seen_;
};

}  // namespace

std::vector<Reach> reach(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg, const Analysis& a) {
  return ReachOf(m, f, cfg, a).run();
}

}  // namespace us::codegen
