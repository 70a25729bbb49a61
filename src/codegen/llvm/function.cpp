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
  const std::size_t n = f_.blocks.size(), v = f_.regs.size();
  pending_.assign(n, nullptr);
  checked_.assign(n, 0);
  body_.assign(n, nullptr);
  check_.assign(n, nullptr);
  sweep_.assign(n + 1, nullptr);
  position_.assign(n, Cfg::kNone);
  values_.resize(v);
  value_block_.assign(v, nullptr);
  slots_.resize(v);
  phi_in_.resize(v);
  shadows_.assign(v, nullptr);
  crosses_.assign(v, 0);
  def_block_.assign(v, Cfg::kNone);
  for (u32 p = 0; p < cfg_.layout.size(); ++p) position_[cfg_.layout[p]] = p;
  for (u32 b = 0; b < n; ++b) {
    for (const ir::Phi& p : f_.blocks[b].phis) def_block_[p.dest.v] = b;
    for (const ir::Inst& i : f_.blocks[b].insts) ir::for_each_def(i, [&](ir::ValueId d) { def_block_[d.v] = b; });
  }
  if (cta_mode_) find_live_across();
  auto use = [&](const Operand& o, u32 b) {
    if (o.value.valid() && def_block_[o.value.v] != b) crosses_[o.value.v] = 1;
  };
  for (u32 b = 0; b < n; ++b) {
    for (const ir::Phi& p : f_.blocks[b].phis)
      for (std::size_t k = 0; k < p.in.size(); ++k) {
        use(p.in[k], f_.blocks[b].preds[k].v);
        if (p.in[k].value.valid() && same_place(p.dest, p.in[k].value)) crosses_[p.in[k].value.v] = 1;
      }
    for (const ir::Inst& i : f_.blocks[b].insts) ir::for_each_use(i, [&](const Operand& o) { use(o, b); });
    use(f_.blocks[b].term.cond, b);
  }
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
    body_[b] = Block::Create(c_, "b" + std::to_string(b), out_);
    if (checked_[b] && !a_.its) {
      check_[b] = Block::Create(c_, "check" + std::to_string(b), out_);
      pending_[b] = new_alloca(b_.getInt32Ty(), "pending");
    }
  }
}

void Emitter::emit_prologue() {
  if (!cta_mode_) ctx0_ = ctx_ = out_->getArg(0);
  grid_ = load_at(ctx0_, offsetof(WarpCtx, grid), b_.getPtrTy(), "grid");
  cta_ = load_at(ctx0_, offsetof(WarpCtx, cta), b_.getPtrTy(), "cta");
  window_ = load_at(ctx0_, offsetof(WarpCtx, window), b_.getPtrTy(), "window");
  if (cta_mode_) emit_cta_dispatch();
  live_ = live_alloca();
  find_full_blocks();
  Value* start = f_.entry
                     ? (m_.facts.full_warps() ? static_cast<Value*>(b_.getInt32(kFullMask))
                                              : load_at(ctx(), offsetof(WarpCtx, live), b_.getInt32Ty(), "live", false))
                     : out_->getArg(1);
  b_.CreateStore(start, live_place());
  if (!f_.entry) {
    args_in_ = out_->getArg(2);
    rets_out_ = out_->getArg(3);
  }
  if (!f_.entry && f_.local_bytes) {
    Value* top = load_at(ctx(), offsetof(WarpCtx, local_top), b_.getInt32Ty(), "top", false);
    local_base_ = new_alloca(b_.getInt32Ty(), "frame");
    b_.CreateStore(top, local_base_);
    Value* end = b_.CreateAdd(top, b_.getInt32((f_.local_bytes + 15) / 16 * 16));
    require_stack(end);
    b_.CreateStore(end, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, local_top)));
  } else if (f_.entry) {
    of_runtime(b_.CreateStore(b_.getInt32((f_.local_bytes + 15) / 16 * 16),
                              b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, local_top))));
  }
  for (u32 b : cfg_.layout)
    if (pending_[b]) b_.CreateStore(b_.getInt32(0), pending_[b]);
  forget_at_start_ = &b_.GetInsertBlock()->back();
}

