// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>

namespace us::codegen {

// In blocks with many choices of whole vectors by one condition each lane gets the condition. LLVM makes conditional
// moves of such choices; with many the scheduler of instruction selection looks for places for the flags for ever: 58 s
// for a kernel with twelve wgmma instructions whose scale-d is a variable.
void spread_conditions(llvm::Module& module);

}  // namespace us::codegen
