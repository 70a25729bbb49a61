// SPDX-License-Identifier: Apache-2.0
// Where pending masks and slots are known to hold nothing.
//
// A sweep may pass any block without lanes, so without more ado every slot and every pending mask would live from the
// start of the function, and from one warp to the next, to its last use: the code grows with the square of the number
// of branches. But lanes only wait for a block from the first edge on that leads to it (in layout order), and a value
// is only used by lanes that came through its block, after it:
//
//   check of the block with the first edge to Y:   nobody waits for Y      pending[Y] = 0, Y's phis take anything
//   check of the block that defines v:             nobody has v            v's slot is undefined
//   first edge to Y:                               is stored, not added or blended
#include "codegen/llvm/forgetting.h"

namespace us::codegen {

// Has every loop that contains `inner` also `outer` in it?
bool Forgetting::in_loops_of(u32 inner, u32 outer) const {
  return cfg_.loop_of[inner] < 0 || cfg_.in_loop(outer, cfg_.loop_of[inner]);
}

// Of those that make lanes wait for the block, the first in the layout.
u32 Forgetting::first_source(u32 block) const {
  u32 first = ir::Cfg::kNone;
  for (u32 p : cfg_.preds[block])
    if ((a_.guarded[p] || a_.divergent[p]) && (first == ir::Cfg::kNone || position_[p] < position_[first])) first = p;
  return first;
}

// A block at or before `source`, at whose check nobody waits for `block`: outside of loops that lanes leave towards
// `block` while others go round.
u32 Forgetting::place_to_forget(u32 source, u32 block) const {
  constexpr int kSteps = 8;
  for (int k = 0; k < kSteps; ++k) {
    if (in_loops_of(source, block)) return a_.guarded[source] ? source : ir::Cfg::kNone;
    int l = cfg_.loop_of[source];
    for (int up = l; up >= 0; up = cfg_.loops[static_cast<std::size_t>(up)].parent)
      if (!cfg_.in_loop(block, up)) l = up;
    const u32 head = position_[cfg_.loops[static_cast<std::size_t>(l)].header];
    if (head == 0) break;
    source = cfg_.layout[head - 1];
  }
  return ir::Cfg::kNone;
}

// A predicated instruction that does not only compute becomes a block, too.
bool has_many_blocks(const ir::Function& f, u32 limit) {
  std::size_t n = f.blocks.size();
  for (const ir::Block& b : f.blocks)
    for (const ir::Inst& i : b.insts)
      n += i.guard.kind != ir::Operand::Kind::None &&
           (i.form == isa::Form::Unknown || isa::info(i.form).effects != isa::kPure);
  return n > limit;
}

void Forgetting::plan() {
  const u32 n = static_cast<u32>(f_.blocks.size());
  opens_.assign(n, ir::Cfg::kNone);
  forgotten_.assign(n, {});
  forget_at_.assign(n, nullptr);
  for (u32 b = 0; b < n; ++b) {
    if (!checked_[b]) continue;
    const u32 first = first_source(b);
    if (first == ir::Cfg::kNone) continue;
    if (in_loops_of(first, b)) opens_[b] = first;
    if (const u32 at = place_to_forget(first, b); at != ir::Cfg::kNone && at != b) forgotten_[at].push_back(b);
  }
}

// Does nobody wait for `to` when lanes go there from `from`?
bool Forgetting::opens(u32 from, u32 to) const {
  return !opens_.empty() && (opens_[to] == from || (!a_.guarded[from] && a_.divergent[from]));
}

void Forgetting::at_check(u32 block, Value* first) {
  if (opens_.empty()) return;
  forget_at_[block] = llvm::cast<llvm::Instruction>(first);
  for (u32 b : forgotten_[block]) b_.CreateStore(b_.getInt32(0), pending_[b]);
}

// When all slots are known.
void Forgetting::forget_slots(llvm::Instruction* warp_start, const std::vector<u8>* kept) {
  if (opens_.empty()) return;
  auto forget = [](llvm::Instruction* at, Value* slot) {
    auto* a = llvm::dyn_cast_or_null<llvm::AllocaInst>(slot);
    if (!a || a->getAllocatedType()->isArrayTy()) return;
    new llvm::StoreInst(llvm::PoisonValue::get(a->getAllocatedType()), a, at->getIterator());
  };
  auto forget_slot = [&](llvm::Instruction* at, const Slot& s) {
    for (Value* v : {s.base, s.vec, s.guard}) forget(at, v);
  };
  for (u32 b = 0; b < f_.blocks.size(); ++b) {
    if (!forget_at_[b]) continue;
    for (u32 to : forgotten_[b])
      for (const ir::Phi& p : f_.blocks[to].phis) forget_slot(forget_at_[b], slots_.of_phi(p.dest.v));
  }
  for (u32 v = 0; v < f_.regs.size(); ++v) {
    const u32 b = slots_.def_block(v);
    if (b == ir::Cfg::kNone || (kept && (*kept)[v])) continue;
    if (forget_at_[b]) forget_slot(forget_at_[b], slots_.of_value(v));
    if (warp_start) {  // the warp before this one has left its values
      forget_slot(warp_start, slots_.of_value(v));
      forget_slot(warp_start, slots_.of_phi(v));
    }
  }
}

}  // namespace us::codegen
