// SPDX-License-Identifier: Apache-2.0
// CTA mode: kernels whose only blocking instruction is the barrier of the whole CTA run without fibres. One call runs
// all warps of a CTA; a barrier notes where the warp goes on and turns to the next warp:
//
//   dispatch: warp w ──► start | behind barrier 1 | behind barrier 2 ... ──► barrier or end ──► w + 1 ──► dispatch
//
// When all warps have arrived (or ended) the next round begins with warp 0. Values that live across a barrier are kept
// in arrays with one element per warp; everything else stays in registers.
#include <algorithm>

#include "codegen/llvm/cta_control.h"

namespace us::codegen {

using device::BarrierStep;
using device::WarpCtx;
using ir::Operand;

static constexpr u32 kEnded = 255;

void CtaControl::begin() {
  warps_ = s_.out->getArg(0);
  current_ = s_.out->getArg(1);
  s_.ctx0 = b_.CreateLoad(b_.getPtrTy(), warps_, "ctx0");
}

llvm::Value* CtaControl::ctx() { return b_.CreateLoad(b_.getPtrTy(), ctx_slot_, "ctx"); }
llvm::Value* CtaControl::live() { return b_.CreateLoad(b_.getInt32Ty(), live_place(), "live"); }
llvm::Value* CtaControl::warp_index() { return b_.CreateLoad(b_.getInt32Ty(), warp_slot_, "warp"); }
llvm::Value* CtaControl::place(Value* slot) {
  auto* a = llvm::dyn_cast<llvm::AllocaInst>(slot);
  if (!a || !a->getAllocatedType()->isArrayTy()) return slot;
  return b_.CreateInBoundsGEP(a->getAllocatedType(), a, {b_.getInt32(0), warp_index()});
}
llvm::Value* CtaControl::slot_alloca(bool per_warp, llvm::Type* t, const char* name) {
  return s_.new_alloca(per_warp ? llvm::ArrayType::get(t, m_.facts.warps()) : t, name);
}

// Who listens to events is told of the order in which warps on fibres go on: the last one that came to a barrier first.
void CtaControl::make_first() {
  if (!m_.facts.events()) return;
  first_ = s_.new_alloca(b_.getInt32Ty(), "first");
  b_.CreateStore(b_.getInt32(0), first_);
}

std::pair<llvm::Value*, llvm::Value*> CtaControl::next_warp() {
  Value *next = b_.CreateAdd(warp_index(), b_.getInt32(1)), *all = b_.getInt32(m_.facts.warps());
  if (!first_) return {next, b_.CreateICmpULT(next, all)};
  next = b_.CreateSelect(b_.CreateICmpEQ(next, all), b_.getInt32(0), next);
  return {next, b_.CreateICmpNE(next, b_.CreateLoad(b_.getInt32Ty(), first_))};
}

void CtaControl::begin_round() {
  Value* first = b_.getInt32(first_ ? m_.facts.warps() - 1 : 0);
  b_.CreateStore(first, warp_slot_);
  if (first_) b_.CreateStore(first, first_);
}

void CtaControl::plan() {
  find_live_across();
  WarpControl::plan();
}

void CtaControl::end_prologue() {
  WarpControl::end_prologue();
  warp_start_ = &b_.GetInsertBlock()->back();
}

bool CtaControl::ends_at_barrier(u32 b) const {
  const auto& insts = f_.blocks[b].insts;
  return !insts.empty() && may_yield(insts.back());
}

// Marks the slots of values that are live behind some barrier: from each use back to the definition.
void CtaControl::find_live_across() {
  const u32 n = static_cast<u32>(f_.blocks.size());
  std::vector<u8> resumes(n, 0);  // a warp goes on here behind a barrier
  bool any = false;
  for (const ir::Block& b : f_.blocks)
    if (!b.insts.empty() && may_yield(b.insts.back())) resumes[b.term.targets[0].v] = any = true;
  if (!any) return;
  std::vector<std::vector<u32>> used_at_start(f_.regs.size());  // by value: blocks whose start it lives to
  auto use = [&](const Operand& o, u32 b) {
    if (!o.value.valid() || slots_.def_block(o.value.v) == b) return;
    auto& blocks = used_at_start[o.value.v];
    if (blocks.empty() || blocks.back() != b) blocks.push_back(b);
  };
  for (u32 b = 0; b < n; ++b) {
    for (const ir::Phi& p : f_.blocks[b].phis)
      for (std::size_t k = 0; k < p.in.size(); ++k) use(p.in[k], f_.blocks[b].preds[k].v);
    for (const ir::Inst& i : f_.blocks[b].insts) ir::for_each_use(i, [&](const Operand& o) { use(o, b); });
    use(f_.blocks[b].term.cond, b);
  }
  std::vector<u32> seen(n, ir::Cfg::kNone);
  auto across = [&](u32 v) {
    std::vector<u32>& work = used_at_start[v];
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (seen[b] == v || b == slots_.def_block(v)) continue;
      if (resumes[b]) return true;
      seen[b] = v;
      work.insert(work.end(), cfg_.preds[b].begin(), cfg_.preds[b].end());
    }
    return false;
  };
  for (u32 v = 0; v < f_.regs.size(); ++v)
    if (across(v) && !kept_once(v)) slots_.of_value(v).per_warp = true;
}

