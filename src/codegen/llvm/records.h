// SPDX-License-Identifier: Apache-2.0
// Strategy::Records: words written into the worker's buffer beside the instruction (probe/records.h). Without it,
// nothing.
#pragma once
#include "codegen/llvm/function_state.h"

namespace us::codegen {

// `lanes` (i32, a mask) come to the instruction at the site: told if a block of the program's text begins there.
void record_block(FunctionState&, u32 site, llvm::Value* lanes);
// `addresses`: the words behind the first two, one by one or 32 in a vector.
void write_record(FunctionState&, u32 site, llvm::Value* lanes, probe::RecordCode,
                  std::initializer_list<llvm::Value*> addresses);

}  // namespace us::codegen
