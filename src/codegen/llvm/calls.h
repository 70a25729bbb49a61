// SPDX-License-Identifier: Apache-2.0
// Calls of device functions and of what the device brings.
#pragma once
#include "codegen/llvm/warp_builder.h"

namespace us::codegen {

class Calls : private Part {
 public:
  explicit Calls(WarpBuilder& b)
      : Part(b.parts().state),
        builder_(b),
        v_(b.parts().values),
        stores_(b.parts().stores),
        params_(b.parts().params),
        memory_(b.parts().memory) {}

  void emit(const ir::Inst&);

 private:
  void call_function(const ir::Function& callee, const ir::Inst::Call&, Value* m);
  bool call_builtin(const std::string& name, const ir::Inst::Call&);
  V call_arg(const ir::Inst::Call&, std::size_t k, u32 bits, u32 byte = 0);

  WarpBuilder& builder_;
  Values& v_;
  DeferredStores& stores_;
  Params& params_;
  Memory& memory_;
};

}  // namespace us::codegen
