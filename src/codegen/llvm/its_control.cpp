// SPDX-License-Identifier: Apache-2.0
// Independent thread scheduling: lanes of one warp may wait for each other, so every block has a pending mask in memory
// and a dispatcher picks what runs next. Two bit sets say which blocks have pending lanes: `ready` ones can run,
// `waiting` ones stand at a gate (a warp-synchronous instruction whose other lanes have not come) or poll a barrier of
// the CTA.
//
//   dispatch   the lowest ready block; a spinning loop that has used up its budget puts its lanes back and closes
//              itself and the blocks before it for the rest of the round
//   round      nothing is left to run: each waiting block looks once whether it may go on, then all blocks are open
//              again
//   idle       a round brought nothing: other warps run. If lanes only wait for each other, which the program must not
//              do, the gates open
//
// A block that goes on with all lanes of the warp jumps directly. Values that cross blocks live in a frame in memory
// and are blended under the mask; it is hidden from LLVM, which would otherwise make a phi of each value in the
// dispatcher.
#include <llvm/IR/InlineAsm.h>

#include <algorithm>

#include "codegen/llvm/its_control.h"
#include "codegen/lower/its_form.h"
#include "isa/operands.h"

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;
using ir::Operand;
using ir::Terminator;

static constexpr u32 kStep = 16;  // of the spin budget, when other lanes of the warp could run
static constexpr u32 kBudget = 64;
static constexpr u32 kPatience = 4;  // rotations before other warps run

namespace {
u64 bit_of(u32 slot) { return u64{1} << (slot % 64); }
}  // namespace

void ItsControl::begin() {
  make_frame();
  s_.out->addFnAttr("dispatched");
  Control::begin();
}

llvm::Value* ItsControl::live_alloca() { return s_.new_alloca(b_.getInt32Ty(), "live"); }
llvm::Value* ItsControl::slot_alloca(bool, llvm::Type* t, const char*) { return frame_slot(t); }

// There are many of them: those of a name share a place, each would be a part of a large frame.
llvm::Value* ItsControl::scratch(llvm::Type* t, const char* name) {
  Value*& place = scratch_[{t, name}];
  if (!place) place = s_.new_alloca(t, name);
  return place;
}

void ItsControl::make_frame() {
  frame_size_ = llvm::cast<llvm::AllocaInst>(s_.new_alloca(b_.getInt8Ty(), "its.frame"));
  frame_size_->setAlignment(llvm::Align(64));
  llvm::IRBuilder<> b(s_.alloca_block);
  auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy()}, false);
  frame_ = b.CreateCall(type, llvm::InlineAsm::get(type, "", "=r,0", false), {frame_size_});
}
llvm::Value* ItsControl::frame_slot(llvm::Type* t) {
  const u64 bytes = m_.module->getDataLayout().getTypeAllocSize(t), align = std::min<u64>(64, bytes);
  bytes_ = (bytes_ + align - 1) / align * align;
  llvm::IRBuilder<> b(s_.alloca_block);
  Value* p = b.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), frame_, bytes_);
  bytes_ += bytes;
  return p;
}
void ItsControl::close_frame() { frame_size_->setOperand(0, b_.getInt32(static_cast<u32>(bytes_ + 63) / 64 * 64)); }

// --- bit sets of slots ---

llvm::Value* ItsControl::load_word(const std::vector<Value*>& set, u32 word) {
  return b_.CreateLoad(b_.getInt64Ty(), set[word]);
}
llvm::Value* ItsControl::all_of(std::initializer_list<const std::vector<Value*>*> sets) {
  Value* all = nullptr;
  for (const auto* set : sets)
    for (u32 w = 0; w < set->size(); ++w) all = all ? b_.CreateOr(all, load_word(*set, w)) : load_word(*set, w);
  return all;
}
// No lane but those of the current block is left: every other one that came in would be pending somewhere.
llvm::Value* ItsControl::is_alone() {
  Value* left = b_.CreateLoad(b_.getInt32Ty(), s_.live);
  if (inside_) left = b_.CreateAnd(left, b_.CreateLoad(b_.getInt32Ty(), inside_));
  return b_.CreateICmpEQ(b_.CreateAnd(left, b_.CreateNot(s_.mask())), b_.getInt32(0));
}

