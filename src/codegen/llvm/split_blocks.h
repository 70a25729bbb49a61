// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>

namespace us::codegen {

// Cuts very long basic blocks into pieces. Instruction selection looks at a block as one graph, and what it spends on
// one grows faster than the block: a block of 11 000 instructions took a minute. Also blocks in which many vectors are
// loaded in a row.
void split_long_blocks(llvm::Module& module);

}  // namespace us::codegen
