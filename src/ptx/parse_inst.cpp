// SPDX-License-Identifier: Apache-2.0
// Instructions: guard, mnemonic, operands; branches become terminators.
#include <algorithm>
#include <iterator>

#include "ptx/parser.h"

namespace us::ptx {

using Kind = ir::Operand::Kind;
using TermKind = ir::Terminator::Kind;

bool Parser::guard_prefix(ir::Operand& guard) {
  if (!accept('@')) return true;
  const bool negated = accept('!');
  const SrcLoc loc = cur_.loc();
  if (cur_.kind != Token::Kind::Word) return unexpected("a predicate register after '@'");
  if (!named_operand(guard)) return false;
  if (guard.kind == Kind::Sink) {  // an undeclared register, reported
    guard = {};
    return true;
  }
  if (guard.kind != Kind::Value || reg_types_[guard.value.v] != isa::Type::pred)
    return error(loc, "a guard must be a predicate register");
  guard.negated = negated;
  return true;
}

// mad.f32 without a rounding, as a driver of CUDA 13 takes it: for sm_1x targets it is the only spelling and means
// fma.rn.ftz; later targets have it in older PTX, as fma.rn. An H200 took it with .version 3.0 and refused it with 8.0.
std::string Parser::spelled_now(std::string_view mnemonic) const {
  constexpr u32 kRoundingRequired = 31;  // .version 3.1; what is between was not asked
  static constexpr std::string_view kOld[] = {"mad.f32", "mad.sat.f32", "mad.ftz.f32", "mad.ftz.sat.f32"};
  const bool old_target = module_->sm < 20;
  if (std::find(std::begin(kOld), std::end(kOld), mnemonic) == std::end(kOld) ||
      (!old_target && module_->version >= kRoundingRequired))
    return std::string(mnemonic);
  const std::string_view rest = mnemonic.substr(3);
  return std::string(old_target && !rest.starts_with(".ftz") ? "mad.rn.ftz" : "mad.rn") + std::string(rest);
}

const KnownMnemonic& Parser::known(std::string_view mnemonic) {
  const auto [it, fresh] = mnemonics_.try_emplace(mnemonic);
  KnownMnemonic& k = it->second;
  if (fresh) {
    k.match = isa::match(spelled_now(mnemonic), &k.expected);
    k.operands = &isa::operands_of(k.match.form);
    k.info = &isa::info(k.match.form);
  }
  return k;
}

bool Parser::branch(const KnownMnemonic& m, const ir::Operand& guard) {
  if (cur_.kind != Token::Kind::Word) return unexpected("a label");
  const Token label = cur_;
  advance();
  if (dead_) return true;
  ir::Terminator t;
  t.uni = m.match.toks[static_cast<std::size_t>(isa::Tok::uni)];
  t.loc = source_loc(label);
  t.written = true;
  t.kind = TermKind::Br;
  t.targets = {label_ref(label.text, label.loc())};
  if (guard.kind == Kind::None) {
    terminate(std::move(t));
    return true;
  }
  const u32 on = new_block("");
  t.kind = TermKind::CondBr;
  t.cond = guard;
  t.targets.push_back(ir::BlockId{on});
  terminate(std::move(t));
  block_ = on;
  dead_ = false;
  return true;
}

bool Parser::branch_index(const KnownMnemonic& m, const ir::Operand& guard) {
  ir::Terminator t;
  t.kind = TermKind::Switch;
  t.uni = m.match.toks[static_cast<std::size_t>(isa::Tok::uni)];
  t.loc = source_loc(cur_);
  t.written = true;
  const SrcLoc loc = cur_.loc();
  if (!plain_operand(t.cond, 1)) return false;
  if (t.cond.kind == Kind::Value && isa::bits_of(reg_types_[t.cond.value.v]) != 32)
    return error(loc, "the index of brx.idx is a 32-bit register");
  if (!expect(',', "after the index")) return false;
  Entity e;
  if (cur_.kind != Token::Kind::Word) return unexpected("the label of a .branchtargets list");
  if (!find_local(cur_.text, e) || e.kind != Entity::Kind::BranchTable)
    return error(cur_.loc(), "'" + std::string(cur_.text) + "' is not the label of a .branchtargets list above");
  advance();
  if (dead_) return true;
  for (const LabelRef& r : branch_tables_[e.id]) t.targets.push_back(label_ref(r.name, r.loc));
  if (guard.kind == Kind::None) {
    terminate(std::move(t));
    return true;
  }
  const u32 taken = new_block(""), on = new_block("");
  fn_.blocks[taken].term = std::move(t);
  ir::Terminator c;
  c.kind = TermKind::CondBr;
  c.cond = guard;
  c.loc = source_loc(cur_);
  c.targets = {ir::BlockId{taken}, ir::BlockId{on}};
  terminate(std::move(c));
  block_ = on;
  dead_ = false;
  return true;
}

// True if the mnemonic was one of control flow (and its operands have been parsed).
bool Parser::control_flow(const KnownMnemonic& m, const ir::Operand& guard) {
  bool ok = true;
  switch (m.match.form) {
    case isa::Form::bra:
      ok = branch(m, guard);
      break;
    case isa::Form::brx_idx:
      ok = branch_index(m, guard);
      break;
    case isa::Form::ret:
      leave(fn_.entry ? TermKind::Exit : TermKind::Ret, guard);
      break;
    case isa::Form::exit:
      leave(TermKind::Exit, guard);
      break;
    case isa::Form::trap:
      leave(TermKind::Trap, guard);
      break;
    default:
      return false;
  }
  if (ok)
    end_statement();
  else
    skip_statement();
  return true;
}

// No row: kept with its text, so that a module loads; it fails when a launch reaches it.
void Parser::unknown_instruction(std::string_view mnemonic, const ir::Operand& guard, SrcLoc loc) {
  if (!operands()) return skip_statement();
  end_statement();
  ir::Inst* i = append();
  i->text = mnemonic;
  i->guard = guard;
  i->loc = loc;
  for (RawOperand& r : raw_) i->ops.push_back(std::move(r.op));
}

void Parser::instruction() {
  ir::Operand guard;
  if (!guard_prefix(guard)) return skip_statement();
  if (cur_.kind != Token::Kind::Word) {
    unexpected("an instruction");
    return skip_statement();
  }
  const Token word = cur_;
  std::string_view mnemonic = word.text;
  advance();
  while (cur_.kind == Token::Kind::Directive) {  // "ld .global .u32"
    joined_.push_back(std::string(mnemonic) + std::string(cur_.text));
    mnemonic = joined_.back();
    advance();
  }
  const KnownMnemonic& m = known(mnemonic);
  const SrcLoc loc = source_loc(word);
  if (m.info->needs.starts_with("sm_") && module_->sm < 100)
    error(word.loc(), std::string(mnemonic) + " needs " + std::string(m.info->needs));
  if (m.match.form == isa::Form::Unknown) return unknown_instruction(mnemonic, guard, loc);
  if (control_flow(m, guard)) return;
  if (m.match.form == isa::Form::call) {
    if (call(m, guard, loc))
      end_statement();
    else
      skip_statement();
    return;
  }
  if (!operands()) return skip_statement();
  ir::Inst* i = append();
  i->form = m.match.form;
  i->toks = m.match.toks;
  i->types = m.match.types;
  i->type_count = m.match.type_count;
  i->guard = std::move(guard);
  i->loc = loc;
  place_operands(m, *i, mnemonic, word.loc());
  end_statement();
}

}  // namespace us::ptx
