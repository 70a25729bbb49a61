// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/ir.h"

namespace us::driver {

// The first instruction with an effect in a block that every thread comes to before it ends, and that lies behind this
// instruction, which not every thread comes to; or kNoSite. Who ended without executing this one has executed that.
u32 all_come_to(const ir::Module&, const ir::Function&, const ir::Inst&);

}  // namespace us::driver
