// SPDX-License-Identifier: Apache-2.0
// Statements of a body that are not instructions: scopes, registers, labels, .loc.
#include "ptx/parser.h"

namespace us::ptx {
namespace {

constexpr u64 kMaxRegisters = 1u << 22;

}  // namespace

ir::Operand value_operand(u32 reg) {
  ir::Operand o;
  o.kind = ir::Operand::Kind::Value;
  o.value.v = reg;
  return o;
}

// ---- names ----

void Parser::open_scope() { scopes_.emplace_back(); }

void Parser::resolve_labels(Scope& closing, Scope* outer) {
  for (const u32 ref : closing.label_refs) {
    LabelRef& r = label_refs_[ref];
    const auto it = closing.names.find(r.name);
    if (it != closing.names.end() && it->second.kind == Entity::Kind::Label)
      r.block = it->second.id;
    else if (outer)
      outer->label_refs.push_back(ref);
    else
      error(r.loc, "label '" + std::string(r.name) + "' is not defined in '" + fn_.name + "'");
  }
}

void Parser::close_scope() {
  resolve_labels(scopes_.back(), scopes_.size() > 1 ? &scopes_[scopes_.size() - 2] : nullptr);
  scopes_.pop_back();
}

bool Parser::define(std::string_view name, SrcLoc loc, Entity e) {
  if (name == "_") return true;
  Entity in_range;
  if (scopes_.back().names.emplace(name, e).second && !find_range(scopes_.back(), name, in_range)) return true;
  return error(loc, "'" + std::string(name) + "' is already defined in this scope");
}

// %r12 belongs to %r<20>; leading zeros make another name.
bool Parser::find_range(const Scope& s, std::string_view name, Entity& out) const {
  for (const RegisterRange& r : s.ranges) {
    const std::size_t p = r.prefix.size();
    if (name.size() <= p || name.size() > p + 8 || name.compare(0, p, r.prefix) != 0) continue;
    if (name[p] == '0' && name.size() > p + 1) continue;
    u32 n = 0;
    bool digits = true;
    for (std::size_t k = p; k < name.size(); ++k) {
      digits = digits && name[k] >= '0' && name[k] <= '9';
      n = n * 10 + static_cast<u32>(name[k] - '0');
    }
    if (!digits || n >= r.count) continue;
    out = {Entity::Kind::Register, 0, r.first + n};
    return true;
  }
  return false;
}

bool Parser::find_local(std::string_view name, Entity& out) const {
  for (std::size_t k = scopes_.size(); k-- > 0;) {
    if (find_range(scopes_[k], name, out)) return true;
    if (const auto it = scopes_[k].names.find(name); it != scopes_[k].names.end()) {
      out = it->second;
      return true;
    }
  }
  return false;
}

u32 Parser::new_register(isa::Type t, std::string name) {
  fn_.regs.push_back(ir::width_of(t));
  fn_.reg_names.push_back(std::move(name));
  reg_types_.push_back(t);
  return static_cast<u32>(fn_.regs.size() - 1);
}

// Registers of inner scopes get the number of the scope's first register behind their name.
std::string Parser::unique_register_name(std::string_view name) const {
  std::string s(name);
  if (scopes_.size() > 1) s += "@" + std::to_string(fn_.regs.size());
  return s;
}

// ---- declarations ----

bool Parser::one_register(isa::Type type, u32 elements) {
  const Token name = cur_;
  if (cur_.kind != Token::Kind::Word) return unexpected("the name of a register");
  if (name.text.find('.') != std::string_view::npos) return error(name.loc(), "a register name cannot contain '.'");
  advance();
  if (!accept('<')) {
    const u32 first = static_cast<u32>(fn_.regs.size());
    const std::string full = unique_register_name(name.text);
    for (u32 k = 0; k < elements; ++k) new_register(type, elements > 1 && k < 4 ? full + "." + "xyzw"[k] : full);
    return define(name.text, name.loc(), {Entity::Kind::Register, static_cast<u8>(elements > 1 ? elements : 0), first});
  }
  u32 count = 0;
  if (!constant_u32(count, "a register count", kMaxRegisters)) return false;
  if (!expect('>', "after the register count")) return false;
  if (fn_.regs.size() + count > kMaxRegisters) return error(name.loc(), "too many registers in one function");
  for (const RegisterRange& r : scopes_.back().ranges)
    if (r.prefix == name.text)
      return error(name.loc(), "'" + std::string(name.text) + "<..>' is already defined in this scope");
  const RegisterRange range{name.text, count, static_cast<u32>(fn_.regs.size())};
  const std::string suffix = scopes_.size() > 1 ? "@" + std::to_string(fn_.regs.size()) : std::string();
  fn_.regs.resize(fn_.regs.size() + count, ir::width_of(type));
  reg_types_.resize(fn_.regs.size(), type);
  fn_.reg_names.reserve(fn_.regs.size());
  for (u32 k = 0; k < count; ++k) fn_.reg_names.push_back(std::string(name.text) + std::to_string(k) + suffix);
  scopes_.back().ranges.push_back(range);
  return true;
}

void Parser::register_declaration() {
  advance();
  VariableType v;
  bool ok = variable_type(v, false);
  if (ok && v.type != isa::Type::pred && isa::bits_of(v.type) > 128)
    ok = error(cur_.loc(), "a register cannot have type ." + std::string(isa::name_of(v.type)));
  while (ok) {
    ok = one_register(v.type, v.elements);
    if (!ok || !accept(',')) break;
  }
  if (ok)
    end_statement();
  else
    skip_statement();
}

// .loc file line column{, function_name label{+n}, inlined_at file line column}
void Parser::body_directive() {
  const std::string_view d = cur_.text;
  if (d == ".reg") return register_declaration();
  if (d == ".loc" || d == ".loc_intermediate") return loc_directive();
  if (d == ".pragma") return pragma(&fn_.pragmas);
  if (d == ".file") return file_directive();
  if (d == ".section") return section();
  ir::Symbol::Linkage linkage = ir::Symbol::Linkage::Internal;
  if (accept_directive(".extern")) linkage = ir::Symbol::Linkage::Extern;
  if (at_directive(".shared")) return variable_statement(isa::Space::Shared, linkage);
  if (at_directive(".local")) return variable_statement(isa::Space::Local, linkage);
  if (at_directive(".param")) return variable_statement(isa::Space::Param, linkage);
  if (at_directive(".global")) return variable_statement(isa::Space::Global, linkage);
  if (at_directive(".const")) return variable_statement(isa::Space::Const, linkage);
  if (cur_.kind == Token::Kind::Directive)
    error(cur_.loc(), "'" + std::string(cur_.text) + "' cannot stand in a function body");
  else
    unexpected("a state space");
  skip_statement();
}

void Parser::label_statement() {
  const Token name = cur_;
  advance();
  advance();
  if (at_directive(".branchtargets")) return branch_targets(name.text, name.loc());
  if (at_directive(".calltargets")) return call_targets(name.text, name.loc());
  if (at_directive(".callprototype")) return call_prototype(name.text, name.loc());
  const u32 b = new_block(std::string(name.text));
  define(name.text, name.loc(), {Entity::Kind::Label, 0, b});
  start_block(b);
}

void Parser::statement() {
  switch (cur_.kind) {
    case Token::Kind::Directive:
      return body_directive();
    case Token::Kind::Word:
      if (ahead().is(':')) return label_statement();
      return instruction();
    case Token::Kind::Punct:
      if (cur_.is('@')) return instruction();
      if (cur_.is('{') || cur_.is('}') || cur_.is(';')) {
        if (cur_.is('{')) open_scope();
        if (cur_.is('}')) close_scope();
        advance();
        return;
      }
      break;
    default:
      break;
  }
  unexpected("an instruction, a label or a directive");
  skip_statement();
}

}  // namespace us::ptx
