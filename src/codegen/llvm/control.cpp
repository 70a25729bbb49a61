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

void Control::tell_exit(u32 from, u32 to, Value* lanes) {
  if (!m_.facts.events()) return;
  const u32 own = f_.blocks[to].term.site, site = own != ir::kNoSite ? own : f_.blocks[from].term.site;
  Value* const was = s_.partial_mask();
  const bool was_full = s_.mask_full();
  s_.set_mask(lanes, false);
  builder_.note_site(site);
  builder_.call_rt(RtFn::ProbeExit, {}, {}, nullptr);
  s_.set_mask(was, was_full);
}

void Control::tell_barrier(const ir::Inst* barrier, device::BarrierStep step, Value* lanes) {
  Value* const was = s_.partial_mask();
  const bool was_full = s_.mask_full();
  s_.set_mask(lanes, false);
  v_.forget();
  const bool aligned = barrier && (barrier->form == isa::Form::bar_sync || barrier->has(isa::Tok::aligned));
  if (barrier) builder_.note_site(barrier->site);
  builder_.call_rt(RtFn::ProbeBarrier, {v_.imm(64, static_cast<u64>(step)), v_.imm(64, aligned)}, {}, nullptr);
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
