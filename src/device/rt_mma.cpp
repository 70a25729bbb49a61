// SPDX-License-Identifier: Apache-2.0
// mma.sync: registers of a warp to matrices and back. Where lanes hold which elements is in the PTX ISA; with n elements in a
// register, a and b look the same for every type:
//
//     register r of lane l holds a(row l/4 + 8 (r odd), columns 4n (r/2) + n (l%4) ..)
//                                b(column l/4,          rows    4n r     + n (l%4) ..)
//     element e of lane l is     c(row l/4 + 8 (e/2),   column  2 (l%4) + e%2)
#include <bit>
#include <cmath>

#include "device/mma_code.h"
#include "device/rt.h"
#include "numerics/numerics.h"

namespace us::device {
namespace {
using numerics::MmaStep;
using numerics::MmaTile;
using numerics::MmaType;

bool eight_bit_float(MmaType t) { return t == MmaType::E4M3 || t == MmaType::E5M2; }

// The half with the value of a float of 8 bits.
u32 as_half(MmaType t, u32 v) {
  return u32(t == MmaType::E5M2 ? numerics::e5m2_to_f16(v, 0, 0) : numerics::e4m3_to_f16(v, 0, 0));
}

// How the elements of one operand lie in registers.
struct Elements {
  MmaType type;
  u32 bits, in_register, shift;
  explicit Elements(MmaType t)
      : type(t), bits(t == MmaType::B1 ? 32 : numerics::bits_of(t)), in_register(32 / bits),
        shift(t == MmaType::TF32 ? 13 : 0) {}
  u32 get(u64 word, u32 e) const {
    const u32 v = bits == 32 ? u32(word) >> shift : u32(word) >> (e * bits) & ((1u << bits) - 1);
    return eight_bit_float(type) ? as_half(type, v) : v;
  }
};

// The place of product k among the steps. Floats of 8 bits are multiplied as halves, in two steps: the lower halves of all
// registers of a, then the upper halves.
struct Order {
  bool halves = false;
  u32 run = 1, half = 0;
  Order(const MmaCode& code) : halves(eight_bit_float(code.a)), run(code.sparse ? 4 : 2), half(code.k / 2u) {}
  u32 operator()(u32 k) const { return halves ? (k / run & 1) * half + k / run / 2 * run + k % run : k; }
};

void load_b(const MmaCode& code, const u64* registers, MmaTile& t) {
  const Elements from(code.b);
  const Order place(code);
  const u32 n = from.in_register, count = code.b_regs();
  for (u32 r = 0; r < count; ++r)
    for (u32 e = 0; e < n; ++e)
      for (u32 l = 0; l < 32; ++l) t.b[place(r * 4 * n + l % 4 * n + e)][l / 4] = from.get(registers[r * 32 + l], e);
}

// Where the metadata say that stored elements of a row belong. Each four bits hold two positions of a chunk.
class Metadata {
 public:
  Metadata(const MmaCode& code, const u64* registers) : code_(code), registers_(registers) {}
  // The logical column of stored element k of a row.
  u32 column(u32 row, u32 k) const {
    if (code_.a == MmaType::TF32) return k * 2 + (nibble(row, k) >> 2 == 3);
    const u32 run = code_.a == MmaType::U4 || code_.a == MmaType::S4 ? 2 : 1;  // elements that go together
    const u32 chunk = k / run / 2, which = k / run % 2;
    return chunk * 4 * run + (nibble(row, chunk) >> (2 * which) & 3) * run + k % run;
  }

