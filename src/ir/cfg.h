// SPDX-License-Identifier: Apache-2.0
// Control-flow facts of one function: predecessors, reverse post-order, dominators, post-dominators, loops, and the
// layout in which code generation sweeps the blocks (a reverse post-order that keeps every loop contiguous).
#pragma once
#include <map>

#include "ir/ir.h"

namespace us::ir {

struct Loop {
  u32 header = 0;
  int parent = -1;          // index in Cfg::loops
  std::vector<u32> blocks;  // all blocks, inner loops included
};

struct Cfg {
  static constexpr u32 kNone = ~0u;
  std::vector<std::vector<u32>> succs, preds;
  std::vector<u32> rpo;        // reachable blocks
  std::vector<u32> rpo_index;  // by block; kNone if unreachable
  std::vector<u32> idom;       // by block
  std::vector<u32> ipdom;      // by block; `exit_node` = virtual exit
  std::vector<u32> dom_first;  // by block: its number in a walk of the dominator tree,
  std::vector<u32> dom_last;   // and the last number below it
  u32 exit_node = 0;           // == number of blocks
  std::vector<Loop> loops;
  std::vector<int> loop_of;  // innermost loop by block, -1 if none
  bool irreducible = false;
  std::vector<u32> layout;  // loop-contiguous reverse post-order

  bool dominates(u32 a, u32 b) const;
  bool in_loop(u32 block, int loop) const;  // block inside `loop` (or a loop nested in it)
};

// Blocks, of which one asks whether any of them dominates another.
class DominatingBlocks {
 public:
  void add(const Cfg&, u32 block);
  bool cover(const Cfg&, u32 block) const;  // one of them dominates the block, or is it

 private:
  std::map<u32, u32> spans_;  // disjoint: from Cfg::dom_first to Cfg::dom_last
};

// True for a block that only ends its thread: edges to it are exits, not control flow to reconverge after.
bool is_exit_block(const Function&, u32 block);

// Drops blocks that cannot be reached (renumbers), then fills Block::preds.
void remove_unreachable(Function&);
// Two loops with one header become nested loops with a header each. Lanes that go back early must first come to where
// the others are before the outer loop goes on:
//
//   h: ... branch h ; rest ; branch h      =>      o: h: ... branch h ; rest ; branch o
//
// Register form only.
void separate_loops(Function&);
// Edges to exit blocks of an entry do not count for post-dominance when `exits_leave` is set.
Cfg analyze_cfg(const Function&, bool exits_leave);

}  // namespace us::ir