void Emitter::run() {
  alloca_block_ = Block::Create(c_, "allocas", out_);
  auto* start = Block::Create(c_, "start", out_);
  end_ = Block::Create(c_, "end", out_);
  b_.SetInsertPoint(start);
  subprogram_ = out_->getSubprogram();
  set_debug_loc(f_.loc);
  create_blocks();
  if (has_many_blocks()) out_->addFnAttr(kManyBlocksAttribute);
  if (a_.its) {
    its_prologue();
    out_->addFnAttr("dispatched");
  }
  if (cta_mode_) {
    warps_ = out_->getArg(0);
    current_ = out_->getArg(1);
    ctx0_ = b_.CreateLoad(b_.getPtrTy(), warps_, "ctx0");
  }
  emit_prologue();
  cur_ = cfg_.layout[0];
  if (a_.its) {
    emit_its_dispatch();
  } else {
    if (a_.guarded[cur_]) {
      b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), live_place()), pending_[cur_]);
    }
    branch_to(cur_);
  }
  for (u32 b : cfg_.layout) emit_block(b);
  b_.SetInsertPoint(end_);
  if (local_base_)
    b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), local_base_),
                   b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, local_top)));
  if (f_.entry)
    of_runtime(
        b_.CreateStore(b_.getInt32(0), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, live))));
  if (cta_mode_)
    emit_cta_end();
  else
    b_.CreateRetVoid();
  if (a_.its) its_epilogue();
  forget_slots();
  b_.SetInsertPoint(alloca_block_);
  b_.SetCurrentDebugLocation(llvm::DebugLoc());
  b_.CreateBr(start);
}

void Emitter::set_debug_loc(const SrcLoc& loc) {
  if (!subprogram_) return;
  llvm::DIScope* scope = subprogram_;
  if (loc.file) scope = m_.di->createLexicalBlockFile(subprogram_, m_.file(loc.file));
  b_.SetCurrentDebugLocation(llvm::DILocation::get(c_, loc.line, loc.col, scope));
}

// --- blocks ---

void Emitter::branch_to(u32 to) { b_.CreateBr(a_.guarded[to] ? check_[to] : body_[to]); }

llvm::BasicBlock* Emitter::sweep_block(u32 pos) {
  if (!sweep_[pos]) sweep_[pos] = Block::Create(c_, "sweep", out_);
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
      auto* next = Block::Create(c_, "loop.end", out_);
      Value* m = b_.CreateLoad(b_.getInt32Ty(), pending_[header]);
      b_.CreateCondBr(b_.CreateICmpNE(m, b_.getInt32(0)), check_[header], next);
      b_.SetInsertPoint(next);
    }
    const bool end = pos == cfg_.layout.size();
    if (end || checked_[cfg_.layout[pos]]) {
      b_.CreateBr(end ? end_ : check_[cfg_.layout[pos]]);
      return first;
    }
    const bool there = sweep_[pos + 1];
    b_.CreateBr(sweep_block(pos + 1));
    if (there) return first;
  }
}

void Emitter::emit_phi_loads(u32 b) {
  for (const ir::Phi& p : f_.blocks[b].phis) {
    if (a_.shapes[p.dest.v].constant() || in_register_slot(p.dest)) continue;
    LV v = load_slot(phi_in_[p.dest.v], a_.shapes[p.dest.v]);
    v.shape.nan = a_.shapes[p.dest.v].nan;
    // Not written on some way: some value, for those who read it all the same.
    if (std::ranges::any_of(p.in, [](const Operand& o) { return o.kind == Operand::Kind::None; })) {
      if (v.base) v.base = b_.CreateFreeze(v.base);
      if (v.vec) v.vec = b_.CreateFreeze(v.vec);
    }
    define(p.dest, v);
  }
}

