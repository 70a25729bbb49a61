// SPDX-License-Identifier: Apache-2.0
// What one thread of an interpreted warp owns: a stack of calls, each with its registers and parameters.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "codegen/builder.h"

namespace us::codegen::eval {

struct Word {
  u64 lo = 0, hi = 0;
};
struct Frame {
  const ir::Function* function = nullptr;
  u32 block = 0, inst = 0;  // next to run; inst == insts.size(): the terminator
  std::vector<Word> regs;   // by ValueId
  std::unordered_map<u32, std::vector<u8>>
      params;                      // .param variables by SymId: the function's own and those of its calls
  u64 local_base = 0;              // of its .local variables in the lane's local memory
  const ir::Inst* call = nullptr;  // the call that waits in the frame below

  u64 next_local() const { return (local_base + function->local_bytes + 15) & ~u64(15); }
};
struct Lane {
  std::vector<std::unique_ptr<Frame>> stack;
  bool waiting = false;  // arrived at a .sync collective or a barrier
  u32 members = 0;       // lanes it waits for
  bool barrier = false;  // waits at a CTA barrier

  Frame& top() { return *stack.back(); }
};

}  // namespace us::codegen::eval
