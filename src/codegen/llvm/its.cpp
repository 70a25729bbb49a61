// SPDX-License-Identifier: Apache-2.0
// Independent thread scheduling: lanes of one warp may wait for each other, so every block has a pending mask in memory and
// a dispatcher picks what runs next. Two bit sets say which blocks have pending lanes: `ready` ones can run, `waiting` ones
// stand at a gate (a warp-synchronous instruction whose other lanes have not come) or poll a barrier of the CTA.
//
//   dispatch   the lowest ready block; a spinning loop that has used up its budget puts its lanes back and closes itself and
//              the blocks before it for the rest of the round
//   round      nothing is left to run: each waiting block looks once whether it may go on, then all blocks are open again
//   idle       a round brought nothing: other warps run. If lanes only wait for each other, which the program must not do,
//              the gates open
//
// A block that goes on with all lanes of the warp jumps directly. Values that cross blocks live in a frame in memory and are
// blended under the mask; it is hidden from LLVM, which would otherwise make a phi of each value in the dispatcher.
#include <llvm/IR/InlineAsm.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"
#include "codegen/lower/its_form.h"

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

void Emitter::its_prologue() {
  its_frame_size_ = llvm::cast<llvm::AllocaInst>(s_.new_alloca(b_.getInt8Ty(), "its.frame"));
  its_frame_size_->setAlignment(llvm::Align(64));
  llvm::IRBuilder<> b(s_.alloca_block);
  auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy()}, false);
  its_frame_ = b.CreateCall(type, llvm::InlineAsm::get(type, "", "=r,0", false), {its_frame_size_});
}
llvm::Value* Emitter::its_slot(llvm::Type* t) {
  const u64 bytes = m_.module->getDataLayout().getTypeAllocSize(t), align = std::min<u64>(64, bytes);
  its_bytes_ = (its_bytes_ + align - 1) / align * align;
  llvm::IRBuilder<> b(s_.alloca_block);
  Value* p = b.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), its_frame_, its_bytes_);
  its_bytes_ += bytes;
  return p;
}
void Emitter::its_epilogue() {
  its_frame_size_->setOperand(0, b_.getInt32(static_cast<u32>(its_bytes_ + 63) / 64 * 64));
}

// --- bit sets of slots ---

llvm::Value* Emitter::its_load(const std::vector<Value*>& set, u32 word) {
  return b_.CreateLoad(b_.getInt64Ty(), set[word]);
}
llvm::Value* Emitter::its_all_of(std::initializer_list<const std::vector<Value*>*> sets) {
  Value* all = nullptr;
  for (const auto* set : sets)
    for (u32 w = 0; w < set->size(); ++w) all = all ? b_.CreateOr(all, its_load(*set, w)) : its_load(*set, w);
  return all;
}
// No lane but those of the current block is left: every other one that came in would be pending somewhere.
llvm::Value* Emitter::its_alone() {
  Value* left = b_.CreateLoad(b_.getInt32Ty(), s_.live);
  if (its_inside_) left = b_.CreateAnd(left, b_.CreateLoad(b_.getInt32Ty(), its_inside_));
  return b_.CreateICmpEQ(b_.CreateAnd(left, b_.CreateNot(s_.mask())), b_.getInt32(0));
}

void Emitter::its_put(u32 slot, Value* m, bool may_be_empty) {
  Value* p = b_.CreateConstInBoundsGEP1_32(b_.getInt32Ty(), its_pending_, slot);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), p), m), p);
  const bool waits = slot >= cfg_.layout.size() || its_gated(cfg_.layout[slot]);
  Value* word = (waits ? its_waiting_ : its_ready_)[slot / 64];
  Value* bit = b_.getInt64(bit_of(slot));
  if (may_be_empty) bit = b_.CreateSelect(b_.CreateICmpNE(m, b_.getInt32(0)), bit, b_.getInt64(0));
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt64Ty(), word), bit), word);
}

// --- the dispatcher ---