void Emitter::emit_block(u32 b) {
  cur_ = b;
  set_debug_loc(f_.blocks[b].insts.empty() ? f_.blocks[b].term.loc : f_.blocks[b].insts[0].loc);
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
        b_.CreateBr(body_[b]);
      else
        b_.CreateCondBr(b_.CreateICmpNE(m, b_.getInt32(0)), body_[b], sweep_from(position_[b] + 1));
    }
    b_.SetInsertPoint(body_[b]);
    if (a_.guarded[b])
      set_mask(m, false);
    else if (live_full_[b])
      set_mask(nullptr, true);
    else
      set_mask(b_.CreateLoad(b_.getInt32Ty(), live_place(), "live"), false);
    emit_phi_loads(b);
    const int loop = cfg_.loop_of[b];
    if (loop >= 0 && cfg_.loops[static_cast<std::size_t>(loop)].header == b &&
        a_.loop_spins[static_cast<std::size_t>(loop)])
      spin_check(b, a_.spins_around[static_cast<std::size_t>(loop)]);
  }
  for (const ir::Inst& i : f_.blocks[b].insts)
    if (cta_mode_ && may_yield(i))
      count(i.site, probe::Counter::Lanes, 1);
    else
      emit_inst(i);
  make_tests();
  set_debug_loc(f_.blocks[b].term.loc);
  inst_ = nullptr;
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
  auto* out = Block::Create(c_, "yield", out_);
  auto* go = Block::Create(c_, "spin.go", out_);
  auto* weights = llvm::MDBuilder(c_).createBranchWeights(1, 64);
  b_.CreateCondBr(b_.CreateICmpEQ(left, b_.getInt32(0)), out, go, weights);
  b_.SetInsertPoint(out);
  V none;
  call_rt(RtFn::Yield, {imm(64, yield_site(block, around_barrier))}, {}, &none, false);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
}

void Emitter::run_semantics(const ir::Inst& i) {
  written_.clear();
  const SemFn fn = i.form == isa::Form::Unknown ? nullptr : semantics_of(i);
  if (!i.call.empty()) make_tests();
  if (!i.call.empty())
    emit_call(i);
  else if (fn)
    run_semantics(i, fn);
  else {
    unimplemented(i.form == isa::Form::Unknown ? i.text : std::string(isa::info(i.form).pattern) + isa::need(i.form),
                  i.loc);
    ir::for_each_def(i, [&](ir::ValueId v) {
      written_.push_back({v, make_varying(llvm::Constant::getNullValue(vec_type(ir::bits_of(f_.regs[v.v]))),
                                          ir::bits_of(f_.regs[v.v]))});
    });
  }
}

void Emitter::run_semantics(const ir::Inst& i, SemFn fn) {
  if (!m_.facts.counts()) return fn(Sem{*this, i});
  probe_.begin(i.site);
  fn(Sem{probe_, i});
}

void Emitter::emit_inst(const ir::Inst& i) {
  inst_ = &i;
  pool_.clear();
  set_debug_loc(i.loc);
  if (i.guard.kind != Operand::Kind::None) return emit_guarded(i);
  count(i.site, probe::Counter::Lanes, 1);
  run_semantics(i);
  auto written = written_;
  for (auto& [id, v] : written) define(id, at(v));
}

llvm::Value* Emitter::lanes_of_guard(const LV& pred, V p) {
  return pred.shape.uniform() ? b_.CreateSelect(pred.base, mask(), b_.getInt32(0))
                              : b_.CreateAnd(b_.CreateBitCast(vec(p), b_.getInt32Ty()), mask());
}