void ItsControl::put(u32 slot, Value* m, bool may_be_empty) {
  Value* p = b_.CreateConstInBoundsGEP1_32(b_.getInt32Ty(), pending_, slot);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), p), m), p);
  const bool waits = slot >= cfg_.layout.size() || gated(cfg_.layout[slot]);
  Value* word = (waits ? waiting_ : ready_)[slot / 64];
  Value* bit = b_.getInt64(bit_of(slot));
  if (may_be_empty) bit = b_.CreateSelect(b_.CreateICmpNE(m, b_.getInt32(0)), bit, b_.getInt64(0));
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt64Ty(), word), bit), word);
}

// --- the dispatcher ---

void ItsControl::make_dispatcher() {
  const u32 n = static_cast<u32>(cfg_.layout.size());
  slot_count_ = next_poll_ = n;
  for (const ir::Block& b : f_.blocks)
    for (const ir::Inst& i : b.insts) slot_count_ += may_yield(i);
  const u32 words = (slot_count_ + 63) / 64;
  pending_ = s_.new_alloca(llvm::ArrayType::get(b_.getInt32Ty(), slot_count_), "its.pending");
  b_.CreateMemSet(pending_, b_.getInt8(0), slot_count_ * 4, llvm::Align(64));
  // In registers while blocks are few: each variable is a phi of the dispatcher, with an input from every block.
  auto variable = [&](llvm::Type* t, const char* name) { return words <= 2 ? s_.new_alloca(t, name) : frame_slot(t); };
  auto counter = [&](const char* name) {
    Value* v = variable(b_.getInt32Ty(), name);
    b_.CreateStore(b_.getInt32(0), v);
    return v;
  };
  next_mask_ = counter("its.mask");
  spun_ = counter("its.spun");
  spun_lanes_ = counter("its.spun.lanes");
  stalled_ = counter("its.stalled");
  force_ = counter("its.force");
  if (!f_.entry) {
    inside_ = variable(b_.getInt32Ty(), "its.inside");
    b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), s_.live), inside_);
  }
  auto set = [&](std::vector<Value*>& s, u64 value, const char* name) {
    for (u32 w = 0; w < words; ++w) {
      s.push_back(variable(b_.getInt64Ty(), name));
      b_.CreateStore(b_.getInt64(value), s.back());
    }
  };
  set(ready_, 0, "its.ready");
  set(waiting_, 0, "its.waiting");
  set(open_, ~u64{0}, "its.open");
  set(todo_, 0, "its.todo");
  dispatch_ = Block::Create(c_, "dispatch", s_.out);
  round_ = Block::Create(c_, "its.round", s_.out);
  auto* todo = Block::Create(c_, "its.todo", s_.out);
  auto* next = Block::Create(c_, "its.next", s_.out);
  auto* run = Block::Create(c_, "its.run", s_.out);
  auto* none = Block::Create(c_, "its.none", s_.out);
  put(position_[cfg_.layout[0]], b_.CreateLoad(b_.getInt32Ty(), s_.live), false);
  b_.CreateBr(dispatch_);

  b_.SetInsertPoint(run);
  auto* slot = b_.CreatePHI(b_.getInt64Ty(), words * 2, "slot");
  // Take the lowest slot of a word, or go on.
  auto take = [&](u32 w, Value* candidates, const std::vector<Value*>& from, Block* otherwise) {
    auto* yes = Block::Create(c_, "its.take", s_.out);
    b_.CreateCondBr(b_.CreateICmpNE(candidates, b_.getInt64(0)), yes, otherwise);
    b_.SetInsertPoint(yes);
    Value* bit = b_.CreateAnd(candidates, b_.CreateNeg(candidates));
    b_.CreateStore(b_.CreateAnd(load_word(from, w), b_.CreateNot(bit)), from[w]);
    if (&from == &waiting_) b_.CreateStore(b_.CreateXor(candidates, bit), todo_[w]);
    slot->addIncoming(
        b_.CreateAdd(b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, candidates, b_.getTrue()), b_.getInt64(w * 64)),
        yes);
    b_.CreateBr(run);
    b_.SetInsertPoint(otherwise);
  };
  b_.SetInsertPoint(dispatch_);
  for (u32 w = 0; w < words; ++w)
    take(w, b_.CreateAnd(load_word(ready_, w), load_word(open_, w)), ready_,
         w + 1 < words ? Block::Create(c_, "dispatch", s_.out) : round_);
  for (u32 w = 0; w < words; ++w) b_.CreateStore(b_.getInt64(~u64{0}), open_[w]);
  b_.CreateBr(todo);
  round_ = todo;
  b_.SetInsertPoint(todo);
  for (u32 w = 0; w < words; ++w)
    take(w, load_word(todo_, w), waiting_, w + 1 < words ? Block::Create(c_, "its.todo", s_.out) : next);
  end_round(n);

  b_.SetInsertPoint(run);
  Value* p = b_.CreateGEP(b_.getInt32Ty(), pending_, slot);
  b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), p), next_mask_);
  b_.CreateStore(b_.getInt32(0), p);
  choice_ = b_.CreateSwitch(slot, none, slot_count_);
  b_.SetInsertPoint(none);
  b_.CreateUnreachable();
}

