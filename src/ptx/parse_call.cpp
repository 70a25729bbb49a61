// SPDX-License-Identifier: Apache-2.0
// call, and the declarations that indirect calls and branches name: .callprototype, .calltargets, .branchtargets.
#include "ptx/parser.h"

namespace us::ptx {

using Kind = ir::Operand::Kind;

bool Parser::call_list(std::vector<ir::Operand>& list) {
  if (!expect('(', "before the arguments of a call")) return false;
  if (accept(')')) return true;
  do {
    ir::Operand o;
    const SrcLoc loc = cur_.loc();
    if (!plain_operand(o, 1)) return false;
    if (o.kind == Kind::Address || o.kind == Kind::Vector)
      return error(loc, "an argument is a name, a register or a number");
    list.push_back(std::move(o));
  } while (accept(','));
  return expect(')', "after the arguments of a call");
}

bool Parser::call_prototype_name(ir::Inst::Call& c) {
  Entity e;
  if (cur_.kind != Token::Kind::Word) return unexpected("a prototype or call target list");
  const bool found =
      find_local(cur_.text, e) && (e.kind == Entity::Kind::Prototype || e.kind == Entity::Kind::CallTable);
  if (!found)
    return error(cur_.loc(),
                 "'" + std::string(cur_.text) + "' is not the label of a .callprototype or .calltargets above");
  c.proto = e.id;
  advance();
  return true;
}

bool Parser::check_call(const ir::Inst::Call& c, SrcLoc loc) {
  const std::vector<ir::Param>*params = nullptr, *rets = nullptr;
  std::string name = "the callee";
  if (c.proto != ~0u) {
    params = &module_->protos[c.proto].params;
    rets = &module_->protos[c.proto].rets;
  } else if (symbol_declared_[c.callee.v] && symbol(c.callee).kind == ir::Symbol::Kind::Function &&
             symbol(c.callee).func.valid()) {
    const ir::Symbol& s = symbol(c.callee);
    // The function being parsed is still in fn_.
    const ir::Function& f = s.func == fn_id_ ? fn_ : module_->functions[s.func.v];
    params = &f.params;
    rets = &f.rets;
    name = "'" + f.name + "'";
  }
  if (!params) return true;
  const bool variadic = !params->empty() && params->back().size == 0;
  if (c.rets.size() != rets->size())
    return error(loc,
                 name + " returns " + std::to_string(rets->size()) + " values, not " + std::to_string(c.rets.size()));
  if (variadic ? c.args.size() + 1 < params->size() : c.args.size() != params->size())
    return error(
        loc, name + " takes " + std::to_string(params->size()) + " arguments, not " + std::to_string(c.args.size()));
  return true;
}

// call{.uni} {(rets),} target {, (args)} {, prototype};
bool Parser::call(const KnownMnemonic& m, const ir::Operand& guard, SrcLoc loc) {
  ir::Inst::Call c;
  const SrcLoc at = cur_.loc();
  if (cur_.is('(') && (!call_list(c.rets) || !expect(',', "after the results of a call"))) return false;
  if (cur_.kind != Token::Kind::Word) return unexpected("the function to call");
  const SrcLoc target_loc = cur_.loc();
  ir::Operand target;
  if (!named_operand(target)) return false;
  if (target.kind == Kind::Symbol && target.imm == 0) {
    c.callee = target.sym;
  } else if (target.kind == Kind::Value) {
    c.target = std::move(target);
  } else if (target.kind != Kind::Sink) {
    return error(target_loc, "a call needs the name of a function or a register");
  }
  while (accept(',')) {
    if (cur_.is('(')) {
      if (!call_list(c.args)) return false;
    } else {
      if (!call_prototype_name(c)) return false;
      break;
    }
  }
  if (target.kind == Kind::Sink) return true;
  const bool indirect = c.target.kind == Kind::Value;
  if (indirect && c.proto == ~0u) return error(at, "an indirect call needs a prototype");
  if (!indirect) c.proto = ~0u;
  if (!check_call(c, at)) return true;
  ir::Inst* i = append();
  i->form = m.match.form;
  i->toks = m.match.toks;
  i->guard = guard;
  i->loc = loc;
  i->call.push_back(std::move(c));
  return true;
}

void Parser::define_prototype(std::string_view name, SrcLoc loc, ir::Proto p) {
  p.name = name;
  define(name, loc, {Entity::Kind::Prototype, 0, static_cast<u32>(module_->protos.size())});
  module_->protos.push_back(std::move(p));
}

// label: .callprototype {(rets)} _ {(params)} {.noreturn};
void Parser::call_prototype(std::string_view name, SrcLoc loc) {
  advance();
  ir::Proto p;
  ir::Function attributes;
  if (cur_.is('(') && !parameter_list(p.rets, true)) return skip_statement();
  if (cur_.kind != Token::Kind::Word) {
    unexpected("'_' in a prototype");
    return skip_statement();
  }
  advance();
  if (cur_.is('(') && !parameter_list(p.params, false)) return skip_statement();
  function_attributes(attributes);
  define_prototype(name, loc, std::move(p));
  end_statement();
}

// label: .calltargets f, g;  All targets have one signature.
void Parser::call_targets(std::string_view name, SrcLoc loc) {
  advance();
  ir::Proto p;
  bool first = true;
  do {
    if (cur_.kind != Token::Kind::Word) {
      unexpected("the name of a function");
      return skip_statement();
    }
    const ir::SymId f = global_symbol(cur_.text, cur_.loc());
    if (!symbol_declared_[f.v] || !symbol(f).func.valid()) {
      error(cur_.loc(), "'" + std::string(cur_.text) + "' is not a function declared above");
    } else if (first) {
      const ir::Function& g = symbol(f).func == fn_id_ ? fn_ : module_->functions[symbol(f).func.v];
      p.params = g.params;
      p.rets = g.rets;
      first = false;
    }
    advance();
  } while (accept(','));
  define_prototype(name, loc, std::move(p));
  end_statement();
}

// label: .branchtargets L0, L1, ..;
void Parser::branch_targets(std::string_view name, SrcLoc loc) {
  advance();
  std::vector<LabelRef> targets;
  do {
    if (cur_.kind != Token::Kind::Word) {
      unexpected("a label");
      return skip_statement();
    }
    targets.push_back({cur_.text, cur_.loc(), ~0u});
    advance();
  } while (accept(','));
  define(name, loc, {Entity::Kind::BranchTable, 0, static_cast<u32>(branch_tables_.size())});
  branch_tables_.push_back(std::move(targets));
  end_statement();
}

}  // namespace us::ptx
