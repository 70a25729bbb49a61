// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace us::codegen {

// Calls a function of the module where the processor has no instruction for a gather, a scatter, or a masked load or
// store: on processors without AVX-512, most of them. LLVM would put a test and a block there for each lane: a kernel
// with a thousand of them, of sixty thousand blocks, took minutes.
void call_lane_accesses(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace us::codegen
