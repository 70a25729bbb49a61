// SPDX-License-Identifier: Apache-2.0
// Operands as written: registers, constants, names with offsets, special registers, addresses, vectors.
#include "ptx/parser.h"

namespace us::ptx {

using Kind = ir::Operand::Kind;

bool Parser::offset_suffix(i64& offset) {
  while (cur_.is('+') || cur_.is('-')) {
    const bool minus = cur_.is('-');
    const SrcLoc loc = cur_.loc();
    advance();
    Constant c;
    if (!constant(c, 11)) return false;
    if (c.kind != Kind::Imm) return error(loc, "an offset must be an integer");
    offset = static_cast<i64>(static_cast<u64>(offset) + (minus ? 0 - c.bits : c.bits));
  }
  return true;
}

bool Parser::special_register(ir::Operand& o, std::string_view base, std::string_view suffix) {
  const isa::SReg r = base.starts_with('%') ? isa::sreg_from(base.substr(1)) : isa::SReg::None;
  if (r == isa::SReg::None) return false;
  const std::size_t comp = suffix.size() == 1 ? std::string_view("xyzw").find(suffix[0]) : std::string_view::npos;
  const bool vector = isa::info(r).components > 1;
  if (vector != (comp != std::string_view::npos) || (!vector && !suffix.empty()))
    error(cur_.loc(),
          "'" + std::string(base) + "' is read " + (vector ? "as .x, .y, .z or .w" : "without a component"));
  o.kind = Kind::SReg;
  o.sreg = r;
  o.comp = vector && comp < 4 ? static_cast<u8>(comp) : 0;
  return true;
}

// Components of vector registers, and the byte and half-word selectors of video instructions.
bool Parser::with_component(ir::Operand& o, const Entity& e, std::string_view suffix) {
  o = value_operand(e.id);
  if (e.elements) {
    if (suffix.empty()) {
      o = {};
      o.kind = Kind::Vector;
      for (u32 k = 0; k < e.elements; ++k) o.elems.push_back(value_operand(e.id + k));
      return true;
    }
    std::size_t c = std::string_view("xyzw").find(suffix);
    if (c == std::string_view::npos) c = std::string_view("rgba").find(suffix);
    if (suffix.size() != 1 || c >= e.elements) return error(cur_.loc(), "no component ." + std::string(suffix));
    o.value.v += static_cast<u32>(c);
    return true;
  }
  if (suffix.empty()) return true;
  const bool bytes = suffix[0] == 'b', halves = suffix[0] == 'h';
  if ((!bytes && !halves) || suffix.size() < 2 || suffix.size() > 5)
    return error(cur_.loc(), "no component ." + std::string(suffix));
  for (const char c : suffix.substr(1)) {
    if (c < '0' || c > (suffix.size() > 2 ? (bytes ? '7' : '3') : (bytes ? '3' : '1')))
      return error(cur_.loc(), "no component ." + std::string(suffix));
    o.imm = o.imm << 4 | (c - '0');
  }
  if (suffix.size() > 2) {
    o.comp = 7;
  } else {
    o.comp = static_cast<u8>((bytes ? 1 : 5) + o.imm);
    o.imm = 0;
  }
  return true;
}

bool Parser::named_operand(ir::Operand& o) {
  const Token t = cur_;
  const std::size_t dot = t.text.find('.');
  const std::string_view base = t.text.substr(0, dot);
  const std::string_view suffix = dot == std::string_view::npos ? std::string_view() : t.text.substr(dot + 1);
  if (base == "_") {
    advance();
    o.kind = Kind::Sink;
    return true;
  }
  Entity e;
  const bool local = find_local(base, e);
  if (local && e.kind == Entity::Kind::Register) {
    const bool ok = with_component(o, e, suffix);
    advance();
    return ok;
  }
  if (local && e.kind != Entity::Kind::Symbol)
    return error(t.loc(), "'" + std::string(base) + "' is a label, not an operand");
  if (!local && special_register(o, base, suffix)) {
    advance();
    return true;
  }
  if (!local && base.starts_with('%')) {
    if (reported_.insert(base).second) error(t.loc(), "register '" + std::string(base) + "' is not declared");
    advance();
    o.kind = Kind::Sink;  // stands for anything, so that one mistake is one message
    return true;
  }
  if (!suffix.empty()) return error(t.loc(), "'" + std::string(base) + "' has no component ." + std::string(suffix));
  o.kind = Kind::Symbol;
  o.sym = local ? ir::SymId{e.id} : global_symbol(base, t.loc());
  advance();
  if (cur_.is('[')) {  // name[index] is the address of an element
    advance();
    i64 index = 0;
    if (!constant_int(index, "an index") || !expect(']', "after an index")) return false;
    o.imm = static_cast<i64>(static_cast<u64>(index) * bytes_of(symbol(o.sym).type));
  }
  return offset_suffix(o.imm);
}

bool Parser::vector_operand(ir::Operand& o, int depth) {
  if (depth > 0) return error(cur_.loc(), "a vector cannot contain a vector");
  advance();
  o.kind = Kind::Vector;
  if (accept('}')) return true;
  do {
    ir::Operand e;
    if (!plain_operand(e, depth + 1)) return false;
    o.elems.push_back(std::move(e));
  } while (accept(','));
  return expect('}', "after the elements of a vector");
}

bool Parser::plain_operand(ir::Operand& o, int depth) {
  if (cur_.is('!')) {
    // !p, or a constant expression that begins so
    if (ahead().kind == Token::Kind::Word && ahead().text != "WARP_SZ") {
      advance();
      if (!named_operand(o)) return false;
      o.negated = true;
      return true;
    }
  }
  if (cur_.is('-') && ahead().kind == Token::Kind::Word && ahead().text.starts_with('%')) {  // -a of vmad
    advance();
    if (!named_operand(o)) return false;
    o.negated = true;
    return true;
  }
  if (cur_.is('{')) return vector_operand(o, depth);
  if (cur_.kind == Token::Kind::Word && cur_.text != "WARP_SZ") return named_operand(o);
  Constant c;
  if (!constant(c)) return false;
  o.kind = c.kind;
  o.imm = static_cast<i64>(c.bits);
  return true;
}

// [base + offset], or [map, {coordinates}] and [texture, sampler, {coordinates}], which become several operands.
bool Parser::address_operand() {
  const SrcLoc loc = cur_.loc();
  advance();
  RawOperand r;
  r.loc = loc;
  if (!plain_operand(r.op, 1)) return false;
  if (r.op.kind == Kind::Value && !offset_suffix(r.op.imm)) return false;
  const Kind base = r.op.kind;
  if (base != Kind::Value && base != Kind::Symbol && base != Kind::Imm && base != Kind::Sink)
    return error(loc, "an address is a register, a name or an integer, with an integer offset");
  if (r.op.negated || r.op.comp) return error(loc, "an address cannot be negated or have a component");
  r.op.kind = Kind::Address;
  raw_.push_back(std::move(r));
  while (accept(',')) {
    RawOperand in;
    in.loc = cur_.loc();
    in.in_bracket = true;
    if (!plain_operand(in.op, 0)) return false;
    raw_.push_back(std::move(in));
  }
  if (!expect(']', "after an address")) return false;
  if (at_directive(".unified")) advance();
  return true;
}

bool Parser::operand(bool pipe) {
  if (cur_.is('[')) return address_operand();
  RawOperand r;
  r.loc = cur_.loc();
  r.pipe = pipe;
  if (!plain_operand(r.op, 0)) return false;
  // ld.global.u32 d, table[2]: the address without brackets
  raw_.push_back(std::move(r));
  if (cur_.is('|') && !pipe) {
    advance();
    return operand(true);
  }
  return true;
}

bool Parser::operands() {
  raw_.clear();
  if (cur_.is(';')) return true;
  do {
    if (!operand(false)) return false;
  } while (accept(','));
  return true;
}

}  // namespace us::ptx