void Emitter::emit_its_dispatch() {
  const u32 n = static_cast<u32>(cfg_.layout.size());
  its_slots_ = its_next_poll_ = n;
  for (const ir::Block& b : f_.blocks)
    for (const ir::Inst& i : b.insts) its_slots_ += may_yield(i);
  const u32 words = (its_slots_ + 63) / 64;
  its_pending_ = s_.new_alloca(llvm::ArrayType::get(b_.getInt32Ty(), its_slots_), "its.pending");
  b_.CreateMemSet(its_pending_, b_.getInt8(0), its_slots_ * 4, llvm::Align(64));
  // In registers while blocks are few: each variable is a phi of the dispatcher, with an input from every block.
  auto variable = [&](llvm::Type* t, const char* name) { return words <= 2 ? s_.new_alloca(t, name) : its_slot(t); };
  auto counter = [&](const char* name) {
    Value* v = variable(b_.getInt32Ty(), name);
    b_.CreateStore(b_.getInt32(0), v);
    return v;
  };
  its_mask_ = counter("its.mask");
  its_spun_ = counter("its.spun");
  its_spun_lanes_ = counter("its.spun.lanes");
  its_stalled_ = counter("its.stalled");
  its_force_ = counter("its.force");
  if (!f_.entry) {
    its_inside_ = variable(b_.getInt32Ty(), "its.inside");
    b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), s_.live), its_inside_);
  }
  auto set = [&](std::vector<Value*>& s, u64 value, const char* name) {
    for (u32 w = 0; w < words; ++w) {
      s.push_back(variable(b_.getInt64Ty(), name));
      b_.CreateStore(b_.getInt64(value), s.back());
    }
  };
  set(its_ready_, 0, "its.ready");
  set(its_waiting_, 0, "its.waiting");
  set(its_open_, ~u64{0}, "its.open");
  set(its_todo_, 0, "its.todo");
  dispatch_ = Block::Create(c_, "dispatch", s_.out);
  its_round_ = Block::Create(c_, "its.round", s_.out);
  auto* todo = Block::Create(c_, "its.todo", s_.out);
  auto* next = Block::Create(c_, "its.next", s_.out);
  auto* run = Block::Create(c_, "its.run", s_.out);
  auto* none = Block::Create(c_, "its.none", s_.out);
  its_put(position_[cfg_.layout[0]], b_.CreateLoad(b_.getInt32Ty(), s_.live), false);
  b_.CreateBr(dispatch_);

  b_.SetInsertPoint(run);
  auto* slot = b_.CreatePHI(b_.getInt64Ty(), words * 2, "slot");
  // Take the lowest slot of a word, or go on.
  auto take = [&](u32 w, Value* candidates, const std::vector<Value*>& from, Block* otherwise) {
    auto* yes = Block::Create(c_, "its.take", s_.out);
    b_.CreateCondBr(b_.CreateICmpNE(candidates, b_.getInt64(0)), yes, otherwise);
    b_.SetInsertPoint(yes);
    Value* bit = b_.CreateAnd(candidates, b_.CreateNeg(candidates));
    b_.CreateStore(b_.CreateAnd(its_load(from, w), b_.CreateNot(bit)), from[w]);
    if (&from == &its_waiting_) b_.CreateStore(b_.CreateXor(candidates, bit), its_todo_[w]);
    slot->addIncoming(
        b_.CreateAdd(b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, candidates, b_.getTrue()), b_.getInt64(w * 64)),
        yes);
    b_.CreateBr(run);
    b_.SetInsertPoint(otherwise);
  };
  b_.SetInsertPoint(dispatch_);
  for (u32 w = 0; w < words; ++w)
    take(w, b_.CreateAnd(its_load(its_ready_, w), its_load(its_open_, w)), its_ready_,
         w + 1 < words ? Block::Create(c_, "dispatch", s_.out) : its_round_);
  for (u32 w = 0; w < words; ++w) b_.CreateStore(b_.getInt64(~u64{0}), its_open_[w]);
  b_.CreateBr(todo);
  its_round_ = todo;
  b_.SetInsertPoint(todo);
  for (u32 w = 0; w < words; ++w)
    take(w, its_load(its_todo_, w), its_waiting_, w + 1 < words ? Block::Create(c_, "its.todo", s_.out) : next);
  emit_its_round_end(n);

  b_.SetInsertPoint(run);
  Value* p = b_.CreateGEP(b_.getInt32Ty(), its_pending_, slot);
  b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), p), its_mask_);
  b_.CreateStore(b_.getInt32(0), p);
  its_switch_ = b_.CreateSwitch(slot, none, its_slots_);
  b_.SetInsertPoint(none);
  b_.CreateUnreachable();
}

