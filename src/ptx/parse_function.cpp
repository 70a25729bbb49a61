// SPDX-License-Identifier: Apache-2.0
// Function signatures and attributes; the frame around a body.
#include "ptx/parser.h"

namespace us::ptx {

using Linkage = ir::Symbol::Linkage;

bool Parser::one_parameter(std::vector<ir::Param>& list, bool returns) {
  if (at_directive(".hidden"))
    return error(cur_.loc(),
                 "a hidden parameter: the vendor's driver fills it in, and how is not published "
                 "(CUDA Tile: load and store with allow_tma=False)");
  const bool in_register = at_directive(".reg");
  if (!in_register && !at_directive(".param")) return unexpected("'.param' or '.reg'");
  advance();
  VariableType v;
  if (!variable_type(v, true)) return false;
  ir::Param p;
  NewParam named{"_", cur_.loc(), static_cast<u32>(list.size()), returns, in_register};
  if (cur_.kind == Token::Kind::Word) {
    named.name = cur_.text;
    advance();
  }
  const u32 element = bytes_of(v.type);
  if (element == 0) return error(named.loc, "a parameter cannot have type ." + std::string(isa::name_of(v.type)));
  ir::Symbol shape;
  std::vector<u64> dims;
  if (!array_dims(shape, dims, element * v.elements)) return false;
  if (shape.size > 0xffffffffu) return error(named.loc, "the parameter is too large");
  p.name = named.name;
  p.type = v.type;
  p.size = static_cast<u32>(shape.size);
  p.align = v.align ? v.align : element * v.elements;
  list.push_back(std::move(p));
  new_params_.push_back(named);
  return true;
}

bool Parser::parameter_list(std::vector<ir::Param>& list, bool returns) {
  if (!expect('(', "before the parameters")) return false;
  if (accept(')')) return true;
  do {
    if (!one_parameter(list, returns)) return false;
  } while (accept(','));
  return expect(')', "after the parameters");
}

bool Parser::triple(u32 (&out)[3]) {
  for (u32 k = 0; k < 3; ++k) {
    out[k] = 1;
    if (k > 0 && !accept(',')) continue;
    if (!constant_u32(out[k], "a dimension")) return false;
  }
  return true;
}

void Parser::function_attributes(ir::Function& f) {
  while (cur_.kind == Token::Kind::Directive) {
    const std::string_view d = cur_.text;
    if (d == ".pragma") {
      pragma(&f.pragmas);
      continue;
    }
    const SrcLoc loc = cur_.loc();
    advance();
    u32 ignored = 0;
    bool ok = true;
    if (d == ".maxntid")
      ok = triple(f.maxntid);
    else if (d == ".reqntid")
      ok = triple(f.reqntid);
    else if (d == ".minnctapersm")
      ok = constant_u32(f.minnctapersm, ".minnctapersm");
    else if (d == ".maxnctapersm")
      ok = constant_u32(f.maxnctapersm, ".maxnctapersm");
    else if (d == ".maxnreg")
      ok = constant_u32(f.maxnreg, ".maxnreg");
    else if (d == ".reqnctapercluster")
      ok = triple(f.reqnctapercluster);
    else if (d == ".maxclusterrank")
      ok = constant_u32(f.maxclusterrank, ".maxclusterrank");
    else if (d == ".explicitcluster")
      f.explicitcluster = true;
    else if (d == ".blocksareclusters")
      f.blocksareclusters = true;
    else if (d == ".noreturn")
      f.noreturn = true;
    else if (d == ".language") {
      ok = constant_u32(ignored, "a language");
      f.pragmas.push_back("language " + std::to_string(ignored));  // what the compiler translated
    } else if (d == ".abi_preserve" || d == ".abi_preserve_control")
      ok = constant_u32(ignored, "a register count");
    else
      ok = error(loc, "unknown function attribute '" + std::string(d) + "'");
    if (!ok) return;
    accept(',');
  }
}

void Parser::check_signature(const ir::Function& earlier, SrcLoc loc) {
  const auto same = [](const std::vector<ir::Param>& a, const std::vector<ir::Param>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k)
      if (a[k].size != b[k].size) return false;
    return true;
  };
  if (!same(earlier.params, fn_.params) || !same(earlier.rets, fn_.rets))
    error(loc, "'" + fn_.name + "' is declared with other parameters in line " + std::to_string(earlier.loc.line));
}

ir::FuncId Parser::declare_function(const Token& name, bool entry, Linkage linkage) {
  ir::Symbol s;
  s.name = name.text;
  s.kind = ir::Symbol::Kind::Function;
  s.linkage = linkage;
  const ir::SymId id = declare(name.text, name.loc(), std::move(s));
  ir::Symbol& sym = symbol(id);
  if (sym.kind == ir::Symbol::Kind::Function && sym.func.valid()) {
    check_signature(module_->functions[sym.func.v], name.loc());
  } else {
    sym.func = ir::FuncId{static_cast<u32>(module_->functions.size())};
    ir::Function f;
    f.name = name.text;
    f.params = fn_.params;
    f.rets = fn_.rets;
    module_->functions.push_back(std::move(f));
  }
  ir::Function& f = module_->functions[sym.func.v];
  f.sym = id;
  f.entry = entry;
  f.loc = name.loc();
  return sym.func;
}

