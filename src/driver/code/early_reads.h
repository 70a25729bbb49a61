// SPDX-License-Identifier: Apache-2.0
// Registers that wgmma.mma_async writes, read before wgmma.wait_group says that they are there.
#pragma once
#include "ir/ir.h"

namespace us::driver {

// The instruction that certainly reads a sum of this wgmma too early, or kNoSite. Copies into other registers, which
// compilers put around a wgmma, read nothing. Where the wgmma is in a loop, what is read behind its last turn.
u32 read_too_early(const ir::Function&, const ir::Inst& wgmma);

}  // namespace us::driver