void Emitter::emit_its_round_end(u32 blocks) {
  auto* more = Block::Create(c_, "its.more", s_.out);
  auto* all_wait = Block::Create(c_, "its.all_wait", s_.out);
  auto* some_spin = Block::Create(c_, "its.some_spin", s_.out);
  auto* idle = Block::Create(c_, "its.idle", s_.out);
  auto* poll = Block::Create(c_, "its.poll", s_.out);
  auto* force = Block::Create(c_, "its.force", s_.out);
  auto* yield = Block::Create(c_, "its.yield", s_.out);
  Value* ready = its_all_of({&its_ready_});
  for (u32 w = 0; w < its_todo_.size(); ++w) b_.CreateStore(its_load(its_waiting_, w), its_todo_[w]);
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateOr(ready, its_all_of({&its_waiting_})), b_.getInt64(0)), s_.end, more);
  b_.SetInsertPoint(more);
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt64(0)), all_wait, some_spin);
  b_.SetInsertPoint(some_spin);
  Value* spun = b_.CreateLoad(b_.getInt32Ty(), its_spun_);
  b_.CreateCondBr(b_.CreateICmpUGE(spun, b_.getInt32(kPatience)), yield, dispatch_);
  b_.SetInsertPoint(all_wait);
  Value* stalled = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), its_stalled_), b_.getInt32(1));
  b_.CreateStore(stalled, its_stalled_);
  b_.CreateCondBr(b_.CreateICmpUGE(stalled, b_.getInt32(2)), idle, dispatch_);
  b_.SetInsertPoint(idle);
  Value* polls = b_.getInt64(0);  // slots behind the blocks
  for (u32 w = blocks / 64; w < its_waiting_.size(); ++w) {
    const u64 mine = w == blocks / 64 ? ~u64{0} << (blocks % 64) : ~u64{0};
    polls = b_.CreateOr(polls, b_.CreateAnd(its_load(its_waiting_, w), b_.getInt64(mine)));
  }
  b_.CreateCondBr(b_.CreateICmpNE(polls, b_.getInt64(0)), poll, force);
  V none;
  s_.set_mask(b_.getInt32(kFullMask), true);
  b_.SetInsertPoint(poll);
  call_rt(RtFn::LanesWait, {}, {}, &none, false);
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(force);
  b_.CreateStore(b_.getInt32(1), its_force_);
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(yield);
  b_.CreateStore(b_.getInt32(0), its_spun_);
  s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), its_spun_lanes_), false);
  b_.CreateStore(b_.getInt32(0), its_spun_lanes_);
  call_rt(RtFn::Yield, {v_.imm(64, 0)}, {}, &none, false);
  b_.CreateBr(dispatch_);
}

// --- blocks ---

bool Emitter::its_gated(u32 b) const {
  const ir::Block& block = f_.blocks[b];
  return !block.insts.empty() && gate_of(block.insts[0]) != Gate::None;
}

void Emitter::emit_its_head(u32 b) {
  its_switch_->addCase(b_.getInt64(position_[b]), s_.body[b]);
  b_.SetInsertPoint(s_.body[b]);
  s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), its_mask_, "mask"), false);
  slots_.load_phis(b);
  if (its_gated(b)) emit_its_gate(b, f_.blocks[b].insts[0]);
  if (its_spins_.count(b)) emit_its_spin_check(b);
  slots_.load_inputs(b);
}

