// SPDX-License-Identifier: Apache-2.0
// Variables of every state space: type, alignment, attributes, dimensions, initial value.
#include "ptx/parser.h"

namespace us::ptx {

u32 bytes_of(isa::Type t) {
  const u32 bits = isa::bits_of(t);
  return t == isa::Type::None || t == isa::Type::pred || bits % 8 != 0 ? 0 : bits / 8;
}

namespace {
constexpr u64 kMaxVariable = 1ull << 40;
bool power_of_two(u32 v) { return v != 0 && (v & (v - 1)) == 0; }
}  // namespace

bool Parser::attribute(VariableType& v) {
  if (!expect('(', "after .attribute")) return false;
  do {
    if (accept_directive(".managed")) {
      v.managed = true;
    } else if (accept_directive(".unified")) {
      if (!expect('(', "after .unified")) return false;
      i64 uuid = 0;
      do {
        if (!constant_int(uuid, "a part of a unified id")) return false;
      } while (accept(','));
      if (!expect(')', "after a unified id")) return false;
    } else {
      return unexpected(".managed or .unified");
    }
  } while (accept(','));
  return expect(')', "after the attributes");
}

// .align, .v2, .attribute, the type, and for parameters .ptr{.space}{.align n}.
bool Parser::variable_type(VariableType& v, bool param) {
  bool pointer = false;
  while (cur_.kind == Token::Kind::Directive) {
    const std::string_view d = cur_.text;
    const SrcLoc loc = cur_.loc();
    advance();
    if (d == ".align") {
      u32 n = 0;
      if (!constant_u32(n, "an alignment", 1u << 20)) return false;
      if (!power_of_two(n)) return error(loc, "an alignment must be a power of two");
      if (!pointer) v.align = n;
    } else if (d == ".v2" || d == ".v4" || d == ".v8") {
      v.elements = static_cast<u32>(d[2] - '0');
    } else if (d == ".attribute") {
      if (!attribute(v)) return false;
    } else if (param && d == ".ptr") {
      pointer = true;
    } else if (param && pointer && (d == ".global" || d == ".shared" || d == ".const" || d == ".local")) {
      continue;
    } else {
      const isa::Type t = isa::type_from(d.substr(1));
      if (t == isa::Type::None) return error(loc, "expected a type, found '" + std::string(d) + "'");
      if (v.type != isa::Type::None) return error(loc, "a second type, '" + std::string(d) + "', in one declaration");
      v.type = t;
    }
  }
  return v.type != isa::Type::None || unexpected("a type");
}

bool Parser::array_dims(ir::Symbol& s, std::vector<u64>& dims, u64 element_bytes) {
  s.size = element_bytes;
  while (accept('[')) {
    const SrcLoc loc = cur_.loc();
    i64 n = 0;
    if (cur_.is(']')) {
      if (!dims.empty()) return error(loc, "only the first dimension may be empty");
      s.unsized = true;
    } else {
      Constant c;
      if (!constant(c)) return false;
      n = static_cast<i64>(c.bits);
      if (c.kind != ir::Operand::Kind::Imm || n < 0) return error(loc, "a dimension must be an integer of at least 0");
      if (static_cast<u64>(n) > kMaxVariable || s.size * static_cast<u64>(n) > kMaxVariable)
        return error(loc, "the variable is too large");
      s.size *= static_cast<u64>(n);
    }
    dims.push_back(static_cast<u64>(n));
    if (!expect(']', "after a dimension")) return false;
  }
  if (s.unsized) s.size = 0;
  return true;
}

// Variables of a function body get the function's name in front, so that names stay unique in the module.
ir::SymId Parser::declare_local(std::string_view name, SrcLoc loc, ir::Symbol s) {
  s.name = fn_.name + "." + std::string(name);
  const u32 same = local_names_[s.name]++;
  if (same != 0) s.name += "." + std::to_string(same + 1);
  s.func = fn_id_;
  const ir::SymId id{static_cast<u32>(module_->symbols.size())};
  module_->symbols.push_back(std::move(s));
  symbol_loc_.push_back(loc);
  symbol_declared_.push_back(true);
  define(name, loc, {Entity::Kind::Symbol, 0, id.v});
  return id;
}

bool Parser::one_variable(isa::Space space, ir::Symbol::Linkage linkage, const VariableType& v) {
  const Token name = cur_;
  if (cur_.kind != Token::Kind::Word) return unexpected("the name of a variable");
  advance();
  const u32 element = bytes_of(v.type);
  if (element == 0) return error(name.loc(), "a variable cannot have type ." + std::string(isa::name_of(v.type)));
  ir::Symbol s;
  s.name = name.text;
  s.space = space;
  s.linkage = linkage;
  s.type = v.type;
  s.align = v.align ? v.align : element * v.elements;
  s.managed = v.managed;
  std::vector<u64> dims;
  if (!array_dims(s, dims, element * v.elements)) return false;
  if (v.elements > 1) dims.push_back(v.elements);
  if (cur_.is('=')) {
    if (space == isa::Space::Local || space == isa::Space::Shared || space == isa::Space::Param)
      return error(cur_.loc(),
                   std::string("a .") + std::string(isa::name_of(space)) + " variable cannot have an initial value");
    if (v.type == isa::Type::samplerref || v.type == isa::Type::texref || v.type == isa::Type::surfref)
      return error(cur_.loc(), "initial values of textures, samplers and surfaces are not implemented");
    advance();
    // Values may name the variable itself, so it is declared first.
    if (scopes_.empty()) global_symbol(name.text, name.loc());
    if (!initializer(s, dims, element)) {
      if (scopes_.empty()) symbol_declared_[global_symbol(name.text, name.loc()).v] = true;
      return false;
    }
  }
  if (s.unsized && linkage != ir::Symbol::Linkage::Extern)
    return error(name.loc(), "an array without size must be .extern or have initial values");
  if (scopes_.empty())
    declare(name.text, name.loc(), std::move(s));
  else
    declare_local(name.text, name.loc(), std::move(s));
  return true;
}

void Parser::variable_statement(isa::Space space, ir::Symbol::Linkage linkage) {
  VariableType v;
  if (at_directive(".tex")) v.type = isa::Type::texref;
  advance();
  bool ok = true;
  if (v.type == isa::Type::texref) {
    if (cur_.kind == Token::Kind::Directive) advance();  // .u32 .u64 of the old form
  } else {
    ok = variable_type(v, false);
  }
  while (ok) {
    ok = one_variable(space, linkage, v);
    if (!ok || !accept(',')) break;
  }
  if (ok)
    end_statement();
  else
    skip_statement();
}

}  // namespace us::ptx
