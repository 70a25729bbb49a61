// SPDX-License-Identifier: Apache-2.0
// What the parts of the emitter of one function share: where it stands, which lanes run, and what it has been given.
#pragma once
#include "codegen/builder.h"
#include "codegen/llvm/module_emitter.h"
#include "codegen/lower/lowered.h"

namespace us::codegen {

// Where a warp's state lies, which depends on the form in which the function runs (control.h).
class Frame {
 public:
  virtual ~Frame() = default;
  virtual llvm::Value* ctx() = 0;                     // WarpCtx of the warp
  virtual llvm::Value* warp_index() = 0;              // in the CTA
  virtual llvm::Value* place(llvm::Value* slot) = 0;  // the current warp's part of a slot
  virtual llvm::Value* slot_alloca(bool per_warp, llvm::Type*, const char* name) = 0;
  virtual llvm::Value* scratch(llvm::Type*, const char* name) = 0;  // is read soon after it is written
  // Lanes that run now are not all that will come: what one mask makes uniform, the next one may see otherwise.
  virtual bool lanes_apart() const = 0;
  // Calls of runtime functions that this form makes in its own way.
  virtual bool makes_call(device::RtFn, std::span<const V> args, std::span<const u32> bits, V* results) = 0;
};

struct FunctionState {
  using Value = llvm::Value;
  using Block = llvm::BasicBlock;

  FunctionState(ModuleEmitter& module, const Lowered& l, llvm::Function* f)
      : m(module), lowered(l), out(f), b(module.context), c(module.context) {}

  Value* mask();      // i32: lanes executing now
  Value* mask_vec();  // <32 x i1>
  bool mask_full() const { return mask_full_; }
  Value* partial_mask() const { return mask_; }  // if it is not full
  void set_mask(Value*, bool full);

  Value* load_at(Value* ptr, std::size_t offset, llvm::Type*, const char* name, bool invariant = true);
  Value* new_alloca(llvm::Type*, const char* name);
  void set_debug_loc(const SrcLoc&);

  ModuleEmitter& m;
  const Lowered& lowered;
  llvm::Function* out;
  llvm::IRBuilder<> b;
  llvm::LLVMContext& c;
  Frame* frame = nullptr;
  u32 cur = 0;  // block being emitted
  const ir::Inst* inst = nullptr;
  std::vector<Block*> body;  // by block
  Block* alloca_block = nullptr;
  Block* end = nullptr;
  Value* ctx0 = nullptr;  // a WarpCtx of this CTA: for what all its warps share
  Value* grid = nullptr;
  Value* cta = nullptr;
  Value* window = nullptr;   // of shared memory
  Value* live = nullptr;     // alloca i32
  Value* args_in = nullptr;  // device functions
  Value* rets_out = nullptr;
  Value* local_base = nullptr;  // i32: first byte of this frame's local memory

 private:
  Value* mask_ = nullptr;
  Value* mask_vec_ = nullptr;
  Block* mask_vec_block_ = nullptr;
  bool mask_full_ = false;
};

// A part of the emitter.
class Part {
 protected:
  using Value = llvm::Value;
  using Block = llvm::BasicBlock;

  explicit Part(FunctionState& s)
      : s_(s), m_(s.m), b_(s.b), c_(s.c), f_(s.lowered.function), cfg_(s.lowered.cfg), a_(s.lowered.analysis) {}

  FunctionState& s_;
  ModuleEmitter& m_;
  llvm::IRBuilder<>& b_;
  llvm::LLVMContext& c_;
  const ir::Function& f_;
  const ir::Cfg& cfg_;
  const Analysis& a_;
};

}  // namespace us::codegen