// Lanes whose partners have come go on, the others stay.
void Emitter::emit_its_gate(u32 b, const ir::Inst& i) {
  s_.inst = &i;
  Value* live = b_.CreateLoad(b_.getInt32Ty(), s_.live);
  Value* come = s_.mask();
  Value* forced = b_.CreateICmpNE(b_.CreateLoad(b_.getInt32Ty(), its_force_), b_.getInt32(0));
  Value* ready = nullptr;
  if (gate_of(i) == Gate::Warp) {
    ready = b_.CreateSelect(b_.CreateICmpEQ(come, live), come, b_.getInt32(0));
  } else {
    V members = read(i.ops[membermask_operand(i)], isa::Type::b32);
    if (v_.at(members).shape.uniform()) {
      Value* absent = b_.CreateAnd(b_.CreateAnd(v_.at(members).base, live), b_.CreateNot(come));
      ready = b_.CreateSelect(b_.CreateICmpEQ(absent, b_.getInt32(0)), come, b_.getInt32(0));
    } else {
      ready = its_ready_groups(v_.vec(members), come, live);
    }
  }
  ready = b_.CreateSelect(forced, come, ready);
  auto* go = Block::Create(c_, "gate.go", s_.out);
  auto* stay = Block::Create(c_, "gate.stay", s_.out);
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt32(0)), stay, go);
  b_.SetInsertPoint(stay);
  its_put(position_[b], come, false);
  b_.CreateBr(its_round_);
  b_.SetInsertPoint(go);
  its_put(position_[b], b_.CreateAnd(come, b_.CreateNot(ready)), true);
  b_.CreateStore(b_.getInt32(0), its_stalled_);
  b_.CreateStore(b_.getInt32(0), its_force_);
  s_.set_mask(ready, false);
  v_.forget();
}

// Lanes with equal membermasks form a group; the lanes of complete groups.
llvm::Value* Emitter::its_ready_groups(Value* members, Value* come, Value* live) {
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

void Emitter::emit_its_spin_check(u32 b) {
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offsetof(WarpCtx, spin));
  Value* alone = its_alone();
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
  call_rt(RtFn::Yield, {v_.imm(64, yield_site(b, its_spins_.at(b)))}, {}, &none, false);
  b_.CreateBr(go);
  b_.SetInsertPoint(rotate);
  b_.CreateStore(b_.getInt32(kBudget), p);
  its_put(position_[b], s_.mask(), false);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), its_spun_), b_.getInt32(1)), its_spun_);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), its_spun_lanes_), s_.mask()), its_spun_lanes_);
  const u32 slot = position_[b];
  for (u32 w = 0; w <= slot / 64; ++w) {
    const u64 later = w < slot / 64 ? 0 : slot % 64 == 63 ? 0 : ~u64{0} << (slot % 64 + 1);
    b_.CreateStore(b_.CreateAnd(its_load(its_open_, w), b_.getInt64(later)), its_open_[w]);
  }
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(go);
}

// --- ends of blocks ---

// All of m goes to `to`.
void Emitter::its_go(u32 to, Value* m) {
  Block*& queue = its_queue_[to];  // one for all edges to the block
  const bool first = !queue;
  if (first) queue = Block::Create(c_, "queue", s_.out);
  b_.CreateStore(m, its_mask_);
  b_.CreateCondBr(its_alone(), s_.body[to], queue);
  if (!first) return;
  b_.SetInsertPoint(queue);
  its_put(position_[to], b_.CreateLoad(b_.getInt32Ty(), its_mask_), false);
  b_.CreateBr(dispatch_);
}

void Emitter::its_split(const std::vector<std::pair<u32, Value*>>& parts) {
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
  whole = b_.CreateSelect(b_.CreateAnd(some, its_alone()), whole, b_.getInt32(n));
  auto* general = Block::Create(c_, "divided", s_.out);
  b_.CreateStore(all, its_mask_);
  auto* to = b_.CreateSwitch(whole, general, n);
  for (u32 k = 0; k < n; ++k) to->addCase(b_.getInt32(k), s_.body[parts[k].first]);
  b_.SetInsertPoint(general);
  for (auto& [target, m] : parts) its_put(position_[target], m, true);
  b_.CreateBr(dispatch_);
}

