// SPDX-License-Identifier: Apache-2.0
// Independent thread scheduling: lanes of one warp may wait for each other, so every block has a pending mask in memory and
// a dispatcher picks what runs next.
//
//   dispatch: lowest block with waiting lanes, from `floor` on, then from the start; blocks that begin with a
//   warp-synchronous instruction only when nothing else can run, because their partners may still be on the way.
//   A spinning loop that has used up its budget puts its lanes back and sets `floor` behind itself.
//   A CTA barrier arrives, then polls in a slot of its own behind all blocks, so that other lanes can arrive too.
#include "codegen/llvm/emitter.h"

namespace us::codegen {

using device::RtFn;

static constexpr u32 kPatience = 4096;  // rotations before lanes that wait for the warp stop waiting

void Emitter::emit_its_dispatch() {
  const u32 n = static_cast<u32>(cfg_.layout.size());
  its_slots_ = its_next_poll_ = n;
  for (const ir::Block& b : f_.blocks)
    for (const ir::Inst& i : b.insts) its_slots_ += may_yield(i);
  auto* array = llvm::ArrayType::get(b_.getInt32Ty(), its_slots_);
  its_pending_ = new_alloca(array, "its.pending");
  its_floor_ = new_alloca(b_.getInt32Ty(), "its.floor");
  its_force_ = new_alloca(b_.getInt32Ty(), "its.force");
  b_.CreateMemSet(its_pending_, b_.getInt8(0), its_slots_ * 4, llvm::Align(64));
  b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), live_), its_pending_);
  b_.CreateStore(b_.getInt32(0), its_floor_);
  b_.CreateStore(b_.getInt32(0), its_force_);
  std::vector<llvm::Constant*> sync;
  for (u32 k = 0; k < its_slots_; ++k) sync.push_back(b_.getInt8(k < n && is_sync_block(cfg_.layout[k])));
  auto* sync_type = llvm::ArrayType::get(b_.getInt8Ty(), its_slots_);
  auto* table = new llvm::GlobalVariable(*m_.module, sync_type, true, llvm::GlobalValue::PrivateLinkage, llvm::ConstantArray::get(sync_type, sync), "its.sync");
  dispatch_ = Block::Create(c_, "dispatch", out_);
  auto* scan = Block::Create(c_, "its.scan", out_);
  auto* test = Block::Create(c_, "its.test", out_);
  auto* next = Block::Create(c_, "its.next", out_);
  auto* wrap = Block::Create(c_, "its.wrap", out_);
  auto* found = Block::Create(c_, "its.found", out_);
  auto* none = Block::Create(c_, "its.none", out_);
  b_.CreateBr(dispatch_);

  b_.SetInsertPoint(dispatch_);
  Value* floor = b_.CreateLoad(b_.getInt32Ty(), its_floor_);
  Value* force = b_.CreateICmpUGE(b_.CreateLoad(b_.getInt32Ty(), its_force_), b_.getInt32(kPatience));
  Value* first_pass = b_.CreateSelect(b_.CreateICmpEQ(floor, b_.getInt32(0)), b_.getInt32(1), b_.getInt32(0));
  b_.CreateBr(scan);

  b_.SetInsertPoint(scan);  // pass 0: from floor; 1: from the start; 2: any block
  auto* i = b_.CreatePHI(b_.getInt32Ty(), 3, "i");
  auto* pass = b_.CreatePHI(b_.getInt32Ty(), 3, "pass");
  i->addIncoming(floor, dispatch_);
  pass->addIncoming(first_pass, dispatch_);
  b_.CreateCondBr(b_.CreateICmpUGE(i, b_.getInt32(its_slots_)), wrap, test);

  b_.SetInsertPoint(test);
  Value* slot = b_.CreateGEP(b_.getInt32Ty(), its_pending_, i);
  Value* m = b_.CreateLoad(b_.getInt32Ty(), slot, "its.mask");
  Value* ordinary = b_.CreateICmpEQ(b_.CreateLoad(b_.getInt8Ty(), b_.CreateGEP(b_.getInt8Ty(), table, i)), b_.getInt8(0));
  Value* allowed = b_.CreateOr(b_.CreateOr(ordinary, force), b_.CreateICmpEQ(pass, b_.getInt32(2)));
  b_.CreateCondBr(b_.CreateAnd(allowed, b_.CreateICmpNE(m, b_.getInt32(0))), found, next);

  b_.SetInsertPoint(next);
  i->addIncoming(b_.CreateAdd(i, b_.getInt32(1)), next);
  pass->addIncoming(pass, next);
  b_.CreateBr(scan);

  b_.SetInsertPoint(wrap);
  b_.CreateStore(b_.getInt32(0), its_floor_);
  i->addIncoming(b_.getInt32(0), wrap);
  pass->addIncoming(b_.CreateAdd(pass, b_.getInt32(1)), wrap);
  b_.CreateCondBr(b_.CreateICmpEQ(pass, b_.getInt32(2)), end_, scan);

  b_.SetInsertPoint(found);
  b_.CreateStore(b_.getInt32(0), slot);
  b_.CreateStore(b_.CreateSelect(force, b_.getInt32(0), b_.CreateLoad(b_.getInt32Ty(), its_force_)), its_force_);
  its_found_mask_ = m;
  its_switch_ = b_.CreateSwitch(i, none, its_slots_);
  b_.SetInsertPoint(none);
  b_.CreateUnreachable();
}

