// SPDX-License-Identifier: Apache-2.0
// LLVM's target and pass pipelines, set up once and used for many modules: setting them up takes longer than to compile
// a small kernel.
#pragma once
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <memory>
#include <vector>

#include "base/passes.h"

namespace us::codegen {

class Toolchain {
 public:
  explicit Toolchain(const std::string& cpu);  // LLVM's name, or empty: the host
  std::string error;                           // why there is none
  std::unique_ptr<llvm::TargetMachine> machine;
  bool avx512 = false, byte_permutes = false;

  using Told = std::function<void(Pass, double ms)>;
  void optimise(llvm::Module&, PassSet disabled, const Told&);
  // Machine code without what is of no use here. The result is valid until the next call.
  const llvm::SmallVectorImpl<char>& object(llvm::Module&);
  std::string assembly(llvm::Module&);

 private:
  enum class Effort { Usual, Least };
  static Effort effort_for(const llvm::Module&);
  void run(llvm::Module&, Effort, llvm::raw_pwrite_stream&, llvm::CodeGenFileType);
  void make_passes();
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  struct Step {
    Pass pass;
    llvm::ModulePassManager passes;
  };
  std::vector<Step> steps_;
  llvm::SmallVector<char, 0> bytes_;
  llvm::raw_svector_ostream stream_{bytes_};
  llvm::legacy::PassManager to_object_;
};

// A toolchain for this thread alone while it is held.
class ToolchainLease {
 public:
  explicit ToolchainLease(const std::string& cpu);
  ~ToolchainLease();
  ToolchainLease(const ToolchainLease&) = delete;
  ToolchainLease& operator=(const ToolchainLease&) = delete;
  Toolchain* operator->() const { return tools_.get(); }
  Toolchain& operator*() const { return *tools_; }

 private:
  std::string cpu_;
  std::unique_ptr<Toolchain> tools_;
};

}  // namespace us::codegen
