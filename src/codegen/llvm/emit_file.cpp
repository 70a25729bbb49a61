// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/emit_file.h"

#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/CommandLine.h>

#include "base/types.h"

namespace us::codegen {

// Only lines are told to debuggers, no variables; but the pass that follows variables looks at every register and stack slot
// of every block, whether there are variables or not. In dispatched functions it took most of the time.
static void skip_variable_tracking(llvm::TargetPassConfig& config) { config.disablePass(&llvm::LiveDebugValuesID); }

// The pass that moves masks between kinds of registers takes a third of the time on dispatched functions, and changes none of
// the benchmark kernels' speed. It can be switched off for the process only.
static void keep_register_domains() {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto it = options.find("disable-x86-domain-reassignment");
  if (it != options.end()) static_cast<llvm::cl::opt<bool>*>(it->second)->setValue(true);
}

void emit_file(llvm::TargetMachine& target, llvm::Module& module, llvm::raw_pwrite_stream& out,
               llvm::CodeGenFileType type) {
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(target);
  static const bool once = (keep_register_domains(), true);
  static_cast<void>(once);
  llvm::legacy::PassManager passes;
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);  // the pass manager's
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(info);
  skip_variable_tracking(*config);
  US_CHECK(!config->addISelPasses());
  config->addMachinePasses();
  config->setInitialized();
  US_CHECK(!machine.addAsmPrinter(passes, out, nullptr, type, info->getMMI().getContext()));
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
}

}  // namespace us::codegen
