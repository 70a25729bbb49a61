// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/known_bits.h"

#include <algorithm>
#include <bit>

namespace us::codegen {
namespace {

using ir::Operand;
using isa::Form;

constexpr u32 kSymbolBits = 4;  // variables lie at multiples of 16 bytes at least

KnownBits known(u64 add, u32 bits = KnownBits::kMost) { return {{}, static_cast<u32>(add & ((1u << bits) - 1)), bits}; }
KnownBits cut(KnownBits a, u32 bits) {
  a.bits = std::min(a.bits, bits);
  a.add &= (1u << a.bits) - 1;
  if (!a.bits) a.root = {};
  return a;
}
// Low bits that are certainly zero.
u32 zeros(const KnownBits& a) {
  return a.root.valid() ? 0 : std::min<u32>(a.bits, static_cast<u32>(std::countr_zero(a.add | 1u << KnownBits::kMost)));
}

class KnownBitsOf {
 public:
  KnownBitsOf(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg, const Analysis& a)
      : m_(m), f_(f), cfg_(cfg), a_(a), at_(f.regs.size()), seen_(f.regs.size(), 0), rooted_(f.regs.size(), 0) {}

  std::vector<KnownBits> run() {
    for (u32 round = 0; round < 12; ++round) {
      changed_ = false;
      for (u32 b : cfg_.rpo) block(f_.blocks[b]);
      if (!changed_) return std::move(at_);
    }
    return std::vector<KnownBits>(f_.regs.size());  // not settled: claim nothing
  }

 private:
  bool uniform(ir::ValueId v) const { return a_.shapes[v.v].uniform() && f_.regs[v.v] >= ir::Width::B16; }
  // A value of its own, if all lanes have the same.
  KnownBits own(ir::ValueId v) {
    rooted_[v.v] = 1;
    return uniform(v) ? KnownBits{v, 0, KnownBits::kMost} : KnownBits{};
  }
  void set(ir::ValueId v, const KnownBits& x) {
    if (seen_[v.v] && at_[v.v] == x) return;
    seen_[v.v] = 1;
    at_[v.v] = x;
    changed_ = true;
  }

  void block(const ir::Block& b) {
    for (const ir::Phi& p : b.phis) phi(p);
    for (const ir::Inst& i : b.insts)
      ir::for_each_def(const_cast<ir::Inst&>(i), [&](ir::ValueId d) {
        const bool whole = !i.ops.empty() && i.ops[0].kind == Operand::Kind::Value && i.ops[0].value == d;
        KnownBits x = whole && i.call.empty() && i.guard.kind == Operand::Kind::None ? result(i) : KnownBits{};
        set(d, x.bits ? x : own(d));
      });
  }

  void phi(const ir::Phi& p) {
    if (rooted_[p.dest.v]) return set(p.dest, own(p.dest));
    KnownBits x;
    bool any = false;
    for (const Operand& o : p.in) {
      if (o.value.valid() && !seen_[o.value.v]) continue;  // not computed yet: hope
      if (o.kind == Operand::Kind::None) continue;
      const KnownBits y = of(o);
      x = any ? meet(x, y) : y;
      any = true;
    }
    if (!any) return;
    set(p.dest, x.bits ? x : own(p.dest));
  }
  static KnownBits meet(const KnownBits& a, const KnownBits& b) {
    if (a.root != b.root) return {};
    const u32 bits =
        std::min({a.bits, b.bits, static_cast<u32>(std::countr_zero((a.add ^ b.add) | 1u << KnownBits::kMost))});
    return cut(a, bits);
  }

  KnownBits of(const Operand& o) const {
    switch (o.kind) {
      case Operand::Kind::Value:
        return o.negated ? KnownBits{} : at_[o.value.v];
      case Operand::Kind::Imm:
        return known(static_cast<u64>(o.imm));
      case Operand::Kind::Symbol: {
        const ir::Symbol& s = m_.symbols[o.sym.v];
        const bool in_window = s.space == isa::Space::Shared || s.space == isa::Space::SharedCluster;
        if (s.kind != ir::Symbol::Kind::Variable || s.space == isa::Space::Local || s.space == isa::Space::Param)
          return {};
        return known(static_cast<u64>(o.imm) + (in_window ? s.offset : 0), kSymbolBits);
      }
      default:
        return {};
    }
  }

  static KnownBits sum(const KnownBits& a, const KnownBits& b, bool minus = false) {
    if (b.root.valid() && (a.root.valid() || minus)) return {};
    KnownBits r = a.root.valid() ? a : b;
    r.add = minus ? a.add - b.add : a.add + b.add;
    if (minus) r.root = a.root;
    return cut(r, std::min(a.bits, b.bits));
  }
  static KnownBits product(const KnownBits& a, const KnownBits& b) {
    const bool exact = !a.root.valid() && !b.root.valid();
    const u32 za = zeros(a), zb = zeros(b);
    // (a' + 2^p x)(b' + 2^q y): what is unknown of one is multiplied by the zeros of the other.
    const u32 bits =
        exact ? std::min({KnownBits::kMost, a.bits + zb, b.bits + za}) : std::min(KnownBits::kMost, za + zb);
    return known(exact ? u64{a.add} * b.add : 0, bits);
  }

  KnownBits result(const ir::Inst& i) const {
    auto op = [&](u32 k) { return k < i.ops.size() ? of(i.ops[k]) : KnownBits{}; };
    const bool packed = i.type_count && isa::class_of(i.type()) == isa::TypeClass::Packed;
    if (packed) return {};
    switch (i.form) {
      case Form::mov:
      case Form::cvta:
      case Form::cvta_to:
        return op(1);
      case Form::cvt_int_int:
        return i.has(isa::Tok::sat) ? KnownBits{} : op(1);
      case Form::add_int:
        return sum(op(1), op(2));
      case Form::sub_int:
        return sum(op(1), op(2), true);
      case Form::mul_lo:
      case Form::mul_wide:
        return product(op(1), op(2));
      case Form::mad_lo:
      case Form::mad_wide:
        return sum(product(op(1), op(2)), op(3));
      case Form::shl:
        if (i.ops[2].kind != Operand::Kind::Imm || i.ops[2].imm < 0 || i.ops[2].imm > 63) return {};
        return product(op(1), known(i.ops[2].imm > 5 ? 0 : 1u << i.ops[2].imm));
      case Form::and_: {
        const KnownBits a = op(1), b = op(2);
        if (!a.root.valid() && !b.root.valid() && a.bits && b.bits)
          return cut(known(a.add & b.add), std::max(std::min(a.bits, b.bits), std::max(zeros(a), zeros(b))));
        return known(0, std::max(zeros(a), zeros(b)));
      }
      case Form::or_:
      case Form::xor_: {
        const KnownBits a = op(1), b = op(2);
        const u32 za = zeros(a), zb = zeros(b);
        if (!a.root.valid() && !b.root.valid())
          return known(i.form == Form::or_ ? a.add | b.add : a.add ^ b.add, std::min(a.bits, b.bits));
        return a.root.valid() ? cut(a, zb) : cut(b, za);  // nothing is added to the rooted one
      }
      default:
        return {};
    }
  }

  const ir::Module& m_;
  const ir::Function& f_;
  const ir::Cfg& cfg_;
  const Analysis& a_;
  std::vector<KnownBits> at_;
  std::vector<u8> seen_, rooted_;
  bool changed_ = false;
};

}  // namespace

std::vector<KnownBits> known_bits(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg, const Analysis& a) {
  return KnownBitsOf(m, f, cfg, a).run();
}

}  // namespace us::codegen