void ItsControl::end_round(u32 blocks) {
  auto* more = Block::Create(c_, "its.more", s_.out);
  auto* all_wait = Block::Create(c_, "its.all_wait", s_.out);
  auto* some_spin = Block::Create(c_, "its.some_spin", s_.out);
  auto* idle = Block::Create(c_, "its.idle", s_.out);
  auto* poll = Block::Create(c_, "its.poll", s_.out);
  auto* force = Block::Create(c_, "its.force", s_.out);
  auto* yield = Block::Create(c_, "its.yield", s_.out);
  Value* ready = all_of({&ready_});
  for (u32 w = 0; w < todo_.size(); ++w) b_.CreateStore(load_word(waiting_, w), todo_[w]);
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateOr(ready, all_of({&waiting_})), b_.getInt64(0)), s_.end, more);
  b_.SetInsertPoint(more);
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt64(0)), all_wait, some_spin);
  b_.SetInsertPoint(some_spin);
  Value* spun = b_.CreateLoad(b_.getInt32Ty(), spun_);
  b_.CreateCondBr(b_.CreateICmpUGE(spun, b_.getInt32(kPatience)), yield, dispatch_);
  b_.SetInsertPoint(all_wait);
  Value* stalled = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), stalled_), b_.getInt32(1));
  b_.CreateStore(stalled, stalled_);
  b_.CreateCondBr(b_.CreateICmpUGE(stalled, b_.getInt32(2)), idle, dispatch_);
  b_.SetInsertPoint(idle);
  Value* polls = b_.getInt64(0);  // slots behind the blocks
  for (u32 w = blocks / 64; w < waiting_.size(); ++w) {
    const u64 mine = w == blocks / 64 ? ~u64{0} << (blocks % 64) : ~u64{0};
    polls = b_.CreateOr(polls, b_.CreateAnd(load_word(waiting_, w), b_.getInt64(mine)));
  }
  b_.CreateCondBr(b_.CreateICmpNE(polls, b_.getInt64(0)), poll, force);
  V none;
  s_.set_mask(b_.getInt32(kFullMask), true);
  b_.SetInsertPoint(poll);
  builder_.call_rt(RtFn::LanesWait, {}, {}, &none, false);
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(force);
  b_.CreateStore(b_.getInt32(1), force_);
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(yield);
  b_.CreateStore(b_.getInt32(0), spun_);
  s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), spun_lanes_), false);
  b_.CreateStore(b_.getInt32(0), spun_lanes_);
  const bool around = std::ranges::any_of(s_.lowered.spins, [](const auto& spin) { return spin.second; });
  builder_.call_rt(RtFn::Yield, {v_.imm(64, around ? device::kYieldAroundBarrier : 0)}, {}, &none, false);
  b_.CreateBr(dispatch_);
}

// --- blocks ---

bool ItsControl::gated(u32 b) const {
  const ir::Block& block = f_.blocks[b];
  return !block.insts.empty() && gate_of(block.insts[0]) != Gate::None;
}

void ItsControl::enter_block(u32 b) {
  choice_->addCase(b_.getInt64(position_[b]), s_.body[b]);
  b_.SetInsertPoint(s_.body[b]);
  s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), next_mask_, "mask"), false);
  slots_.load_phis(b);
  if (gated(b)) gate(b, f_.blocks[b].insts[0]);
  if (s_.lowered.spins.count(b)) check_spin(b);
  slots_.load_inputs(b);
}

