// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/toolchain.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "base/types.h"
#include "codegen/llvm/promote_slots.h"

namespace us::codegen {
namespace {

// In a dispatched function everything is one loop with an edge between any two blocks: passes over loops find nothing
// in it and take for ever.
// Live ranges that cannot be cut, such as a warp's context, are compared with all others.
constexpr std::size_t kMostBlocks = 12000;  // of one function

// Its time grows faster than the number of blocks; functions that are translated instruction by instruction do without.
struct CombineUnlessHuge : llvm::PassInfoMixin<CombineUnlessHuge> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& fam) {
    if (f.size() > kMostBlocks) return llvm::PreservedAnalyses::all();
    return llvm::InstCombinePass().run(f, fam);
  }
};

struct HoistUnlessDispatched : llvm::PassInfoMixin<HoistUnlessDispatched> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& fam) {
    if (f.hasFnAttribute("dispatched") || f.hasFnAttribute(kManyBlocksAttribute)) return llvm::PreservedAnalyses::all();
    return llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true).run(f, fam);
  }
};

// Loops over the warps of a CTA that the emitter has marked (regions_control.cpp); what one warp stores to shared
// memory and another loads then meets in one block.
struct UnrollMarked : llvm::PassInfoMixin<UnrollMarked> {
  llvm::FunctionPassManager passes;
  UnrollMarked() {
    passes.addPass(llvm::LoopUnrollPass(llvm::LoopUnrollOptions(2, true)));
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::EarlyCSEPass(true));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::DSEPass());
    passes.addPass(llvm::SimplifyCFGPass());
  }
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& fam) {
    return f.hasFnAttribute("unrolled") && any_left(f, fam) ? passes.run(f, fam) : llvm::PreservedAnalyses::all();
  }
  // LLVM 19 takes a vector division for a division by one when it unrolls a loop in which the divisors become 1, 1, 2,
  // 3... (kernel_fuzz --start 5040006136).
  static bool divides(const llvm::BasicBlock& b) {
    for (const llvm::Instruction& i : b)
      if (i.isIntDivRem()) return true;
    return false;
  }
  // What would get long is faster as a loop: it stays in the processor's cache of decoded instructions.
  static bool any_left(llvm::Function& f, llvm::FunctionAnalysisManager& fam) {
    constexpr u64 kMostInLoop = 512, kMostInAll = 5000;
    auto& evolution = fam.getResult<llvm::ScalarEvolutionAnalysis>(f);
    u64 all = 0;
    for (llvm::Loop* loop : fam.getResult<llvm::LoopAnalysis>(f).getLoopsInPreorder()) {
      if (!loop->getLoopLatch() || !llvm::getBooleanLoopAttribute(loop, "llvm.loop.unroll.full")) continue;
      u64 size = 0;
      bool division = false;
      for (const llvm::BasicBlock* b : loop->blocks()) {
        size += b->sizeWithoutDebug();
        division = division || divides(*b);
      }
      size *= evolution.getSmallConstantTripCount(loop, loop->getLoopLatch());
      if (division || size == 0 || size > kMostInLoop || all + size > kMostInAll)
        loop->getLoopLatch()->getTerminator()->setMetadata(llvm::LLVMContext::MD_loop, nullptr);
      else
        all += size;
    }
    return all != 0;
  }
};

// Options that LLVM reads when it makes its list of passes belong to the process.
std::mutex& options_mutex() {
  static std::mutex m;
  return m;
}
void set_option(const char* name, bool value) {
  auto& options = llvm::cl::getRegisteredOptions();
  const auto it = options.find(name);
  if (it != options.end()) static_cast<llvm::cl::opt<bool>*>(it->second)->setValue(value);
}

