// SPDX-License-Identifier: Apache-2.0
// Control flow of one function.
//
// Blocks stand in the layout of ir::Cfg (loops contiguous). A checked block has a pending mask: divergent branches and
// edges out of guarded blocks add lanes to it and go on with the sweep, which visits checked blocks in layout order and
// skips the empty ones; behind the last block of a loop the sweep returns to the header while lanes wait there. Unguarded
// blocks run with all live lanes and are jumped to directly.
//
//   A (divergent) ──► check B ──► B ──► check C ──► C ──► check P ──► P (reconverged)
//                        └ empty ─────────┘└ empty ──────────┘
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/emitter.h"
#include "codegen/llvm/promote_slots.h"

#include <algorithm>

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;
using ir::Cfg;
using ir::Operand;
using ir::Terminator;

// --- set-up ---

void Emitter::create_blocks() {
  const std::size_t n = f_.blocks.size();
  pending_.assign(n, nullptr);
  checked_.assign(n, 0);
  s_.body.assign(n, nullptr);
  check_.assign(n, nullptr);
  sweep_.assign(n + 1, nullptr);
  position_.assign(n, Cfg::kNone);
  for (u32 p = 0; p < cfg_.layout.size(); ++p) position_[cfg_.layout[p]] = p;
  slots_.prepare();
  if (cta_mode_) find_live_across();
  // A block is checked if it is guarded or entered from a guarded block or a divergent branch.
  for (u32 b = 0; b < n; ++b) {
    if (a_.guarded[b]) checked_[b] = 1;
    if (a_.guarded[b] || a_.divergent[b])
      for (u32 s : cfg_.succs[b])
        if (!(f_.entry && ir::is_exit_block(f_, s))) checked_[s] = 1;
  }
  if (has_many_blocks()) plan_forgetting();
  find_loop_ends();
  for (u32 b : cfg_.layout) {
    s_.body[b] = Block::Create(c_, "b" + std::to_string(b), s_.out);
    if (checked_[b] && !a_.its) {
      check_[b] = Block::Create(c_, "check" + std::to_string(b), s_.out);
      pending_[b] = s_.new_alloca(b_.getInt32Ty(), "pending");
    }
  }
}

void Emitter::emit_prologue() {
  if (!cta_mode_) s_.ctx0 = ctx_ = s_.out->getArg(0);
  s_.grid = s_.load_at(s_.ctx0, offsetof(WarpCtx, grid), b_.getPtrTy(), "grid");
  s_.cta = s_.load_at(s_.ctx0, offsetof(WarpCtx, cta), b_.getPtrTy(), "cta");
  s_.window = s_.load_at(s_.ctx0, offsetof(WarpCtx, window), b_.getPtrTy(), "window");
  if (cta_mode_) emit_cta_dispatch();
  s_.live = live_alloca();
  find_full_blocks();
  Value* start =
      f_.entry ? (m_.facts.full_warps() ? static_cast<Value*>(b_.getInt32(kFullMask))
                                        : s_.load_at(ctx(), offsetof(WarpCtx, live), b_.getInt32Ty(), "live", false))
               : s_.out->getArg(1);
  b_.CreateStore(start, live_place());
  if (!f_.entry) {
    s_.args_in = s_.out->getArg(2);
    s_.rets_out = s_.out->getArg(3);
  }
  if (!f_.entry && f_.local_bytes) {
    Value* top = s_.load_at(ctx(), offsetof(WarpCtx, local_top), b_.getInt32Ty(), "top", false);
    s_.local_base = s_.new_alloca(b_.getInt32Ty(), "frame");
    b_.CreateStore(top, s_.local_base);
    Value* end = b_.CreateAdd(top, b_.getInt32((f_.local_bytes + 15) / 16 * 16));
    tests_.require_stack(end);
    b_.CreateStore(end, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, local_top)));
  } else if (f_.entry) {
    m_.of_runtime(b_.CreateStore(b_.getInt32((f_.local_bytes + 15) / 16 * 16),
                                 b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, local_top))));
  }
  for (u32 b : cfg_.layout)
    if (pending_[b]) b_.CreateStore(b_.getInt32(0), pending_[b]);
  forget_at_start_ = &b_.GetInsertBlock()->back();
}

