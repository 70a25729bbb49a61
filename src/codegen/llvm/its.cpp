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
  its_frame_size_ = llvm::cast<llvm::AllocaInst>(new_alloca(b_.getInt8Ty(), "its.frame"));
  its_frame_size_->setAlignment(llvm::Align(64));
  llvm::IRBuilder<> b(alloca_block_);
  auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy()}, false);
  its_frame_ = b.CreateCall(type, llvm::InlineAsm::get(type, "", "=r,0", false), {its_frame_size_});
}
llvm::Value* Emitter::its_slot(llvm::Type* t) {
  const u64 bytes = m_.module->getDataLayout().getTypeAllocSize(t), align = std::min<u64>(64, bytes);
  its_bytes_ = (its_bytes_ + align - 1) / align * align;
  llvm::IRBuilder<> b(alloca_block_);
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
  Value* left = b_.CreateLoad(b_.getInt32Ty(), live_);
  if (its_inside_) left = b_.CreateAnd(left, b_.CreateLoad(b_.getInt32Ty(), its_inside_));
  return b_.CreateICmpEQ(b_.CreateAnd(left, b_.CreateNot(mask())), b_.getInt32(0));
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
  its_pending_ = new_alloca(llvm::ArrayType::get(b_.getInt32Ty(), its_slots_), "its.pending");
  b_.CreateMemSet(its_pending_, b_.getInt8(0), its_slots_ * 4, llvm::Align(64));
  // In registers while blocks are few: each variable is a phi of the dispatcher, with an input from every block.
  auto variable = [&](llvm::Type* t, const char* name) { return words <= 2 ? new_alloca(t, name) : its_slot(t); };
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
    b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), live_), its_inside_);
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
  dispatch_ = Block::Create(c_, "dispatch", out_);
  its_round_ = Block::Create(c_, "its.round", out_);
  auto* todo = Block::Create(c_, "its.todo", out_);
  auto* next = Block::Create(c_, "its.next", out_);
  auto* run = Block::Create(c_, "its.run", out_);
  auto* none = Block::Create(c_, "its.none", out_);
  its_put(position_[cfg_.layout[0]], b_.CreateLoad(b_.getInt32Ty(), live_), false);
  b_.CreateBr(dispatch_);

  b_.SetInsertPoint(run);
  auto* slot = b_.CreatePHI(b_.getInt64Ty(), words * 2, "slot");
  // Take the lowest slot of a word, or go on.
  auto take = [&](u32 w, Value* candidates, const std::vector<Value*>& from, Block* otherwise) {
    auto* yes = Block::Create(c_, "its.take", out_);
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
         w + 1 < words ? Block::Create(c_, "dispatch", out_) : its_round_);
  for (u32 w = 0; w < words; ++w) b_.CreateStore(b_.getInt64(~u64{0}), its_open_[w]);
  b_.CreateBr(todo);
  its_round_ = todo;
  b_.SetInsertPoint(todo);
  for (u32 w = 0; w < words; ++w)
    take(w, its_load(its_todo_, w), its_waiting_, w + 1 < words ? Block::Create(c_, "its.todo", out_) : next);
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
  auto* more = Block::Create(c_, "its.more", out_);
  auto* all_wait = Block::Create(c_, "its.all_wait", out_);
  auto* some_spin = Block::Create(c_, "its.some_spin", out_);
  auto* idle = Block::Create(c_, "its.idle", out_);
  auto* poll = Block::Create(c_, "its.poll", out_);
  auto* force = Block::Create(c_, "its.force", out_);
  auto* yield = Block::Create(c_, "its.yield", out_);
  Value* ready = its_all_of({&its_ready_});
  for (u32 w = 0; w < its_todo_.size(); ++w) b_.CreateStore(its_load(its_waiting_, w), its_todo_[w]);
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateOr(ready, its_all_of({&its_waiting_})), b_.getInt64(0)), end_, more);
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
  set_mask(b_.getInt32(kFullMask), true);
  b_.SetInsertPoint(poll);
  call_rt(RtFn::LanesWait, {}, {}, &none, false);
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(force);
  b_.CreateStore(b_.getInt32(1), its_force_);
  b_.CreateBr(dispatch_);
  b_.SetInsertPoint(yield);
  b_.CreateStore(b_.getInt32(0), its_spun_);
  set_mask(b_.CreateLoad(b_.getInt32Ty(), its_spun_lanes_), false);
  b_.CreateStore(b_.getInt32(0), its_spun_lanes_);
  call_rt(RtFn::Yield, {imm(64, 0)}, {}, &none, false);
  b_.CreateBr(dispatch_);
}

