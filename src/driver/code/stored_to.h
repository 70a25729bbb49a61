// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "ir/ir.h"

namespace us::driver {

// Parameters that the addresses are made from which a kernel stores to in global memory: their values. Nothing: some
// store says nothing of where it goes. Numbers that are no pointers may be among them.
std::optional<std::vector<u64>> stored_to(const ir::Function&, const u8* parameters);

}  // namespace us::driver
