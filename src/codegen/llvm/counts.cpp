// SPDX-License-Identifier: Apache-2.0
// Strategy::Counts: additions beside the instruction. Without it, nothing.
#include "codegen/llvm/emitter.h"

namespace us::codegen {

using probe::Count;
using probe::Counter;

void Emitter::count(u32 site, Counter c, u32 each) {
  if (m_.facts.counts() && site != ir::kNoSite) count_lanes(site, c, each, mask());
}

void Emitter::count_lanes(u32 site, Counter c, u32 each, Value* lanes) {
  if (!m_.facts.counts() || site == ir::kNoSite) return;
  auto* word = b_.getInt64Ty();
  Value* counts = load_at(ctx0_, offsetof(device::WarpCtx, counts), b_.getPtrTy(), "counts");
  auto add = [&](std::size_t member, Value* n) {
    Value* place = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), counts, site * sizeof(Count) + member);
    b_.CreateStore(b_.CreateAdd(b_.CreateLoad(word, place), n), place);
  };
  Value* number = b_.CreateZExt(b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes), word);
  number = b_.CreateMul(number, b_.getInt64(each));
  if (c == Counter::Lanes) add(offsetof(Count, warps), b_.CreateZExt(b_.CreateICmpNE(lanes, b_.getInt32(0)), word));
  add(c == Counter::Lanes  ? offsetof(Count, lanes)
      : c == Counter::Read ? offsetof(Count, read)
                           : offsetof(Count, written),
      number);
}

}  // namespace us::codegen