void Emitter::emit_its_terminator(u32 b) {
  const Terminator& t = f_.blocks[b].term;
  v_.forget();
  auto leaves = [&](u32 to) { return f_.entry && ir::is_exit_block(f_, to); };
  if (t.kind == Terminator::Kind::Trap || t.kind == Terminator::Kind::Unreachable) {
    V none;
    call_rt(RtFn::Trap, {}, {}, &none, false);
  }
  if (t.kind == Terminator::Kind::Ret && !f_.entry) {
    Value* inside = b_.CreateLoad(b_.getInt32Ty(), its_inside_);
    b_.CreateStore(b_.CreateAnd(inside, b_.CreateNot(s_.mask())), its_inside_);
    b_.CreateBr(dispatch_);
    return;
  }
  if (t.targets.empty()) {
    kill_lanes(s_.mask());
    b_.CreateBr(dispatch_);
    return;
  }
  auto go = [&](u32 to) {
    if (leaves(to)) {
      kill_lanes(s_.mask());
      b_.CreateBr(dispatch_);
      return;
    }
    slots_.store_phis(b, to, s_.mask(), false);
    its_go(to, s_.mask());
  };
  if (cfg_.succs[b].size() == 1) return go(t.targets[0].v);
  V cond = read(t.cond, t.kind == Terminator::Kind::CondBr ? isa::Type::pred : isa::Type::u32);
  if (v_.at(cond).shape.uniform()) {
    Value* c = v_.at(cond).base;
    std::map<u32, Block*> edges;
    auto edge = [&](u32 to) {
      Block*& e = edges[to];
      if (!e) e = Block::Create(c_, "edge", s_.out);
      return e;
    };
    if (t.kind == Terminator::Kind::CondBr) {
      b_.CreateCondBr(c, edge(t.targets[0].v), edge(t.targets[1].v));
    } else {
      auto* sw = b_.CreateSwitch(c, edge(t.targets.back().v), static_cast<unsigned>(t.targets.size()));
      for (u32 k = 0; k < t.targets.size(); ++k) sw->addCase(b_.getInt32(k), edge(t.targets[k].v));
    }
    for (auto& [to, e] : edges) {
      b_.SetInsertPoint(e);
      go(to);
    }
    return;
  }
  std::vector<std::pair<u32, Value*>> going;
  for (auto& [to, part] : divided(t, cond)) {
    if (leaves(to))
      kill_lanes(part);
    else
      going.push_back({to, part});
  }
  for (auto& [to, part] : going) slots_.store_phis(b, to, part, false);
  its_split(going);
}

// --- what waits ---

// With the whole warp here, plainly. Otherwise arrive now and poll later; what follows goes on in the polling block.
// `red`: the results of a barrier reduction.
void Emitter::its_barrier(std::span<const V> args, u32 red_bits, V* red) {
  const u32 slot = its_next_poll_++;
  US_CHECK(slot < its_slots_);
  auto* whole = Block::Create(c_, "bar.whole", s_.out);
  auto* part = Block::Create(c_, "bar.part", s_.out);
  auto* poll = Block::Create(c_, "bar.poll", s_.out);
  auto* go = Block::Create(c_, "bar.go", s_.out);
  Value* result = red ? s_.new_alloca(v_.vec_type(red_bits), "bar.red") : nullptr;
  Value* all = s_.mask();
  b_.CreateCondBr(its_alone(), whole, part);

  b_.SetInsertPoint(whole);
  V r;
  if (red) {
    runtime_.call(RtFn::BarRed, {args[0], args[1], args[2], args[3], args[4]}, {red_bits}, &r);
    b_.CreateStore(v_.vec(r), result);
  } else {
    runtime_.call(RtFn::BarSync, {args[0], args[1], args[2]}, {}, nullptr);
  }
  Block* whole_end = b_.GetInsertBlock();
  b_.CreateBr(go);

  b_.SetInsertPoint(part);
  V generation;
  if (red)
    runtime_.call(RtFn::BarTryRed, {args[0], args[1], args[2], args[3], args[4]}, {64}, &generation);
  else
    runtime_.call(RtFn::BarTryArrive, {args[0], args[1], args[2]}, {64}, &generation);
  Value* kept = its_slot(v_.vec_type(64));  // as a variable of LLVM's it would go through every edge of the dispatcher
  Value* kept_id = its_slot(v_.vec_type(64));
  auto keep = [&](Value* at, V v) {
    b_.CreateStore(b_.CreateSelect(s_.mask_vec(), v_.vec(v), b_.CreateLoad(v_.vec_type(64), at)), at);
  };
  keep(kept, generation);
  keep(kept_id, args[0]);
  its_put(slot, all, false);
  b_.CreateBr(dispatch_);

  its_switch_->addCase(b_.getInt64(slot), poll);
  b_.SetInsertPoint(poll);
  s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), its_mask_), false);
  V id = v_.make_varying(b_.CreateLoad(v_.vec_type(64), kept_id), 64), polled[2];
  runtime_.call(RtFn::BarPoll, {id, v_.make_varying(b_.CreateLoad(v_.vec_type(64), kept), 64)}, {1, 32}, polled);
  Value* ready = b_.CreateAnd(b_.CreateBitCast(v_.vec(polled[0]), b_.getInt32Ty()), s_.mask());
  Block* ready_block = its_poll_again(slot, ready);
  if (red) b_.CreateStore(b_.CreateTrunc(v_.vec(polled[1]), v_.vec_type(red_bits)), result);
  b_.CreateBr(go);

  b_.SetInsertPoint(go);
  auto* m = b_.CreatePHI(b_.getInt32Ty(), 2);
  m->addIncoming(all, whole_end);
  m->addIncoming(ready, ready_block);
  s_.set_mask(m, false);
  if (red) *red = v_.make_varying(b_.CreateLoad(v_.vec_type(red_bits), result), red_bits);
}

