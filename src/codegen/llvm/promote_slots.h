// SPDX-License-Identifier: Apache-2.0
// Stack slots become SSA values where they live for a few blocks only. LLVM's own pass copies a list of all slots at
// every branch and looks at all blocks for every slot, which in functions of many branches takes for ever; and a value
// that lives through thousands of blocks is spilled anyhow. Time is linear in the size of the function.
#pragma once
#include <llvm/IR/PassManager.h>

namespace us::codegen {

inline constexpr char kManyBlocksAttribute[] = "many-blocks";

void promote_slots(llvm::Function&);

// LLVM's promotion for ordinary functions, this one for those with the attribute.
struct PromoteSlots : llvm::PassInfoMixin<PromoteSlots> {
  llvm::PreservedAnalyses run(llvm::Function&, llvm::FunctionAnalysisManager&);
};

}  // namespace us::codegen