 private:
  u32 nibble(u32 row, u32 chunk) const {
    const u32 per_row = code_.k / (code_.a == MmaType::TF32 ? 2 : code_.a == MmaType::U4 || code_.a == MmaType::S4 ? 8 : 4);
    const u32 quad = row % 8 * 4, lower = row / 8;
    u32 lane = 0, at = 0;  // of the lane's nibbles
    if (per_row == 4) {
      lane = code_.selector, at = lower * 4 + chunk;
    } else if (code_.a == MmaType::TF32 || numerics::bits_of(code_.a) == 16) {
      lane = code_.selector * 2u + chunk / 4, at = lower * 4 + chunk % 4;
    } else if (per_row == 8) {
      lane = code_.selector * 2u + lower, at = chunk;
    } else {
      lane = chunk / 8 * 2 + lower, at = chunk % 8;
    }
    return u32(registers_[quad + lane]) >> (4 * at) & 15;
  }
  const MmaCode& code_;
  const u64* registers_;
};

void load_a(const MmaCode& code, const u64* registers, const u64* metadata, MmaTile& t) {
  const Elements from(code.a);
  const Order place(code);
  const Metadata meta(code, metadata);
  const u32 n = from.in_register, count = code.a_regs(), blocks = code.m / 8u;
  if (code.sparse || blocks == 1)
    for (auto& row : t.a)
      for (u32& x : row) x = code.sparse ? numerics::kMmaAbsent : 0;
  for (u32 r = 0; r < count; ++r)
    for (u32 e = 0; e < n; ++e)
      for (u32 l = 0; l < 32; ++l) {
        const u32 row = l / 4 + r % blocks * 8;
        u32 k = r / blocks * 4 * n + l % 4 * n + e;
        if (code.sparse) k = meta.column(row, k);
        t.a[place(k)][row] = from.get(registers[r * 32 + l], e);
      }
}

// c and d: as words, or pairs of halves
void load_c(const MmaCode& code, const u64* registers, MmaTile& t) {
  const u32 halves = code.c == MmaType::F16, count = code.m / 4u;
  for (u32 e = 0; e < 4; ++e)
    for (u32 l = 0; l < 32; ++l) {
      u32 v = 0;
      if (e < count) v = u32(registers[(halves ? e / 2 : e) * 32 + l]) >> (halves ? e % 2 * 16 : 0);
      t.c[l % 4 * 2 + e % 2][l / 4 + e / 2 * 8] = halves ? v & 0xffff : v;
    }
}
void store_d(const MmaCode& code, const MmaTile& t, u64* results) {
  const u32 halves = code.d == MmaType::F16, count = code.m / 4u;
  for (u32 e = 0; e < count; ++e)
    for (u32 l = 0; l < 32; ++l) {
      const u32 v = t.d[l % 4 * 2 + e % 2][l / 4 + e / 2 * 8];
      u64& r = results[(halves ? e / 2 : e) * 32 + l];
      r = halves && e % 2 ? (r & 0xffff) | v << 16 : v;
    }
}

u32 add(MmaType t, u32 a, u32 b) {
  if (t == MmaType::F16)
    return u32(numerics::narrow(numerics::widen(a, numerics::kF16) + numerics::widen(b, numerics::kF16), 0,
                                numerics::kF16, numerics::Round::Nearest));
  const float r = std::bit_cast<float>(a) + std::bit_cast<float>(b);
  return std::isnan(r) ? 0x7fffffffu : std::bit_cast<u32>(r);
}

// Floats of 8 bits: products are summed from zero in two steps, c is added at the end.
void multiply_eight_bit(const MmaCode& code, MmaTile& t) {
  MmaTile::Column c[numerics::kMmaColumns];
  const u32 half = code.k / 2u;
  for (u32 j = 0; j < numerics::kMmaColumns; ++j)
    for (u32 i = 0; i < numerics::kMmaRows; ++i) c[j][i] = t.c[j][i], t.c[j][i] = 0;
  numerics::mma_step({MmaType::F16, MmaType::F16, code.d, 25, 0, half}, t);
  for (u32 j = 0; j < numerics::kMmaColumns; ++j)
    for (u32 i = 0; i < numerics::kMmaRows; ++i) t.c[j][i] = t.d[j][i];
  numerics::mma_step({MmaType::F16, MmaType::F16, code.d, 25, half, code.k}, t);
  for (u32 j = 0; j < numerics::kMmaColumns; ++j)
    for (u32 i = 0; i < numerics::kMmaRows; ++i) t.d[j][i] = add(code.d, c[j][i], t.d[j][i]);
}

// f64: one fused multiplication and addition after the other.
void multiply_doubles(const MmaCode& code, const u64* a, const u64* b, const u64* c, u64* d) {
  using Fma = u64 (*)(u64, u64, u64);
  auto is_nan = [](u64 v) { return (v & ~(1ull << 63)) > 0x7ffull << 52; };
  // Of several NaNs that of b goes on, then that of the sum, then that of a.
  auto nan_of = [&](u64 x, u64 y, u64 z) {
    const u64 v = is_nan(y) ? y : is_nan(z) ? z : x;
    return is_nan(v) ? v | 1ull << 51 : 0xfff8ull << 48;
  };
  const Fma nearest = [](u64 x, u64 y, u64 z) {
    return std::bit_cast<u64>(std::fma(std::bit_cast<double>(x), std::bit_cast<double>(y), std::bit_cast<double>(z)));
  };
  const Fma fma[] = {nearest, numerics::fma_f64_rz, numerics::fma_f64_rm, numerics::fma_f64_rp};
  const u32 blocks = code.m / 8u;
  for (u32 e = 0; e < code.d_regs(); ++e)
    for (u32 l = 0; l < 32; ++l) {
      const u32 row = l / 4, column = l % 4 * 2 + e % 2;
      u64 sum = c[e * 32 + l];
      for (u32 k = 0; k < code.k; ++k) {
        const u64 x = a[(k / 4 * blocks + e / 2) * 32 + row * 4 + k % 4], y = b[k / 4 * 32 + column * 4 + k % 4];
        const u64 next = fma[code.rounding](x, y, sum);
        sum = is_nan(next) ? nan_of(x, y, sum) : next;
      }
      d[e * 32 + l] = sum;
    }
}

// m8n8k4: lanes 4q .. 4q+3 and 16+4q .. 16+4q+3 hold matrices of 8 rows or columns and 4 products. Not made by tensor cores, but
// by f32 operations: a chain of four, then the accumulator; for results of f16 the accumulator and two chains of two.
void multiply_quarters(const MmaCode& code, const u64* a, const u64* b, const u64* c, u64* d) {
  auto half = [](const u64* registers, u32 lane, u32 e) {
    const u16 v = u16(registers[e / 2 * 32 + lane] >> (e % 2 * 16));
    return float(numerics::widen(v, numerics::kF16));
  };
  auto operand = [&](const u64* registers, bool along_k, u32 quarter, u32 i, u32 k) {
    const u32 lane = along_k ? quarter * 4 + i % 4 + i / 4 * 16 : quarter * 4 + k + i / 4 * 16;
    return half(registers, lane, along_k ? k : i % 4);
  };
  for (u32 l = 0; l < 32; ++l) {
    const u32 quarter = l % 16 / 4, upper = l / 16 * 4;
    auto row = [&](bool wide, u32 e) { return upper + (wide ? (l & 1) + (e & 2) : l % 4); };
    auto column = [&](bool wide, u32 e) { return wide ? (e & 4) + (l & 2) + (e & 1) : e; };
    const bool wide = code.d == MmaType::F32;
    for (u32 e = 0; e < 8; ++e) {
      const u32 i = row(wide, e), j = column(wide, e);
      auto product = [&](u32 k, float sum) {
        return std::fma(operand(a, !code.a_column, quarter, i, k), operand(b, !code.b_row, quarter, j, k), sum);
      };
      u64& r = d[(wide ? e : e / 2) * 32 + l];
      if (wide) {
        u32 z = 0;
        if (code.c == MmaType::F32) {
          z = u32(c[e * 32 + l]);
        } else {  // row i, column j is in another lane
          const u32 from = quarter * 4 + i % 4 + i / 4 * 16;
          z = std::bit_cast<u32>(half(c, from, j));
        }
        const float sum = product(3, product(2, product(1, product(0, 0))));
        r = add(MmaType::F32, std::bit_cast<u32>(sum), z);
      } else {
        const float z = half(c, l, e), sum = z + product(1, product(0, -0.0f)) + product(3, product(2, -0.0f));
        const u64 v = numerics::narrow(sum, 0, numerics::kF16, numerics::Round::Nearest);
        r = e % 2 ? (r & 0xffff) | v << 16 : v;
      }
    }
  }
}
}  // namespace

void multiply_fragments(const MmaCode& code, const u64* registers, u64* results) {
  const u64 *a = registers, *b = a + code.a_regs() * 32, *c = b + code.b_regs() * 32, *e = c + code.c_regs() * 32;
  if (code.d == MmaType::F64) return multiply_doubles(code, a, b, c, results);
  if (code.quarters()) return multiply_quarters(code, a, b, c, results);
  MmaTile t;
  load_a(code, a, e, t), load_b(code, b, t), load_c(code, c, t);
  const u32 depth = code.k;
  if (code.a == MmaType::B1)
    numerics::mma_bits(code.exclusive, depth / 32, t);
  else if (numerics::is_integer(code.a))
    numerics::mma_integer(code.a, code.b, depth, code.saturate, t);
  else if (eight_bit_float(code.a))
    multiply_eight_bit(code, t);
  else
    numerics::mma_step({code.a, code.b, code.d, 25, 0, depth}, t);
  store_d(code, t, results);
}

void rt_Mma(WarpCtx* ctx, u32, const u64* args, u64* results) {
  US_RT_ENTER(ctx);
  multiply_fragments(MmaCode::unpack(args[0]), args + 32, results);
}

}  // namespace us::device
