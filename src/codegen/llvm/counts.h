// SPDX-License-Identifier: Apache-2.0
// Strategy::Counts: additions beside the instruction. Without it, nothing.
#pragma once
#include "codegen/llvm/function_state.h"

namespace us::codegen {

// `lanes`: i32, a mask.
void count_lanes(FunctionState&, u32 site, probe::Counter, u32 each, llvm::Value* lanes);
// ... at the end of a block that has nothing else in it.
void count_end(FunctionState&, u32 site, llvm::Value* lanes);

}  // namespace us::codegen
