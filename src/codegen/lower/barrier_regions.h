// SPDX-License-Identifier: Apache-2.0
// Barriers of the whole CTA cut a kernel into regions: the code from its start, or from behind a barrier, to the next
// barriers or the end. Where the way from region to region depends only on what is the same in the whole CTA (the
// arguments, the block's index, loop counters), all warps take the same way, and each region can be a loop over the
// warps:
//
//   start ── for each warp ──► barrier 1 ── for each warp ──► barrier 2 ── ... ──► end
#pragma once
#include "codegen/lower/analysis.h"

namespace us::codegen {

struct BarrierRegions {
  struct Region {
    u32 block = 0;          // where it begins
    std::vector<u32> from;  // regions that lead to its barrier
    u32 size = 0;           // instructions
  };
  bool known = false;            // all warps go the same way
  std::vector<Region> all;       // [0] is the start
  std::vector<u32> of_barrier;   // by block that ends with a barrier: the region behind it
  std::vector<u32> ending;       // regions that lead to the end
  std::vector<u8> same_in_cta;   // by ValueId
  std::vector<u8> written_once;  // by block: no barrier lies on a way from it to itself
};

// For a function whose only blocking instructions are barriers of the whole CTA, each the last of its block. `ends`:
// also where a loop is the last that the kernel does.
BarrierRegions find_barrier_regions(ir::Function&, const ir::Cfg&, bool ends);

}  // namespace us::codegen
