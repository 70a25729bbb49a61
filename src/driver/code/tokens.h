// SPDX-License-Identifier: Apache-2.0
// Where the state that a test of an mbarrier asks for comes from.
#pragma once
#include "ir/ir.h"

namespace us::driver {

// The arrival whose newest answer this test_wait or try_wait asks for, whatever way the thread came; or kNoSite.
u32 token_of(const ir::Function&, const ir::Inst& test);

}  // namespace us::driver
