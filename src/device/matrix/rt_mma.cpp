// SPDX-License-Identifier: Apache-2.0
// mma.sync: what registers of a warp multiply to.
#include <algorithm>
#include <bit>
#include <cmath>

#include "device/functions/rt.h"
#include "device/matrix/fragments.h"
#include "numerics/numerics.h"

namespace us::device {
namespace {
using numerics::MmaTile;
using numerics::MmaType;

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

void multiply_twice(const MmaCode& code, MmaTile& t) {
  const u32 half = code.k / 2u;
  numerics::mma_step({code.a, code.b, code.d, 25, 0, half}, t);
  std::copy_n(t.d[0], numerics::kMmaColumns * numerics::kMmaRows, t.c[0]);
  numerics::mma_step({code.a, code.b, code.d, 25, half, code.k}, t);
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

// m8n8k4: lanes 4q .. 4q+3 and 16+4q .. 16+4q+3 hold matrices of 8 rows or columns and 4 products. Not made by tensor
// cores, but by f32 operations: a chain of four, then the accumulator; for results of f16 the accumulator and two
// chains of two.
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
  load_a(code, a, e, t.a), load_b(code, b, t.b), load_c(code, c, t);
  const u32 depth = code.k;
  if (code.a == MmaType::B1)
    numerics::mma_bits(code.exclusive, depth / 32, t);
  else if (numerics::is_integer(code.a))
    numerics::mma_integer(code.a, code.b, depth, code.saturate, t);
  else if (eight_bit_float(code.a))
    multiply_eight_bit(code, t);
  else if (code.twice)
    multiply_twice(code, t);
  else
    numerics::mma_step({code.a, code.b, code.d, 25, 0, depth}, t);
  store_d(code, t, results);
}

void rt_Mma(WarpCtx* ctx, u32, const u64* args, u64* results) {
  US_RT_ENTER(ctx);
  const auto& a = named<MmaArgs>(args);
  multiply_fragments(MmaCode::unpack(a.code[0]), a.registers[0].lane, results);
}

}  // namespace us::device
