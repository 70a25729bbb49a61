// SPDX-License-Identifier: Apache-2.0
#include "device/matrix/fragments.h"

#include "numerics/numerics.h"

namespace us::device {

using numerics::MmaTile;
using numerics::MmaType;

bool eight_bit_float(MmaType t) { return t == MmaType::E4M3 || t == MmaType::E5M2; }

namespace {
// The half with the value of a float of 8 bits.
u32 as_half(MmaType t, u32 v) {
  return u32(t == MmaType::E5M2 ? numerics::e5m2_to_f16(v, 0, 0) : numerics::e4m3_to_f16(v, 0, 0));
}

// The place of product k among the steps. Floats of 8 bits are multiplied as halves, in two steps: the lower halves of
// all registers of a, then the upper halves.
struct Order {
  bool halves = false;
  u32 run = 1, half = 0;
  Order(const MmaCode& code)
      : halves(eight_bit_float(code.a) && !code.a_registers), run(code.sparse ? 4 : 2), half(code.k / 2u) {}
  u32 operator()(u32 k) const { return halves ? (k / run & 1) * half + k / run / 2 * run + k % run : k; }
};
}  // namespace

namespace {
// Words of registers to elements: put(register, element in it, lane, bits).
template <u32 Bits, bool Halves, class Put>
inline void spread(MmaType type, const u64* registers, u32 count, const Put& put) {
  constexpr u32 n = 32 / Bits;
  const u32 shift = type == MmaType::TF32 ? 13 : 0;
  for (u32 r = 0; r < count; ++r)
    for (u32 l = 0; l < 32; ++l) {
      const u32 word = u32(registers[r * 32 + l]) >> shift;
      for (u32 e = 0; e < n; ++e) {
        const u32 v = Bits == 32 ? word : word >> (e * Bits % 32) & u32((u64(1) << Bits) - 1);
        put(r, e, l, Halves ? as_half(type, v) : v);
      }
    }
}
template <class Put>
void spread(MmaType t, bool halves, const u64* registers, u32 count, const Put& put) {
  switch (t == MmaType::B1 ? 32 : numerics::bits_of(t)) {
    case 4:
      return spread<4, false>(t, registers, count, put);
    case 8:
      return halves ? spread<8, true>(t, registers, count, put) : spread<8, false>(t, registers, count, put);
    case 16:
      return spread<16, false>(t, registers, count, put);
    default:
      return spread<32, false>(t, registers, count, put);
  }
}
}  // namespace

void load_b(const MmaCode& code, const u64* registers, u32 (*b)[numerics::kMmaColumns]) {
  const Order place(code);
  const u32 n = code.b == MmaType::B1 ? 1 : 32 / numerics::bits_of(code.b);
  auto put = [&](u32 r, u32 e, u32 l, u32 v) { b[place(r * 4 * n + l % 4 * n + e)][l / 4] = v; };
  auto plain = [&](u32 r, u32 e, u32 l, u32 v) { b[r * 4 * n + l % 4 * n + e][l / 4] = v; };
  if (place.halves)
    spread(code.b, true, registers, code.b_regs(), put);
  else
    spread(code.b, eight_bit_float(code.b), registers, code.b_regs(), plain);
}

u32 Metadata::column(u32 row, u32 k) const {
  if (code_.a == MmaType::TF32) return k * 2 + (nibble(row, k) >> 2 == 3);
  const u32 run = code_.a == MmaType::U4 || code_.a == MmaType::S4 ? 2 : 1;  // elements that go together
  const u32 chunk = k / run / 2, which = k / run % 2;
  return chunk * 4 * run + (nibble(row, chunk) >> (2 * which) & 3) * run + k % run;
}
u32 Metadata::nibble(u32 row, u32 chunk) const {
  const u32 per_row = code_.k / (code_.a == MmaType::TF32                           ? 2
                                 : code_.a == MmaType::U4 || code_.a == MmaType::S4 ? 8
                                                                                    : 4);
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

void load_a(const MmaCode& code, const u64* registers, const u64* metadata, MmaTile::Column* a) {
  const Order place(code);
  const Metadata meta(code, metadata);
  const bool words = code.a == MmaType::B1, halves = eight_bit_float(code.a) && !code.a_registers;
  const u32 n = words ? 1 : 32 / numerics::bits_of(code.a), blocks = code.m / 8u;
  if (code.sparse || blocks == 1)
    for (u32 k = 0; k < (words ? code.k / 32u : code.k); ++k)
      for (u32& x : a[k]) x = code.sparse ? numerics::kMmaAbsent : 0;
  auto put = [&](u32 r, u32 e, u32 l, u32 v) {
    const u32 row = l / 4 + r % blocks * 8;
    u32 k = r / blocks * 4 * n + l % 4 * n + e;
    if (code.sparse) k = meta.column(row, k);
    a[place(k)][row] = v;
  };
  auto plain = [&](u32 r, u32 e, u32 l, u32 v) { a[r / 2 * 4 * n + l % 4 * n + e][l / 4 + r % 2 * 8] = v; };
  if (code.sparse || place.halves || blocks == 1)
    spread(code.a, halves, registers, code.a_regs(), put);
  else
    spread(code.a, halves, registers, code.a_regs(), plain);
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

}  // namespace us::device