// --- blocks ---

bool Emitter::its_gated(u32 b) const {
  const ir::Block& block = f_.blocks[b];
  return !block.insts.empty() && gate_of(block.insts[0]) != Gate::None;
}

void Emitter::emit_its_head(u32 b) {
  its_switch_->addCase(b_.getInt64(position_[b]), body_[b]);
  b_.SetInsertPoint(body_[b]);
  set_mask(b_.CreateLoad(b_.getInt32Ty(), its_mask_, "mask"), false);
  emit_phi_loads(b);
  if (its_gated(b)) emit_its_gate(b, f_.blocks[b].insts[0]);
  if (its_spins_.count(b)) emit_its_spin_check(b);
  its_load_inputs(b);
}

// What the block uses of other blocks' values, loaded once: LLVM cannot know that nothing changes a slot in between.
void Emitter::its_load_inputs(u32 b) {
  auto load = [&](const Operand& o) {
    if (!o.value.valid() || a_.shapes[o.value.v].constant() || value_block_[o.value.v] == body_[b]) return;
    if (def_block_[o.value.v] == b && !is_phi_of(b, o.value)) return;
    values_[o.value.v] = read_value(o.value);
    value_block_[o.value.v] = body_[b];
  };
  for (const ir::Inst& i : f_.blocks[b].insts) ir::for_each_use(i, load);
  load(f_.blocks[b].term.cond);
}
bool Emitter::is_phi_of(u32 b, ir::ValueId id) const {
  const auto& phis = f_.blocks[b].phis;
  return std::any_of(phis.begin(), phis.end(), [&](const ir::Phi& p) { return p.dest == id; });
}

// Lanes whose partners have come go on, the others stay.
void Emitter::emit_its_gate(u32 b, const ir::Inst& i) {
  inst_ = &i;
  Value* live = b_.CreateLoad(b_.getInt32Ty(), live_);
  Value* come = mask();
  Value* forced = b_.CreateICmpNE(b_.CreateLoad(b_.getInt32Ty(), its_force_), b_.getInt32(0));
  Value* ready = nullptr;
  if (gate_of(i) == Gate::Warp) {
    ready = b_.CreateSelect(b_.CreateICmpEQ(come, live), come, b_.getInt32(0));
  } else {
    V members = read(i.ops[membermask_operand(i)], isa::Type::b32);
    if (at(members).shape.uniform()) {
      Value* absent = b_.CreateAnd(b_.CreateAnd(at(members).base, live), b_.CreateNot(come));
      ready = b_.CreateSelect(b_.CreateICmpEQ(absent, b_.getInt32(0)), come, b_.getInt32(0));
    } else {
      ready = its_ready_groups(vec(members), come, live);
    }
  }
  ready = b_.CreateSelect(forced, come, ready);
  auto* go = Block::Create(c_, "gate.go", out_);
  auto* stay = Block::Create(c_, "gate.stay", out_);
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt32(0)), stay, go);
  b_.SetInsertPoint(stay);
  its_put(position_[b], come, false);
  b_.CreateBr(its_round_);
  b_.SetInsertPoint(go);
  its_put(position_[b], b_.CreateAnd(come, b_.CreateNot(ready)), true);
  b_.CreateStore(b_.getInt32(0), its_stalled_);
  b_.CreateStore(b_.getInt32(0), its_force_);
  set_mask(ready, false);
  pool_.clear();
}

// Lanes with equal membermasks form a group; the lanes of complete groups.
llvm::Value* Emitter::its_ready_groups(Value* members, Value* come, Value* live) {
  Block* before = b_.GetInsertBlock();
  auto* loop = Block::Create(c_, "gate.group", out_);
  auto* done = Block::Create(c_, "gate.groups", out_);
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
  auto* out = Block::Create(c_, "spin.out", out_);
  auto* yield = Block::Create(c_, "spin.yield", out_);
  auto* rotate = Block::Create(c_, "spin.rotate", out_);
  auto* go = Block::Create(c_, "spin.go", out_);
  b_.CreateCondBr(b_.CreateICmpSLE(left, b_.getInt32(0)), out, go);
  b_.SetInsertPoint(out);
  b_.CreateCondBr(alone, yield, rotate);
  b_.SetInsertPoint(yield);
  V none;
  call_rt(RtFn::Yield, {imm(64, yield_site(b, its_spins_.at(b)))}, {}, &none, false);
  b_.CreateBr(go);
  b_.SetInsertPoint(rotate);
  b_.CreateStore(b_.getInt32(kBudget), p);
  its_put(position_[b], mask(), false);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), its_spun_), b_.getInt32(1)), its_spun_);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), its_spun_lanes_), mask()), its_spun_lanes_);
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
  if (first) queue = Block::Create(c_, "queue", out_);
  b_.CreateStore(m, its_mask_);
  b_.CreateCondBr(its_alone(), body_[to], queue);
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
  auto* general = Block::Create(c_, "divided", out_);
  b_.CreateStore(all, its_mask_);
  auto* to = b_.CreateSwitch(whole, general, n);
  for (u32 k = 0; k < n; ++k) to->addCase(b_.getInt32(k), body_[parts[k].first]);
  b_.SetInsertPoint(general);
  for (auto& [target, m] : parts) its_put(position_[target], m, true);
  b_.CreateBr(dispatch_);
}