// Lanes whose partners have come go on, the others stay.
void ItsControl::gate(u32 b, const ir::Inst& i) {
  s_.inst = &i;
  Value* live = b_.CreateLoad(b_.getInt32Ty(), s_.live);
  Value* come = s_.mask();
  Value* forced = b_.CreateICmpNE(b_.CreateLoad(b_.getInt32Ty(), force_), b_.getInt32(0));
  Value* ready = nullptr;
  if (gate_of(i) == Gate::Warp) {
    ready = b_.CreateSelect(b_.CreateICmpEQ(come, live), come, b_.getInt32(0));
  } else {
    V members = builder_.read(i.ops[static_cast<u32>(isa::operands_of(i.form).membermask)], isa::Type::b32);
    if (v_.at(members).shape.uniform()) {
      Value* absent = b_.CreateAnd(b_.CreateAnd(v_.at(members).base, live), b_.CreateNot(come));
      ready = b_.CreateSelect(b_.CreateICmpEQ(absent, b_.getInt32(0)), come, b_.getInt32(0));
    } else {
      ready = ready_groups(v_.vec(members), come, live);
    }
  }
  ready = b_.CreateSelect(forced, come, ready);
  auto* go = Block::Create(c_, "gate.go", s_.out);
  auto* stay = Block::Create(c_, "gate.stay", s_.out);
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt32(0)), stay, go);
  b_.SetInsertPoint(stay);
  if (m_.facts.events()) {
    builder_.note_site(i.site);
    const device::NoteCode code{.what = device::NoteCode::What::Gate};
    builder_.call_rt(RtFn::ProbeNote, {builder_.imm(64, code.pack()), builder_.imm(64, 0)}, {}, nullptr);
  }
  put(position_[b], come, false);
  b_.CreateBr(round_);
  b_.SetInsertPoint(go);
  put(position_[b], b_.CreateAnd(come, b_.CreateNot(ready)), true);
  b_.CreateStore(b_.getInt32(0), stalled_);
  b_.CreateStore(b_.getInt32(0), force_);
  s_.set_mask(ready, false);
  v_.forget();
}

// Lanes with equal membermasks form a group; the lanes of complete groups.
llvm::Value* ItsControl::ready_groups(Value* members, Value* come, Value* live) {
  Block* before = b_.GetInsertBlock();
  auto* loop = Block::Create(c_, "gate.group", s_.out);
  auto* done = Block::Create(c_, "gate.groups", s_.out);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* left = b_.CreatePHI(b_.getInt32Ty(), 2);
  auto* ready = b_.CreatePHI(b_.getInt32Ty(), 2);
  left->addIncoming(come, before);
  ready->addIncoming(b_.getInt32(0), before);
  Value* m = b_.CreateExtractElement(members, b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, b_.getTrue()));
  Value* same = b_.CreateAnd(
      b_.CreateBitCast(b_.CreateICmpEQ(members, b_.CreateVectorSplat(kWarpSize, m)), b_.getInt32Ty()), come);
  Value* absent = b_.CreateAnd(b_.CreateAnd(m, live), b_.CreateNot(same));
  Value* now = b_.CreateOr(ready, b_.CreateSelect(b_.CreateICmpEQ(absent, b_.getInt32(0)), same, b_.getInt32(0)));
  Value* rest = b_.CreateAnd(left, b_.CreateNot(same));
  left->addIncoming(rest, loop);
  ready->addIncoming(now, loop);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(done);
  return now;
}

void ItsControl::check_spin(u32 b) {
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offsetof(WarpCtx, spin));
  Value* alone = is_alone();
  Value* left =
      b_.CreateSub(b_.CreateLoad(b_.getInt32Ty(), p), b_.CreateSelect(alone, b_.getInt32(1), b_.getInt32(kStep)));
  b_.CreateStore(left, p);
  auto* out = Block::Create(c_, "spin.out", s_.out);
  auto* yield = Block::Create(c_, "spin.yield", s_.out);
  auto* rotate = Block::Create(c_, "spin.rotate", s_.out);
  auto* go = Block::Create(c_, "spin.go", s_.out);
  b_.CreateCondBr(b_.CreateICmpSLE(left, b_.getInt32(0)), out, go);
  b_.SetInsertPoint(out);
  b_.CreateCondBr(alone, yield, rotate);
  b_.SetInsertPoint(yield);
  V none;
  builder_.call_rt(RtFn::Yield, {v_.imm(64, yield_site(b, s_.lowered.spins.at(b)))}, {}, &none, false);
  b_.CreateBr(go);
  b_.SetInsertPoint(rotate);
  b_.CreateStore(b_.getInt32(kBudget), p);
  put(position_[b], s_.mask(), false);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), spun_), b_.getInt32(1)), spun_);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), spun_lanes_), s_.mask()), spun_lanes_);
  const u32 slot = position_[b];
  for (u32 w = 0; w <= slot / 64; ++w) {
    const u64 later = w < slot / 64 ? 0 : slot % 64 == 63 ? 0 : ~u64{0} << (slot % 64 + 1);
    b_.CreateStore(b_.CreateAnd(load_word(open_, w), b_.getInt64(later)), open_[w]);
  }
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(go);
}

