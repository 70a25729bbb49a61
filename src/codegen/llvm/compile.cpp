// SPDX-License-Identifier: Apache-2.0
// One kernel and the device functions it reaches: IR -> LLVM module -> passes -> ELF object.
#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <chrono>

#include "codegen/compile.h"
#include "codegen/inline_calls.h"
#include "codegen/llvm/constant_table.h"
#include "codegen/llvm/emitter.h"
#include "codegen/llvm/fences.h"
#include "codegen/llvm/mask_words.h"
#include "codegen/llvm/split_blocks.h"
#include "codegen/llvm/toolchain.h"

namespace us::codegen {

ModuleEmitter::ModuleEmitter(const ir::Module& m, const Variant& v) : ir(m), variant(v) {
  module = std::make_unique<llvm::Module>(m.name, context);
  facts.block = v.block;
  facts.cluster_one = v.cluster.x * v.cluster.y * v.cluster.z == 1;
  for (u32 f = 0; f < m.functions.size(); ++f) {
    if (m.functions[f].entry || !m.functions[f].defined) continue;
    for (const ir::Block& b : m.functions[f].blocks)
      functions_exit =
          functions_exit || b.term.kind == ir::Terminator::Kind::Exit || b.term.kind == ir::Terminator::Kind::Trap;
  }
  di = std::make_unique<llvm::DIBuilder>(*module);
  unit = di->createCompileUnit(llvm::dwarf::DW_LANG_C_plus_plus_17, file(0), "understudy", true, "", 0, "",
                               llvm::DICompileUnit::LineTablesOnly);
  module->addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module->addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
}

llvm::DIFile* ModuleEmitter::file(u32 index) {
  llvm::DIFile*& f = files[index];
  if (!f)
    f = index && index < ir.files.size() ? di->createFile(ir.files[index], "")
                                         : di->createFile(ir.name.empty() ? "module.ptx" : ir.name, "");
  return f;
}

void set_attributes(llvm::Function* f) {
  f->addFnAttr(llvm::Attribute::NoUnwind);
  f->addFnAttr(llvm::Attribute::NullPointerIsValid);  // an access there is a fault of the program
  f->addFnAttr("prefer-vector-width", "512");
  f->addFnAttr("min-legal-vector-width", "512");
  f->addFnAttr("probe-stack", "inline-asm");  // a frame cannot step over the guard page
  f->addFnAttr("no-builtins");
}

static void attach_subprogram(ModuleEmitter& m, llvm::Function* out, const ir::Function& f) {
  auto* type = m.di->createSubroutineType(m.di->getOrCreateTypeArray({}));
  auto* sp = m.di->createFunction(m.file(0), f.name, out->getName(), m.file(0), f.loc.line, type, f.loc.line,
                                  llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  out->setSubprogram(sp);
}

llvm::Function* ModuleEmitter::function(u32 id) {
  llvm::Function*& out = functions[id];
  if (out) return out;
  auto* ptr = llvm::PointerType::getUnqual(context);
  auto* type =
      llvm::FunctionType::get(llvm::Type::getVoidTy(context), {ptr, llvm::Type::getInt32Ty(context), ptr, ptr}, false);
  out = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "f." + ir.functions[id].name, *module);
  set_attributes(out);
  attach_subprogram(*this, out, ir.functions[id]);
  work.push_back(id);
  return out;
}

namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point t) { return std::chrono::duration<double, std::milli>(Clock::now() - t).count(); }

// Whether some function takes stack at run time (alloca).
bool takes_stack(const ir::Module& m) {
  for (const ir::Function& f : m.functions)
    for (const ir::Block& b : f.blocks)
      for (const ir::Inst& i : b.insts)
        if (i.form == isa::Form::alloca) return true;
  return false;
}

void optimise(Toolchain& tools, llvm::Module& m, const Options& options, ObjectCode& out) {
  auto dump = [&](const std::string& name) {
    if (options.dump_after != name && options.dump_after != "all") return;
    llvm::raw_string_ostream s(out.dump);
    s << "; --- after " << name << "\n";
    m.print(s, nullptr);
  };
  dump("emit");
  tools.optimise(m, [&](const char* name, double ms) {
    out.times.push_back({name, ms});
    dump(name);
  });
}

