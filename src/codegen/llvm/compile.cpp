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
#include "codegen/llvm/constant_table.h"
#include "codegen/llvm/fences.h"
#include "codegen/llvm/function_emitter.h"
#include "codegen/llvm/lane_access.h"
#include "codegen/llvm/mask_words.h"
#include "codegen/llvm/split_blocks.h"
#include "codegen/llvm/toolchain.h"
#include "codegen/llvm/vector_selects.h"
#include "codegen/lower/inline_calls.h"
#include "codegen/lower/lower.h"

namespace us::codegen {

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

class Compilation {
 public:
  Compilation(const ir::Module& module, const Variant& variant, const Options& options, ObjectCode& out)
      : options_(options),
        out_(out),
        lowering_(module, CodeFacts(variant, options), watch(options)),
        m_(module, lowering_.facts),
        target_(options.cpu) {}

  void run(const char* kernel) {
    const auto start = Clock::now();
    if (!target_->machine) {
      out_.error = target_->error;
      return;
    }
    m_.avx512 = target_->avx512;
    m_.byte_permutes = target_->byte_permutes;
    m_.module->setDataLayout(target_->machine->createDataLayout());
    m_.module->setTargetTriple(target_->machine->getTargetTriple().str());
    const auto& functions = m_.ir.functions;
    const auto entry = std::ranges::find_if(functions, [&](const auto& f) { return f.entry && f.name == kernel; });
    if (entry == functions.end()) {
      out_.error = std::string("no kernel named ") + kernel;
      return;
    }
    m_.shared_static = entry->shared_bytes;
    m_.shared_unsized = std::ranges::any_of(
        m_.ir.symbols, [](const ir::Symbol& s) { return s.space == isa::Space::Shared && s.unsized; });
    m_.address_taken = address_taken_functions(m_.ir);
    out_.times.push_back({"target", ms_since(start)});
    emit_all(static_cast<u32>(entry - functions.begin()));
    dump(Pass::Emit);
    verify_module();
    target_->optimise(*m_.module, options_.disabled, [&](Pass p, double ms) {
      out_.times.push_back({std::string(name_of(p)), ms});
      dump(p);
    });
    make_object();
  }

 private:
  static PassWatch watch(const Options& o) {
    PassWatch w;
    w.verify = w.verify || o.verify_passes;
    w.dump_after = o.dump_after;
    return w;
  }

  bool wanted(Pass p) const { return options_.dump_after == name_of(p) || options_.dump_after == "all"; }
  void dump(Pass p) {
    if (!wanted(p)) return;
    llvm::raw_string_ostream s(out_.dump);
    s << "; --- after " << name_of(p) << "\n";
    m_.module->print(s, nullptr);
  }

  void emit_all(u32 entry) {
    auto* ptr = llvm::PointerType::getUnqual(m_.context);
    auto* fn = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(m_.context), {ptr, ptr}, false),
                                      llvm::GlobalValue::ExternalLinkage, "kernel", *m_.module);
    set_attributes(fn);
    attach_subprogram(m_, fn, m_.ir.functions[entry]);
    const Lowered kernel = emit(entry, fn);
    out_.its = kernel.its();
    out_.whole_cta = kernel.whole_cta();
    while (!m_.work.empty()) {
      const u32 id = m_.work.back();
      m_.work.pop_back();
      std::size_t insts = 0;
      for (const auto& b : m_.ir.functions[id].blocks) insts += b.insts.size();
      const Lowered l = emit(id, m_.functions[id]);
      if (insts <= 40 && !l.its()) m_.functions[id]->addFnAttr(llvm::Attribute::AlwaysInline);
    }
    if (takes_stack(m_.ir)) out_.local_bytes += device::kAllocaBytes;
    m_.di->finalize();
    out_.yields = out_.yields || !m_.functions.empty();
    for (PassTime& t : lowering_.passes.times()) out_.times.push_back(std::move(t));
    out_.times.push_back({std::string(name_of(Pass::Emit)), emit_ms_});
    out_.dump = std::move(lowering_.passes.dump);
  }

  Lowered emit(u32 id, llvm::Function* to) {
    Lowered l = lower(lowering_, ir::FuncId{id});
    const auto start = Clock::now();
    FunctionState state(m_, l, to);
    FunctionEmitter(state).run();
    emit_ms_ += ms_since(start);
    out_.local_bytes += (l.function.local_bytes + 15) / 16 * 16;
    out_.triggers = out_.triggers || l.triggers;
    out_.yields = out_.yields || (l.analysis.yields && !l.whole_cta());
    out_.shares = out_.shares || l.analysis.shares;
    return l;
  }

  void verify_module() const {
#ifdef NDEBUG
    if (options_.dump_after.empty()) return;
#endif
    std::string text, code;
    llvm::raw_string_ostream s(text), is(code);
    if (!llvm::verifyModule(*m_.module, &s)) return;
    if (!options_.dump_after.empty()) m_.module->print(is, nullptr);
    std::fprintf(stderr, "%s\n%s\n", code.c_str(), text.c_str());
    internal_error(__FILE__, __LINE__, "generated LLVM IR does not verify");
  }

  void make_object() {
    const auto start = Clock::now();
    call_lane_accesses(*m_.module, *target_->machine);
    separate_mask_words(*m_.module);
    split_long_blocks(*m_.module);
    spread_conditions(*m_.module);
    if (m_.avx512) fence_blends(*m_.module);
    move_constants_to_table(*m_.module);
    out_.times.push_back({std::string(name_of(Pass::Split)), ms_since(start)});
    dump(Pass::Split);
    const auto code = Clock::now();
    if (wanted(Pass::Asm)) out_.dump += "; --- after asm\n" + target_->assembly(*llvm::CloneModule(*m_.module));
    const auto& bytes = target_->object(*m_.module);
    out_.elf.assign(bytes.begin(), bytes.end());
    out_.times.push_back({std::string(name_of(Pass::Asm)), ms_since(code)});
  }

  const Options& options_;
  ObjectCode& out_;
  Lowering lowering_;
  ModuleEmitter m_;
  ToolchainLease target_;
  double emit_ms_ = 0;
};

}  // namespace
}  // namespace us::codegen

extern "C" __attribute__((visibility("default"))) void understudy_codegen_compile(const us::ir::Module* m,
                                                                                  const char* kernel,
                                                                                  const us::codegen::Variant* v,
                                                                                  const us::codegen::Options* o,
                                                                                  us::codegen::ObjectCode* out) {
  us::codegen::Compilation(*m, *v, *o, *out).run(kernel);
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
