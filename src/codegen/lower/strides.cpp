// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/strides.h"

#include <map>
#include <optional>

namespace us::codegen {
namespace {

using ir::Operand;
using isa::Form;
using Step = std::optional<i64>;  // none: not known, or not the same each time

constexpr int kGrid = -1;           // not a loop: the blocks of the grid
constexpr i64 kMax = i64{1} << 32;  // farther steps are not followed
constexpr u32 kMaxDepth = 64;       // nor longer ways to a definition

Step sum(Step a, Step b, bool minus) {
  if (!a || !b) return std::nullopt;
  const i64 s = minus ? *a - *b : *a + *b;
  return s > -kMax && s < kMax ? Step{s} : std::nullopt;
}

class StridesOf {
 public:
  StridesOf(const ir::Function& f, const ir::Cfg& cfg, const Analysis& a) : f_(f), cfg_(cfg), a_(a) {
    defs_.resize(f.regs.size());
    for (u32 b : cfg.rpo) {
      for (const ir::Phi& p : f.blocks[b].phis) defs_[p.dest.v] = {nullptr, &p, b};
      for (const ir::Inst& i : f.blocks[b].insts)
        ir::for_each_def(const_cast<ir::Inst&>(i), [&](ir::ValueId d) { defs_[d.v] = {&i, nullptr, b}; });
    }
  }

  std::vector<Stride> run() {
    std::vector<Stride> out(f_.regs.size());
    for (u32 b : cfg_.rpo)
      for (const ir::Inst& i : f_.blocks[b].insts)
        for (const Operand& o : i.ops)
          if (o.kind == Operand::Kind::Address && o.value.valid()) out[o.value.v] = stride(o.value);
    return out;
  }

 private:
  struct Def {
    const ir::Inst* inst = nullptr;
    const ir::Phi* phi = nullptr;
    u32 block = 0;
  };

  Stride stride(ir::ValueId v) {
    if (!defs_[v.v].inst && !defs_[v.v].phi) return {};
    for (int loop = cfg_.loop_of[defs_[v.v].block]; loop != kGrid;
         loop = cfg_.loops[static_cast<std::size_t>(loop)].parent) {
      const Step s = step(v, loop, 0);
      if (!s || *s) return {s.value_or(0), false};
    }
    return {step(v, kGrid, 0).value_or(0), true};
  }

  Step step(ir::ValueId v, int loop, u32 depth) {
    const std::pair<u32, int> key{v.v, loop};
    if (const auto known = steps_.find(key); known != steps_.end()) return known->second;
    if (depth == kMaxDepth) return std::nullopt;
    steps_[key] = std::nullopt;  // of a value that comes round another loop
    const Step s = step_of(v, loop, depth + 1);
    steps_[key] = s;
    return s;
  }
  Step step_of(ir::ValueId v, int loop, u32 depth) {
    const Def& d = defs_[v.v];
    if (loop != kGrid && !cfg_.in_loop(d.block, loop)) return 0;
    if (d.phi)
      return loop != kGrid && cfg_.loops[static_cast<std::size_t>(loop)].header == d.block ? round(*d.phi, loop)
                                                                                           : std::nullopt;
    return d.inst ? step_of(*d.inst, loop, depth) : std::nullopt;
  }
  Step step(const Operand& o, int loop, u32 depth) {
    if (o.kind == Operand::Kind::SReg) return loop == kGrid && o.sreg == isa::SReg::ctaid && o.comp == 0 ? 1 : 0;
    return o.kind == Operand::Kind::Value ? step(o.value, loop, depth) : Step{0};
  }