void Emitter::emit_its_terminator(u32 b) {
  const Terminator& t = f_.blocks[b].term;
  pool_.clear();
  auto leaves = [&](u32 to) { return f_.entry && ir::is_exit_block(f_, to); };
  if (t.kind == Terminator::Kind::Trap || t.kind == Terminator::Kind::Unreachable) {
    V none;
    call_rt(RtFn::Trap, {}, {}, &none, false);
  }
  if (t.kind == Terminator::Kind::Ret && !f_.entry) {
    Value* inside = b_.CreateLoad(b_.getInt32Ty(), its_inside_);
    b_.CreateStore(b_.CreateAnd(inside, b_.CreateNot(mask())), its_inside_);
    b_.CreateBr(dispatch_);
    return;
  }
  if (t.targets.empty()) {
    kill_lanes(mask());
    b_.CreateBr(dispatch_);
    return;
  }
  auto go = [&](u32 to) {
    if (leaves(to)) {
      count(f_.blocks[to].term.site, probe::Counter::Lanes, 1);
      kill_lanes(mask());
      b_.CreateBr(dispatch_);
      return;
    }
    emit_phis(b, to, mask(), false);
    its_go(to, mask());
  };
  if (cfg_.succs[b].size() == 1) return go(t.targets[0].v);
  V cond = read(t.cond, t.kind == Terminator::Kind::CondBr ? isa::Type::pred : isa::Type::u32);
  if (at(cond).shape.uniform()) {
    Value* c = at(cond).base;
    std::map<u32, Block*> edges;
    auto edge = [&](u32 to) {
      Block*& e = edges[to];
      if (!e) e = Block::Create(c_, "edge", out_);
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
    if (leaves(to)) {
      count_lanes(f_.blocks[to].term.site, probe::Counter::Lanes, 1, part);
      kill_lanes(part);
    } else {
      going.push_back({to, part});
    }
  }
  for (auto& [to, part] : going) emit_phis(b, to, part, false);
  its_split(going);
}

// --- what waits ---

// With the whole warp here, plainly. Otherwise arrive now and poll later; what follows goes on in the polling block.
// `red`: the results of a barrier reduction.
void Emitter::its_barrier(std::span<const V> args, u32 red_bits, V* red) {
  const u32 slot = its_next_poll_++;
  US_CHECK(slot < its_slots_);
  auto* whole = Block::Create(c_, "bar.whole", out_);
  auto* part = Block::Create(c_, "bar.part", out_);
  auto* poll = Block::Create(c_, "bar.poll", out_);
  auto* go = Block::Create(c_, "bar.go", out_);
  Value* result = red ? new_alloca(vec_type(red_bits), "bar.red") : nullptr;
  Value* all = mask();
  b_.CreateCondBr(its_alone(), whole, part);

  b_.SetInsertPoint(whole);
  V r;
  if (red) {
    call_rt_now(RtFn::BarRed, {args[0], args[1], args[2], args[3], args[4]}, {red_bits}, &r);
    b_.CreateStore(vec(r), result);
  } else {
    call_rt_now(RtFn::BarSync, {args[0], args[1], args[2]}, {}, nullptr);
  }
  Block* whole_end = b_.GetInsertBlock();
  b_.CreateBr(go);

  b_.SetInsertPoint(part);
  V generation;
  if (red)
    call_rt_now(RtFn::BarTryRed, {args[0], args[1], args[2], args[3], args[4]}, {64}, &generation);
  else
    call_rt_now(RtFn::BarTryArrive, {args[0], args[1], args[2]}, {64}, &generation);
  Value* kept = its_slot(vec_type(64));  // as a variable of LLVM's it would go through every edge of the dispatcher
  Value* kept_id = its_slot(vec_type(64));
  auto keep = [&](Value* at, V v) {
    b_.CreateStore(b_.CreateSelect(mask_vec(), vec(v), b_.CreateLoad(vec_type(64), at)), at);
  };
  keep(kept, generation);
  keep(kept_id, args[0]);
  its_put(slot, all, false);
  b_.CreateBr(dispatch_);

  its_switch_->addCase(b_.getInt64(slot), poll);
  b_.SetInsertPoint(poll);
  set_mask(b_.CreateLoad(b_.getInt32Ty(), its_mask_), false);
  V id = make_varying(b_.CreateLoad(vec_type(64), kept_id), 64), polled[2];
  call_rt_now(RtFn::BarPoll, {id, make_varying(b_.CreateLoad(vec_type(64), kept), 64)}, {1, 32}, polled);
  Value* ready = b_.CreateAnd(b_.CreateBitCast(vec(polled[0]), b_.getInt32Ty()), mask());
  Block* ready_block = its_poll_again(slot, ready);
  if (red) b_.CreateStore(b_.CreateTrunc(vec(polled[1]), vec_type(red_bits)), result);
  b_.CreateBr(go);

  b_.SetInsertPoint(go);
  auto* m = b_.CreatePHI(b_.getInt32Ty(), 2);
  m->addIncoming(all, whole_end);
  m->addIncoming(ready, ready_block);
  set_mask(m, false);
  if (red) *red = make_varying(b_.CreateLoad(vec_type(red_bits), result), red_bits);
}

// Lanes of the mask that are not ready poll again in the next round; the others go on.
llvm::BasicBlock* Emitter::its_poll_again(u32 slot, Value* ready) {
  auto* wait = Block::Create(c_, "bar.wait", out_);
  auto* ready_block = Block::Create(c_, "bar.ready", out_);
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt32(0)), wait, ready_block);
  b_.SetInsertPoint(wait);
  its_put(slot, mask(), false);
  b_.CreateBr(its_round_);
  b_.SetInsertPoint(ready_block);
  its_put(slot, b_.CreateAnd(mask(), b_.CreateNot(ready)), true);
  b_.CreateStore(b_.getInt32(0), its_stalled_);
  return ready_block;
}

