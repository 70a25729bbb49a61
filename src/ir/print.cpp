// SPDX-License-Identifier: Apache-2.0
// The text form of functions: --dump-after and ptxdump.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/ir.h"

namespace us::ir {
namespace {

class Printer {
 public:
  Printer(const Module* m, const Function* f) : m_(m), f_(f) {}

  std::string value(ValueId v) const {
    if (!v.valid()) return "%none";
    if (f_ && v.v < f_->reg_names.size() && !f_->reg_names[v.v].empty() && !f_->ssa) return f_->reg_names[v.v];
    return fmt::format("%{}", v.v);
  }
  std::string symbol(SymId s) const {
    return m_ && s.v < m_->symbols.size() ? "@" + m_->symbols[s.v].name : fmt::format("@{}", s.v);
  }
  std::string offset(i64 imm) const { return imm ? fmt::format("{:+}", imm) : std::string(); }

  std::string list(const std::vector<Operand>& ops, std::size_t from = 0) const {
    std::string s;
    for (std::size_t k = from; k < ops.size(); ++k) s += (k > from ? ", " : "") + operand(ops[k]);
    return s;
  }

  std::string operand(const Operand& o) const {
    const std::string neg = o.negated ? "!" : "";
    switch (o.kind) {
      case Operand::Kind::None:
        return "-";
      case Operand::Kind::Value: {
        if (o.comp == 7) return fmt::format("{}.sel{:x}", value(o.value), o.imm);
        if (o.comp >= 5) return fmt::format("{}.h{}", value(o.value), o.comp - 5);
        if (o.comp >= 1) return fmt::format("{}.b{}", value(o.value), o.comp - 1);
        return neg + value(o.value);
      }
      case Operand::Kind::Imm:
        return fmt::format("{}", o.imm);
      case Operand::Kind::ImmF32:
        return fmt::format("0f{:08X}", static_cast<u32>(o.imm));
      case Operand::Kind::ImmF64:
        return fmt::format("0d{:016X}", static_cast<u64>(o.imm));
      case Operand::Kind::Symbol:
        return symbol(o.sym) + offset(o.imm);
      case Operand::Kind::SReg: {
        const auto& r = isa::info(o.sreg);
        return r.components > 1 ? fmt::format("%{}.{}", r.name, "xyzw"[o.comp]) : fmt::format("%{}", r.name);
      }
      case Operand::Kind::Address:
        if (o.value.valid()) return "[" + value(o.value) + offset(o.imm) + "]";
        if (o.sym.valid()) return "[" + symbol(o.sym) + offset(o.imm) + "]";
        return fmt::format("[{:#x}]", o.imm);
      case Operand::Kind::Vector:
        return "{" + list(o.elems) + "}";
      case Operand::Kind::Sink:
        return "_";
    }
    return "?";
  }

  // The row's id with types and modifiers, then operands in the order of the row.
  std::string inst(const Inst& i) const {
    std::string s;
    if (i.guard.kind != Operand::Kind::None) s += "@" + operand(i.guard) + " ";
    s += i.form == isa::Form::Unknown ? "unknown(" + i.text + ")" : std::string(isa::info(i.form).id);
    for (u32 k = 0; k < i.type_count; ++k) s += "." + std::string(isa::name_of(i.types[k]));
    std::string mods;
    for (std::size_t t = 1; t < i.toks.size(); ++t)
      if (i.toks[t]) mods += (mods.empty() ? "" : " ") + std::string(isa::name_of(static_cast<isa::Tok>(t)));
    if (!mods.empty()) s += "<" + mods + ">";
    if (!i.ops.empty()) s += " " + list(i.ops);
    for (const auto& c : i.call) {
      s += " (" + list(c.rets) + ") = " + (c.callee.valid() ? symbol(c.callee) : operand(c.target)) + "(" +
           list(c.args) + ")";
      if (c.proto != ~0u) s += fmt::format(" proto{}", c.proto);
    }
    if (!i.merge.empty()) s += " merge " + list(i.merge);
    if (!i.roots.empty()) s += " roots " + list(i.roots);
    if (i.late.named) s += i.late.keys.empty() ? " late" : fmt::format(" late {{{}}}", fmt::join(i.late.keys, ", "));
    return s;
  }