void Emitter::run() {
  s_.alloca_block = Block::Create(c_, "allocas", s_.out);
  auto* start = Block::Create(c_, "start", s_.out);
  s_.end = Block::Create(c_, "end", s_.out);
  b_.SetInsertPoint(start);
  s_.set_debug_loc(f_.loc);
  create_blocks();
  if (has_many_blocks()) s_.out->addFnAttr(kManyBlocksAttribute);
  if (a_.its) {
    its_prologue();
    s_.out->addFnAttr("dispatched");
  }
  if (cta_mode_) {
    warps_ = s_.out->getArg(0);
    current_ = s_.out->getArg(1);
    s_.ctx0 = b_.CreateLoad(b_.getPtrTy(), warps_, "ctx0");
  }
  emit_prologue();
  s_.cur = cfg_.layout[0];
  if (a_.its) {
    emit_its_dispatch();
  } else {
    if (a_.guarded[s_.cur]) {
      b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), live_place()), pending_[s_.cur]);
    }
    branch_to(s_.cur);
  }
  for (u32 b : cfg_.layout) emit_block(b);
  b_.SetInsertPoint(s_.end);
  if (s_.local_base)
    b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), s_.local_base),
                   b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, local_top)));
  if (f_.entry)
    m_.of_runtime(
        b_.CreateStore(b_.getInt32(0), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, live))));
  if (cta_mode_)
    emit_cta_end();
  else
    b_.CreateRetVoid();
  if (a_.its) its_epilogue();
  forget_slots();
  b_.SetInsertPoint(s_.alloca_block);
  b_.SetCurrentDebugLocation(llvm::DebugLoc());
  b_.CreateBr(start);
}

// --- blocks ---

void Emitter::branch_to(u32 to) { b_.CreateBr(a_.guarded[to] ? check_[to] : s_.body[to]); }

llvm::BasicBlock* Emitter::sweep_block(u32 pos) {
  if (!sweep_[pos]) sweep_[pos] = Block::Create(c_, "sweep", s_.out);
  return sweep_[pos];
}

void Emitter::find_loop_ends() {
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
llvm::BasicBlock* Emitter::sweep_from(u32 pos) {
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

void Emitter::emit_block(u32 b) {
  s_.cur = b;
  s_.set_debug_loc(f_.blocks[b].insts.empty() ? f_.blocks[b].term.loc : f_.blocks[b].insts[0].loc);
  if (a_.its) {
    emit_its_head(b);
  } else {
    Value* m = nullptr;
    if (checked_[b]) {
      b_.SetInsertPoint(check_[b]);
      m = b_.CreateLoad(b_.getInt32Ty(), pending_[b], "mask");
      if (!opens_.empty()) {
        forget_at_[b] = llvm::cast<llvm::Instruction>(m);
        forget_pending(b);
      }
      b_.CreateStore(b_.getInt32(0), pending_[b]);
      if (meets_[b])
        b_.CreateBr(s_.body[b]);
      else
        b_.CreateCondBr(b_.CreateICmpNE(m, b_.getInt32(0)), s_.body[b], sweep_from(position_[b] + 1));
    }
    b_.SetInsertPoint(s_.body[b]);
    if (a_.guarded[b])
      s_.set_mask(m, false);
    else if (live_full_[b])
      s_.set_mask(nullptr, true);
    else
      s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), live_place(), "live"), false);
    slots_.load_phis(b);
    const int loop = cfg_.loop_of[b];
    if (loop >= 0 && cfg_.loops[static_cast<std::size_t>(loop)].header == b &&
        a_.loop_spins[static_cast<std::size_t>(loop)])
      spin_check(b, a_.spins_around[static_cast<std::size_t>(loop)]);
  }
  for (const ir::Inst& i : f_.blocks[b].insts)
    if (!(cta_mode_ && may_yield(i))) emit_inst(i);
  tests_.make_all();
  s_.set_debug_loc(f_.blocks[b].term.loc);
  s_.inst = nullptr;
  emit_terminator(b);
}

