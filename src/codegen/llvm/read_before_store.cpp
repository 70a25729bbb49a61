// SPDX-License-Identifier: Apache-2.0
// What other warps may still read. As codegen/lower/inserted_barriers.h, for addresses that only the run knows: warps
// of a device leave a barrier together, and what all of them read next is read long before the first of them has come
// to its next store. So before its first store behind such loads a warp lets the others run once. In functions that are
// called and in dispatched ones; in other kernels a turn of all warps would cost more than what lies between barriers.
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/read_before_store.h"

namespace us::codegen {

using device::RtFn;
using device::WarpCtx;

bool ReadBeforeStore::others_may_read(isa::Space space) const {
  return (s_.frame->lanes_apart() || !f_.entry) && m_.facts.warps() != 1 &&
         (space == isa::Space::Generic || space == isa::Space::Shared);
}

llvm::Value* ReadBeforeStore::behind_barrier() {
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), s_.frame->ctx(), offsetof(WarpCtx, behind_barrier));
}

void ReadBeforeStore::note(isa::Space space) {
  if (!others_may_read(space)) return;
  Value* p = behind_barrier();
  Value* was = b_.CreateLoad(b_.getInt32Ty(), p);
  m_.of_runtime(b_.CreateStore(b_.CreateAdd(was, b_.CreateAnd(was, b_.getInt32(1))), p));  // 1: 2
}

void ReadBeforeStore::let_others_read(isa::Space space) {
  if (!others_may_read(space)) return;
  Value* p = behind_barrier();
  auto* first = Block::Create(c_, "store.first", s_.out);
  auto* go = Block::Create(c_, "store.go", s_.out);
  b_.CreateCondBr(b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), p), b_.getInt32(2)), first, go,
                  llvm::MDBuilder(c_).createBranchWeights(1, 64));
  b_.SetInsertPoint(first);
  b_.CreateStore(b_.getInt32(0), p);
  V none;
  runtime_.call(RtFn::LanesWait, {}, {}, &none);
  b_.CreateBr(go);
  b_.SetInsertPoint(go);
}

}  // namespace us::codegen