// @p: side effects run under mask & p (skipped when empty); destinations keep their old value where p is false.
void Emitter::emit_guarded(const ir::Inst& i) {
  V p = read(i.guard, isa::Type::pred);
  const LV pred = at(p);
  const bool effects = i.form == isa::Form::Unknown || !i.call.empty() || isa::info(i.form).effects != isa::kPure;
  std::vector<ir::ValueId> defs;
  ir::for_each_def(i, [&](ir::ValueId v) { defs.push_back(v); });
  auto merged = [&](V v, LV old) -> LV {
    if (!old.base && !old.vec) return at(v);
    V o = make(old);
    return at(select(p, v, o));
  };
  if (!effects) {
    count_lanes(i.site, probe::Counter::Lanes, 1, lanes_of_guard(pred, p));
    run_semantics(i);
    auto written = written_;
    for (auto& [id, v] : written) {
      LV old;
      for (std::size_t k = 0; k < defs.size(); ++k)
        if (defs[k] == id && i.merge[k].kind == Operand::Kind::Value) old = read_value(i.merge[k].value);
      define(id, merged(v, old));
    }
    return;
  }
  Value* was = mask_;
  const bool was_full = mask_full_;
  flush_stores();
  Value* m = lanes_of_guard(pred, p);
  std::vector<LV> olds;
  for (std::size_t k = 0; k < defs.size(); ++k)
    olds.push_back(i.merge[k].kind == Operand::Kind::Value ? read_value(i.merge[k].value) : LV{});
  // Bring what is kept to the destination's shape here, so that both sides agree.
  std::vector<Value*> kept(defs.size());
  for (std::size_t k = 0; k < defs.size(); ++k) {
    const Shape& want = a_.shapes[defs[k].v];
    LV& o = olds[k];
    if (want.constant()) continue;
    const bool none = !o.base && !o.vec;
    if (!none && want.nan != o.shape.nan) o = canon(o);
    llvm::Type* t = want.varying() ? static_cast<llvm::Type*>(vec_type(want.bits)) : int_type(want.bits);
    kept[k] = none ? llvm::PoisonValue::get(t) : want.varying() ? vec(o) : o.base;
  }
  const std::vector<AccessTest> noted = std::move(tests_);  // only what the guard lets through is tested under it
  tests_.clear();
  Block* before = b_.GetInsertBlock();
  auto* act = Block::Create(c_, "guard", out_);
  auto* done = Block::Create(c_, "guard.done", out_);
  b_.CreateCondBr(pred.shape.uniform() ? pred.base : b_.CreateICmpNE(m, b_.getInt32(0)), act, done);
  b_.SetInsertPoint(act);
  if (pred.shape.uniform())
    set_mask(was, was_full);
  else
    set_mask(m, false);
  count(i.site, probe::Counter::Lanes, 1);
  run_semantics(i);
  make_tests();
  flush_stores();
  auto written = written_;
  std::vector<Value*> fresh(defs.size());
  for (auto& [id, v] : written)
    for (std::size_t k = 0; k < defs.size(); ++k) {
      if (defs[k] != id || a_.shapes[id.v].constant()) continue;
      const Shape& want = a_.shapes[id.v];
      V x = v;
      if (want.nan != at(x).shape.nan) x = canon(x);
      const bool none = !olds[k].base && !olds[k].vec;
      if (want.varying()) {
        fresh[k] = vec(x);
        if (!none && !pred.shape.uniform())
          fresh[k] = b_.CreateSelect(b_.CreateBitCast(m, llvm::FixedVectorType::get(b_.getInt1Ty(), kWarpSize)),
                                     fresh[k], kept[k]);
      } else {
        US_CHECK(!at(x).shape.varying());
        fresh[k] = at(x).base;
      }
    }
  tests_ = noted;
  Block* act_end = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  set_mask(was, was_full);
  std::vector<LV> merged_values(defs.size());  // all phis stand before what their definitions emit
  for (std::size_t k = 0; k < defs.size(); ++k) {
    const Shape& want = a_.shapes[defs[k].v];
    LV& r = merged_values[k];
    r.shape = want;
    if (want.constant())
      r.base = const_int(want.bits, want.value);
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
  for (std::size_t k = 0; k < defs.size(); ++k) define(defs[k], merged_values[k]);
}

}  // namespace us::codegen