u64 Emitter::yield_site(u32 block, bool around_barrier) const {
  const u64 line = f_.blocks[block].insts.empty() ? 0 : f_.blocks[block].insts[0].loc.line;
  return line | (around_barrier ? device::kYieldAroundBarrier : 0);
}

// Counts down the warp's budget at the head of a loop that may wait for another thread.
void Emitter::spin_check(u32 block, bool around_barrier) {
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, spin));
  Value* left = b_.CreateSub(b_.CreateLoad(b_.getInt32Ty(), p), b_.getInt32(1));
  b_.CreateStore(left, p);
  auto* out = Block::Create(c_, "yield", s_.out);
  auto* go = Block::Create(c_, "spin.go", s_.out);
  auto* weights = llvm::MDBuilder(c_).createBranchWeights(1, 64);
  b_.CreateCondBr(b_.CreateICmpEQ(left, b_.getInt32(0)), out, go, weights);
  b_.SetInsertPoint(out);
  V none;
  call_rt(RtFn::Yield, {v_.imm(64, yield_site(block, around_barrier))}, {}, &none, false);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
}

void Emitter::run_semantics(const ir::Inst& i) {
  written_.clear();
  const SemFn fn = i.form == isa::Form::Unknown ? nullptr : semantics_of(i);
  if (!i.call.empty()) tests_.make_all();
  if (!i.call.empty())
    emit_call(i);
  else if (fn)
    fn(Sem{*this, i});
  else {
    unimplemented(i.form == isa::Form::Unknown ? i.text : std::string(isa::info(i.form).pattern) + isa::need(i.form),
                  i.loc);
    ir::for_each_def(i, [&](ir::ValueId v) {
      written_.push_back({v, v_.make_varying(llvm::Constant::getNullValue(v_.vec_type(ir::bits_of(f_.regs[v.v]))),
                                             ir::bits_of(f_.regs[v.v]))});
    });
  }
}

void Emitter::emit_inst(const ir::Inst& i) {
  s_.inst = &i;
  v_.forget();
  s_.set_debug_loc(i.loc);
  if (i.guard.kind != Operand::Kind::None) return emit_guarded(i);
  run_semantics(i);
  auto written = written_;
  for (auto& [id, v] : written) slots_.define(id, v_.at(v));
}

