// SPDX-License-Identifier: Apache-2.0
// Basic blocks of a function of machine code. A call goes on behind itself (its callee is a part of its own, entered
// from nowhere); BSYNC goes to where the BSSY that reaches it says.
#pragma once
#include <vector>

#include "sass/code.h"

namespace us::sass {

struct Graph {
  static constexpr u32 kNone = ~u32{0};
  struct Block {
    u32 first = 0, end = 0;  // instructions
    std::vector<u32> successors, predecessors;
    std::optional<u64> callee;        // of the call at its end, as an offset
    bool leaves = false;              // may leave the function: EXIT, RET, or a computed branch to nobody knows where
    bool entry = false;               // of the function, or of a subroutine behind it
    bool unknown_successors = false;  // a computed branch whose targets the cubin does not list
  };
  std::vector<Block> blocks;
  std::vector<u32> block_of;        // by instruction
  std::vector<u32> post_dominator;  // the nearest; kNone: only leaving the function
  std::vector<bool> reachable;      // from an entry
};

Graph make_graph(const Function&);

}  // namespace us::sass