// --- ends of blocks ---

// All of m goes to `to`.
void ItsControl::go_to(u32 to, Value* m) {
  Block*& queue = queue_[to];  // one for all edges to the block
  const bool first = !queue;
  if (first) queue = Block::Create(c_, "queue", s_.out);
  b_.CreateStore(m, next_mask_);
  b_.CreateCondBr(is_alone(), s_.body[to], queue);
  if (!first) return;
  b_.SetInsertPoint(queue);
  put(position_[to], b_.CreateLoad(b_.getInt32Ty(), next_mask_), false);
  b_.CreateBr(dispatch_);
}

void ItsControl::split(const Division& parts) {
  if (parts.empty()) {
    b_.CreateBr(dispatch_);
    return;
  }
  // Not divided after all, and no other lanes are left?
  const u32 n = static_cast<u32>(parts.size());
  Value* all = parts[0].second;  // some may have left
  for (u32 k = 1; k < n; ++k) all = b_.CreateOr(all, parts[k].second);
  Value* some = b_.CreateICmpNE(all, b_.getInt32(0));
  Value* whole = b_.getInt32(n);
  for (u32 k = 0; k < n; ++k) whole = b_.CreateSelect(b_.CreateICmpEQ(parts[k].second, all), b_.getInt32(k), whole);
  whole = b_.CreateSelect(b_.CreateAnd(some, is_alone()), whole, b_.getInt32(n));
  auto* general = Block::Create(c_, "divided", s_.out);
  b_.CreateStore(all, next_mask_);
  auto* to = b_.CreateSwitch(whole, general, n);
  for (u32 k = 0; k < n; ++k) to->addCase(b_.getInt32(k), s_.body[parts[k].first]);
  b_.SetInsertPoint(general);
  for (auto& [target, m] : parts) put(position_[target], m, true);
  b_.CreateBr(dispatch_);
}

void ItsControl::terminate(u32 b) {
  builder_.parts().stores.flush();
  const Terminator& t = f_.blocks[b].term;
  v_.forget();
  auto leaves = [&](u32 to) { return f_.entry && ir::is_exit_block(f_, to); };
  if (t.kind == Terminator::Kind::Trap || t.kind == Terminator::Kind::Unreachable) {
    V none;
    if (m_.facts.events()) builder_.note_site(t.site);
    builder_.call_rt(RtFn::Trap, {}, {}, &none, false);
  }
  if (t.kind == Terminator::Kind::Ret && !f_.entry) {
    Value* inside = b_.CreateLoad(b_.getInt32Ty(), inside_);
    b_.CreateStore(b_.CreateAnd(inside, b_.CreateNot(s_.mask())), inside_);
    b_.CreateBr(dispatch_);
    return;
  }
  if (t.targets.empty()) {
    tell_exit(b, b, s_.mask());
    kill_lanes(s_.mask());
    b_.CreateBr(dispatch_);
    return;
  }
  auto go = [&](u32 to) {
    if (leaves(to)) {
      count_end(s_, f_.blocks[to].term.site, s_.mask());
      tell_exit(b, to, s_.mask());
      kill_lanes(s_.mask());
      b_.CreateBr(dispatch_);
      return;
    }
    slots_.store_phis(b, to, s_.mask(), false);
    go_to(to, s_.mask());
  };
  if (cfg_.succs[b].size() == 1) return go(t.targets[0].v);
  V cond = builder_.read(t.cond, t.kind == Terminator::Kind::CondBr ? isa::Type::pred : isa::Type::u32);
  if (v_.at(cond).shape.uniform()) return branch_uniformly(t, v_.at(cond).base, go);
  Division going;
  for (auto& [to, part] : divided(t, cond)) {
    if (leaves(to)) {
      count_end(s_, f_.blocks[to].term.site, part);
      tell_exit(b, to, part);
      kill_lanes(part);
    } else {
      going.push_back({to, part});
    }
  }
  for (auto& [to, part] : going) slots_.store_phis(b, to, part, false);
  split(going);
}

// --- what waits ---

}  // namespace us::codegen
