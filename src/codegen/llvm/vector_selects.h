// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>

namespace us::codegen {

// In blocks with many choices of whole vectors by one condition each lane gets the condition. LLVM makes conditional
// moves of such choices, and the scheduler of instruction selection takes very long to keep the flags of many apart:
// 58 s for a kernel with twelve wgmma instructions whose scale-d is a variable.
void spread_conditions(llvm::Module& module);

}  // namespace us::codegen
