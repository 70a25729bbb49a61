// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ir/ir.h"

namespace us::driver {

// Registers per thread that a compiler for the hardware would probably use: the largest number of 32-bit registers
// whose first and last mention enclose the same place. An estimate: loops and rematerialisation are not looked at.
u32 estimate_registers(const ir::Function&);

}  // namespace us::driver
