// SPDX-License-Identifier: Apache-2.0
// Floating-point code on integers and vectors of integers that hold the bits.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "codegen/builder.h"

namespace us::codegen {

class FloatCode {
 public:
  explicit FloatCode(llvm::IRBuilder<>& b) : b_(b), c_(b.getContext()) {}

  // The type `scalar`, or a vector of it if the model is one.
  static llvm::Type* like_vector(llvm::Value* model, llvm::Type* scalar);
  llvm::Type* float_type(FT);
  llvm::Value* to_float(llvm::Value*, FT);
  llvm::Value* to_int(llvm::Value*);
  llvm::Value* min_max(bool is_min, FT, llvm::Value* a, llvm::Value* b);
  llvm::Value* widen_half(llvm::Value* bits, FT);
  llvm::Value* narrow_half(llvm::Value* f32, FT);
  llvm::Value* half_from_f64(llvm::Value* f64, FT);
  llvm::Value* fma_half(llvm::Value* a, llvm::Value* b, llvm::Value* c, FT);

 private:
  llvm::Value* odd_f32(llvm::Value* f64);

  llvm::IRBuilder<>& b_;
  llvm::LLVMContext& c_;
};

inline bool is_half(FT t) { return t == FT::F16 || t == FT::BF16; }

}  // namespace us::codegen
