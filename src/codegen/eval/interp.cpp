// SPDX-License-Identifier: Apache-2.0
#include "codegen/eval/interp.h"

#include <bit>

#include "codegen/eval/eval.h"
#include "isa/operands.h"

namespace us::codegen {
namespace eval {

using device::RtFn;
using isa::Form;

namespace {

constexpr u32 kSpinBudget = 64;

template <class F>
void each(u32 mask, F&& f) {
  for (u32 m = mask; m; m &= m - 1) f(static_cast<u32>(std::countr_zero(m)));
}
u32 first(u32 mask) { return static_cast<u32>(std::countr_zero(mask)); }

bool is_barrier(Form f) {
  const u32 e = isa::info(f).effects;
  return (e & isa::kBarrier) || ((e & isa::kClusterBarrier) && (e & isa::kYield));
}
u32 barrier_number_operand(const ir::Inst& i) { return isa::info(i.form).dests; }

}  // namespace

Interpreter::Interpreter(const EvalKernel& k, device::WarpCtx& w)
    : kernel_(k), module_(*k.module), warp_(w), builder_(*k.module, w, lanes_), probe_(builder_, k.probe) {
  each(w.live, [&](u32 l) { push(l, *k.function, nullptr); });
}

Interpreter::Place Interpreter::place(u32 lane) const {
  const Lane& l = lanes_[lane];
  const Frame& f = *l.stack.back();
  return {~static_cast<u32>(l.stack.size()), static_cast<u32>(f.function - module_.functions.data()), f.block, f.inst};
}
u32 Interpreter::same_place(u32 candidates, u32 lane) const {
  u32 group = 0;
  const Place p = place(lane);
  each(candidates, [&](u32 l) {
    if (place(l) == p) group |= 1u << l;
  });
  return group;
}
u32 Interpreter::front_group(u32 candidates) const {
  u32 best = first(candidates);
  each(candidates, [&](u32 l) {
    if (place(l) < place(best)) best = l;
  });
  return same_place(candidates, best);
}
u32 Interpreter::waiting() const {
  u32 m = 0;
  each(warp_.live, [&](u32 l) { m |= u32(lanes_[l].waiting) << l; });
  return m;
}
u32 Interpreter::ready_collective() const {
  const u32 arrived = waiting();
  u32 ready = 0;
  each(arrived, [&](u32 l) {
    const Lane& lane = lanes_[l];
    if (!lane.barrier && (lane.members & warp_.live & ~arrived) == 0) ready |= 1u << l;
  });
  return ready ? same_place(ready, first(ready)) : 0;
}
// All lanes that wait at the same barrier as the first one; `at`: a lane whose instruction is to run.
u32 Interpreter::ready_barrier(u32& at) const {
  u32 group = 0;
  each(waiting(), [&](u32 l) {
    if (!lanes_[l].barrier) return;
    if (!group) at = l;
    if (lanes_[l].members == lanes_[at].members) group |= 1u << l;
  });
  return group;
}
const ir::Inst* Interpreter::instruction(u32 lane) {
  Frame& f = lanes_[lane].top();
  const ir::Block& b = f.function->blocks[f.block];
  return f.inst < b.insts.size() ? &b.insts[f.inst] : nullptr;
}

void Interpreter::run() {
  while (warp_.live) {
    if (const u32 group = ready_collective()) {
      release(group);
      execute(group, *instruction(first(group)));
      continue;
    }
    const u32 able = warp_.live & ~waiting();
    if (able & ~resting_) {
      step(front_group(able & ~resting_));
    } else if (u32 at = 0, group = ready_barrier(at); group && !able) {
      release(group);
      execute_here(group, *instruction(at));
      each(group, [&](u32 l) { ++lanes_[l].top().inst; });
    } else {
      US_CHECK(able);
      resting_ = 0;
      yield();
    }
  }
}

void Interpreter::step(u32 group) {
  const ir::Inst* i = instruction(first(group));
  const Frame& f = lanes_[first(group)].top();
  if (f.inst == 0 || !f.function->blocks[f.block].insts[f.inst - 1].call.empty()) {
    builder_.reset(group);
    const u32 site = i ? i->site : f.function->blocks[f.block].term.site;
    if (site != ir::kNoSite) builder_.record(site, {}, {});
  }
  if (!i) {
    return terminate(group, f.function->blocks[f.block].term);
  }
  if (!arrive(group, *i)) execute(group, *i);
}

// Lanes whose guard is true wait at collectives and barriers; the others pass.
bool Interpreter::arrive(u32 group, const ir::Inst& i) {
  const bool barrier = is_barrier(i.form);
  const int mask_operand = isa::operands_of(i.form).membermask;
  if (!barrier && mask_operand < 0) return false;
  const u32 here = guarded(group, i);
  advance(group & ~here);
  builder_.reset(here);
  const bool of_cluster = i.form == Form::barrier_cluster_wait;
  V key;
  if (here && of_cluster)
    key = builder_.imm(32, ~0u);  // no barrier of the CTA
  else if (here)
    key = builder_.read(i.ops[barrier ? barrier_number_operand(i) : static_cast<u32>(mask_operand)], isa::Type::u32);
  each(here, [&](u32 l) {
    Lane& lane = lanes_[l];
    lane.waiting = true, lane.barrier = barrier;
    lane.members = static_cast<u32>(builder_.value(key).lo[l]);
  });
  return true;
}
void Interpreter::release(u32 group) {
  each(group, [&](u32 l) { lanes_[l].waiting = false; });
}
u32 Interpreter::guarded(u32 group, const ir::Inst& i) {
  if (i.guard.kind != ir::Operand::Kind::Value) return group;
  builder_.reset(group);
  const V p = builder_.read(i.guard, isa::Type::pred);
  u32 m = 0;
  each(group, [&](u32 l) { m |= static_cast<u32>(builder_.value(p).lo[l]) << l; });
  return m;
}
void Interpreter::advance(u32 group) {
  each(group, [&](u32 l) { ++lanes_[l].top().inst; });
}
void Interpreter::execute(u32 group, const ir::Inst& i) {
  const u32 here = guarded(group, i);
  advance(group);  // before: a call resumes behind itself
  if (here) execute_here(here, i);
}
void Interpreter::execute_here(u32 group, const ir::Inst& i) {
  builder_.reset(group);
  builder_.count(i.site, probe::Counter::Lanes, 1);
  if (i.form == Form::call) return call(group, i);
  const SemFn f = semantics_of(i);
  if (!f) return unimplemented(group, i, (i.text.empty() ? ir::to_text(module_, i) : i.text) + isa::need(i.form));
  probe_.begin(i.site);
  f(Sem{probe_, i});
}
void Interpreter::unimplemented(u32 group, const ir::Inst& i, const std::string& what) {
  builder_.reset(group);
  const V text = builder_.imm(64, std::bit_cast<u64>(what.c_str()));
  builder_.call_rt(RtFn::Unimplemented, {text, builder_.imm(32, i.loc.line)}, {}, nullptr, false);
}

void Interpreter::terminate(u32 group, const ir::Terminator& t) {
  using Kind = ir::Terminator::Kind;
  builder_.reset(group);
  builder_.count(t.site, probe::Counter::Lanes, 1);
  switch (t.kind) {
    case Kind::Br:
      return jump(group, t.targets[0], t.site);
    case Kind::CondBr: {
      builder_.reset(group);
      const V p = builder_.read(t.cond, isa::Type::pred);
      u32 taken = 0;
      each(group, [&](u32 l) { taken |= static_cast<u32>(builder_.value(p).lo[l]) << l; });
      jump(taken, t.targets[0], t.site);
      return jump(group & ~taken, t.targets[1], t.site);
    }
    case Kind::Switch: {
      builder_.reset(group);
      const V index = builder_.read(t.cond, isa::Type::u32);
      each(group, [&](u32 l) {
        const u64 k = builder_.value(index).lo[l];
        jump(1u << l, t.targets[std::min<u64>(k, t.targets.size() - 1)], t.site);
      });
      return;
    }
    case Kind::Ret:
      return return_from(group, t.site);
    case Kind::Exit:
      return leave(group, t.site);
    case Kind::Trap:
    case Kind::Unreachable:
      builder_.reset(group);
      builder_.call_rt(RtFn::Trap, {}, {}, nullptr, false);
      return leave(group, ir::kNoSite);
  }
}
void Interpreter::jump(u32 group, ir::BlockId target, u32 site) {
  each(group, [&](u32 l) {
    came_by_[l] = site;
    Frame& f = lanes_[l].top();
    if (kernel_.spins && target.v <= f.block && ++spins_[l] >= kSpinBudget) {
      spins_[l] = 0;
      resting_ |= 1u << l;
    }
    f.block = target.v, f.inst = 0;
  });
}
void Interpreter::leave(u32 group, u32 site) {
  const Frame& f = lanes_[first(group)].top();
  const bool by_branch = site == ir::kNoSite && f.function->blocks[f.block].insts.empty();  // a branch that exits
  for (u32 left = kernel_.probe == probe::Strategy::Events ? group : 0; left;) {
    const u32 here = by_branch ? came_by_[first(left)] : site;
    u32 together = 0;
    each(left, [&](u32 l) { together |= static_cast<u32>(!by_branch || came_by_[l] == here) << l; });
    left &= ~together;
    builder_.reset(together);
    builder_.note_site(here);
    builder_.call_rt(RtFn::ProbeExit, {}, {}, nullptr, false);
  }
  warp_.live &= ~group;
  resting_ &= ~group;
}
void Interpreter::yield() {
  builder_.reset(warp_.live & ~waiting());
  builder_.call_rt(RtFn::Yield, {builder_.imm(32, 0)}, {}, nullptr, false);
}

namespace {
void run_warp(device::WarpCtx* w) {
  const auto* code = static_cast<const device::KernelCode*>(w->grid->code);
  std::make_unique<Interpreter>(*static_cast<const EvalKernel*>(code), *w)->run();
}
bool may_spin(const ir::Module& m) {
  for (const ir::Function& f : m.functions)
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts)
        if (i.form != Form::Unknown && (isa::info(i.form).effects & isa::kSpin)) return true;
  return false;
}
}  // namespace
}  // namespace eval

Result<std::shared_ptr<const device::KernelCode>> make_eval_kernel(const ir::Module& m, const std::string& kernel,
                                                                   probe::Strategy probe) {
  for (const ir::Function& f : m.functions) {
    if (f.name != kernel || !f.entry || !f.defined) continue;
    auto k = std::make_shared<eval::EvalKernel>();
    k->name = kernel;
    k->run = eval::run_warp;
    k->yields = k->triggers = true;
    k->local_bytes = f.local_bytes;
    k->local_dynamic = 64 * 1024;
    k->module = &m;
    k->function = &f;
    k->spins = eval::may_spin(m);
    k->probe = probe;
    return std::shared_ptr<const device::KernelCode>(k);
  }
  return Diag{Diag::Kind::Error, {}, "no kernel named '" + kernel + "' in the module"};
}

}  // namespace us::codegen
