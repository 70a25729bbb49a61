// SPDX-License-Identifier: Apache-2.0
// Emits one SSA function as LLVM IR for a whole warp: prologue, then block after block. What a block does stands in its
// parts: Values, Memory, WarpBuilder, Calls; how blocks follow each other in a Control.
#pragma once
#include "codegen/llvm/calls.h"
#include "codegen/llvm/control.h"
#include "codegen/probe_builder.h"

namespace us::codegen {

class FunctionEmitter : private Part {
 public:
  explicit FunctionEmitter(FunctionState&);
  void run();

 private:
  void emit_prologue();
  void emit_epilogue();
  void emit_block(u32 b);
  void emit_inst(const ir::Inst&);
  void emit_guarded(const ir::Inst&);
  void give_way();  // to warps that share a loop
  void tell_arrival(const ir::Terminator&);
  void run_semantics(const ir::Inst&);
  Value* lanes_of_guard(const LV& pred, V);  // i32

  FunctionParts parts_;
  Values& v_;
  Slots& slots_;
  DeferredStores& stores_;
  AccessTests& tests_;
  WarpBuilder builder_;
  ProbeBuilder probe_;
  Calls calls_;
  std::unique_ptr<Control> control_;
};

}  // namespace us::codegen
