// SPDX-License-Identifier: Apache-2.0
// What waits in dispatched code: the warp as a whole plainly, a part of it by polling.
#include "codegen/llvm/its_control.h"

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;

// With the whole warp here, plainly. Otherwise arrive now and poll later; what follows goes on in the polling block.
// `red`: the results of a barrier reduction.
void ItsControl::barrier(std::span<const V> args, u32 red_bits, V* red) {
  const u32 slot = next_poll_++;
  US_CHECK(slot < slot_count_);
  auto* whole = Block::Create(c_, "bar.whole", s_.out);
  auto* part = Block::Create(c_, "bar.part", s_.out);
  auto* poll = Block::Create(c_, "bar.poll", s_.out);
  auto* go = Block::Create(c_, "bar.go", s_.out);
  Value* result = red ? s_.new_alloca(v_.vec_type(red_bits), "bar.red") : nullptr;
  Value* all = s_.mask();
  b_.CreateCondBr(is_alone(), whole, part);

  b_.SetInsertPoint(whole);
  V r;
  if (red) {
    builder_.parts().runtime.call(RtFn::BarRed, {args[0], args[1], args[2], args[3], args[4]}, {red_bits}, &r);
    b_.CreateStore(v_.vec(r), result);
  } else {
    builder_.parts().runtime.call(RtFn::BarSync, {args[0], args[1], args[2]}, {}, nullptr);
  }
  Block* whole_end = b_.GetInsertBlock();
  b_.CreateBr(go);

  b_.SetInsertPoint(part);
  V generation;
  if (red)
    builder_.parts().runtime.call(RtFn::BarTryRed, {args[0], args[1], args[2], args[3], args[4]}, {64}, &generation);
  else
    builder_.parts().runtime.call(RtFn::BarTryArrive, {args[0], args[1], args[2]}, {64}, &generation);
  Value* kept =
      frame_slot(v_.vec_type(64));  // as a variable of LLVM's it would go through every edge of the dispatcher
  Value* kept_id = frame_slot(v_.vec_type(64));
  auto keep = [&](Value* at, V v) {
    b_.CreateStore(b_.CreateSelect(s_.mask_vec(), v_.vec(v), b_.CreateLoad(v_.vec_type(64), at)), at);
  };
  keep(kept, generation);
  keep(kept_id, args[0]);
  put(slot, all, false);
  b_.CreateBr(dispatch_);

  choice_->addCase(b_.getInt64(slot), poll);
  b_.SetInsertPoint(poll);
  s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), next_mask_), false);
  V id = v_.make_varying(b_.CreateLoad(v_.vec_type(64), kept_id), 64), polled[2];
  if (m_.facts.events()) builder_.note_site(s_.inst->site);
  builder_.parts().runtime.call(RtFn::BarPoll, {id, v_.make_varying(b_.CreateLoad(v_.vec_type(64), kept), 64)}, {1, 32},
                                polled);
  Value* ready = b_.CreateAnd(b_.CreateBitCast(v_.vec(polled[0]), b_.getInt32Ty()), s_.mask());
  Block* ready_block = poll_again(slot, ready);
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
llvm::BasicBlock* ItsControl::poll_again(u32 slot, Value* ready) {
  auto* wait = Block::Create(c_, "bar.wait", s_.out);
  auto* ready_block = Block::Create(c_, "bar.ready", s_.out);
  b_.CreateCondBr(b_.CreateICmpEQ(ready, b_.getInt32(0)), wait, ready_block);
  b_.SetInsertPoint(wait);
  put(slot, s_.mask(), false);
  b_.CreateBr(round_);
  b_.SetInsertPoint(ready_block);
  put(slot, b_.CreateAnd(s_.mask(), b_.CreateNot(ready)), true);
  b_.CreateStore(b_.getInt32(0), stalled_);
  return ready_block;
}

// The same for the barrier of the cluster, at which the lanes have arrived before.
void ItsControl::cluster_wait() {
  const u32 slot = next_poll_++;
  US_CHECK(slot < slot_count_);
  auto* whole = Block::Create(c_, "cluster.whole", s_.out);
  auto* part = Block::Create(c_, "cluster.part", s_.out);
  auto* poll = Block::Create(c_, "cluster.poll", s_.out);
  auto* go = Block::Create(c_, "cluster.go", s_.out);
  Value* all = s_.mask();
  b_.CreateCondBr(is_alone(), whole, part);
  b_.SetInsertPoint(whole);
  builder_.parts().runtime.call(RtFn::ClusterWait, {}, {}, nullptr);
  Block* whole_end = b_.GetInsertBlock();
  b_.CreateBr(go);
  b_.SetInsertPoint(part);
  put(slot, all, false);
  b_.CreateBr(round_);
  choice_->addCase(b_.getInt64(slot), poll);
  b_.SetInsertPoint(poll);
  s_.set_mask(b_.CreateLoad(b_.getInt32Ty(), next_mask_), false);
  V done;
  if (m_.facts.events()) builder_.note_site(s_.inst->site);
  builder_.parts().runtime.call(RtFn::ClusterPoll, {}, {1}, &done);
  Value* ready = b_.CreateAnd(b_.CreateBitCast(v_.vec(done), b_.getInt32Ty()), s_.mask());
  Block* ready_block = poll_again(slot, ready);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
  auto* m = b_.CreatePHI(b_.getInt32Ty(), 2);
  m->addIncoming(all, whole_end);
  m->addIncoming(ready, ready_block);
  s_.set_mask(m, false);
}

// Waiting inside the runtime would stop the other lanes of the warp.
void ItsControl::nanosleep(V ns) {
  auto* sleep = Block::Create(c_, "sleep", s_.out);
  auto* rotate = Block::Create(c_, "sleep.rotate", s_.out);
  auto* done = Block::Create(c_, "sleep.done", s_.out);
  b_.CreateCondBr(is_alone(), sleep, rotate);
  b_.SetInsertPoint(sleep);
  builder_.parts().runtime.call(RtFn::Nanosleep, {ns}, {}, nullptr);
  b_.CreateBr(done);
  b_.SetInsertPoint(rotate);
  b_.CreateStore(b_.getInt32(1), b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), ctx_, offsetof(WarpCtx, spin)));
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

bool ItsControl::makes_call(RtFn fn, std::span<const V> args, std::span<const u32> bits, V* results) {
  switch (fn) {
    case RtFn::BarSync:
      barrier(args, 0, nullptr);
      return true;
    case RtFn::BarRed:
      barrier(args, bits[0], results);
      return true;
    case RtFn::ClusterWait:
      cluster_wait();
      return true;
    case RtFn::Nanosleep:
      nanosleep(args[0]);
      return true;
    case RtFn::MbarTestWait:  // park only with all lanes
      builder_.parts().runtime.call(fn, {args[0], args[1], v_.bin(Bin::Or, args[2], v_.imm(64, 4)), args[3]},
                                    {bits.begin(), bits.end()}, results);
      return true;
    default:
      return false;
  }
}

}  // namespace us::codegen
