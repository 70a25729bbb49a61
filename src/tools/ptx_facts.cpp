// SPDX-License-Identifier: Apache-2.0
#include "tools/ptx_facts.h"

#include <fmt/format.h>

#include "base/demangle.h"

namespace us::tools {
namespace {

std::string name_of(ir::Width w) {
  constexpr const char* names[] = {"pred", "b8", "b16", "b32", "b64", "b128"};
  return names[static_cast<int>(w)];
}

bool has_semantics(const isa::FormInfo& form) {
  return form.semantics != "sem_todo" && form.semantics != "none" && !form.semantics.empty();
}

void count_instruction(const ir::Inst& inst, ModuleFacts& out) {
  if (inst.form == isa::Form::Unknown) {
    ++out.unknown[inst.text];
    return;
  }
  const isa::FormInfo& form = isa::info(inst.form);
  ++(has_semantics(form) ? out.implemented : out.unimplemented)[std::string(form.pattern)];
}

std::vector<std::string> limits_of(const ir::Function& f) {
  std::vector<std::string> out;
  const auto three = [&](const char* word, const u32(&v)[3]) {
    if (v[0]) out.push_back(fmt::format("{} {},{},{}", word, v[0], v[1], v[2]));
  };
  const auto one = [&](const char* word, u32 v) {
    if (v) out.push_back(fmt::format("{} {}", word, v));
  };
  three(".maxntid", f.maxntid);
  three(".reqntid", f.reqntid);
  one(".minnctapersm", f.minnctapersm);
  one(".maxnctapersm", f.maxnctapersm);
  one(".maxnreg", f.maxnreg);
  three(".reqnctapercluster", f.reqnctapercluster);
  one(".maxclusterrank", f.maxclusterrank);
  if (f.explicitcluster) out.emplace_back(".explicitcluster");
  return out;
}

FunctionFacts examine_function(const ir::Function& f, ModuleFacts& module) {
  FunctionFacts out;
  out.name = f.name;
  out.readable = demangled(f.name);
  out.kernel = f.entry;
  for (const ir::Param& p : f.params)
    out.parameters.push_back({p.name, std::string(isa::name_of(p.type)), p.size, p.align});
  out.parameter_bytes = f.param_bytes;
  out.shared_bytes = f.shared_bytes;
  out.local_bytes = f.local_bytes;
  for (const ir::Width w : f.regs) ++out.registers[name_of(w)];
  out.blocks = static_cast<u32>(f.blocks.size());
  for (const ir::Block& b : f.blocks) {
    out.instructions += static_cast<u32>(b.insts.size());
    for (const ir::Inst& i : b.insts) count_instruction(i, module);
  }
  out.limits = limits_of(f);
  return out;
}

}  // namespace

ModuleFacts examine_module(const ir::Module& m) {
  ModuleFacts out;
  out.target = m.target;
  out.version = m.version;
  for (const ir::Function& f : m.functions) {
    if (!f.defined) {
      out.external.push_back(f.name);
      continue;
    }
    out.functions.push_back(examine_function(f, out));
    out.instructions += out.functions.back().instructions;
  }
  return out;
}

}  // namespace us::tools