// The same for the barrier of the cluster, at which the lanes have arrived before.
void Emitter::its_cluster_wait() {
  const u32 slot = its_next_poll_++;
  US_CHECK(slot < its_slots_);
  auto* whole = Block::Create(c_, "cluster.whole", out_);
  auto* part = Block::Create(c_, "cluster.part", out_);
  auto* poll = Block::Create(c_, "cluster.poll", out_);
  auto* go = Block::Create(c_, "cluster.go", out_);
  Value* all = mask();
  b_.CreateCondBr(its_alone(), whole, part);
  b_.SetInsertPoint(whole);
  call_rt_now(RtFn::ClusterWait, {}, {}, nullptr);
  Block* whole_end = b_.GetInsertBlock();
  b_.CreateBr(go);
  b_.SetInsertPoint(part);
  its_put(slot, all, false);
  b_.CreateBr(its_round_);
  its_switch_->addCase(b_.getInt64(slot), poll);
  b_.SetInsertPoint(poll);
  set_mask(b_.CreateLoad(b_.getInt32Ty(), its_mask_), false);
  V done;
  call_rt_now(RtFn::ClusterPoll, {}, {1}, &done);
  Value* ready = b_.CreateAnd(b_.CreateBitCast(vec(done), b_.getInt32Ty()), mask());
  Block* ready_block = its_poll_again(slot, ready);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
  auto* m = b_.CreatePHI(b_.getInt32Ty(), 2);
  m->addIncoming(all, whole_end);
  m->addIncoming(ready, ready_block);
  set_mask(m, false);
}

// Waiting inside the runtime would stop the other lanes of the warp.
void Emitter::its_nanosleep(V ns) {
  auto* sleep = Block::Create(c_, "sleep", out_);
  auto* rotate = Block::Create(c_, "sleep.rotate", out_);
  auto* done = Block::Create(c_, "sleep.done", out_);
  b_.CreateCondBr(its_alone(), sleep, rotate);
  b_.SetInsertPoint(sleep);
  call_rt_now(RtFn::Nanosleep, {ns}, {}, nullptr);
  b_.CreateBr(done);
  b_.SetInsertPoint(rotate);
  b_.CreateStore(b_.getInt32(1), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offsetof(WarpCtx, spin)));
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

}  // namespace us::codegen
