// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/thread_values.h"

#include <deque>

#include "codegen/integer.h"
#include "codegen/lower/shape_builder.h"
#include "codegen/semantics/special_registers.h"
#include "ir/edit.h"

namespace us::codegen {
namespace {

using ir::Operand;
using Threads = std::vector<u64>;

u64 low_bits(u32 bits) { return bits >= 64 ? ~u64{0} : (u64{1} << bits) - 1; }

// A V is one number for each thread, of up to 64 bits, or unknown.
class ThreadBuilder final : public Builder {
 public:
  ThreadBuilder(const ir::Module& m, const ir::Function& f, const CodeFacts& facts, u32 threads,
                std::vector<Threads>& values)
      : module_(m), f_(f), facts_(facts), n_(threads), values_(values) {}

  void run(const ir::Inst& i, SemFn semantics) {
    inst_ = &i, used_ = 0;
    semantics({*this, i});
  }

  u32 width(V v) override { return at(v).bits; }
  V imm(u32 bits, u64 value) override {
    return each(bits, [&](u32) { return value; });
  }
  V bin(Bin op, V a, V b) override {
    const u32 bits = width(a);
    return of({a, b}, bits, [&](u32 t) { return integer::binary(op, get(a, t), get(b, t), bits); });
  }
  V un(Un op, V a) override {
    const u32 bits = width(a);
    return of({a}, bits, [&](u32 t) { return integer::unary(op, get(a, t), bits); });
  }
  V icmp(ICmp c, V a, V b) override {
    const u32 bits = width(a);
    return of({a, b}, bits, 1, [&](u32 t) { return u64{integer::compare(c, get(a, t), get(b, t), bits)}; });
  }
  V select(V c, V a, V b) override {
    return of({c, a, b}, width(a), [&](u32 t) { return get(c, t) ? get(a, t) : get(b, t); });
  }
  V resize(V a, u32 bits, bool sign) override {
    const u32 from = width(a);
    const bool extends = sign && from < bits;
    return of({a}, from, bits,
              [&](u32 t) { return extends ? static_cast<u64>(integer::sign_extend(get(a, t), from)) : get(a, t); });
  }
  V fbin(FBin, FT t, V, V) override { return unknown(bits_of(t)); }
  V fma(FT t, V, V, V) override { return unknown(bits_of(t)); }
  V fun(FUn, FT t, V) override { return unknown(bits_of(t)); }
  V fcmp(FCmp, FT, V, V) override { return unknown(1); }
  V fcvt(FT to, FT, V) override { return unknown(bits_of(to)); }
  V i2f(FT to, V, bool) override { return unknown(bits_of(to)); }
  V f2i(u32 bits, bool, FT, V) override { return unknown(bits); }
  V lanewise(device::NumFn, std::initializer_list<V>, u32 bits) override { return unknown(bits); }
  V table(std::span<const u32>, V) override { return unknown(32); }

  V lane_id() override {
    return each(32, [](u32 t) { return t % kWarpSize; });
  }
  V active_mask() override { return unknown(32); }
  V ballot(V) override { return unknown(32); }
  V members(V) override { return unknown(32); }
  V shuffle(V src, V) override { return unknown(width(src)); }
  V thread_index(u32 k) override {
    const u32 x = facts_.block.x, y = facts_.block.y;
    return each(32, [&](u32 t) { return k == 0 ? t % x : k == 1 ? t / x % y : t / x / y; });
  }
  V context(device::ContextWord w, u32 k) override {
    const Shape s = shape_context(w, k, facts_);
    if (w == device::ContextWord::WarpId) return each(s.bits, [](u32 t) { return t / kWarpSize; });
    return s.constant() ? imm(s.bits, s.value) : unknown(s.bits);
  }

  void load(const MemRef& m, std::span<V> out) override {
    for (V& v : out) v = unknown(m.bits);
  }
  void store(const MemRef&, std::span<const V>) override {}
  V atomic(AtomOp, isa::Type t, const MemRef&, V, V, bool) override { return unknown(isa::bits_of(t)); }
  void fence(Order, Scope) override {}
  V symbol_address(ir::SymId id, i64 offset) override {
    const ir::Symbol& s = module_.symbols[id.v];
    const bool known = s.space == isa::Space::Shared && facts_.cluster_one;
    return known ? imm(64, s.offset + static_cast<u64>(offset)) : unknown(64);
  }
  V to_generic(isa::Space, V) override { return unknown(64); }
  V from_generic(isa::Space, V) override { return unknown(64); }
  V in_space(isa::Space, V) override { return unknown(1); }
  void call_runtime(device::RtFn, std::span<const V>, std::span<const u32> bits, V* results, bool) override {
    for (const u32 b : bits) *results++ = unknown(b);
  }

