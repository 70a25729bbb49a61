// SPDX-License-Identifier: Apache-2.0
// What tensor cores make of a warp's registers (PTX ISA, mma.sync), as vector code: the rule of numerics/mma.h.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <span>
#include <vector>

#include "device/abi/mma_code.h"

namespace us::codegen {

struct TensorProduct {
  std::vector<llvm::Value*> d;  // registers of the result, <32 x i32>
  llvm::Value* rare = nullptr;  // i1, or null: d is not right, the runtime function has to say
};

// Dense products of f16, bf16 and tf32, of integers and of bits.
bool has_vector_form(const device::MmaCode&);
// registers: of a, b and c, each <32 x i32>
TensorProduct tensor_product(llvm::IRBuilder<>&, const device::MmaCode&, std::span<llvm::Value* const> registers,
                             bool avx512);

}  // namespace us::codegen
