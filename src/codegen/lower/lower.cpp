// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/lower.h"

#include <algorithm>

#include "codegen/lower/inline_calls.h"
#include "codegen/lower/inserted_barriers.h"
#include "codegen/lower/its_form.h"
#include "codegen/lower/late_results.h"
#include "codegen/lower/whole_cta.h"
#include "ir/ssa.h"

namespace us::codegen {

using ir::Operand;

const std::vector<u8>& Lowering::waiting() {
  if (waiting_.empty()) waiting_ = waiting_functions(module);
  return waiting_;
}

namespace {

// Launched behind the end of its predecessors, a kernel has nothing to wait for, and only a listener hears of it. True:
// it lets dependents begin.
bool drop_dependencies(ir::Function& f, const CodeFacts& facts) {
  bool triggers = false;
  for (ir::Block& b : f.blocks)
    std::erase_if(b.insts, [&](const ir::Inst& i) {
      if (i.form != isa::Form::griddepcontrol) return false;
      const bool waits = i.has(isa::Tok::wait);
      triggers = triggers || !waits;
      return waits && !facts.dependent && !facts.probed();
    });
  return triggers;
}

// Does a part of the warp call a function in which lanes may wait for each other, or do lanes call different ones?
bool calls_that_wait(Lowering& all, const ir::Function& f, const Analysis& a) {
  const ir::Module& m = all.module;
  for (u32 b = 0; b < f.blocks.size(); ++b)
    for (const ir::Inst& i : f.blocks[b].insts) {
      if (i.call.empty()) continue;
      const bool indirect = is_indirect(i), part = a.guarded[b] || i.guard.kind != Operand::Kind::None;
      const Operand& target = i.call[0].target;
      const bool several = indirect && target.value.valid() && !a.shapes[target.value.v].uniform();
      if (!part && !several) continue;
      if (indirect && !waiting_targets(m, all.waiting(), i).empty()) return true;
      const ir::Symbol* s = i.call[0].callee.valid() ? &m.symbols[i.call[0].callee.v] : nullptr;
      while (s && s->alias.valid()) s = &m.symbols[s->alias.v];
      if (s && s->func.valid() && all.waiting()[s->func.v]) return true;
    }
  return false;
}

// Code of their own for all of them does not make the function much longer.
bool few_accesses(const ir::Function& f) {
  constexpr std::size_t kMost = 400;
  std::size_t n = 0;
  for (const ir::Block& b : f.blocks)
    n += static_cast<std::size_t>(std::ranges::count_if(b.insts, [](const ir::Inst& i) {
      return i.form != isa::Form::Unknown && isa::info(i.form).effects & (isa::kLoad | isa::kStore);
    }));
  return n <= kMost;
}

// Heads of loops that may wait for another thread. Before blocks are split and united, which hides loops.
std::map<u32, bool> heads_of_spins(const ir::Cfg& cfg, const Analysis& a) {
  std::map<u32, bool> spins;
  for (u32 l = 0; l < cfg.loops.size(); ++l)
    if (a.loop_spins[l]) spins[cfg.loops[l].header] |= a.spins_around[l] != 0;
  if (!cfg.irreducible) return spins;
  for (u32 b : cfg.rpo)
    for (u32 s : cfg.succs[b])
      if (cfg.rpo_index[s] <= cfg.rpo_index[b] && !cfg.dominates(s, b)) spins.emplace(s, false);
  return spins;
}

}  // namespace

Lowered lower(Lowering& all, ir::FuncId id) {
  const ir::Module& m = all.module;
  const CodeFacts& facts = all.facts;
  Lowered l(m.functions[id.v]);
  ir::Function& f = l.function;
  const auto pass = [&](Pass p, auto&& body) { all.passes.run(p, l, body); };

  // Parts that more than one form below goes through.
  const auto tidy = [&] {
    pass(Pass::Reachable, [&] { ir::remove_unreachable(f); });
    pass(Pass::SeparateLoops, [&] { ir::separate_loops(f); });
  };
  const auto analyze_lanes = [&](bool its) {
    pass(Pass::Analyze, [&] { l.analysis = analyze(m, f, l.cfg, facts, its); });
  };
  const auto into_ssa = [&](bool its) {
    if (facts.deferred_copies) pass(Pass::LateResults, [&] { name_late_results(f); });
    pass(Pass::Ssa, [&] {
      l.cfg = ir::analyze_cfg(f, true);
      ir::build_ssa(f, l.cfg);
    });
    // Dispatched code keeps all versions of a register in one place (llvm/slots.cpp), so they must not be alive at
    // once. Where instructions are counted or told of, none goes.
    if (!its && !facts.probed()) pass(Pass::Copies, [&] { ir::propagate_copies(f); });
    if (!facts.probed()) pass(Pass::Dead, [&] { ir::remove_dead(f); });
    analyze_lanes(its);
  };

  pass(Pass::Dependencies, [&] { l.triggers = drop_dependencies(f, facts); });
  tidy();
  ir::Function registers = f;  // each form begins with it
  into_ssa(facts.force_its);

  if (calls_that_wait(all, f, l.analysis)) {
    const ir::Function called = std::move(registers);
    const auto inlined = [&](Bodies bodies) {
      f = called;
      l.local_shift.clear();
      pass(Pass::InlineCalls, [&] { inline_waiting_calls(m, all.waiting(), f, l.local_shift, bodies); });
      tidy();
      registers = f;
      into_ssa(facts.force_its);
    };
    inlined(Bodies::Copied);
    const char* reason = l.analysis.its_reason;
    if (l.analysis.its) {
      inlined(Bodies::Shared);
      l.analysis.its = true;
      l.analysis.its_reason = reason;
    }
  }

  if (l.analysis.its) {
    l.form = RunForm::Its;
    l.spins = heads_of_spins(l.cfg, l.analysis);
    const char* reason = l.analysis.its_reason;
    f = std::move(registers);
    pass(Pass::ItsForm, [&] { to_its_form(f); });
    pass(Pass::Reachable, [&] { ir::remove_unreachable(f); });
    into_ssa(true);
    l.analysis.its_reason = reason;
  }

  const std::optional<u32> barriers = whole_barriers(m, f, l.analysis, facts);
  if (barriers && !facts.disabled.has(Pass::WholeCta)) {
    const auto split = [&] {
      if (!*barriers) return;
      pass(Pass::WholeCta, [&] {
        split_after_barriers(f);
        l.cfg = ir::analyze_cfg(f, true);
      });
      analyze_lanes(false);
    };
    const auto find_regions = [&] {
      pass(Pass::Regions, [&] { l.barrier_regions = find_barrier_regions(f, l.cfg, facts.events()); });
    };
    split();
    find_regions();
    bool more = false;
    constexpr u32 kMostWithInserted = 100;  // adding them may double the barriers, and where a warp goes on is one byte
    if (*barriers && *barriers <= kMostWithInserted && facts.warps() > 1)
      pass(Pass::InsertedBarriers, [&] { more = insert_barriers(f, l.barrier_regions); });
    if (more) {
      split();
      find_regions();
    }
    l.form = RunForm::Cta;
    if (l.barrier_regions.known) pass(Pass::RegionLoops, [&] { l.form = RunForm::Regions; });
  }

  pass(Pass::Alignment, [&] {
    l.known_bits = known_bits(m, f, l.cfg, l.analysis);
    add_alignment_roots(f, l.cfg, l.analysis, l.known_bits);
  });
  pass(Pass::Bounds, [&] {
    l.reach = reach(m, f, l.cfg, l.analysis);
    l.bounds = add_bounds_roots(m, f, l.cfg, l.analysis, l.reach);
  });
  if (facts.events() && facts.cluster_one && l.whole_cta() && l.barrier_regions.known)
    pass(Pass::Settled, [&] { l.settled = settled_accesses(m, f, l.cfg, facts, l.barrier_regions, l.reach); });
  if (facts.events()) pass(Pass::InPlace, [&] { l.in_place = few_accesses(f); });
  if (facts.records())  // not between looks at what others change: how often a loop looks is told by what is between
    pass(Pass::Unheard, [&] { l.unheard = l.analysis.looks.empty() && !l.analysis.shares; });
  pass(Pass::Strides, [&] { l.strides = strides(f, l.cfg, l.analysis); });
  return l;
}

}  // namespace us::codegen
