// SPDX-License-Identifier: Apache-2.0
// Barriers that a kernel does not ask for. All threads of a CTA read one word of shared memory right behind a barrier,
// and the first of them stores to it for the next time before another barrier comes: the end of a reduction that is
// called twice. Nothing promises that the others have read by then, but on hardware warps leave a barrier within a few
// cycles of each other, and programs rely on it. Here a warp runs until it has to wait, so it is made to wait behind
// such loads.
#pragma once
#include "codegen/lower/barrier_regions.h"

namespace us::codegen {

// For a function in which barriers of the whole CTA, each the last of its block, are all that blocks: adds barriers
// behind such loads. False: there were none.
bool insert_barriers(ir::Function&, const BarrierRegions&);

}  // namespace us::codegen
