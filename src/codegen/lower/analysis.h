// SPDX-License-Identifier: Apache-2.0
// Divergence analysis of one SSA function: the shape of every value, which branches split a warp, which blocks must run
// under a mask, and whether the function needs independent thread scheduling (ITS).
//
// A branch is divergent if its condition differs between lanes and both sides go on. Its region (blocks reachable from
// it before its immediate post-dominator) is guarded: lanes collect in a pending mask per block. Phis where paths of
// one divergent branch meet are varying. Values that leave a loop some lanes left earlier are read through a shadow: a
// copy blended under the mask at the definition, so each lane keeps its own last value.
//
// ITS: lanes of one warp may wait for each other (a divergent loop whose exit depends on other threads, a barrier or
// .sync under divergence, irreducible control flow). Then every block is scheduled by a dispatcher and values crossing
// blocks live in blended slots.
#pragma once
#include <set>

#include "codegen/lower/shape.h"
#include "ir/cfg.h"

namespace us::codegen {

struct Analysis {
  std::vector<Shape> shapes;      // by ValueId
  std::vector<u8> divergent;      // by block: its terminator splits the warp
  std::vector<u8> guarded;        // by block: runs under its own pending mask
  std::vector<u8> join;           // by block: phis are varying
  std::vector<u8> shadow;         // by ValueId: has a shadow
  std::vector<u8> loop_diverges;  // by loop: some lanes leave earlier than others
  std::vector<u8> loop_spins;     // by loop: leaving it may depend on what another thread does
  std::vector<u8> spins_around;   // ... and there is a barrier of the block in it
  bool shares = false;            // where records are taken: some loop does what other threads leave to it
  std::set<u32> looks;            // where they are taken and none does: sites of Waits::looks
  bool its = false;
  const char* its_reason = "";
  bool yields = false;  // contains something that may block or spin
};

// `its`: for independent thread scheduling, whether the function needs it or not.
Analysis analyze(const ir::Module&, ir::Function&, const ir::Cfg&, const CodeFacts&, bool its);

// True if `use_block` reads `value` (defined in `def_block`) through its shadow.
bool reads_shadow(const Analysis&, const ir::Cfg&, ir::ValueId value, u32 def_block, u32 use_block);

// An instruction after which the warp may have been switched away.
bool may_yield(const ir::Inst&);

}  // namespace us::codegen
