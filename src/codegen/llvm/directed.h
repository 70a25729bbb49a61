// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "device/abi/abi.h"

namespace us::codegen {

// An f64 function of numerics/directed.cpp on vectors of its operands' bits, for processors with AVX-512. Null: not one
// of them.
llvm::Value* directed(llvm::IRBuilderBase& b, device::NumFn fn, llvm::ArrayRef<llvm::Value*> in);

}  // namespace us::codegen
