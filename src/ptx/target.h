// SPDX-License-Identifier: Apache-2.0
// Which PTX a device accepts: none for a target above its own, and no instruction that the module's own target lacks.
#pragma once
#include <string>

#include "ir/ir.h"

namespace us::ptx {

// Empty, or what is wrong with the module on a device of this compute capability (90 for 9.0).
std::string beyond_target(const ir::Module&, u32 sm);

// What an assembler refuses at once and a module may contain as long as nothing reaches it: names that are no
// instruction's.
std::vector<Diag> unknown_instructions(const ir::Module&);

}  // namespace us::ptx
