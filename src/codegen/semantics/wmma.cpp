// SPDX-License-Identifier: Apache-2.0
// wmma: fragments lie in registers as mma.sync wants them (recorded with oracle/numerics/record_fragments.cu), whatever
// the layout of the matrix in memory. With n elements in a register, e counting them, lane l and register r hold
//
//     a(l/4, n (l%4) + e) + place of r        b(n (l%4) + e, l/4) + place of r        c(l/4, 2 (l%4) + e) + place of r
//
// m8n32k16 is the transposed product: c(2 (l%4) + e, l/4).
#include <array>

#include "codegen/semantics/matrix.h"
#include "codegen/semantics/memory.h"

namespace us::codegen {

using numerics::MmaType;

namespace {
struct Fragment {
  char operand;
  u32 m, n, k, bits;
  Fragment(const Sem& s, char which, Type t) : operand(which), bits(isa::bits_of(t)) {
    if (t == Type::tf32) bits = 32;
    read_shape(s.i.toks, m, n, k);
  }
  u32 in_register() const { return bits < 32 ? 32 / bits : 1; }
  u32 rows() const { return operand == 'b' ? k : m; }
  u32 columns() const { return operand == 'a' ? k : n; }
  bool flipped() const { return operand == 'b' || (operand == 'c' && n == 32); }  // lanes of a quad go down, not right
  // The first element of register r in lane 0. x: across quads (rows of a, columns of b), y: within.
  void place(u32 r, u32& x, u32& y) const {
    if (operand == 'c') {
      const u32 steps = bits == 16 ? 1 : 2, block = r / steps;  // registers of one 8x8 block
      const u32 high = flipped() ? n : m, blocks = high < 8 ? 1 : high / 8;
      x = block % blocks * 8, y = block / blocks * 8 + (steps == 2 ? r % 2 : 0);
      return;
    }
    const u32 size = operand == 'a' ? m : n, deep = k / (4 * in_register());
    const bool k_first = operand == 'b' && n != 32;
    const u32 wide = size < 16 ? 1 : 2;
    const u32 across = k_first ? r / deep : r % wide + r / (wide * deep) * wide;
    x = across * 8 % size, y = (k_first ? r % deep : r / wide % deep) * 4 * in_register();
  }
};

// Addresses of the elements of a fragment, and the type they have in memory.
class Access {
 public:
  Access(const Sem& s, const Fragment& f, u32 address_operand, u32 stride_operand) : s_(s), f_(f), b_(s.b) {
    space_ = space_of(s);
    base_ = address(s, address_operand);
    if (space_ == isa::Space::Shared || space_ == isa::Space::SharedCluster) base_ = b_.resize(base_, 32, false);
    row_major_ = s.has(Tok::row);
    stride_ = s.has_operand(stride_operand) ? s.in(stride_operand, Type::u32)
                                            : imm32(b_, row_major_ ? f.columns() : f.rows());
    const V quad = b_.bin(Bin::LShr, b_.lane_id(), imm32(b_, 2)), in_quad = b_.and_(b_.lane_id(), imm32(b_, 3));
    x_ = quad;
    const u32 per = f.operand == 'c' ? 2 : f.in_register();
    y_ = b_.mul(in_quad, imm32(b_, per));
  }
  // Do the elements of a register lie side by side?
  bool contiguous() const { return f_.in_register() > 1 && row_major_ != f_.flipped(); }
  // Element e of register r; all of them at once if they are contiguous.
  MemRef at(u32 r, u32 e, u32 bits) const {
    u32 x0, y0;
    f_.place(r, x0, y0);
    V x = b_.add(x_, imm32(b_, x0)), y = b_.add(y_, imm32(b_, y0 + e));
    V row = f_.flipped() ? y : x, column = f_.flipped() ? x : y;
    V line = row_major_ ? row : column, in_line = row_major_ ? column : row;
    V index = b_.add(wide(b_.mul(line, stride_)), wide(in_line));
    MemRef m;
    m.space = space_;
    m.bits = bits;
    m.align = bits / 8;
    m.addr =
        b_.add(base_, f_.bits >= 8 ? b_.mul(index, b_.imm(b_.width(base_), f_.bits / 8))
                                   : b_.bin(Bin::LShr, b_.mul(index, b_.imm(b_.width(base_), f_.bits)), imm32(b_, 3)));
    return m;
  }

