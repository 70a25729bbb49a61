// SPDX-License-Identifier: Apache-2.0
// Checks the operands of an instruction against its row: roles, kinds, counts and types.
#include <algorithm>

#include "ptx/parser.h"

namespace us::ptx {

using Kind = ir::Operand::Kind;
using Want = isa::OperandSpec::Want;

namespace {

isa::Type wanted_type(const isa::OperandSpec& s, const isa::Match& m) {
  switch (s.want) {
    case Want::Fixed:
      return s.type;
    case Want::Indexed:
      return m.types[s.index];
    case Want::Wide: {
      const bool is16 = isa::bits_of(m.types[0]) == 16, sign = isa::is_signed(m.types[0]);
      if (is16) return sign ? isa::Type::s32 : isa::Type::u32;
      return sign ? isa::Type::s64 : isa::Type::u64;
    }
    default:
      return isa::Type::None;
  }
}

u32 vector_count(const isa::TokSet& t) {
  const auto has = [&](isa::Tok k) { return t[static_cast<std::size_t>(k)]; };
  return has(isa::Tok::v2) ? 2 : has(isa::Tok::v4) ? 4 : has(isa::Tok::v8) ? 8 : 1;
}

bool has_any(const isa::TokSet& t, const std::vector<isa::Tok>& of) {
  return std::any_of(of.begin(), of.end(), [&](isa::Tok k) { return t[static_cast<std::size_t>(k)]; });
}

// Integers and bits mix, floats mix only with bits.
bool same_class(isa::Type reg, isa::Type want) {
  const auto integer = [](isa::Type t) {
    const auto c = isa::class_of(t);
    return c == isa::TypeClass::Signed || c == isa::TypeClass::Unsigned;
  };
  return !(isa::is_float(reg) && integer(want)) && !(integer(reg) && isa::is_float(want));
}

// Vectors of this operand have as many elements as .v2 .v4 .v8 says.
bool is_counted(const isa::OperandSpec& s, const KnownMnemonic& m) {
  return m.operands->takes_vec && s.vector && !s.in_bracket && s.want == Want::Indexed && s.index == 0;
}

}  // namespace

// Whether the spec takes the raw operand at `raw` (or nothing).
bool Parser::is_present(const isa::OperandSpec& s, const KnownMnemonic& m, std::size_t spec, std::size_t raw) const {
  if (s.pipe) return raw < raw_.size() && raw_[raw].pipe;
  if (!s.present_if.empty()) return has_any(m.match.toks, s.present_if);
  if (!s.optional) return true;
  // Optional: only if enough is left for everything required behind it.
  std::size_t left = 0, needed = 0;
  for (std::size_t k = raw; k < raw_.size(); ++k) left += raw_[k].in_bracket == s.in_bracket && !raw_[k].pipe;
  if (s.in_bracket) left = 0;
  for (std::size_t k = raw; s.in_bracket && k < raw_.size() && raw_[k].in_bracket; ++k) ++left;
  const auto& specs = m.operands->specs;
  for (std::size_t k = spec + 1; k < specs.size(); ++k) {
    const isa::OperandSpec& t = specs[k];
    if (s.in_bracket && !t.in_bracket) break;
    if (t.in_bracket != s.in_bracket || !t.written()) continue;
    needed += t.present_if.empty() ? !t.optional : has_any(m.match.toks, t.present_if);
  }
  return left > needed;
}

ir::ValueId Parser::condition_code() {
  if (!cc_.valid()) cc_.v = new_register(isa::Type::pred, "%cc");
  return cc_;
}

bool Parser::place_operands(const KnownMnemonic& m, ir::Inst& i, std::string_view mnemonic, SrcLoc loc) {
  const auto& specs = m.operands->specs;
  i.ops.resize(specs.size());
  std::size_t raw = 0;
  bool ok = true;
  for (std::size_t k = 0; k < specs.size(); ++k) {
    const isa::OperandSpec& s = specs[k];
    if (s.condition_code) {
      i.ops[k] = value_operand(condition_code().v);
    } else if (s.copy_of >= 0) {
      i.ops[k] = i.ops[static_cast<std::size_t>(s.copy_of)];
    } else if (is_present(s, m, k, raw)) {
      if (raw == raw_.size() || raw_[raw].pipe != s.pipe || raw_[raw].in_bracket != s.in_bracket) {
        ok = false;
        break;
      }
      RawOperand& r = raw_[raw++];
      if (s.address && r.op.kind == Kind::Symbol) r.op.kind = Kind::Address;  // name[index]
      if (r.op.negated && r.op.kind == Kind::Value && reg_types_[r.op.value.v] != isa::Type::pred &&
          m.match.form != isa::Form::vmad && m.match.form != isa::Form::vmad_po)
        return error(r.loc, "only a predicate can be negated");
      ok &= check_operand(s, m, r.op, r.loc);
      i.ops[k] = std::move(r.op);
      if (!ok) return false;
    }
  }
  if (ok && raw == raw_.size()) return true;
  return error(loc, std::string(mnemonic) + " takes the operands " +
                        (m.info->operands.empty() ? "(none)" : std::string(m.info->operands)) + ", found " +
                        std::to_string(raw_.size()));
}

bool Parser::check_register(const isa::OperandSpec& s, isa::Type want, const ir::Operand& o, SrcLoc loc) {
  const isa::Type have = reg_types_[o.value.v];
  if (o.negated && want != isa::Type::pred && s.want != Want::Any) return error(loc, "only a predicate can be negated");
  const auto mismatch = [&] {
    return error(loc, "register '" + fn_.reg_names[o.value.v] + "' of type ." + std::string(isa::name_of(have)) +
                          " where ." + std::string(isa::name_of(want)) + " is expected");
  };
  if (s.want == Want::AnyAddress && isa::bits_of(have) != 32 && isa::bits_of(have) != 64)
    return error(loc, "an address register has 32 or 64 bits");
  if (s.want == Want::Literal) return error(loc, "expected an integer literal");
  if (want == isa::Type::None) return true;
  if ((want == isa::Type::pred) != (have == isa::Type::pred)) return mismatch();
  const u32 a = isa::bits_of(have), b = isa::bits_of(want);
  const bool fits = s.wider ? a >= b : a == b || (b < 8 && a >= b);
  if (!fits || (o.comp == 0 && !same_class(have, want))) return mismatch();
  return true;
}

bool Parser::check_vector(const isa::OperandSpec& s, const KnownMnemonic& m, isa::Type want, const ir::Operand& o,
                          SrcLoc loc) {
  if (!s.vector) return error(loc, "a vector is not expected here");
  if (is_counted(s, m) && o.elems.size() != vector_count(m.match.toks))
    return error(loc, "expected " + std::to_string(vector_count(m.match.toks)) + " elements, found " +
                          std::to_string(o.elems.size()));
  if (m.match.form != isa::Form::mov) {
    for (const ir::Operand& e : o.elems)
      if (!check_scalar(s, want, e, loc)) return false;
    return true;
  }
  u32 bits = 0;
  for (const ir::Operand& e : o.elems) {
    if (e.kind != Kind::Value) return true;  // literals and '_' take what is left
    bits += isa::bits_of(reg_types_[e.value.v]);
  }
  return bits == isa::bits_of(want) || error(loc, "the elements of the vector have " + std::to_string(bits) +
                                                      " bits, not " + std::to_string(isa::bits_of(want)));
}

bool Parser::check_address(const KnownMnemonic& m, const ir::Operand& o, SrcLoc loc) {
  if (o.value.valid()) {
    const isa::Type t = reg_types_[o.value.v];
    const u32 bits = isa::bits_of(t);
    return ((bits == 32 || bits == 64) && !isa::is_float(t)) ||
           error(loc, "an address register has 32 or 64 bits and is no float");
  }
  if (!o.sym.valid() || !symbol_declared_[o.sym.v]) return true;
  // A name of one space in an instruction for another
  const isa::Space space = symbol(o.sym).space;
  const auto has = [&](isa::Tok k) { return m.match.toks[static_cast<std::size_t>(k)]; };
  if (symbol(o.sym).kind != ir::Symbol::Kind::Variable ||
      (m.match.form != isa::Form::ld && m.match.form != isa::Form::st))
    return true;
  const bool wrong =
      (has(isa::Tok::global) && space != isa::Space::Global) || (has(isa::Tok::local) && space != isa::Space::Local) ||
      (has(isa::Tok::const_) && space != isa::Space::Const) ||
      ((has(isa::Tok::shared) || has(isa::Tok::shared_cta)) && space != isa::Space::Shared) ||
      ((has(isa::Tok::param) || has(isa::Tok::param_entry) || has(isa::Tok::param_func)) && space != isa::Space::Param);
  return !wrong || error(loc, "'" + symbol(o.sym).name + "' is a ." + std::string(isa::name_of(space)) + " variable");
}

bool Parser::check_operand(const isa::OperandSpec& s, const KnownMnemonic& m, const ir::Operand& o, SrcLoc loc) {
  const isa::Type want = wanted_type(s, m.match);
  if (o.kind == Kind::Sink) return true;
  if (s.address) return o.kind == Kind::Address ? check_address(m, o, loc) : error(loc, "expected an address in [ ]");
  if (o.kind == Kind::Vector) return check_vector(s, m, want, o, loc);
  if (is_counted(s, m) && vector_count(m.match.toks) > 1) return error(loc, "expected a vector { }");
  return check_scalar(s, want, o, loc);
}

bool Parser::check_scalar(const isa::OperandSpec& s, isa::Type want, const ir::Operand& o, SrcLoc loc) {
  if (o.kind == Kind::Sink) return true;
  if (o.kind == Kind::Value) return check_register(s, want, o, loc);
  if (o.kind == Kind::Address || o.kind == Kind::Vector)
    return error(loc, "an address or a vector is not expected here");
  if (s.dest) return error(loc, "a destination must be a register");
  if (o.negated) return error(loc, "only a predicate register can be negated");
  if (s.register_only) return error(loc, "only a register is allowed here");
  if (s.want == Want::Literal) return o.kind == Kind::Imm || error(loc, "expected an integer literal");
  if (want == isa::Type::None) return true;
  const std::string expected = " where ." + std::string(isa::name_of(want)) + " is expected";
  const bool wide = isa::bits_of(want) == 64;
  if (o.kind == Kind::SReg)
    return wide == (isa::bits_of(isa::info(o.sreg).type) == 64) ||
           error(loc, "a special register of another width" + expected);
  if (o.kind == Kind::Imm && (want == isa::Type::f32 || want == isa::Type::f64))
    return error(loc, "an integer literal" + expected);
  if (o.kind != Kind::ImmF32 && o.kind != Kind::ImmF64) return true;
  const isa::TypeClass c = isa::class_of(want);
  if (c == isa::TypeClass::Signed || c == isa::TypeClass::Unsigned || c == isa::TypeClass::Pred)
    return error(loc, "a float literal" + expected);
  if (c == isa::TypeClass::Untyped && wide != (o.kind == Kind::ImmF64))
    return error(loc, "a float literal of another width" + expected);
  return true;
}

}  // namespace us::ptx