void compile(const ir::Module& module, const char* kernel, const Variant& variant, const Options& options,
             ObjectCode& out) {
  const auto t0 = Clock::now();
  ToolchainLease target(options.cpu);
  if (!target->machine) {
    out.error = target->error;
    return;
  }
  ModuleEmitter m(module, variant);
  m.avx512 = target->avx512;
  m.byte_permutes = target->byte_permutes;
  m.force_varying = options.force_varying;
  m.facts.fast_math = options.fast_math;
  m.facts.deferred_copies = options.deferred_copies;
  m.facts.asks = variant.asks;
  m.facts.usual_space = variant.usual_space;
  m.facts.dependent = variant.dependent;
  m.force_its = options.force_its;
  m.many_blocks = options.many_blocks;
  m.facts.one_thread =
      u64{variant.block.x} * variant.block.y * variant.block.z == 1 && !m.force_varying && !m.force_its;
  m.module->setDataLayout(target->machine->createDataLayout());
  m.module->setTargetTriple(target->machine->getTargetTriple().str());
  const ir::Function* entry = nullptr;
  for (const ir::Function& f : module.functions)
    if (f.entry && f.name == kernel) entry = &f;
  if (!entry) {
    out.error = std::string("no kernel named ") + kernel;
    return;
  }
  m.shared_static = entry->shared_bytes;
  m.shared_unsized = std::ranges::any_of(
      module.symbols, [](const ir::Symbol& s) { return s.space == isa::Space::Shared && s.unsized; });
  m.address_taken = address_taken_functions(module);
  out.times.push_back({"target", ms_since(t0)});
  const auto t1 = Clock::now();
  auto* ptr = llvm::PointerType::getUnqual(m.context);
  auto* fn = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(m.context), {ptr, ptr}, false),
                                    llvm::GlobalValue::ExternalLinkage, "kernel", *m.module);
  set_attributes(fn);
  attach_subprogram(m, fn, *entry);
  auto body = std::make_unique<ir::Function>(*entry);
  {
    Emitter e(m, *body, fn);
    e.run();
    out.local_bytes = (body->local_bytes + 15) / 16 * 16;
    out.its = e.its();
    out.whole_cta = e.cta_mode();
  }
  while (!m.work.empty()) {
    const u32 id = m.work.back();
    m.work.pop_back();
    auto copy = std::make_unique<ir::Function>(module.functions[id]);
    std::size_t insts = 0;
    for (const auto& b : copy->blocks) insts += b.insts.size();
    Emitter e(m, *copy, m.functions[id]);
    e.run();
    out.local_bytes += (copy->local_bytes + 15) / 16 * 16;
    if (insts <= 40 && !e.its()) m.functions[id]->addFnAttr(llvm::Attribute::AlwaysInline);
  }
  if (takes_stack(module)) out.local_bytes += device::kAllocaBytes;
  m.di->finalize();
  out.yields = m.yields || !m.functions.empty();
  out.triggers = m.triggers;
  out.times.push_back({"emit", ms_since(t1)});
#ifndef NDEBUG
  const bool verify = true;
#else
  const bool verify = !options.dump_after.empty();
#endif
  if (verify) {
    std::string text;
    llvm::raw_string_ostream s(text);
    if (llvm::verifyModule(*m.module, &s)) {
      std::string ir_text;
      llvm::raw_string_ostream is(ir_text);
      if (!options.dump_after.empty()) m.module->print(is, nullptr);
      std::fprintf(stderr, "%s\n%s\n", ir_text.c_str(), text.c_str());
      internal_error(__FILE__, __LINE__, "generated LLVM IR does not verify");
    }
  }
  optimise(*target, *m.module, options, out);
  separate_mask_words(*m.module);
  split_long_blocks(*m.module);
  if (m.avx512) fence_blends(*m.module);
  move_constants_to_table(*m.module);
  if (options.dump_after == "split" || options.dump_after == "all") {
    llvm::raw_string_ostream s(out.dump);
    s << "; --- after split\n";
    m.module->print(s, nullptr);
  }
  const auto t2 = Clock::now();
  if (options.dump_after == "asm" || options.dump_after == "all")
    out.dump += "; --- after asm\n" + target->assembly(*llvm::CloneModule(*m.module));
  const auto& bytes = target->object(*m.module);
  out.elf.assign(bytes.begin(), bytes.end());
  out.times.push_back({"codegen", ms_since(t2)});
}

}  // namespace
}  // namespace us::codegen

extern "C" __attribute__((visibility("default"))) void understudy_codegen_compile(const us::ir::Module* m,
                                                                                  const char* kernel,
                                                                                  const us::codegen::Variant* v,
                                                                                  const us::codegen::Options* o,
                                                                                  us::codegen::ObjectCode* out) {
  us::codegen::compile(*m, kernel, *v, *o, *out);
}

extern "C" __attribute__((visibility("default"))) void understudy_codegen_line_of(const std::vector<us::u8>* elf,
                                                                                  us::u64 offset, std::string* out) {
  auto buffer = llvm::MemoryBuffer::getMemBuffer(
      llvm::StringRef(reinterpret_cast<const char*>(elf->data()), elf->size()), "", false);
  auto object = llvm::object::ObjectFile::createObjectFile(buffer->getMemBufferRef());
  if (!object) {
    llvm::consumeError(object.takeError());
    return;
  }
  auto dwarf = llvm::DWARFContext::create(**object);
  llvm::object::SectionedAddress at{offset, llvm::object::SectionedAddress::UndefSection};
  for (const auto& s : (*object)->sections())
    if (s.isText() && s.getSize() > offset) {
      at.SectionIndex = s.getIndex();
      break;
    }
  const auto line = dwarf->getLineInfoForAddress(
      at, {llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue, llvm::DILineInfoSpecifier::FunctionNameKind::None});
  if (line.Line) *out = line.FileName + ":" + std::to_string(line.Line);
}