// Put these lanes back and let the slots behind run first.
void Emitter::rotate(u32 slot, Value* m) {
  Value* p = b_.CreateConstInBoundsGEP1_32(b_.getInt32Ty(), its_pending_, slot);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), p), m), p);
  b_.CreateStore(b_.getInt32(slot + 1), its_floor_);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), its_force_), b_.getInt32(1)), its_force_);
  b_.CreateBr(dispatch_);
}

// Arrive now, poll later; what follows the barrier goes on in the polling block.
void Emitter::its_barrier(std::span<const V> args) {
  const u32 slot = its_next_poll_++;
  US_CHECK(slot < its_slots_);
  V id = args[0], generation;
  call_rt(RtFn::BarTryArrive, {args[0], args[1], args[2]}, {64}, &generation, false);
  Value* kept = new_alloca(vec_type(64), "bar.generation");
  Value* kept_id = new_alloca(vec_type(64), "bar.id");
  auto keep = [&](Value* at, V v) { b_.CreateStore(b_.CreateSelect(mask_vec(), vec(v), b_.CreateLoad(vec_type(64), at)), at); };
  keep(kept, generation);
  keep(kept_id, id);
  Value* p = b_.CreateConstInBoundsGEP1_32(b_.getInt32Ty(), its_pending_, slot);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), p), mask()), p);
  b_.CreateBr(dispatch_);
  auto* poll = Block::Create(c_, "bar.poll", out_);
  auto* wait = Block::Create(c_, "bar.wait", out_);
  auto* go = Block::Create(c_, "bar.go", out_);
  its_switch_->addCase(b_.getInt32(slot), poll);
  b_.SetInsertPoint(poll);
  set_mask(its_found_mask_, false);
  V done;
  call_rt(RtFn::BarPoll, {make_varying(b_.CreateLoad(vec_type(64), kept_id), 64), make_varying(b_.CreateLoad(vec_type(64), kept), 64)}, {1}, &done, false);
  Value* ready = b_.CreateAnd(b_.CreateBitCast(vec(done), b_.getInt32Ty()), mask());
  Value* late = b_.CreateAnd(mask(), b_.CreateNot(ready));
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt32(0)), wait, go);
  b_.SetInsertPoint(wait);
  V none;
  call_rt(RtFn::Yield, {imm(64, inst_ ? inst_->loc.line : 0)}, {}, &none, false);
  rotate(slot, mask());
  b_.SetInsertPoint(go);
  p = b_.CreateConstInBoundsGEP1_32(b_.getInt32Ty(), its_pending_, slot);
  b_.CreateStore(b_.CreateOr(b_.CreateLoad(b_.getInt32Ty(), p), late), p);
  set_mask(ready, false);
}

}  // namespace us::codegen