bool CtaControl::has_barriers() const {
  return std::ranges::any_of(f_.blocks,
                             [](const ir::Block& b) { return !b.insts.empty() && may_yield(b.insts.back()); });
}

void CtaControl::take_warp() {
  const u32 warps = m_.facts.warps();
  warp_slot_ = s_.new_alloca(b_.getInt32Ty(), "warp");
  ctx_slot_ = s_.new_alloca(b_.getPtrTy(), "ctx");
  finished_ = s_.new_alloca(b_.getInt32Ty(), "finished");
  b_.CreateStore(b_.getInt32(0), warp_slot_);
  make_first();
  b_.CreateStore(b_.getInt32(0), finished_);
  const bool barriers = has_barriers();
  if (barriers) {
    resume_ = s_.new_alloca(llvm::ArrayType::get(b_.getInt8Ty(), warps), "resume");
    b_.CreateMemSet(resume_, b_.getInt8(0), warps, llvm::Align(64));
  }
  auto* dispatch = Block::Create(c_, "warp.dispatch", s_.out);
  next_warp_ = Block::Create(c_, "warp.next", s_.out);
  auto* start = Block::Create(c_, "warp.start", s_.out);
  b_.CreateBr(dispatch);
  b_.SetInsertPoint(dispatch);
  Value* w = b_.CreateLoad(b_.getInt32Ty(), warp_slot_);
  Value* ctx = b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), warps_, w));
  b_.CreateStore(ctx, ctx_slot_);
  m_.of_runtime(b_.CreateStore(ctx, current_));
  if (barriers) {
    Value* at = b_.CreateLoad(b_.getInt8Ty(), b_.CreateGEP(b_.getInt8Ty(), resume_, w));
    resume_switch_ = b_.CreateSwitch(at, next_warp_, 8);
    resume_switch_->addCase(b_.getInt8(0), start);
  } else {
    b_.CreateBr(start);
  }
  auto* round = Block::Create(c_, "round", s_.out);
  auto* again = Block::Create(c_, "round.again", s_.out);
  auto* leave = Block::Create(c_, "cta.done", s_.out);
  auto* more = Block::Create(c_, "warp.more", s_.out);
  b_.SetInsertPoint(next_warp_);
  const auto [next, left] = next_warp();
  b_.CreateCondBr(left, more, round);
  b_.SetInsertPoint(more);
  b_.CreateStore(next, warp_slot_);
  b_.CreateBr(dispatch);
  b_.SetInsertPoint(round);
  if (barriers)
    b_.CreateCondBr(b_.CreateICmpUGE(b_.CreateLoad(b_.getInt32Ty(), finished_), b_.getInt32(warps)), leave, again);
  else
    b_.CreateBr(leave);
  b_.SetInsertPoint(again);
  if (barriers && m_.facts.events()) tell_barrier(nullptr, BarrierStep::Done, b_.getInt32(kFullMask));
  begin_round();
  b_.CreateBr(dispatch);
  b_.SetInsertPoint(leave);
  b_.CreateRetVoid();
  b_.SetInsertPoint(start);
}

void CtaControl::barrier(u32 continuation) {
  const u32 point = ++resume_points_;
  US_CHECK(point < kEnded);
  const ir::Inst& barrier = f_.blocks[s_.cur].insts.back();
  Block* const leaves = tells(barrier) ? Block::Create(c_, "barrier.left", s_.out) : nullptr;
  resume_switch_->addCase(b_.getInt8(static_cast<u8>(point)), leaves ? leaves : s_.body[continuation]);
  builder_.parts().memory.compiler_fence();
  if (leaves) tell_barrier(&barrier, BarrierStep::Arrive, live());
  b_.CreateStore(b_.getInt8(static_cast<u8>(point)), b_.CreateGEP(b_.getInt8Ty(), resume_, warp_index()));
  b_.CreateBr(next_warp_);
  if (!leaves) return;
  b_.SetInsertPoint(leaves);
  tell_barrier(&barrier, BarrierStep::Leave, live());
  b_.CreateBr(s_.body[continuation]);
}

void CtaControl::leave() {
  if (resume_) {
    b_.CreateStore(b_.getInt8(kEnded), b_.CreateGEP(b_.getInt8Ty(), resume_, warp_index()));
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), finished_), b_.getInt32(1)), finished_);
  }
  b_.CreateBr(next_warp_);
}

}  // namespace us::codegen