 private:
  V wide(V v) const { return b_.zext(v, b_.width(base_)); }
  const Sem& s_;
  const Fragment& f_;
  Builder& b_;
  isa::Space space_;
  V base_, stride_, x_, y_;
  bool row_major_;
};

void load(const Sem& s, char operand) {
  Builder& b = s.b;
  const Fragment f(s, operand, s.i.type());
  const Access memory(s, f, 1, 2);
  const u32 count = s.i.ops[0].kind == ir::Operand::Kind::Vector ? static_cast<u32>(s.i.ops[0].elems.size()) : 1;
  V v[8];
  for (u32 r = 0; r < count; ++r) {
    const u32 n = f.in_register(), bits = f.bits == 64 ? 64 : 32;
    if (n == 1 || memory.contiguous()) {
      b.load(memory.at(r, 0, bits), {&v[r], 1});
      continue;
    }
    US_CHECK(f.bits >= 8);
    for (u32 e = 0; e < n; ++e) {
      V x;
      b.load(memory.at(r, e, f.bits), {&x, 1});
      x = b.bin(Bin::Shl, b.zext(x, 32), imm32(b, e * f.bits));
      v[r] = e ? b.or_(v[r], x) : x;
    }
  }
  write_registers(s, 0, v);
}
}  // namespace

void sem_wmma_load_a(const Sem& s) { load(s, 'a'); }
void sem_wmma_load_b(const Sem& s) { load(s, 'b'); }
void sem_wmma_load_c(const Sem& s) { load(s, 'c'); }

void sem_wmma_store_d(const Sem& s) {
  Builder& b = s.b;
  const Fragment f(s, 'c', s.i.type());
  const Access memory(s, f, 0, 2);
  V v[8];
  const u32 count = read_registers(s, 1, f.bits == 64 ? Type::b64 : Type::b32, v);
  for (u32 r = 0; r < count; ++r) {
    if (f.in_register() == 1 || memory.contiguous()) {
      b.store(memory.at(r, 0, f.bits == 64 ? 64 : 32), {&v[r], 1});
      continue;
    }
    for (u32 e = 0; e < 2; ++e) {
      V x = element(b, v[r], 16, e);
      b.store(memory.at(r, e, 16), {&x, 1});
    }
  }
}

namespace {
V halves_of(Builder& b, V low, V high) {
  return pair(b, b.fcvt(FT::F16, FT::F32, low), b.fcvt(FT::F16, FT::F32, high));
}
}  // namespace

// One or two mma of 16 rows. Halves with an accumulator of the other width are converted before or after.
void sem_wmma_mma(const Sem& s) {
  Builder& b = s.b;
  std::array<Type, 4> types = s.i.types;
  const bool halves = s.i.type_count == 2, narrow_c = halves && types[1] == Type::f16;
  const bool narrow_d = halves && types[0] == Type::f16;
  if (halves) {
    const Type sum = narrow_c && narrow_d ? Type::f16 : Type::f32;
    types = {sum, Type::f16, Type::f16, sum};
  }
  u32 m, n, k;
  read_shape(s.i.toks, m, n, k);
  device::MmaCode code = mma_code(s.i.toks, types);
  const bool small = m == 8 && n == 8, flip = n == 32;
  code.m = small ? 8 : 16;
  const Type word = code.d == MmaType::F64 ? Type::b64 : Type::b32;
  V a[8], v[8], c[8], d[8], raw[8];
  read_registers(s, 1, word, a), read_registers(s, 2, word, v);
  const u32 count = read_registers(s, 3, word, raw);
  for (u32 r = 0; r < count; ++r) {
    c[r] = raw[r];
    if (!narrow_c || narrow_d) continue;
    for (u32 e = 0; e < 2; ++e) c[2 * r + e] = b.fcvt(FT::F32, FT::F16, element(b, raw[r], 16, e));
  }
  const V *x = flip ? v : a, *y = flip ? a : v;
  if (flip) std::swap(code.a, code.b);
  // TF32 is multiplied in two steps of four.
  code.twice = code.a == MmaType::TF32;
  for (u32 t = 0; t < (small ? 1 : 2); ++t) {
    const bool rows = m == 32 || flip;  // the second half has other rows of x, not other columns of y
    const V *xs = x + (rows ? t * code.a_regs() : 0), *ys = y + (rows ? 0 : t * code.b_regs());
    multiply(b, code, {xs, ys, c + t * code.c_regs(), nullptr}, d + t * code.d_regs());
  }
  if (narrow_d && !narrow_c)
    for (u32 r = 0; r < 4; ++r) d[r] = halves_of(b, d[2 * r], d[2 * r + 1]);
  write_registers(s, 0, d);
}

}  // namespace us::codegen
