// SPDX-License-Identifier: Apache-2.0
// One LLVM module for one kernel: the entry and every device function it can reach.
#pragma once
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <memory>

#include "codegen/code_facts.h"
#include "ir/ir.h"

namespace us::codegen {

struct ModuleEmitter {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::DIBuilder> di;
  llvm::DICompileUnit* unit = nullptr;
  std::map<u32, llvm::DIFile*> files;
  const ir::Module& ir;
  const CodeFacts facts;
  const std::vector<bool> leaders;  // by site, if blocks are recorded
  bool avx512 = false, byte_permutes = false;
  std::map<u32, llvm::Function*> functions;  // by FuncId: device functions
  std::map<const u32*, llvm::GlobalVariable*> tables;
  std::map<std::vector<u64>, llvm::GlobalVariable*> patterns;  // of records: distances of lanes
  llvm::MDNode *shared_tag = nullptr, *global_tag = nullptr, *any_tag = nullptr, *runtime_tag = nullptr;  // TBAA
  std::map<const void*, llvm::Function*> general;                           // by operation: Builder::quick
  std::map<std::pair<u64, llvm::FunctionType*>, llvm::Function*> products;  // by MmaCode: multiply_registers
  std::vector<u32> work;                                                    // device functions still to emit
  std::vector<u32> address_taken;                                           // candidates of indirect calls
  bool functions_exit = false;                                              // some device function can end its threads
  u32 shared_static = 0;                                                    // of the kernel
  bool shared_unsized = false;  // the module has variables whose size a launch tells

  ModuleEmitter(const ir::Module& m, const CodeFacts&);
  llvm::Function* function(u32 func_id);
  llvm::DIFile* file(u32 index);

  // What a memory access may touch (TBAA): shared memory, global memory, either (generic addresses), or fields of the
  // runtime's own structures, which no program reaches.
  llvm::MDNode* memory_tag(isa::Space);
  template <class I>
  I* of_space(isa::Space s, I* access) {
    access->setMetadata(llvm::LLVMContext::MD_tbaa, memory_tag(s));
    return access;
  }
  template <class I>
  I* of_runtime(I* access) {
    return of_space(isa::Space::Param, access);
  }
};

void set_attributes(llvm::Function*);
void attach_subprogram(ModuleEmitter&, llvm::Function*, const ir::Function&);

}  // namespace us::codegen
