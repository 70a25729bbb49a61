// SPDX-License-Identifier: Apache-2.0
// Matrices of a warp: ldmatrix, stmatrix, movmatrix move 8x8 tiles between lanes and memory; mma multiplies.
#include "codegen/semantics/matrix.h"

#include <cstdio>

#include "codegen/semantics/memory.h"

namespace us::codegen {

using device::RtFn;
using numerics::MmaType;

namespace {
u32 tiles(const Sem& s) { return s.has(Tok::x4) ? 4 : s.has(Tok::x2) ? 2 : 1; }
const ir::Operand& part(const ir::Operand& o, u32 k) { return o.kind == ir::Operand::Kind::Vector ? o.elems[k] : o; }
u32 parts(const ir::Operand& o) { return o.kind == ir::Operand::Kind::Vector ? static_cast<u32>(o.elems.size()) : 1; }
V quad(Builder& b) { return b.bin(Bin::LShr, b.lane_id(), imm32(b, 2)); }
V in_quad(Builder& b) { return b.and_(b.lane_id(), imm32(b, 3)); }

// Where this lane's part of tile t lies: lane 8t + r knows the address of row r.
MemRef tile_row(const Sem& s, V addresses, u32 t, V row, V bytes, u32 bits) {
  Builder& b = s.b;
  V from = b.add(row, imm32(b, 8 * t)), at = b.shuffle(addresses, from);
  MemRef m;
  m.space = space_of(s);
  m.bits = bits;
  m.align = bits / 8;
  m.addr = b.add(at, b.resize(bytes, b.width(at), false));
  return m;
}
V row_addresses(const Sem& s, u32 k) {
  using device::NoteCode;
  if (s.b.listens()) s.b.note({.what = NoteCode::What::WarpSync}, s.b.active_mask());
  V a = address(s, k);
  const bool generic = space_of(s) == isa::Space::Generic;
  if (!generic) a = s.b.resize(a, 32, false);
  if (s.b.listens()) {
    const u8 space = generic ? device::AccessCode::kGeneric : device::kNoteShared;
    s.b.note({.what = NoteCode::What::MatrixRows, .space = space, .number = static_cast<u16>(8 * tiles(s))},
             s.b.resize(a, 64, false));
  }
  return a;
}
}  // namespace

// Lane l gets elements 2 (l%4) and the next of row l/4; .trans: of column l/4.
void sem_ldmatrix(const Sem& s) {
  Builder& b = s.b;
  V rows = row_addresses(s, 1), two = b.bin(Bin::Shl, in_quad(b), imm32(b, 1));
  V v[4];
  for (u32 t = 0; t < tiles(s); ++t) {
    if (!s.has(Tok::trans)) {
      b.load(tile_row(s, rows, t, quad(b), b.bin(Bin::Shl, in_quad(b), imm32(b, 2)), 32), {&v[t], 1});
      continue;
    }
    V column = b.bin(Bin::Shl, quad(b), imm32(b, 1)), low, high;
    b.load(tile_row(s, rows, t, two, column, 16), {&low, 1});
    b.load(tile_row(s, rows, t, b.add(two, imm32(b, 1)), column, 16), {&high, 1});
    v[t] = pair(b, low, high);
  }
  for (u32 t = 0; t < tiles(s); ++t) b.write(part(s.i.ops[0], t), v[t]);
}

void sem_stmatrix(const Sem& s) {
  Builder& b = s.b;
  V rows = row_addresses(s, 0), two = b.bin(Bin::Shl, in_quad(b), imm32(b, 1));
  for (u32 t = 0; t < tiles(s); ++t) {
    V v = b.read(part(s.i.ops[1], t), Type::b32);
    if (!s.has(Tok::trans)) {
      b.store(tile_row(s, rows, t, quad(b), b.bin(Bin::Shl, in_quad(b), imm32(b, 2)), 32), {&v, 1});
      continue;
    }
    V column = b.bin(Bin::Shl, quad(b), imm32(b, 1)), low = element(b, v, 16, 0), high = element(b, v, 16, 1);
    b.store(tile_row(s, rows, t, two, column, 16), {&low, 1});
    b.store(tile_row(s, rows, t, b.add(two, imm32(b, 1)), column, 16), {&high, 1});
  }
}

// Element (i, j) lies in half j%2 of lane 4i + j/2; this lane gets (2 (l%4), l/4) and (2 (l%4) + 1, l/4).
void sem_movmatrix(const Sem& s) {
  Builder& b = s.b;
  V v = s.in(1, Type::b32), column = quad(b), first = b.bin(Bin::Shl, in_quad(b), imm32(b, 3));
  V from = b.add(first, b.bin(Bin::LShr, column, imm32(b, 1)));
  V odd = b.icmp(ICmp::Ne, b.and_(column, imm32(b, 1)), imm32(b, 0));
  auto half = [&](V lane) {
    V w = b.shuffle(v, lane);
    return b.select(odd, element(b, w, 16, 1), element(b, w, 16, 0));
  };
  s.out(0, pair(b, half(from), half(b.add(from, imm32(b, 4)))), Type::b32);
}

MmaType mma_type(Type t) {
  switch (t) {
    case Type::f16:
      return MmaType::F16;
    case Type::bf16:
      return MmaType::BF16;
    case Type::tf32:
      return MmaType::TF32;
    case Type::f32:
      return MmaType::F32;
    case Type::f64:
      return MmaType::F64;
    case Type::e4m3:
      return MmaType::E4M3;
    case Type::e5m2:
      return MmaType::E5M2;
    case Type::s32:
      return MmaType::S32;
    case Type::u8:
      return MmaType::U8;
    case Type::s8:
      return MmaType::S8;
    case Type::u4:
      return MmaType::U4;
    case Type::s4:
      return MmaType::S4;
    case Type::b1:
      return MmaType::B1;
    default:
      US_UNREACHABLE();
  }
}
void read_shape(const isa::TokSet& toks, u32& m, u32& n, u32& k) {
  for (std::size_t t = 0; t < toks.size(); ++t)
    if (toks[t] && std::sscanf(std::string(isa::name_of(static_cast<Tok>(t))).c_str(), "m%un%uk%u", &m, &n, &k) == 3)
      return;
  US_UNREACHABLE();
}

device::MmaCode mma_code(const isa::TokSet& toks, const std::array<Type, 4>& types) {
  auto has = [&](Tok t) { return toks[static_cast<std::size_t>(t)]; };
  device::MmaCode code{mma_type(types[0]), mma_type(types[1]), mma_type(types[2]), mma_type(types[3])};
  u32 m = 0, n = 0, k = 0;
  read_shape(toks, m, n, k);
  code.m = static_cast<u8>(m), code.k = static_cast<u16>(k);
  code.saturate = has(Tok::satfinite);
  code.exclusive = has(Tok::xor_);
  code.sparse = has(Tok::sp) || has(Tok::sp_ordered_metadata);
  code.rounding = has(Tok::rz) ? 1 : has(Tok::rm) ? 2 : has(Tok::rp) ? 3 : 0;
  return code;
}

void multiply(Builder& b, const device::MmaCode& code, const V* const (&in)[4], V* d) {
  V args[kMaxRtArgs];
  u32 bits[kMaxRtResults], n = 0;
  const u32 counts[] = {code.a_regs(), code.b_regs(), code.c_regs(), code.sparse};
  args[n++] = b.imm(64, code.pack());
  for (u32 k = 0; k < 4; ++k)
    for (u32 e = 0; e < counts[k]; ++e) args[n++] = in[k][e];
  if (b.multiply_registers(code, {args, n}, d)) return;
  for (u32& x : bits) x = code.d == MmaType::F64 ? 64 : 32;
  b.call_rt(RtFn::Mma, {args, n}, {bits, code.d_regs()}, d);
}

u32 read_registers(const Sem& s, u32 k, Type t, V* out) {
  const u32 n = parts(s.i.ops[k]);
  for (u32 e = 0; e < n; ++e) out[e] = s.b.read(part(s.i.ops[k], e), t);
  return n;
}
void write_registers(const Sem& s, u32 k, const V* v) {
  for (u32 e = 0; e < parts(s.i.ops[k]); ++e) s.b.write(part(s.i.ops[k], e), v[e]);
}

namespace {
void mma(const Sem& s, device::MmaCode code) {
  if (code.sparse) code.selector = static_cast<u8>(s.i.ops[5].imm);
  const Type word = code.d == MmaType::F64 ? Type::b64 : Type::b32;
  V v[3][8], d[kMaxRtResults], meta;
  for (u32 k = 0; k < 3; ++k) read_registers(s, k + 1, word, v[k]);
  if (code.sparse) meta = s.in(4, Type::b32);
  multiply(s.b, code, {v[0], v[1], v[2], &meta}, d);
  write_registers(s, 0, d);
}
}  // namespace
void sem_mma(const Sem& s) { mma(s, mma_code(s.i.toks, s.i.types)); }
namespace {
// m8n8k4 of halves, by the order of a's and b's elements
void mma_quarters(const Sem& s, bool a_column, bool b_row) {
  device::MmaCode code = mma_code(s.i.toks, s.i.types);
  code.a_column = a_column, code.b_row = b_row;
  mma(s, code);
}
}  // namespace
void sem_mma_row_row(const Sem& s) { mma_quarters(s, false, true); }
void sem_mma_col_row(const Sem& s) { mma_quarters(s, true, true); }
void sem_mma_col_col(const Sem& s) { mma_quarters(s, true, false); }

}  // namespace us::codegen
