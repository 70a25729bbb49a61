// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>

namespace us::codegen {

// LLVM 19 gives vpternlog the wrong table where its result is blended under a mask into one of its operands and another
// one is loaded from memory, for two of the six orders of the operands (tests/ptx/logic_shift/blended_ternary.ptx). A
// fence between what may become a vpternlog and the blend keeps the two apart. For processors with 512-bit vectors;
// others have no such instruction.
void fence_blends(llvm::Module&);

}  // namespace us::codegen
