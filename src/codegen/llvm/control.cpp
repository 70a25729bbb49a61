// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/control.h"

#include "codegen/llvm/cta_control.h"
#include "codegen/llvm/its_control.h"

namespace us::codegen {

using device::RtFn, device::WarpCtx;
using ir::Terminator;

std::unique_ptr<Control> make_control(WarpBuilder& b) {
  switch (b.parts().state.lowered.form) {
    case RunForm::Warp:
      return std::make_unique<WarpControl>(b);
    case RunForm::Cta:
      return std::make_unique<CtaControl>(b);
    case RunForm::Regions:
      return std::make_unique<RegionsControl>(b);
    case RunForm::Its:
      return std::make_unique<ItsControl>(b);
  }
  US_UNREACHABLE();
}

Control::Control(WarpBuilder& b) : Part(b.parts().state), builder_(b), v_(b.parts().values), slots_(b.parts().slots) {}

void Control::create_blocks() {
  position_.assign(f_.blocks.size(), ir::Cfg::kNone);
  for (u32 p = 0; p < cfg_.layout.size(); ++p) position_[cfg_.layout[p]] = p;
  s_.body.assign(f_.blocks.size(), nullptr);
  slots_.prepare();
  plan();
  for (u32 b : cfg_.layout) create_block(b);
}

void Control::create_block(u32 b) { s_.body[b] = Block::Create(c_, "b" + std::to_string(b), s_.out); }

void Control::begin() { s_.ctx0 = ctx_ = s_.out->getArg(0); }
void Control::leave() { b_.CreateRetVoid(); }

llvm::Value* Control::live_alloca() { return slot_alloca(true, b_.getInt32Ty(), "live"); }
llvm::Value* Control::warp_index() { return s_.load_at(ctx_, offsetof(WarpCtx, warp_id), b_.getInt32Ty(), "warp"); }
llvm::Value* Control::slot_alloca(bool, llvm::Type* t, const char* name) { return s_.new_alloca(t, name); }

// LLVM may take these apart, if no other access has an index that it does not know.
llvm::Value* Control::scratch(llvm::Type* t, const char* name) { return s_.new_alloca(t, name); }

llvm::Value* Control::quick(u64 field, llvm::Type* t) {
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, quick));
  p = m_.of_runtime(b_.CreateLoad(b_.getPtrTy(), p));
  return m_.of_runtime(b_.CreateLoad(t, b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), p, field)));
}

// Where all warps run in one call, a warp that exits whole may leave that to its CTA's next barrier.
void Control::tell_exit(u32 from, u32 to, Value* lanes, bool whole) {
  if (!m_.facts.events()) return;
  const u32 own = f_.blocks[to].term.site, site = own != ir::kNoSite ? own : f_.blocks[from].term.site;
  auto* done = Block::Create(c_, "", s_.out);
  if (!whole) {
    auto* some = Block::Create(c_, "exits", s_.out);
    b_.CreateCondBr(b_.CreateICmpNE(lanes, b_.getInt32(0)), some, done);
    b_.SetInsertPoint(some);
  }
  if (f_.entry && s_.lowered.whole_cta()) {
    Value* untold = b_.CreateICmpNE(quick(offsetof(probe::Quick, ends_untold), b_.getInt32Ty()), b_.getInt32(0));
    if (!whole) untold = b_.CreateAnd(untold, b_.CreateICmpEQ(lanes, b_.CreateLoad(b_.getInt32Ty(), live_place())));
    auto *leave = Block::Create(c_, "left", s_.out), *tell = Block::Create(c_, "exit", s_.out);
    b_.CreateCondBr(untold, leave, tell);
    b_.SetInsertPoint(leave);
    const auto put = [&](u32 v, Value* of, u64 offset) {
      m_.of_runtime(b_.CreateStore(b_.getInt32(v), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), of, offset)));
    };
    put(0, ctx(), offsetof(WarpCtx, live));
    put(0, quick(offsetof(probe::Quick, barrier), b_.getPtrTy()), offsetof(probe::QuickBarrier, until));
    Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, quick));
    put(site, m_.of_runtime(b_.CreateLoad(b_.getPtrTy(), p)), offsetof(probe::Quick, left_at));
    b_.CreateBr(done);
    b_.SetInsertPoint(tell);
  }
  Value* const was = s_.partial_mask();
  const bool was_full = s_.mask_full();
  s_.set_mask(lanes, false);
  builder_.note_site(site);
  builder_.call_rt(RtFn::ProbeExit, {}, {}, nullptr);
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  s_.set_mask(was, was_full);
}

