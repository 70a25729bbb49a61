// SPDX-License-Identifier: Apache-2.0
// LLVM's machine code pipeline without what is of no use here.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

namespace us::codegen {

// Machine code of a module, as an object file or as text.
void emit_file(llvm::TargetMachine&, llvm::Module&, llvm::raw_pwrite_stream&, llvm::CodeGenFileType);

}  // namespace us::codegen
