// SPDX-License-Identifier: Apache-2.0
// A call runs all warps of a CTA: at a barrier it turns to the next warp.
#pragma once
#include "codegen/llvm/warp_control.h"

namespace us::codegen {

class CtaControl : public WarpControl {
 public:
  using WarpControl::WarpControl;

  void begin() override;
  void take_warp() override;
  void end_prologue() override;
  bool part_of_terminator(const ir::Inst& i) const override { return may_yield(i); }
  void leave() override;
  void finish() override { forgetting_.forget_slots(warp_start_, nullptr); }

  Value* ctx() override;
  Value* warp_index() override;
  Value* place(Value* slot) override;
  Value* slot_alloca(bool per_warp, llvm::Type*, const char* name) override;

 protected:
  void plan() override;
  bool ends_at_barrier(u32 b) const override;
  void barrier(u32 continuation) override;
  virtual bool kept_once(u32 /*value*/) const { return false; }  // the same for all warps
  void find_live_across();
  Value* live();
  // The warp that follows, and whether it has yet to come in this round.
  std::pair<Value*, Value*> next_warp();
  void begin_round();
  void make_first();

  Value* warps_ = nullptr;  // WarpCtx* of each warp
  Value* current_ = nullptr;
  Value* warp_slot_ = nullptr;
  Value* first_ = nullptr;  // alloca i32, Strategy::Events: the warp that a round begins with
  Value* ctx_slot_ = nullptr;
  llvm::Instruction* warp_start_ = nullptr;

 private:
  bool has_barriers() const;

  Value* resume_ = nullptr;
  Value* finished_ = nullptr;
  Block* next_warp_ = nullptr;
  llvm::SwitchInst* resume_switch_ = nullptr;
  u32 resume_points_ = 0;
};

// All warps take the same way from barrier to barrier: a loop over the warps for each region.
class RegionsControl final : public CtaControl {
 public:
  explicit RegionsControl(WarpBuilder& b) : CtaControl(b), regions_(s_.lowered.barrier_regions) {}

  void take_warp() override;
  void leave() override { end_region(regions_.ending, 0, nullptr); }
  void finish() override { forgetting_.forget_slots(warp_start_, &regions_.same_in_cta); }

 private:
  void barrier(u32 continuation) override;
  bool kept_once(u32 value) const override;
  void end_region(std::span<const u32> regions, u32 next, const ir::Inst* barrier);
  bool shall_unroll(u32 region) const;

  const BarrierRegions& regions_;
  Value* region_ = nullptr;           // alloca i32: where a barrier or the end is reached from several regions
  std::vector<Block*> region_start_;  // by region: takes up the warp
};

}  // namespace us::codegen
