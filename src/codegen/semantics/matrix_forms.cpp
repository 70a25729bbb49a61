// SPDX-License-Identifier: Apache-2.0
// Which shapes, types and numbers of registers matrix instructions have. The table of instructions lets the words
// combine freely; what is not here fails by its name when a launch reaches it.
#include <algorithm>

#include "codegen/semantics/matrix.h"

namespace us::codegen {

using isa::Form;
using numerics::MmaType;

namespace {
struct Shape {
  u32 m, k, selectors;  // selectors: 0 for dense
};
// Shapes of mma for a type of a and b.
std::span<const Shape> shapes_of(MmaType t) {
  static constexpr Shape half[] = {{8, 4, 0}, {16, 8, 0}, {16, 16, 0}, {16, 16, 4}, {16, 32, 2}};
  static constexpr Shape tf32[] = {{16, 4, 0}, {16, 8, 0}, {16, 8, 4}, {16, 16, 2}};
  static constexpr Shape f64[] = {{8, 4, 0}, {16, 4, 0}, {16, 8, 0}, {16, 16, 0}};
  static constexpr Shape f8[] = {{16, 16, 0}, {16, 32, 0}, {16, 64, 1}};
  static constexpr Shape i8[] = {{8, 16, 0}, {16, 16, 0}, {16, 32, 0}, {16, 32, 2}, {16, 64, 1}};
  static constexpr Shape i4[] = {{8, 32, 0}, {16, 32, 0}, {16, 64, 0}, {16, 64, 2}, {16, 128, 1}};
  static constexpr Shape b1[] = {{8, 128, 0}, {16, 128, 0}, {16, 256, 0}};
  switch (t) {
    case MmaType::F16:
      return half;
    case MmaType::BF16:
      return std::span(half).subspan(1);
    case MmaType::TF32:
      return tf32;
    case MmaType::F64:
      return f64;
    case MmaType::E4M3:
    case MmaType::E5M2:
      return f8;
    case MmaType::U8:
    case MmaType::S8:
      return i8;
    case MmaType::U4:
    case MmaType::S4:
      return i4;
    case MmaType::B1:
      return b1;
    default:
      return {};
  }
}
bool factors_fit(MmaType a, MmaType b) {
  const bool mixed = numerics::bits_of(a) <= 8 && numerics::bits_of(a) == numerics::bits_of(b) &&
                     numerics::is_integer(a) == numerics::is_integer(b);
  return a == b || mixed;
}
bool sum_fits(MmaType a, MmaType d) {
  if (numerics::is_integer(a)) return d == MmaType::S32;
  if (a == MmaType::F64) return d == MmaType::F64;
  const bool narrow = a == MmaType::F16 || a == MmaType::E4M3 || a == MmaType::E5M2;
  return d == MmaType::F32 || (narrow && d == MmaType::F16);
}
u32 registers(const ir::Inst& i, u32 k) {
  const ir::Operand& o = i.ops[k];
  return o.kind == ir::Operand::Kind::Vector ? static_cast<u32>(o.elems.size()) : 1;
}

bool mma_fits(const ir::Inst& i) {
  const device::MmaCode code = mma_code(i.toks, i.types);
  if (!factors_fit(code.a, code.b) || !sum_fits(code.a, code.d) || !sum_fits(code.a, code.c)) return false;
  const bool plain = i.form == Form::mma_rc || i.form == Form::mma_sp || i.form == Form::mma_popc;
  if (!plain && !code.quarters()) return false;
  if (code.c != code.d && (!code.quarters() || code.c == MmaType::F32)) return false;
  if (code.sparse && numerics::bits_of(code.a) == 8 && !numerics::is_integer(code.a) && code.d != MmaType::F32)
    return false;
  const i64 selector = code.sparse ? i.ops[5].imm : 0;
  for (const Shape& s : shapes_of(code.a))
    if (s.m == code.m && s.k == code.k && (s.selectors != 0) == code.sparse)
      return selector >= 0 && selector < std::max(s.selectors, 1u) && registers(i, 0) == code.d_regs() &&
             registers(i, 1) == code.a_regs() && registers(i, 2) == code.b_regs() && registers(i, 3) == code.c_regs();
  return false;
}

// Registers of a fragment; 0: there is none of this shape and type.
u32 fragment_registers(char operand, const isa::TokSet& toks, Type type) {
  u32 m = 0, n = 0, k = 0;
  read_shape(toks, m, n, k);
  const MmaType t = mma_type(type);
  if (operand == 'c') {
    const bool small = m == 8 && n == 8;
    if (small) return (k == 4 ? t == MmaType::F64 : t == MmaType::S32) ? 2 : 0;
    if (t == MmaType::F16) return k == 16 ? 4 : 0;
    return t == MmaType::F32 || (t == MmaType::S32 && k == 16) ? 8 : 0;
  }
  const u32 size = operand == 'a' ? m : n;
  switch (t) {
    case MmaType::F16:
      return k == 16 ? 8 : 0;
    case MmaType::BF16:
      return k == 16 ? size / 4 : 0;
    case MmaType::U8:
    case MmaType::S8:
      return k == 16 ? size / 8 : 0;
    case MmaType::TF32:
      return k == 8 ? 4 : 0;
    case MmaType::F64:
      return k == 4;
    case MmaType::U4:
    case MmaType::S4:
      return k == 32;
    case MmaType::B1:
      return k == 128;
    default:
      return 0;
  }
}
bool wmma_fits(const ir::Inst& i) {
  const bool halves = i.type_count == 2;
  const Type a = halves ? Type::f16 : i.type(1), b = halves ? Type::f16 : i.type(2), c = i.type(halves ? 1 : 3);
  if (!halves && (i.type_count != 4 || a != b || c != i.type(0))) return false;
  const MmaType sum = mma_type(i.type(0)), factor = mma_type(a);
  if (!sum_fits(factor, sum) || !sum_fits(factor, mma_type(c))) return false;
  const u32 counts[] = {fragment_registers('c', i.toks, i.type(0)), fragment_registers('a', i.toks, a),
                        fragment_registers('b', i.toks, b), fragment_registers('c', i.toks, c)};
  for (u32 k = 0; k < 4; ++k)
    if (!counts[k] || registers(i, k) != counts[k]) return false;
  return true;
}

bool wgmma_fits(const ir::Inst& i) {
  const MmaType d = mma_type(i.type(0)), a = mma_type(i.type(1)), b = mma_type(i.type(2));
  u32 m = 0, n = 0, k = 0;
  read_shape(i.toks, m, n, k);
  const bool sparse = i.form == Form::wgmma_mma_async_sp;
  const u32 deep = a == MmaType::TF32 ? 8 : a == MmaType::B1 ? 256 : 256 / numerics::bits_of(a);
  if (a == MmaType::F64 || a == MmaType::F32 || a == MmaType::S32 || a == MmaType::U4 || a == MmaType::S4) return false;
  if (!factors_fit(a, b) || !sum_fits(a, d) || k != deep * (sparse ? 2 : 1)) return false;
  const bool vector = i.ops[1].kind == ir::Operand::Kind::Vector;
  if (vector && registers(i, 1) != 4) return false;
  if (sparse && (i.ops[4].imm < 0 || i.ops[4].imm > (numerics::bits_of(a) == 8 ? 0 : 1))) return false;
  return registers(i, 0) == n / 8 * (d == MmaType::F16 ? 2 : 4);
}
}  // namespace

bool matrix_fits(const ir::Inst& i) {
  const u32 tiles = i.has(isa::Tok::x4) ? 4 : i.has(isa::Tok::x2) ? 2 : 1;
  switch (i.form) {
    case Form::ldmatrix:
      return registers(i, 0) == tiles;
    case Form::stmatrix:
      return registers(i, 1) == tiles;
    case Form::mma_rc:
    case Form::mma_rr:
    case Form::mma_cr:
    case Form::mma_cc:
    case Form::mma_popc:
    case Form::mma_sp:
      return mma_fits(i);
    case Form::wmma_load_a:
      return registers(i, 0) == fragment_registers('a', i.toks, i.type());
    case Form::wmma_load_b:
      return registers(i, 0) == fragment_registers('b', i.toks, i.type());
    case Form::wmma_load_c:
      return registers(i, 0) == fragment_registers('c', i.toks, i.type());
    case Form::wmma_store_d:
      return registers(i, 1) == fragment_registers('c', i.toks, i.type());
    case Form::wmma_mma_rr:
    case Form::wmma_mma_rc:
    case Form::wmma_mma_cr:
    case Form::wmma_mma_cc:
    case Form::wmma_mma_popc:
      return wmma_fits(i);
    case Form::wgmma_mma_async:
    case Form::wgmma_mma_async_popc:
    case Form::wgmma_mma_async_sp:
      return wgmma_fits(i);
    default:
      return true;
  }
}

}  // namespace us::codegen
