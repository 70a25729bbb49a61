// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/module_emitter.h"

#include <llvm/IR/MDBuilder.h>

#include "ir/sites.h"

namespace us::codegen {

ModuleEmitter::ModuleEmitter(const ir::Module& m, const CodeFacts& f)
    : ir(m), facts(f), leaders(f.records() ? ir::block_begins(m) : std::vector<bool>()) {
  module = std::make_unique<llvm::Module>(m.name, context);
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

void attach_subprogram(ModuleEmitter& m, llvm::Function* out, const ir::Function& f) {
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

llvm::MDNode* ModuleEmitter::memory_tag(isa::Space s) {
  using isa::Space;
  if (!any_tag) {
    llvm::MDBuilder md(context);
    auto tag = [&](llvm::MDNode* type) { return md.createTBAAStructTagNode(type, type, 0); };
    auto* root = md.createTBAARoot("memory");
    auto* program = md.createTBAAScalarTypeNode("program", root);
    any_tag = tag(program);
    shared_tag = tag(md.createTBAAScalarTypeNode("shared", program));
    global_tag = tag(md.createTBAAScalarTypeNode("global", program));
    runtime_tag = tag(md.createTBAAScalarTypeNode("runtime", root));
  }
  switch (s) {
    case Space::Shared:
    case Space::SharedCluster:
      return shared_tag;
    case Space::Global:
      return global_tag;
    case Space::Param:
      return runtime_tag;
    default:
      return any_tag;
  }
}

}  // namespace us::codegen
