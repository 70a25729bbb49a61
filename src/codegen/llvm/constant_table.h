// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/Module.h>

namespace us::codegen {

// LLVM looks through all vector constants of a function for each that it meets. Functions with very many keep those
// with equal elements in a table, from which they are broadcast.
void move_constants_to_table(llvm::Module&);

}  // namespace us::codegen
