// SPDX-License-Identifier: Apache-2.0
// CTA mode where all warps take the same way from barrier to barrier (codegen/lower/rounds.h): each region is a loop over the
// warps, which the optimiser sees as such, and unrolls where it is short: then a warp's index is a constant, and what one
// region stores to shared memory and the next one loads stays in registers.
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "codegen/llvm/emitter.h"

namespace us::codegen {

using device::WarpCtx;
using ir::Operand;
using ir::Terminator;

// Which blocks run with all lanes of a full warp, and which checks can be left out.
void Emitter::find_full_blocks() {
  const u32 n = static_cast<u32>(f_.blocks.size());
  live_full_.assign(n, 0);
  meets_.assign(n, 0);
  if (!f_.entry || !m_.facts.full_warps() || m_.functions_exit || a_.its) return;
  auto ends = [&](u32 b) {
    const auto kind = f_.blocks[b].term.kind;
    return kind == Terminator::Kind::Exit || kind == Terminator::Kind::Ret || kind == Terminator::Kind::Trap ||
           kind == Terminator::Kind::Unreachable;
  };
  auto reach = [&](std::vector<u32> work, const std::vector<std::vector<u32>>& ways) {
    std::vector<u8> seen(n, 0);
    while (!work.empty()) {
      const u32 b = work.back();
      work.pop_back();
      if (seen[b]) continue;
      seen[b] = 1;
      work.insert(work.end(), ways[b].begin(), ways[b].end());
    }
    return seen;
  };
  // Lanes end where a part of the warp exits; what comes after the branch that parted it may miss them.
  std::vector<u8> kills(n, 0);
  std::vector<u32> killing, behind;
  for (u32 b = 0; b < n; ++b) {
    kills[b] = a_.guarded[b] && ends(b);
    if (a_.divergent[b] || a_.guarded[b])
      for (u32 s : cfg_.succs[b]) kills[b] |= ir::is_exit_block(f_, s);
    if (kills[b]) killing.push_back(b);
  }
  const std::vector<u8> may_kill = reach(killing, cfg_.preds);
  for (u32 b = 0; b < n; ++b)
    if (a_.divergent[b] && may_kill[b]) behind.insert(behind.end(), cfg_.succs[b].begin(), cfg_.succs[b].end());
  const std::vector<u8> missing = reach(behind, cfg_.succs);
  for (u32 b = 0; b < n; ++b) live_full_[b] = !missing[b];
  // A sweep that leaves a part of the warp's block ends where all come together: there all lanes wait. What it passes on its
  // way, blocks of another arm of a uniform branch, it finds without lanes.
  const u32 end = static_cast<u32>(cfg_.layout.size());
  auto meeting = [&](u32 p) { return checked_[cfg_.layout[p]] && !a_.guarded[cfg_.layout[p]]; };
  std::vector<u32> meetings(end + 1, 0);  // before a position
  for (u32 p = 0; p < end; ++p) meetings[p + 1] = meetings[p] + meeting(p);
  std::vector<i32> passed(end + 1, 0);  // sweeps that begin to pass here, less those that end
  std::vector<u8> meets(n, 1);
  for (u32 b = 0; b < n; ++b) {
    if (position_[b] == ir::Cfg::kNone || !(a_.guarded[b] || a_.divergent[b])) continue;
    u32 together = cfg_.ipdom[b];
    while (together < n && a_.guarded[together]) together = cfg_.ipdom[together];
    const u32 from = position_[b] + 1;
    const u32 to = together < n && position_[together] >= from ? position_[together] : end;
    ++passed[from], --passed[to];
    if (together < n && (to == end || meetings[to] != meetings[from])) meets[together] = 0;
  }
  i32 passing = 0;
  for (u32 p = 0; p < end; ++p) {
    passing += passed[p];
    if (passing) meets[cfg_.layout[p]] = 0;
  }
  for (u32 b = 0; b < n; ++b) meets_[b] = checked_[b] && !a_.guarded[b] && live_full_[b] && meets[b];
}

bool Emitter::shall_unroll(u32 region) const {
  constexpr u32 kMostInRegion = 512, kMostInAll = 2000;
  u32 all = 0;
  for (const Rounds::Region& r : rounds_.regions) all += r.size;
  const u32 warps = m_.facts.warps();
  return warps > 1 && rounds_.regions[region].size * warps <= kMostInRegion && all * warps <= kMostInAll;
}

void Emitter::emit_rounds() {
  warp_slot_ = s_.new_alloca(b_.getInt32Ty(), "warp");
  ctx_slot_ = s_.new_alloca(b_.getPtrTy(), "ctx");
  const auto several = [](const Rounds::Region& r) { return r.from.size() > 1; };
  if (rounds_.ending.size() > 1 || std::any_of(rounds_.regions.begin(), rounds_.regions.end(), several))
    region_ = s_.new_alloca(b_.getInt32Ty(), "region");
  b_.CreateStore(b_.getInt32(0), warp_slot_);
  if (region_) b_.CreateStore(b_.getInt32(0), region_);
  auto* start = Block::Create(c_, "warp.start", s_.out);
  for (u32 k = 0; k < rounds_.regions.size(); ++k) {
    Block* head = Block::Create(c_, "region", s_.out);
    region_start_.push_back(head);
    if (k == 0) b_.CreateBr(head);
    b_.SetInsertPoint(head);
    Value* w = b_.CreateLoad(b_.getInt32Ty(), warp_slot_);
    Value* ctx = s_.load_at(b_.CreateGEP(b_.getPtrTy(), warps_, w), 0, b_.getPtrTy(), "ctx");
    b_.CreateStore(ctx, ctx_slot_);
    m_.of_runtime(b_.CreateStore(ctx, current_));
    b_.CreateBr(k == 0 ? start : s_.body[rounds_.regions[k].block]);
  }
  b_.SetInsertPoint(start);
}

// A warp has come to the end of a region, one of these: the next warp runs it, or all have and go on with region `next`
// (0: the end).
void Emitter::emit_round_end(std::span<const u32> regions, u32 next) {
  auto* all = Block::Create(c_, "round.done", s_.out);
  Value* warp = b_.CreateAdd(warp_index(), b_.getInt32(1));
  b_.CreateStore(warp, warp_slot_);
  Value* more = b_.CreateICmpULT(warp, b_.getInt32(m_.facts.warps()));
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
  b_.CreateStore(b_.getInt32(0), warp_slot_);
  if (region_) b_.CreateStore(b_.getInt32(next), region_);
  b_.CreateBr(region_start_[next]);
}

}  // namespace us::codegen