// @p: side effects run under mask & p (skipped when empty); destinations keep their old value where p is false.
void Emitter::emit_guarded(const ir::Inst& i) {
  V p = read(i.guard, isa::Type::pred);
  const LV pred = v_.at(p);
  const bool effects = i.form == isa::Form::Unknown || !i.call.empty() || isa::info(i.form).effects != isa::kPure;
  std::vector<ir::ValueId> defs;
  ir::for_each_def(i, [&](ir::ValueId v) { defs.push_back(v); });
  auto merged = [&](V v, LV old) -> LV {
    if (!old.base && !old.vec) return v_.at(v);
    V o = v_.make(old);
    return v_.at(v_.select(p, v, o));
  };
  if (!effects) {
    run_semantics(i);
    auto written = written_;
    for (auto& [id, v] : written) {
      LV old;
      for (std::size_t k = 0; k < defs.size(); ++k)
        if (defs[k] == id && i.merge[k].kind == Operand::Kind::Value) old = slots_.read(i.merge[k].value);
      slots_.define(id, merged(v, old));
    }
    return;
  }
  Value* was = s_.partial_mask();
  const bool was_full = s_.mask_full();
  stores_.flush();
  Value* m = pred.shape.uniform() ? b_.CreateSelect(pred.base, s_.mask(), b_.getInt32(0))
                                  : b_.CreateAnd(b_.CreateBitCast(v_.vec(p), b_.getInt32Ty()), s_.mask());
  std::vector<LV> olds;
  for (std::size_t k = 0; k < defs.size(); ++k)
    olds.push_back(i.merge[k].kind == Operand::Kind::Value ? slots_.read(i.merge[k].value) : LV{});
  // Bring what is kept to the destination's shape here, so that both sides agree.
  std::vector<Value*> kept(defs.size());
  for (std::size_t k = 0; k < defs.size(); ++k) {
    const Shape& want = a_.shapes[defs[k].v];
    LV& o = olds[k];
    if (want.constant()) continue;
    const bool none = !o.base && !o.vec;
    if (!none && want.nan != o.shape.nan) o = v_.canon(o);
    llvm::Type* t = want.varying() ? static_cast<llvm::Type*>(v_.vec_type(want.bits)) : v_.int_type(want.bits);
    kept[k] = none ? llvm::PoisonValue::get(t) : want.varying() ? v_.vec(o) : o.base;
  }
  std::vector<AccessTest> noted = tests_.put_aside();  // only what the guard lets through is tested under it
  Block* before = b_.GetInsertBlock();
  auto* act = Block::Create(c_, "guard", s_.out);
  auto* done = Block::Create(c_, "guard.done", s_.out);
  b_.CreateCondBr(pred.shape.uniform() ? pred.base : b_.CreateICmpNE(m, b_.getInt32(0)), act, done);
  b_.SetInsertPoint(act);
  if (pred.shape.uniform())
    s_.set_mask(was, was_full);
  else
    s_.set_mask(m, false);
  run_semantics(i);
  tests_.make_all();
  stores_.flush();
  auto written = written_;
  std::vector<Value*> fresh(defs.size());
  for (auto& [id, v] : written)
    for (std::size_t k = 0; k < defs.size(); ++k) {
      if (defs[k] != id || a_.shapes[id.v].constant()) continue;
      const Shape& want = a_.shapes[id.v];
      V x = v;
      if (want.nan != v_.at(x).shape.nan) x = v_.canon(x);
      const bool none = !olds[k].base && !olds[k].vec;
      if (want.varying()) {
        fresh[k] = v_.vec(x);
        if (!none && !pred.shape.uniform())
          fresh[k] = b_.CreateSelect(b_.CreateBitCast(m, llvm::FixedVectorType::get(b_.getInt1Ty(), kWarpSize)),
                                     fresh[k], kept[k]);
      } else {
        US_CHECK(!v_.at(x).shape.varying());
        fresh[k] = v_.at(x).base;
      }
    }
  tests_.put_back(std::move(noted));
  Block* act_end = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  s_.set_mask(was, was_full);
  std::vector<LV> merged_values(defs.size());  // all phis stand before what their definitions emit
  for (std::size_t k = 0; k < defs.size(); ++k) {
    const Shape& want = a_.shapes[defs[k].v];
    LV& r = merged_values[k];
    r.shape = want;
    if (want.constant())
      r.base = v_.const_int(want.bits, want.value);
    else {
      US_CHECK(fresh[k] && !want.guarded);
      auto* phi = b_.CreatePHI(kept[k]->getType(), 2);
      phi->addIncoming(kept[k], before);
      phi->addIncoming(fresh[k], act_end);
      if (want.varying())
        r.vec = phi;
      else
        r.base = phi;
      r.vec_block = b_.GetInsertBlock();
    }
  }
  for (std::size_t k = 0; k < defs.size(); ++k) slots_.define(defs[k], merged_values[k]);
}

Emitter::Emitter(FunctionState& s)
    : Part(s),
      v_(s),
      runtime_(s, v_),
      stores_(s),
      slots_(s, v_),
      tests_(s, v_, runtime_, stores_, slots_),
      params_(s, v_),
      memory_(s, v_, runtime_, stores_, tests_, params_),
      products_(s, v_, stores_),
      cta_mode_(s.lowered.whole_cta()),
      rounds_(s.lowered.rounds),
      by_regions_(s.lowered.form == RunForm::Rounds),
      its_spins_(s.lowered.spins) {
  s.frame = this;
}

}  // namespace us::codegen
