// SPDX-License-Identifier: Apache-2.0
// Stores to shared memory with one base wait for their neighbours, so that interleaved stores fill whole windows.
#pragma once
#include <map>

#include "codegen/llvm/values.h"

namespace us::codegen {

class DeferredStores : private Part {
 public:
  explicit DeferredStores(FunctionState& s) : Part(s) {}

  void defer(const MemRef&, Value* root, LV& addr, const std::vector<Value*>& v);
  void flush();  // before anything that may see memory, and before control leaves the block

 private:
  struct Pending {
    Value* base = nullptr;
    Value* root = nullptr;
    u32 bits = 0;
    Block* block = nullptr;
    std::map<i64, std::pair<Value*, u32>> elements;  // byte offset from base -> vector and lane
  };
  Pending pending_;
};

// root + offset + extra; root may be null for plain 64-bit addresses.
llvm::Value* pointer_at(llvm::IRBuilder<>&, llvm::Value* root, llvm::Value* offset, i64 extra);

}  // namespace us::codegen
