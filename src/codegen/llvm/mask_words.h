// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>

namespace us::codegen {

// Where masks a and b and a mask made of them (a & b, a | b, a ^ b) are all turned into vectors in one block, the third
// is made opaque first. Instruction selection of LLVM 19 for AVX-512 has a rule that computes the third with the
// vectors of a and b, and one that computes it with the words: it applies them in turn for ever (kernel_fuzz --start
// 3018000765).
void separate_mask_words(llvm::Module& module);

}  // namespace us::codegen
