// SPDX-License-Identifier: Apache-2.0
// mma on registers: see matrix_products.cpp.
#pragma once
#include "codegen/llvm/deferred_stores.h"
#include "device/abi/mma_code.h"

namespace us::codegen {

class Products : private Part {
 public:
  Products(FunctionState& s, Values& v, DeferredStores& stores) : Part(s), v_(v), stores_(stores) {}

  bool multiply(const device::MmaCode&, std::span<const V> args, V* d);

 private:
  using Registers = std::vector<Value*>;

  bool many();
  llvm::Function* product_function(const device::MmaCode&, const Registers& in);
  Registers product_of_doubles(const device::MmaCode&, const Registers&, Value* ctx, Value* mask);
  Registers product_of_vectors(const device::MmaCode&, const Registers&, Value* ctx, Value* mask);
  Registers product_by_runtime(const device::MmaCode&, const Registers&, Value* ctx, Value* mask);
  Registers or_by_runtime(const device::MmaCode&, const Registers& args, Value* ctx, Value* mask, const Registers& d,
                          Value* rare);

  Values& v_;
  DeferredStores& stores_;
  u32 count_ = ~0u;  // of matrix instructions on registers, once counted
};

}  // namespace us::codegen