// How much is done about loops. `hoist`: what does not change is taken out of them; not of a loop over warps around
// many blocks, for each constant would live through all of it. Strength reduction relates every loop to all values
// around it.
void add_machine_passes(llvm::TargetMachine& target, llvm::legacy::PassManager& passes, llvm::raw_pwrite_stream& out,
                        llvm::CodeGenFileType type, bool hoist) {
  const std::lock_guard lock(options_mutex());
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(target);
  auto* info = new llvm::MachineModuleInfoWrapperPass(&machine);  // the pass manager's
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  passes.add(config);
  passes.add(info);
  // Only lines are told to debuggers, no variables; but the pass that follows variables looks at every register and
  // stack slot of every block, whether there are variables or not. In dispatched functions it took most of the time.
  config->disablePass(&llvm::LiveDebugValuesID);
  if (!hoist) {
    config->disablePass(&llvm::EarlyMachineLICMID);
    config->disablePass(&llvm::MachineLICMID);
  }
  set_option("disable-lsr", !hoist);
  US_CHECK(!config->addISelPasses());
  set_option("disable-lsr", false);
  config->addMachinePasses();
  config->setInitialized();
  US_CHECK(!machine.addAsmPrinter(passes, out, nullptr, type, info->getMMI().getContext()));
  passes.add(llvm::createFreeMachineFunctionPass());
}

// The pass that moves masks between kinds of registers takes a third of the time on dispatched functions, and changes
// none of the benchmark kernels' speed. It can be switched off for the process only.
void keep_register_domains() { set_option("disable-x86-domain-reassignment", true); }

// Without instructions on halves: comparisons with .ftz came out wrong on a processor that has them (kernel_fuzz, six
// kernels of 171008), and f16 is computed in f32 elsewhere.
std::string host_features() {
  std::string features;
  for (auto& [name, on] : llvm::sys::getHostCPUFeatures())
    features += (features.empty() ? "" : ",") + std::string(on && name != "avx512fp16" ? "+" : "-") + name.str();
  return features;
}

struct Idle {
  std::mutex mutex;  // guards by_cpu
  std::map<std::string, std::vector<std::unique_ptr<Toolchain>>> by_cpu;
};
// Never destroyed: kernels are compiled until the process ends.
Idle& idle() {
  static Idle* const all = new Idle;
  return *all;
}

}  // namespace

Toolchain::Toolchain(const std::string& cpu_option) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    keep_register_domains();
  });
  const std::string triple = "x86_64-unknown-linux-gnu";
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) return;
  const std::string cpu = cpu_option.empty() ? llvm::sys::getHostCPUName().str() : cpu_option;
  // Asked before a machine is made: that one would complain on stderr, and take another CPU.
  const std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (!known || !known->isCPUStringValid(cpu)) {
    error = "unknown CPU name `" + cpu + "`: expected a name that LLVM knows, such as x86-64-v3 or znver4";
    return;
  }
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.TrapUnreachable = true;
  machine.reset(target->createTargetMachine(triple, cpu, cpu_option.empty() ? host_features() : "", options,
                                            llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine) {
    error = "LLVM has no code generator for " + triple;
    return;
  }
  const auto* info = machine->getMCSubtargetInfo();
  avx512 = info->checkFeatures("+avx512f") && info->checkFeatures("+avx512bw") && info->checkFeatures("+avx512vl");
  byte_permutes = avx512 && info->checkFeatures("+avx512vbmi");
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules_);
  builder.registerCGSCCAnalyses(components_);
  builder.registerFunctionAnalyses(functions_);
  builder.registerLoopAnalyses(loops_);
  builder.crossRegisterProxies(loops_, functions_, components_, modules_);
  make_passes();
  add_machine_passes(*machine, to_object_, stream_, llvm::CodeGenFileType::ObjectFile, true);
}

