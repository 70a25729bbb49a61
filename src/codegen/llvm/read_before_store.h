// SPDX-License-Identifier: Apache-2.0
// What other warps may still read is read before this one's first store: see read_before_store.cpp.
#pragma once
#include "codegen/llvm/runtime_calls.h"

namespace us::codegen {

class ReadBeforeStore : private Part {
 public:
  ReadBeforeStore(FunctionState& s, RuntimeCalls& r) : Part(s), runtime_(r) {}

  void note(isa::Space);
  void let_others_read(isa::Space);

 private:
  bool others_may_read(isa::Space) const;
  Value* behind_barrier();

  RuntimeCalls& runtime_;
};

}  // namespace us::codegen
