// SPDX-License-Identifier: Apache-2.0
#include "codegen/lower/whole_cta.h"

#include "ir/edit.h"

namespace us::codegen {

using ir::Operand;

static bool calls_nothing_of_ours(const ir::Module& m, const ir::Inst& i) {
  if (i.call.empty()) return true;
  if (!i.call[0].callee.valid()) return false;
  const ir::Symbol& s = m.symbols[i.call[0].callee.v];
  return !s.alias.valid() && !(s.func.valid() && m.functions[s.func.v].defined);
}

static bool is_whole_barrier(const ir::Inst& i) {
  const bool form = i.form == isa::Form::bar_sync || i.form == isa::Form::barrier_sync;
  return form && i.guard.kind == Operand::Kind::None && i.ops[0].kind == Operand::Kind::Imm && i.ops[0].imm == 0 &&
         (i.ops.size() < 2 || i.ops[1].kind == Operand::Kind::None);
}

std::optional<u32> whole_barriers(const ir::Module& m, const ir::Function& f, const Analysis& a,
                                  const CodeFacts& facts) {
  constexpr u32 kMostBarriers = 200;  // where a warp goes on is one byte
  if (a.its || !f.entry || !facts.block.x || facts.warps() > 32 || facts.by_chance) return std::nullopt;
  for (u8 s : a.loop_spins)
    if (s) return std::nullopt;
  u32 barriers = 0;
  for (u32 b = 0; b < f.blocks.size(); ++b)
    for (const ir::Inst& i : f.blocks[b].insts) {
      if (!calls_nothing_of_ours(m, i)) return std::nullopt;
      if (!may_yield(i)) continue;
      if (a.guarded[b] || !is_whole_barrier(i) || ++barriers > kMostBarriers) return std::nullopt;
    }
  return barriers;
}

void split_after_barriers(ir::Function& f) {
  for (u32 b = 0; b < f.blocks.size(); ++b)
    for (std::size_t k = 0; k < f.blocks[b].insts.size(); ++k) {
      const ir::Block& head = f.blocks[b];
      if (!may_yield(head.insts[k])) continue;
      const bool done = k + 1 == head.insts.size() && head.term.kind == ir::Terminator::Kind::Br &&
                        f.blocks[head.term.targets[0].v].preds.size() == 1;
      if (!done) ir::split(f, b, k + 1);
      break;
    }
  ir::update_preds(f);
}

}  // namespace us::codegen
