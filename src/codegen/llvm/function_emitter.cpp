// SPDX-License-Identifier: Apache-2.0
// Prologue, blocks and instructions of one function.
#include "codegen/llvm/function_emitter.h"

#include "codegen/llvm/forgetting.h"
#include "codegen/llvm/promote_slots.h"
#include "codegen/llvm/records.h"
#include "codegen/lower/waits.h"

#include <algorithm>

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;
using ir::Cfg;
using ir::Operand;
using ir::Terminator;

FunctionEmitter::FunctionEmitter(FunctionState& s)
    : Part(s),
      parts_(s),
      v_(parts_.values),
      slots_(parts_.slots),
      stores_(parts_.stores),
      tests_(parts_.tests),
      builder_(parts_),
      probe_(builder_, m_.facts.probe),
      calls_(builder_),
      control_(make_control(builder_)) {
  s.frame = control_.get();
}

void FunctionEmitter::emit_prologue() {
  s_.grid = s_.load_at(s_.ctx0, offsetof(WarpCtx, grid), b_.getPtrTy(), "grid");
  s_.cta = s_.load_at(s_.ctx0, offsetof(WarpCtx, cta), b_.getPtrTy(), "cta");
  s_.window = s_.load_at(s_.ctx0, offsetof(WarpCtx, window), b_.getPtrTy(), "window");
  control_->take_warp();
  s_.live = control_->live_alloca();
  Value* start = f_.entry ? (m_.facts.full_warps()
                                 ? static_cast<Value*>(b_.getInt32(kFullMask))
                                 : s_.load_at(control_->ctx(), offsetof(WarpCtx, live), b_.getInt32Ty(), "live", false))
                          : s_.out->getArg(1);
  b_.CreateStore(start, control_->live_place());
  if (!f_.entry) {
    s_.args_in = s_.out->getArg(2);
    s_.rets_out = s_.out->getArg(3);
  }
  if (!f_.entry && f_.local_bytes) {
    Value* top = s_.load_at(control_->ctx(), offsetof(WarpCtx, local_top), b_.getInt32Ty(), "top", false);
    s_.local_base = s_.new_alloca(b_.getInt32Ty(), "frame");
    b_.CreateStore(top, s_.local_base);
    Value* end = b_.CreateAdd(top, b_.getInt32((f_.local_bytes + 15) / 16 * 16));
    tests_.require_stack(end);
    b_.CreateStore(end, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), control_->ctx(), offsetof(WarpCtx, local_top)));
  } else if (f_.entry) {
    m_.of_runtime(
        b_.CreateStore(b_.getInt32((f_.local_bytes + 15) / 16 * 16),
                       b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), control_->ctx(), offsetof(WarpCtx, local_top))));
  }
  control_->end_prologue();
}

void FunctionEmitter::run() {
  s_.alloca_block = Block::Create(c_, "allocas", s_.out);
  auto* start = Block::Create(c_, "start", s_.out);
  s_.end = Block::Create(c_, "end", s_.out);
  b_.SetInsertPoint(start);
  s_.set_debug_loc(f_.loc);
  control_->create_blocks();
  if (has_many_blocks(f_, m_.facts.many_blocks)) s_.out->addFnAttr(kManyBlocksAttribute);
  control_->begin();
  emit_prologue();
  s_.cur = cfg_.layout[0];
  control_->start();
  for (u32 b : cfg_.layout) emit_block(b);
  emit_epilogue();
  control_->finish();
  b_.SetInsertPoint(s_.alloca_block);
  b_.SetCurrentDebugLocation(llvm::DebugLoc());
  b_.CreateBr(start);
}

void FunctionEmitter::emit_epilogue() {
  b_.SetInsertPoint(s_.end);
  if (s_.local_base)
    b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), s_.local_base),
                   b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), control_->ctx(), offsetof(WarpCtx, local_top)));
  if (f_.entry)
    m_.of_runtime(b_.CreateStore(
        b_.getInt32(0), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), control_->ctx(), offsetof(WarpCtx, live))));
  control_->leave();
}