void Control::tell_barrier(const ir::Inst* barrier, device::BarrierStep step, Value* lanes) {
  Value* const was = s_.partial_mask();
  const bool was_full = s_.mask_full();
  s_.set_mask(lanes, false);
  v_.forget();
  const bool aligned = barrier && (barrier->form == isa::Form::bar_sync || barrier->has(isa::Tok::aligned));
  Block* done = nullptr;
  if (step == device::BarrierStep::Meet && aligned) {
    using probe::QuickBarrier;
    Value* of_cta = quick(offsetof(probe::Quick, barrier), b_.getPtrTy());
    const auto field = [&](u64 offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), of_cta, offset); };
    const auto word = [&](u64 offset) { return m_.of_runtime(b_.CreateLoad(b_.getInt32Ty(), field(offset))); };
    Value* passed = word(offsetof(QuickBarrier, passed));
    auto *pass = Block::Create(c_, "pass", s_.out), *tell = Block::Create(c_, "meet", s_.out);
    done = Block::Create(c_, "", s_.out);
    b_.CreateCondBr(b_.CreateICmpULT(passed, word(offsetof(QuickBarrier, until))), pass, tell);
    b_.SetInsertPoint(pass);
    m_.of_runtime(b_.CreateStore(b_.CreateAdd(passed, b_.getInt32(1)), field(offsetof(QuickBarrier, passed))));
    b_.CreateBr(done);
    b_.SetInsertPoint(tell);
  }
  if (barrier) builder_.note_site(barrier->site);
  builder_.call_rt(RtFn::ProbeBarrier, {v_.imm(64, static_cast<u64>(step)), v_.imm(64, aligned)}, {}, nullptr);
  if (done) {
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
  s_.set_mask(was, was_full);
}

void Control::kill_lanes(Value* m) {
  Value* left = b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), live_place()), b_.CreateNot(m));
  b_.CreateStore(left, live_place());
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx(), offsetof(WarpCtx, live));
  if (f_.entry)
    m_.of_runtime(b_.CreateStore(left, p));
  else
    b_.CreateStore(b_.CreateAnd(b_.CreateLoad(b_.getInt32Ty(), p), b_.CreateNot(m)), p);
}

Control::Division Control::divided(const Terminator& t, V cond) {
  Division parts;
  Value* m = s_.mask();
  if (t.kind == Terminator::Kind::CondBr) {
    Value* taken = b_.CreateAnd(b_.CreateBitCast(v_.vec(cond), b_.getInt32Ty()), m);
    parts = {{t.targets[0].v, taken}, {t.targets[1].v, b_.CreateAnd(m, b_.CreateNot(taken))}};
  } else {
    std::map<u32, Value*> by_target;
    for (u32 k = 0; k < t.targets.size(); ++k) {
      Value* eq = b_.CreateICmpEQ(v_.vec(cond), llvm::ConstantInt::get(v_.vec_type(32), k));
      if (k + 1 == t.targets.size()) eq = b_.CreateICmpUGE(v_.vec(cond), llvm::ConstantInt::get(v_.vec_type(32), k));
      Value* bits = b_.CreateAnd(b_.CreateBitCast(eq, b_.getInt32Ty()), m);
      Value*& all = by_target[t.targets[k].v];
      all = all ? b_.CreateOr(all, bits) : bits;
    }
    parts.assign(by_target.begin(), by_target.end());
  }
  return parts;
}

u64 Control::yield_site(u32 block, bool around_barrier) const {
  const u64 line = f_.blocks[block].insts.empty() ? 0 : f_.blocks[block].insts[0].loc.line;
  return line | (around_barrier ? device::kYieldAroundBarrier : 0);
}

}  // namespace us::codegen
