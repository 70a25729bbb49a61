// SPDX-License-Identifier: Apache-2.0
// Initial values: numbers, addresses (name+offset, generic(name)) and single bytes of addresses (0xFF00(name)).
#include <bit>
#include <cstring>

#include "ptx/parser.h"

namespace us::ptx {

struct Parser::InitCursor {
  ir::Symbol& sym;
  const std::vector<u64>& dims;  // extent per level; the last level holds elements
  u32 element_bytes;
  u64 limit;  // bytes an initialiser may reach; grows an unsized array
  u64 level_bytes(std::size_t level) const {
    u64 n = element_bytes;
    for (std::size_t k = level; k < dims.size(); ++k) n *= dims[k];
    return n;
  }
  void put(u64 offset, u64 value, u32 bytes) {
    if (sym.init.size() < offset + bytes) sym.init.resize(offset + bytes);
    std::memcpy(sym.init.data() + offset, &value, bytes < 8 ? bytes : 8);
  }
};

namespace {

// The bits a constant has in a variable of type t.
u64 bits_as(const Constant& c, isa::Type t) {
  using Kind = ir::Operand::Kind;
  const bool to_f32 = t == isa::Type::f32, to_f64 = t == isa::Type::f64;
  if (c.kind == Kind::Imm) {
    const double v = c.is_unsigned ? static_cast<double>(c.bits) : static_cast<double>(static_cast<i64>(c.bits));
    if (to_f32) return std::bit_cast<u32>(static_cast<float>(v));
    if (to_f64) return std::bit_cast<u64>(v);
    return c.bits;
  }
  if (c.kind == Kind::ImmF32)
    return to_f64 ? std::bit_cast<u64>(static_cast<double>(std::bit_cast<float>(static_cast<u32>(c.bits)))) : c.bits;
  return to_f32 ? std::bit_cast<u32>(static_cast<float>(std::bit_cast<double>(c.bits))) : c.bits;
}

}  // namespace

bool Parser::init_symbol(InitCursor& at, u64 offset, u64 mask) {
  ir::Symbol::Reloc r{offset, static_cast<u8>(at.element_bytes), 0, {}, 0, false};
  const SrcLoc loc = cur_.loc();
  if (mask) {
    const int bit = std::countr_zero(mask);
    if (bit % 8 != 0 || mask != 0xffull << bit) return error(loc, "expected a mask of one byte, such as 0xFF00");
    r.bytes = 1;
    r.shift = static_cast<u8>(bit / 8);
  } else if (at.element_bytes != 8 && at.element_bytes != 4) {
    return error(loc, "an address needs an element of 4 or 8 bytes, or a mask that names one byte of it");
  }
  if (cur_.kind == Token::Kind::Word && cur_.text == "generic") {
    advance();
    r.generic = true;
    if (!expect('(', "after generic")) return false;
  }
  if (cur_.kind != Token::Kind::Word) return unexpected("the name of a variable or function");
  r.sym = global_symbol(cur_.text, cur_.loc());
  advance();
  if (!offset_suffix(r.addend)) return false;
  if (r.generic && !expect(')', "after generic(name")) return false;
  i64 behind = 0;
  if (!offset_suffix(behind)) return false;
  r.addend += behind;
  at.sym.relocs.push_back(r);
  at.put(offset, 0, at.element_bytes);
  return true;
}

bool Parser::init_value(InitCursor& at, u64 offset) {
  const SrcLoc loc = cur_.loc();
  if (offset + at.element_bytes > at.limit) return error(loc, "more initial values than the variable has elements");
  if (cur_.kind == Token::Kind::Word && cur_.text != "WARP_SZ") return init_symbol(at, offset, 0);
  if (cur_.kind == Token::Kind::Int && ahead().is('(')) {
    const u64 mask = cur_.bits;
    advance();
    advance();
    return init_symbol(at, offset, mask) && expect(')', "after a masked address");
  }
  Constant c;
  if (!constant(c)) return false;
  if (c.kind != ir::Operand::Kind::Imm && at.element_bytes < 4 && !isa::is_float(at.sym.type))
    return error(loc, "a float literal does not fit this element type");
  at.put(offset, bits_as(c, at.sym.type), at.element_bytes);
  return true;
}

// One brace level of an array, row by row; missing values are zero.
bool Parser::init_level(InitCursor& at, std::size_t level, u64 offset) {
  if (level >= at.dims.size()) {
    if (!accept('{')) return init_value(at, offset);
    return init_value(at, offset) && expect('}', "after an initial value");
  }
  if (!expect('{', "before the initial values of an array")) return false;
  if (accept('}')) return true;
  const u64 step = at.level_bytes(level + 1);
  const bool rows = level + 1 < at.dims.size();
  for (u64 here = offset;;) {
    if (rows && cur_.is('{')) {
      if (here >= at.limit) return error(cur_.loc(), "more initial values than the variable has elements");
      if (!init_level(at, level + 1, here)) return false;
      here += step;
    } else {
      if (!init_value(at, here)) return false;
      here += at.element_bytes;
    }
    if (!accept(',')) break;
    if (cur_.is('}')) break;
  }
  return expect('}', "after the initial values");
}

bool Parser::initializer(ir::Symbol& sym, const std::vector<u64>& dims, u32 element_bytes) {
  constexpr u64 kMaxUnsized = 1ull << 32;
  InitCursor at{sym, dims, element_bytes, sym.unsized ? kMaxUnsized : sym.size};
  if (!init_level(at, 0, 0)) return false;
  if (sym.unsized) {
    sym.unsized = false;
    sym.size = sym.init.size();
  }
  return true;
}

}  // namespace us::ptx
