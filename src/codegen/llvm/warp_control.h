// SPDX-License-Identifier: Apache-2.0
// A call runs one warp.
//
// Blocks stand in the layout of ir::Cfg (loops contiguous). A checked block has a pending mask: divergent branches and
// edges out of guarded blocks add lanes to it and go on with the sweep, which visits checked blocks in layout order and
// skips the empty ones; behind the last block of a loop the sweep returns to the header while lanes wait there.
// Unguarded blocks run with all live lanes and are jumped to directly.
//
//   A (divergent) ──► check B ──► B ──► check C ──► C ──► check P ──► P (reconverged)
//                        └ empty ─────────┘└ empty ──────────┘
#pragma once
#include "codegen/llvm/control.h"
#include "codegen/llvm/forgetting.h"

namespace us::codegen {

class WarpControl : public Control {
 public:
  explicit WarpControl(WarpBuilder&);

  void end_prologue() override;
  void start() override;
  void enter_block(u32 b) override;
  void terminate(u32 b) override;
  void finish() override { forgetting_.forget_slots(nullptr, nullptr); }

 protected:
  void plan() override;
  void create_block(u32 b) override;
  // A barrier at which the call turns to another warp: what the block's terminator becomes.
  virtual bool ends_at_barrier(u32) const { return false; }
  virtual void barrier(u32 /*continuation*/) {}

  Forgetting forgetting_;

 private:
  void find_loop_ends();
  void find_full_blocks();
  Value* enter_check(u32 b);
  void spin_check(u32 block, bool around_barrier);
  void branch_to(u32 to);      // plain jump or jump to its check
  Block* sweep_from(u32 pos);  // continue the sweep at a layout position
  Block* sweep_block(u32 pos);
  void add_edge(u32 from, u32 to, Value* edge_mask, bool edge_full);  // phis + pending
  void finish_block(u32 b);                                           // after its edges: go on
  void go_on(u32 from, u32 to, Value* mask, bool full);

  std::vector<Value*> pending_;  // by block
  std::vector<u8> checked_;
  std::vector<Block*> check_, sweep_;
  std::vector<std::vector<u32>>
      loop_ends_;              // by layout position: headers of loops that end before it, inner ones first
  std::vector<u8> live_full_;  // by block: no lane can have ended before it, and all warps are full
  std::vector<u8> meets_;      // by checked, unguarded block: whoever comes to its check finds lanes there
};

}  // namespace us::codegen