void FunctionEmitter::emit_block(u32 b) {
  s_.cur = b;
  s_.set_debug_loc(f_.blocks[b].insts.empty() ? f_.blocks[b].term.loc : f_.blocks[b].insts[0].loc);
  control_->enter_block(b);
  for (const ir::Inst& i : f_.blocks[b].insts) {
    record_block(s_, i.site, s_.mask());
    if (control_->part_of_terminator(i))
      builder_.count(i.site, probe::Counter::Lanes, 1);
    else
      emit_inst(i);
  }
  tests_.make_all();
  s_.set_debug_loc(f_.blocks[b].term.loc);
  s_.inst = nullptr;
  record_block(s_, f_.blocks[b].term.site, s_.mask());
  builder_.count(f_.blocks[b].term.site, probe::Counter::Lanes, 1);
  tell_arrival(f_.blocks[b].term);
  control_->terminate(b);
}

// A collective that stands in several places is one instruction without a site (lower/its_form.h): who comes tells
// where.
void FunctionEmitter::tell_arrival(const ir::Terminator& t) {
  if (!m_.facts.events() || t.written || t.site == ir::kNoSite) return;
  probe_.begin(t.site);
  probe_.note({.what = device::NoteCode::What::Arrival}, {});
}

void FunctionEmitter::run_semantics(const ir::Inst& i) {
  builder_.written().clear();
  const SemFn fn = i.form == isa::Form::Unknown ? nullptr : semantics_of(i);
  if (!i.call.empty()) tests_.make_all();
  if (!i.call.empty() && m_.facts.events()) builder_.note_site(i.site);
  if (!i.call.empty())
    calls_.emit(i);
  else if (fn) {
    probe_.begin(i.site, a_.looks.contains(i.site));
    fn(m_.facts.probed() ? Sem{probe_, i} : Sem{builder_, i});
  } else {
    builder_.unimplemented(
        i.form == isa::Form::Unknown ? i.text : std::string(isa::info(i.form).pattern) + isa::need(i.form), i.loc);
    ir::for_each_def(i, [&](ir::ValueId v) {
      builder_.written().push_back(
          {v, v_.make_varying(llvm::Constant::getNullValue(v_.vec_type(ir::bits_of(f_.regs[v.v]))),
                              ir::bits_of(f_.regs[v.v]))});
    });
  }
}

void FunctionEmitter::give_way() {
  tests_.make_all();
  V none;
  builder_.call_rt(RtFn::Yield, {v_.imm(64, 0)}, {}, &none, false);
}

void FunctionEmitter::emit_inst(const ir::Inst& i) {
  s_.inst = &i;
  v_.forget();
  s_.set_debug_loc(i.loc);
  if (s_.lowered.analysis.shares && tells_others(i)) give_way();
  if (i.guard.kind != Operand::Kind::None) return emit_guarded(i);
  builder_.count(i.site, probe::Counter::Lanes, 1);
  run_semantics(i);
  auto written = builder_.written();
  for (auto& [id, v] : written) slots_.define(id, v_.at(v));
}

llvm::Value* FunctionEmitter::lanes_of_guard(const LV& pred, V p) {
  return pred.shape.uniform() ? b_.CreateSelect(pred.base, s_.mask(), b_.getInt32(0))
                              : b_.CreateAnd(b_.CreateBitCast(v_.vec(p), b_.getInt32Ty()), s_.mask());
}

// @p: side effects run under mask & p (skipped when empty); destinations keep their old value where p is false.
void FunctionEmitter::emit_guarded(const ir::Inst& i) {
  V p = builder_.read(i.guard, isa::Type::pred);
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
    if (m_.facts.counts()) count_lanes(s_, i.site, probe::Counter::Lanes, 1, lanes_of_guard(pred, p));
    run_semantics(i);
    auto written = builder_.written();
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
  Value* m = lanes_of_guard(pred, p);
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
  builder_.count(i.site, probe::Counter::Lanes, 1);
  run_semantics(i);
  tests_.make_all();
  stores_.flush();
  auto written = builder_.written();
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

}  // namespace us::codegen