void Toolchain::make_passes() {
  auto step = [&](Pass pass, auto&& add) {
    llvm::ModulePassManager passes;
    add(passes);
    steps_.push_back({pass, std::move(passes)});
  };
  step(Pass::Mem2reg, [](auto& mpm) {
    llvm::FunctionPassManager f;
    f.addPass(PromoteSlots());
    f.addPass(llvm::EarlyCSEPass(false));
    f.addPass(llvm::SimplifyCFGPass());
    mpm.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  });
  step(Pass::Inline, [](auto& mpm) {
    mpm.addPass(llvm::AlwaysInlinerPass());
    mpm.addPass(llvm::GlobalDCEPass());
  });
  step(Pass::Combine, [](auto& mpm) {
    llvm::FunctionPassManager f;
    f.addPass(PromoteSlots());
    f.addPass(CombineUnlessHuge());
    f.addPass(llvm::SimplifyCFGPass());
    f.addPass(llvm::EarlyCSEPass(true));
    mpm.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  });
  step(Pass::Loops, [](auto& mpm) {
    llvm::FunctionPassManager f;
    f.addPass(HoistUnlessDispatched());
    f.addPass(llvm::EarlyCSEPass(true));
    f.addPass(CombineUnlessHuge());
    f.addPass(llvm::SimplifyCFGPass());
    f.addPass(llvm::DCEPass());
    f.addPass(UnrollMarked());
    mpm.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(f)));
  });
}

void Toolchain::optimise(llvm::Module& m, PassSet disabled, const Told& told) {
  using Clock = std::chrono::steady_clock;
  for (Step& s : steps_) {
    if (disabled.has(s.pass)) continue;
    const auto start = Clock::now();
    s.passes.run(m, modules_);
    told(s.pass, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  loops_.clear(), functions_.clear(), components_.clear(), modules_.clear();
}

// What is larger, such as a test suite that was compiled as one kernel, is translated instruction by instruction: it
// would take minutes, and most of it runs once. The usual register allocator is kept below: LLVM's basic one compares
// live ranges with all others, and takes many times as long for long functions with many values alive.
constexpr std::size_t kHuge = 400000;  // instructions of all functions

static bool has_many_blocks(const llvm::Module& m) {
  return std::any_of(m.begin(), m.end(),
                     [](const llvm::Function& f) { return f.hasFnAttribute(kManyBlocksAttribute); });
}

Toolchain::Effort Toolchain::effort_for(const llvm::Module& m) {
  std::size_t all = 0, blocks = 0;
  for (const llvm::Function& f : m) all += f.getInstructionCount(), blocks = std::max(blocks, f.size());
  return all > kHuge || blocks > kMostBlocks ? Effort::Least : Effort::Usual;
}

void Toolchain::run(llvm::Module& m, Effort effort, llvm::raw_pwrite_stream& out, llvm::CodeGenFileType type) {
  if (effort == Effort::Least) machine->setOptLevel(llvm::CodeGenOptLevel::None);
  llvm::legacy::PassManager passes;
  add_machine_passes(*machine, passes, out, type, !has_many_blocks(m));
  passes.run(m);
  machine->setOptLevel(llvm::CodeGenOptLevel::Default);
  machine->setFastISel(false);  // which the passes without optimisation set
}

const llvm::SmallVectorImpl<char>& Toolchain::object(llvm::Module& m) {
  bytes_.clear();
  const Effort effort = effort_for(m);
  if (effort == Effort::Usual && !has_many_blocks(m))
    to_object_.run(m);
  else
    run(m, effort, stream_, llvm::CodeGenFileType::ObjectFile);
  return bytes_;
}

std::string Toolchain::assembly(llvm::Module& m) {
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream stream(text);
  run(m, effort_for(m), stream, llvm::CodeGenFileType::AssemblyFile);
  return std::string(text.begin(), text.end());
}

ToolchainLease::ToolchainLease(const std::string& cpu) : cpu_(cpu) {
  Idle& all = idle();
  {
    std::lock_guard lock(all.mutex);
    if (auto& list = all.by_cpu[cpu]; !list.empty()) tools_ = std::move(list.back()), list.pop_back();
  }
  if (!tools_) tools_ = std::make_unique<Toolchain>(cpu);
}
ToolchainLease::~ToolchainLease() {
  if (!tools_->machine) return;
  Idle& all = idle();
  std::lock_guard lock(all.mutex);
  all.by_cpu[cpu_].push_back(std::move(tools_));
}

}  // namespace us::codegen