  std::string terminator(const Terminator& t) const {
    static constexpr const char* kNames[] = {"br", "condbr", "switch", "exit", "ret", "trap", "unreachable"};
    std::string s = kNames[static_cast<int>(t.kind)];
    if (t.uni) s += ".uni";
    if (t.cond.kind != Operand::Kind::None) s += " " + operand(t.cond);
    for (std::size_t k = 0; k < t.targets.size(); ++k)
      s += fmt::format("{} block{}", k || t.cond.kind != Operand::Kind::None ? "," : "", t.targets[k].v);
    return s;
  }

 private:
  const Module* m_;
  const Function* f_;
};

std::string at(const SrcLoc& l) {
  if (!l.line) return "";
  std::string s = l.file ? fmt::format("  // file {} line {}", l.file, l.line) : fmt::format("  // line {}", l.line);
  return l.inlined ? s + fmt::format(" inlined {}", l.inlined) : s;
}

std::string params(const std::vector<Param>& list) {
  std::string s;
  for (const Param& p : list)
    s += fmt::format("{}{} {}[{}] align {} at {}", s.empty() ? "" : ", ", isa::name_of(p.type), p.name, p.size, p.align,
                     p.offset);
  return s;
}

std::string function_text(const Module* m, const Function& f) {
  const Printer p(m, &f);
  std::string s = fmt::format("{} {}({})", f.entry ? "entry" : "func", f.name, params(f.params));
  if (!f.rets.empty()) s += " -> (" + params(f.rets) + ")";
  s += fmt::format(" regs={} local={} shared={}{}\n", f.regs.size(), f.local_bytes, f.shared_bytes,
                   f.defined ? "" : " (declared)");
  for (std::size_t b = 0; b < f.blocks.size(); ++b) {
    const Block& block = f.blocks[b];
    s += fmt::format("block{}:{}", b, block.label.empty() ? "" : "  // " + block.label);
    if (!block.preds.empty()) {
      s += block.label.empty() ? "  // from" : " from";
      for (const BlockId id : block.preds) s += fmt::format(" block{}", id.v);
    }
    s += "\n";
    for (const Phi& phi : block.phis) s += fmt::format("  {} = phi {}\n", p.value(phi.dest), p.list(phi.in));
    for (const Inst& i : block.insts) s += "  " + p.inst(i) + at(i.loc) + "\n";
    s += "  " + p.terminator(block.term) + at(block.term.loc) + "\n";
  }
  return s;
}

}  // namespace

std::string to_text(const Function& f) { return function_text(nullptr, f); }
std::string to_text(const Module& m, const Inst& i) { return Printer(&m, nullptr).inst(i); }
std::string to_text(const Module& m, const Function& f) { return function_text(&m, f); }

std::string to_text(const Module& m) {
  std::string s =
      fmt::format("module {} version {}.{} target {} sm {}\n", m.name, m.version / 10, m.version % 10, m.target, m.sm);
  for (const Symbol& v : m.symbols) {
    if (v.kind != Symbol::Kind::Variable || v.space == isa::Space::Param) continue;
    static constexpr const char* kLinkage[] = {"internal", "visible", "extern", "weak", "common"};
    s += fmt::format("{} {} {} @{}[{}] align {} at {} init {} relocs {}{}{}\n", kLinkage[static_cast<int>(v.linkage)],
                     isa::name_of(v.space), isa::name_of(v.type), v.name, v.size, v.align, v.offset, v.init.size(),
                     v.relocs.size(), v.managed ? " managed" : "", v.unsized ? " unsized" : "");
  }
  for (std::size_t k = 1; k < m.inlined.size(); ++k) {
    const InlinedCall& c = m.inlined[k];
    s += fmt::format("inlined {}: {} at{}\n", k, c.function.empty() ? "?" : c.function, at(c.at).substr(4));
  }
  for (const Function& f : m.functions) s += function_text(&m, f);
  return s;
}

}  // namespace us::ir
