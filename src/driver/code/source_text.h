// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/ir.h"

namespace us::driver {

// May threads return from one of the functions that the instruction's line lies in, by their source? Yes, too, where
// that cannot be read.
bool may_return(const ir::Module&, const ir::Function&, const ir::Inst&);

}  // namespace us::driver