// Lanes of the mask that are not ready poll again in the next round; the others go on.
llvm::BasicBlock* Emitter::its_poll_again(u32 slot, Value* ready) {
  auto* wait = Block::Create(c_, "bar.wait", s_.out);
  auto* ready_block = Block::Create(c_, "bar.ready", s_.out);
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt32(0)), wait, ready_block);
  b_.SetInsertPoint(wait);
  its_put(slot, s_.mask(), false);
  b_.CreateBr(its_round_);
  b_.SetInsertPoint(ready_block);
  its_put(slot, b_.CreateAnd(s_.mask(), b_.CreateNot(ready)), true);
  b_.CreateStore(b_.getInt32(0), its_stalled_);
  return ready_block;
}

// The same for the barrier of the cluster, at which the lanes have arrived before.
void Emitter::its_cluster_wait() {
  const u32 slot = its_next_poll_++;
  US_CHECK(slot < its_slots_);
  auto* whole = Block::Create(c_, "cluster.whole", s_.out);
  auto* part = Block::Create(c_, "cluster.part", s_.out);
  auto* poll = Block::Create(c_, "cluster.poll", s_.out);
  auto* go = Block::Create(c_, "cluster.go", s_.out);
  Value* all = s_.mask();
  b_.CreateCondBr(its_alone(), whole, part);
  b_.SetInsertPoint(whole);
  runtime_.call(RtFn::ClusterWait, {}, {}, nullptr);
  Block* whole_end = b_.GetInsertBlock();
  b_.CreateBr(go);
  b_.SetInsertPoint(part);
  its_put(slot, all, false);
  b_.CreateBr(its_round_);
  its_switch_->addCase(b_.getInt64(slot), poll);
  b_.SetInsertPoint(poll);
  s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), its_mask_), false);
  V done;
  runtime_.call(RtFn::ClusterPoll, {}, {1}, &done);
  Value* ready = b_.CreateAnd(b_.CreateBitCast(v_.vec(done), b_.getInt32Ty()), s_.mask());
  Block* ready_block = its_poll_again(slot, ready);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
  auto* m = b_.CreatePHI(b_.getInt32Ty(), 2);
  m->addIncoming(all, whole_end);
  m->addIncoming(ready, ready_block);
  s_.set_mask(m, false);
}

// Waiting inside the runtime would stop the other lanes of the warp.
void Emitter::its_nanosleep(V ns) {
  auto* sleep = Block::Create(c_, "sleep", s_.out);
  auto* rotate = Block::Create(c_, "sleep.rotate", s_.out);
  auto* done = Block::Create(c_, "sleep.done", s_.out);
  b_.CreateCondBr(its_alone(), sleep, rotate);
  b_.SetInsertPoint(sleep);
  runtime_.call(RtFn::Nanosleep, {ns}, {}, nullptr);
  b_.CreateBr(done);
  b_.SetInsertPoint(rotate);
  b_.CreateStore(b_.getInt32(1), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offsetof(WarpCtx, spin)));
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

}  // namespace us::codegen