  V read(const Operand& o, isa::Type as) override {
    const u32 bits = isa::bits_of(as);
    switch (o.kind) {
      case Operand::Kind::Value: {
        const V v = resize(number(values_[o.value.v], ir::bits_of(f_.regs[o.value.v])), bits, false);
        return o.negated ? un(Un::Not, v) : v;
      }
      case Operand::Kind::Imm:
        return imm(bits, static_cast<u64>(o.imm));
      case Operand::Kind::SReg:
        return resize(special_register(*this, o.sreg, o.comp), bits, false);
      case Operand::Kind::Symbol:
        return resize(symbol_address(o.sym, o.imm), bits, false);
      default:
        return unknown(bits);
    }
  }
  void write(const Operand& o, V v) override {
    if (o.kind != Operand::Kind::Value || inst_->guard.kind != Operand::Kind::None) return;
    values_[o.value.v] = at(resize(v, ir::bits_of(f_.regs[o.value.v]), false)).of;
  }
  u32 register_bits(ir::ValueId v) const override { return ir::bits_of(f_.regs[v.v]); }
  const ir::Module& module() const override { return module_; }

 private:
  struct Number {
    u32 bits = 0;
    Threads of;  // empty: unknown
  };
  const Number& at(V v) const { return numbers_[v.id - 1]; }
  u64 get(V v, u32 t) const { return at(v).of[t]; }
  V number(const Threads& of, u32 bits) {
    if (used_ == numbers_.size()) numbers_.emplace_back();
    Number& n = numbers_[used_++];
    n.bits = bits, n.of = bits <= 64 ? of : Threads();
    return {used_};
  }
  V unknown(u32 bits) { return number({}, bits); }
  template <class F>
  V each(u32 bits, F&& f) {
    if (bits > 64) return unknown(bits);
    const V v = unknown(bits);
    Threads& to = numbers_[v.id - 1].of;
    to.resize(n_);
    for (u32 t = 0; t < n_; ++t) to[t] = f(t) & low_bits(bits);
    return v;
  }
  template <class F>
  V of(std::initializer_list<V> from, u32 operand_bits, u32 bits, F&& f) {
    bool known = operand_bits <= 64;
    for (const V v : from) known = known && !at(v).of.empty();
    return known ? each(bits, f) : unknown(bits);
  }
  template <class F>
  V of(std::initializer_list<V> from, u32 bits, F&& f) {
    return of(from, bits, bits, f);
  }

  const ir::Module& module_;
  const ir::Function& f_;
  const CodeFacts& facts_;
  const u32 n_;
  std::vector<Threads>& values_;
  const ir::Inst* inst_ = nullptr;
  std::deque<Number> numbers_;
  u32 used_ = 0;
};

}  // namespace

ThreadValues::ThreadValues(const ir::Module& m, const ir::Function& f, const ir::Cfg& cfg, const CodeFacts& facts,
                           std::span<const ir::ValueId> wanted)
    : threads_(facts.block.x * facts.block.y * facts.block.z), known_(f.regs.size()) {
  constexpr u64 kMost = u64{1} << 21;  // numbers
  std::vector<const ir::Inst*> made_by(f.regs.size());
  std::vector<const ir::Phi*> chosen_by(f.regs.size());
  for (const ir::Block& b : f.blocks) {
    for (const ir::Phi& p : b.phis) chosen_by[p.dest.v] = &p;
    for (const ir::Inst& i : b.insts) ir::for_each_def(i, [&](ir::ValueId v) { made_by[v.v] = &i; });
  }
  std::vector<u8> needed(f.regs.size());
  std::vector<u32> work;
  u64 all = 0;
  const auto need = [&](const Operand& o) {
    if (o.value.valid() && !needed[o.value.v]) needed[o.value.v] = 1, work.push_back(o.value.v), all += threads_;
  };
  for (const ir::ValueId v : wanted) need(ir::reg(v));
  while (!work.empty()) {
    const u32 v = work.back();
    work.pop_back();
    if (made_by[v] && isa::info(made_by[v]->form).effects == isa::kPure) ir::for_each_use(*made_by[v], need);
    if (!chosen_by[v]) continue;
    for (const Operand& o : chosen_by[v]->in) need(o);
  }
  if (all > kMost) return;
  ThreadBuilder builder(m, f, facts, threads_, known_);
  for (const u32 b : cfg.rpo) {
    // Where all ways bring the same. What a loop brings is not known yet: then it is not known at all.
    for (const ir::Phi& p : f.blocks[b].phis) {
      if (!needed[p.dest.v]) continue;
      const Threads* same = nullptr;
      bool agree = true;
      for (const Operand& o : p.in) {
        const Threads* const one = o.kind == Operand::Kind::Value && !o.negated ? &known_[o.value.v] : nullptr;
        agree = agree && one && !one->empty() && (!same || *same == *one);
        same = one;
      }
      if (agree && same) known_[p.dest.v] = *same;
    }
    for (const ir::Inst& i : f.blocks[b].insts) {
      bool wants = false;
      ir::for_each_def(i, [&](ir::ValueId v) { wants = wants || needed[v.v]; });
      if (!wants || i.form == isa::Form::Unknown || !i.call.empty() || isa::info(i.form).effects != isa::kPure)
        continue;
      if (const SemFn s = semantics_of(i)) builder.run(i, s);
    }
  }
}

}  // namespace us::codegen
