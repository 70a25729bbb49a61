// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/counts.h"

#include "codegen/llvm/records.h"

namespace us::codegen {

using probe::Count;
using probe::Counter;

void count_lanes(FunctionState& s, u32 site, Counter c, u32 each, llvm::Value* lanes) {
  if (!s.m.facts.counts() || site == ir::kNoSite) return;
  llvm::IRBuilder<>& b = s.b;
  using llvm::Value;
  auto* word = b.getInt64Ty();
  Value* counts = s.load_at(s.ctx0, offsetof(device::WarpCtx, counts), b.getPtrTy(), "counts");
  auto add = [&](std::size_t member, Value* n) {
    Value* place = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), counts, site * sizeof(Count) + member);
    b.CreateStore(b.CreateAdd(b.CreateLoad(word, place), n), place);
  };
  Value* number = b.CreateZExt(b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, lanes), word);
  number = b.CreateMul(number, b.getInt64(each));
  if (c == Counter::Lanes) add(offsetof(Count, warps), b.CreateZExt(b.CreateICmpNE(lanes, b.getInt32(0)), word));
  add(c == Counter::Lanes  ? offsetof(Count, lanes)
      : c == Counter::Read ? offsetof(Count, read)
                           : offsetof(Count, written),
      number);
}

void count_end(FunctionState& s, u32 site, llvm::Value* lanes) {
  count_lanes(s, site, Counter::Lanes, 1, lanes);
  record_block(s, site, lanes);
}

}  // namespace us::codegen
