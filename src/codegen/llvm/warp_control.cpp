// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "codegen/llvm/warp_control.h"

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;

WarpControl::WarpControl(WarpBuilder& b) : Control(b), forgetting_(s_, slots_, checked_, pending_, position_) {}

void WarpControl::plan() {
  const std::size_t n = f_.blocks.size();
  pending_.assign(n, nullptr);
  checked_.assign(n, 0);
  check_.assign(n, nullptr);
  sweep_.assign(n + 1, nullptr);
  // A block is checked if it is guarded or entered from a guarded block or a divergent branch.
  for (u32 b = 0; b < n; ++b) {
    if (a_.guarded[b]) checked_[b] = 1;
    if (a_.guarded[b] || a_.divergent[b])
      for (u32 s : cfg_.succs[b])
        if (!(f_.entry && ir::is_exit_block(f_, s))) checked_[s] = 1;
  }
  if (has_many_blocks(f_, m_.facts.many_blocks)) forgetting_.plan();
  find_loop_ends();
  find_full_blocks();
}

void WarpControl::create_block(u32 b) {
  Control::create_block(b);
  if (!checked_[b]) return;
  check_[b] = Block::Create(c_, "check" + std::to_string(b), s_.out);
  pending_[b] = s_.new_alloca(b_.getInt32Ty(), "pending");
}

void WarpControl::end_prologue() {
  for (u32 b : cfg_.layout)
    if (pending_[b]) b_.CreateStore(b_.getInt32(0), pending_[b]);
}

void WarpControl::start() {
  if (a_.guarded[s_.cur]) b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), live_place()), pending_[s_.cur]);
  branch_to(s_.cur);
}

// Goes to the block if lanes wait for it: their mask.
llvm::Value* WarpControl::enter_check(u32 b) {
  b_.SetInsertPoint(check_[b]);
  Value* m = b_.CreateLoad(b_.getInt32Ty(), pending_[b], "mask");
  forgetting_.at_check(b, m);
  b_.CreateStore(b_.getInt32(0), pending_[b]);
  if (meets_[b])
    b_.CreateBr(s_.body[b]);
  else
    b_.CreateCondBr(b_.CreateICmpNE(m, b_.getInt32(0)), s_.body[b], sweep_from(position_[b] + 1));
  return m;
}

void WarpControl::enter_block(u32 b) {
  Value* m = checked_[b] ? enter_check(b) : nullptr;
  b_.SetInsertPoint(s_.body[b]);
  if (a_.guarded[b])
    s_.set_mask(m, false);
  else if (live_full_[b])
    s_.set_mask(nullptr, true);
  else
    s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), live_place(), "live"), false);
  slots_.load_phis(b);
  const int loop = cfg_.loop_of[b];
  if (loop < 0 || cfg_.loops[static_cast<std::size_t>(loop)].header != b) return;
  if (a_.loop_spins[static_cast<std::size_t>(loop)]) spin_check(b, a_.spins_around[static_cast<std::size_t>(loop)]);
}

void WarpControl::branch_to(u32 to) { b_.CreateBr(a_.guarded[to] ? check_[to] : s_.body[to]); }

llvm::BasicBlock* WarpControl::sweep_block(u32 pos) {
  if (!sweep_[pos]) sweep_[pos] = Block::Create(c_, "sweep", s_.out);
  return sweep_[pos];
}

void WarpControl::find_loop_ends() {
  loop_ends_.assign(cfg_.layout.size() + 1, {});
  std::vector<std::vector<std::pair<std::size_t, u32>>> ending(cfg_.layout.size() + 1);  // size, header
  for (const ir::Loop& l : cfg_.loops) {
    if (!checked_[l.header]) continue;
    u32 last = 0;
    for (u32 b : l.blocks) last = std::max(last, position_[b]);
    ending[last + 1].push_back({l.blocks.size(), l.header});
  }
  for (std::size_t p = 0; p < ending.size(); ++p) {
    std::sort(ending[p].begin(), ending[p].end());
    for (auto& [size, header] : ending[p]) loop_ends_[p].push_back(header);
  }
}

// The block that continues the sweep at layout position `pos`: first the loops that end just before it.
llvm::BasicBlock* WarpControl::sweep_from(u32 pos) {
  if (sweep_[pos]) return sweep_[pos];
  Block* first = sweep_block(pos);
  llvm::IRBuilderBase::InsertPointGuard guard(b_);
  for (;; ++pos) {
    b_.SetInsertPoint(sweep_[pos]);
    for (u32 header : loop_ends_[pos]) {
      auto* next = Block::Create(c_, "loop.end", s_.out);
      Value* m = b_.CreateLoad(b_.getInt32Ty(), pending_[header]);
      b_.CreateCondBr(b_.CreateICmpNE(m, b_.getInt32(0)), check_[header], next);
      b_.SetInsertPoint(next);
    }
    const bool end = pos == cfg_.layout.size();
    if (end || checked_[cfg_.layout[pos]]) {
      b_.CreateBr(end ? s_.end : check_[cfg_.layout[pos]]);
      return first;
    }
    const bool there = sweep_[pos + 1];
    b_.CreateBr(sweep_block(pos + 1));
    if (there) return first;
  }
}

// Counts down the warp's budget at the head of a loop that may wait for another thread.
void WarpControl::spin_check(u32 block, bool around_barrier) {
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, spin));
  Value* left = b_.CreateSub(b_.CreateLoad(b_.getInt32Ty(), p), b_.getInt32(1));
  b_.CreateStore(left, p);
  auto* out = Block::Create(c_, "yield", s_.out);
  auto* go = Block::Create(c_, "spin.go", s_.out);
  auto* weights = llvm::MDBuilder(c_).createBranchWeights(1, 64);
  b_.CreateCondBr(b_.CreateICmpEQ(left, b_.getInt32(0)), out, go, weights);
  b_.SetInsertPoint(out);
  V none;
  builder_.call_rt(RtFn::Yield, {v_.imm(64, yield_site(block, around_barrier))}, {}, &none, false);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
}

}  // namespace us::codegen