void Parser::function_statement(bool entry, Linkage linkage) {
  advance();
  fn_ = {};
  fn_.entry = entry;
  new_params_.clear();
  VariableType ignored;
  if (accept_directive(".attribute") && !attribute(ignored)) return skip_statement();
  if (cur_.is('(') && !parameter_list(fn_.rets, true)) return skip_statement();
  const Token name = cur_;
  if (cur_.kind != Token::Kind::Word) {
    unexpected("the name of a function");
    return skip_statement();
  }
  advance();
  fn_.name = name.text;
  fn_.loc = name.loc();
  if (cur_.is('(') && !parameter_list(fn_.params, false)) return skip_statement();
  function_attributes(fn_);
  if (cur_.is('{')) {
    fn_id_ = declare_function(name, entry, linkage);
    ir::Function& slot = module_->functions[fn_id_.v];
    if (slot.defined) error(name.loc(), "function '" + fn_.name + "' has a second body");
    slot.defined = true;
    fn_.defined = true;
    fn_.sym = slot.sym;
    body();
    return;
  }
  if (cur_.is(';')) {
    const ir::FuncId id = declare_function(name, entry, linkage == Linkage::Internal ? Linkage::Extern : linkage);
    module_->functions[id.v].noreturn |= fn_.noreturn;
    advance();
    return;
  }
  unexpected("'{' or ';' after the head of a function");
  skip_statement();
}

void Parser::declare_parameters(bool entry) {
  u32 offset = 0;
  for (const NewParam& n : new_params_) {
    ir::Param& p = (n.ret ? fn_.rets : fn_.params)[n.index];
    if (!n.ret) {
      p.offset = (offset + p.align - 1) & ~(p.align - 1);
      offset = p.offset + p.size;
    }
    ir::Symbol s;
    s.space = isa::Space::Param;
    s.type = p.type;
    s.align = p.align;
    s.size = p.size;
    s.offset = p.offset;
    if (n.in_register) {
      const u32 reg = new_register(p.type, unique_register_name(n.name));
      define(n.name, n.loc, {Entity::Kind::Register, 0, reg});
      s.name = fn_.name + ".." + std::string(n.name);
      s.func = fn_id_;
      p.sym = ir::SymId{static_cast<u32>(module_->symbols.size())};
      module_->symbols.push_back(std::move(s));
      symbol_loc_.push_back(n.loc);
      symbol_declared_.push_back(true);
      register_params_.push_back({reg, p.sym, p.type, n.ret});
      if (entry) error(n.loc, "parameters of an .entry must be .param");
    } else {
      p.sym = declare_local(n.name, n.loc, std::move(s));
    }
  }
  fn_.param_bytes = offset;
}

void Parser::body() {
  scopes_.clear();
  scopes_.emplace_back();
  reg_types_.clear();
  label_refs_.clear();
  reported_.clear();
  local_names_.clear();
  register_params_.clear();
  branch_tables_.clear();
  ret_block_ = exit_block_ = ~0u;
  cc_ = {};
  line_ = {};
  lines_.clear();
  dead_ = false;
  block_ = new_block("");
  declare_parameters(fn_.entry);
  load_register_params();
  const SrcLoc open = cur_.loc();
  advance();
  while (!scopes_.empty() && cur_.kind != Token::Kind::End) statement();
  if (!scopes_.empty()) {
    error(open, "the body of '" + fn_.name + "' has no closing '}'");
    while (!scopes_.empty()) close_scope();
  }
  finish_body();
}

ir::Inst Parser::param_access(const char* opcode, const RegisterParam& p) {
  ir::Inst i;
  const isa::Match m = isa::match(std::string(opcode) + ".param." + std::string(isa::name_of(p.type)));
  i.form = m.form;
  i.toks = m.toks;
  i.types = m.types;
  i.type_count = m.type_count;
  i.loc = fn_.loc;
  ir::Operand address;
  address.kind = ir::Operand::Kind::Address;
  address.sym = p.sym;
  i.ops = {value_operand(p.reg), address, {}};
  if (p.ret) std::swap(i.ops[0], i.ops[1]);
  return i;
}

void Parser::load_register_params() {
  for (const RegisterParam& p : register_params_)
    if (!p.ret) fn_.blocks[block_].insts.push_back(param_access("ld", p));
}

void Parser::store_register_returns(ir::Block& b) {
  for (const RegisterParam& p : register_params_)
    if (p.ret) b.insts.push_back(param_access("st", p));
}

// A function that uses alloca gives its memory back when it returns.
void Parser::give_stack_back() {
  bool takes = false;
  for (const ir::Block& b : fn_.blocks)
    for (const ir::Inst& i : b.insts) takes |= i.form == isa::Form::alloca;
  if (!takes || fn_.entry) return;
  const u32 saved = new_register(isa::Type::u64, "%stack");
  const auto make = [&](const char* mnemonic) {
    ir::Inst i;
    const isa::Match m = isa::match(mnemonic);
    i.form = m.form, i.toks = m.toks, i.types = m.types, i.type_count = m.type_count;
    i.loc = fn_.loc;
    i.ops = {value_operand(saved)};
    return i;
  };
  fn_.blocks[0].insts.insert(fn_.blocks[0].insts.begin(), make("stacksave.u64"));
  for (ir::Block& b : fn_.blocks)
    if (b.term.kind == ir::Terminator::Kind::Ret) b.insts.push_back(make("stackrestore.u64"));
}

void Parser::finish_body() {
  if (!dead_) {
    const u32 last = block_;
    leave(fn_.entry ? ir::Terminator::Kind::Exit : ir::Terminator::Kind::Ret, {});
    fn_.blocks[last].term.written = false;
  }
  if (ret_block_ != ~0u) store_register_returns(fn_.blocks[ret_block_]);
  give_stack_back();
  constexpr u32 kRef = 0x80000000u;
  for (ir::Block& b : fn_.blocks)
    for (ir::BlockId& t : b.term.targets)
      if (t.v & kRef) {
        const u32 to = label_refs_[t.v & ~kRef].block;
        t.v = to == ~0u ? 0 : to;  // an undefined label has been reported
      }
  module_->functions[fn_id_.v] = std::move(fn_);
  fn_ = {};
}

}  // namespace us::ptx
