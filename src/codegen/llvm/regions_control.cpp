// SPDX-License-Identifier: Apache-2.0
// CTA mode where all warps take the same way from barrier to barrier (codegen/lower/barrier_regions.h): each region is
// a loop over the warps, which the optimiser sees as such, and unrolls where it is short: then a warp's index is a
// constant, and what one region stores to shared memory and the next one loads stays in registers.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "codegen/llvm/cta_control.h"

namespace us::codegen {

void RegionsControl::barrier(u32) {
  const u32 next = regions_.of_barrier[s_.cur];
  end_region(regions_.all[next].from, next, &f_.blocks[s_.cur].insts.back());
}

bool RegionsControl::kept_once(u32 value) const {
  return regions_.same_in_cta[value] && regions_.written_once[slots_.def_block(value)];
}

bool RegionsControl::shall_unroll(u32 region) const {
  constexpr u32 kMostInRegion = 512, kMostInAll = 2000;
  u32 all = 0;
  for (const BarrierRegions::Region& r : regions_.all) all += r.size;
  const u32 warps = m_.facts.warps();
  return !m_.facts.events() && warps > 1 && regions_.all[region].size * warps <= kMostInRegion &&
         all * warps <= kMostInAll;
}

void RegionsControl::take_warp() {
  warp_slot_ = s_.new_alloca(b_.getInt32Ty(), "warp");
  ctx_slot_ = s_.new_alloca(b_.getPtrTy(), "ctx");
  const auto several = [](const BarrierRegions::Region& r) { return r.from.size() > 1; };
  if (regions_.ending.size() > 1 || std::any_of(regions_.all.begin(), regions_.all.end(), several))
    region_ = s_.new_alloca(b_.getInt32Ty(), "region");
  b_.CreateStore(b_.getInt32(0), warp_slot_);
  make_first();
  if (region_) b_.CreateStore(b_.getInt32(0), region_);
  auto* start = Block::Create(c_, "warp.start", s_.out);
  for (u32 k = 0; k < regions_.all.size(); ++k) {
    Block* head = Block::Create(c_, "region", s_.out);
    region_start_.push_back(head);
    if (k == 0) b_.CreateBr(head);
    b_.SetInsertPoint(head);
    Value* w = b_.CreateLoad(b_.getInt32Ty(), warp_slot_);
    Value* ctx = s_.load_at(b_.CreateGEP(b_.getPtrTy(), warps_, w), 0, b_.getPtrTy(), "ctx");
    b_.CreateStore(ctx, ctx_slot_);
    m_.of_runtime(b_.CreateStore(ctx, current_));
    b_.CreateBr(k == 0 ? start : s_.body[regions_.all[k].block]);
  }
  b_.SetInsertPoint(start);
}

// A warp has come to the end of a region, one of these: the next warp runs it, or all have and go on with region `next`
// (0: the end).
void RegionsControl::end_region(std::span<const u32> regions, u32 next, const ir::Inst* barrier) {
  auto* all = Block::Create(c_, "region.done", s_.out);
  const auto [warp, more] = next_warp();
  b_.CreateStore(warp, warp_slot_);
  if (regions.size() == 1) {
    auto* back = b_.CreateCondBr(more, region_start_[regions[0]], all);
    if (shall_unroll(regions[0])) {
      auto* full = llvm::MDNode::get(c_, llvm::MDString::get(c_, "llvm.loop.unroll.full"));
      auto* loop = llvm::MDNode::getDistinct(c_, {nullptr, full});
      loop->replaceOperandWith(0, loop);
      back->setMetadata(llvm::LLVMContext::MD_loop, loop);
      s_.out->addFnAttr("unrolled");
    }
  } else {
    auto* again = Block::Create(c_, "warp.more", s_.out);
    b_.CreateCondBr(more, again, all);
    b_.SetInsertPoint(again);
    if (regions.empty()) {
      b_.CreateUnreachable();
    } else {
      auto* choice = b_.CreateSwitch(b_.CreateLoad(b_.getInt32Ty(), region_), region_start_[regions[0]]);
      for (u32 r : regions.subspan(1)) choice->addCase(b_.getInt32(r), region_start_[r]);
    }
  }
  b_.SetInsertPoint(all);
  if (!next) {
    b_.CreateRetVoid();
    return;
  }
  if (tells(*barrier)) tell_barrier(barrier, device::BarrierStep::Meet, b_.getInt32(kFullMask));
  begin_round();
  if (region_) b_.CreateStore(b_.getInt32(next), region_);
  b_.CreateBr(region_start_[next]);
}

}  // namespace us::codegen