  // What one iteration adds to a value that comes round.
  Step round(const ir::Phi& p, int loop) {
    Step all;
    const auto& preds = f_.blocks[defs_[p.dest.v].block].preds;
    for (std::size_t k = 0; k < preds.size(); ++k) {
      if (!cfg_.in_loop(preds[k].v, loop)) continue;
      const Step s = added(p.in[k], p.dest, 0);
      if (!s || (all && *all != *s)) return std::nullopt;
      all = s;
    }
    return all;
  }
  Step added(const Operand& o, ir::ValueId to, u32 depth) const {
    if (o.kind != Operand::Kind::Value || depth == kMaxDepth) return std::nullopt;
    if (o.value == to) return 0;
    const ir::Inst* i = defs_[o.value.v].inst;
    if (!i || i->guard.kind != Operand::Kind::None) return std::nullopt;
    if (i->form == Form::mov) return added(i->ops[1], to, depth + 1);
    if (i->form != Form::add_int && i->form != Form::sub_int) return std::nullopt;
    const bool minus = i->form == Form::sub_int;
    const Step second = constant(i->ops[2]);
    if (second) return sum(added(i->ops[1], to, depth + 1), second, minus);
    return minus ? std::nullopt : sum(added(i->ops[2], to, depth + 1), constant(i->ops[1]), false);
  }
  Step constant(const Operand& o) const {
    if (o.kind == Operand::Kind::Imm) return o.imm;
    if (o.kind != Operand::Kind::Value) return std::nullopt;
    const Shape& s = a_.shapes[o.value.v];
    const bool small = s.uniform() && s.known && s.value < u64{1} << 31;
    return small ? Step{static_cast<i64>(s.value)} : std::nullopt;
  }

  Step product(const Operand& a, const Operand& b, int loop, u32 depth) {
    const Step x = step(a, loop, depth), y = step(b, loop, depth);
    if (!x || !y) return std::nullopt;
    if (!*x && !*y) return 0;
    const Step times = *x ? constant(b) : constant(a);
    const i64 by = *x ? *x : *y;
    if ((*x && *y) || !times || *times <= -kMax || *times >= kMax || by * *times <= -kMax || by * *times >= kMax)
      return std::nullopt;
    return by * *times;
  }
  Step step_of(const ir::Inst& i, int loop, u32 depth) {
    const auto of = [&](std::size_t k) { return step(i.ops[k], loop, depth); };
    if (i.guard.kind != Operand::Kind::None || !i.call.empty() || i.form == Form::Unknown) return std::nullopt;
    switch (i.form) {
      case Form::mov:
      case Form::cvta:
      case Form::cvta_to:
      case Form::cvt_int_int:
        return of(1);
      case Form::add_int:
      case Form::or_:
        return sum(of(1), of(2), false);
      case Form::sub_int:
        return sum(of(1), of(2), true);
      case Form::mul_wide:
      case Form::mul_lo:
        return product(i.ops[1], i.ops[2], loop, depth);
      case Form::mad_wide:
      case Form::mad_lo:
        return sum(product(i.ops[1], i.ops[2], loop, depth), of(3), false);
      case Form::shl: {
        const Step s = of(1);
        if (!s || !*s) return s;
        const bool small = i.ops[2].kind == Operand::Kind::Imm && i.ops[2].imm >= 0 && i.ops[2].imm < 32;
        return small && *s < kMax >> i.ops[2].imm && -*s < kMax >> i.ops[2].imm ? Step{*s * (i64{1} << i.ops[2].imm)}
                                                                                : std::nullopt;
      }
      default:
        break;
    }
    const bool same = isa::info(i.form).effects == isa::kPure || (i.form == Form::ld && i.has(isa::Tok::param));
    for (const Operand& o : i.ops)
      if (&o != &i.ops[0] && !(same && step(o, loop, depth) == Step{0})) return std::nullopt;
    return same ? Step{0} : std::nullopt;
  }

  const ir::Function& f_;
  const ir::Cfg& cfg_;
  const Analysis& a_;
  std::vector<Def> defs_;
  std::map<std::pair<u32, int>, Step> steps_;
};

}  // namespace

std::vector<Stride> strides(const ir::Function& f, const ir::Cfg& cfg, const Analysis& a) {
  return StridesOf(f, cfg, a).run();
}

}  // namespace us::codegen
