// SPDX-License-Identifier: Apache-2.0
// What matrix instructions on registers tell their runtime function, packed into one word.
#pragma once
#include "numerics/mma.h"

namespace us::device {

struct MmaCode {
  numerics::MmaType d, a, b, c;
  u8 m = 16;
  u16 k = 16;
  bool saturate = false;
  bool exclusive = false;  // bits: xor, not and
  bool sparse = false;
  u8 selector = 0;                       // sparse: the lanes that hold the metadata
  u8 rounding = 0;                       // f64: nearest, zero, down, up
  bool a_column = false, b_row = false;  // m8n8k4; wgmma: rows (columns) lie side by side in shared memory
  bool a_registers = false;              // wgmma
  bool negate_a = false, negate_b = false;
  u8 tile = 0;         // wgmma: which eight columns
  bool twice = false;  // the two halves of k are steps of their own
  bool late = false;   // wgmma: its results may be delivered as late as wgmma.wait_group

  u64 pack() const {
    return u64(d) | u64(a) << 4 | u64(b) << 8 | u64(c) << 12 | u64(m) << 16 | u64(k) << 24 | u64{saturate} << 40 |
           u64{exclusive} << 41 | u64{sparse} << 42 | u64{selector} << 43 | u64{rounding} << 45 | u64{a_column} << 47 |
           u64{b_row} << 48 | u64{a_registers} << 49 | u64{negate_a} << 50 | u64{negate_b} << 51 | u64{tile} << 52 |
           u64{late} << 60 | u64{twice} << 61;
  }
  static MmaCode unpack(u64 w) {
    auto type = [&](u32 at) { return static_cast<numerics::MmaType>(w >> at & 15); };
    auto bit = [&](u32 at) { return (w >> at & 1) != 0; };
    return {type(0), type(4), type(8),         type(12),        u8(w >> 16), u16(w >> 24), bit(40),
            bit(41), bit(42), u8(w >> 43 & 3), u8(w >> 45 & 3), bit(47),     bit(48),      bit(49),
            bit(50), bit(51), u8(w >> 52),     bit(61),         bit(60)};
  }
  // m8n8k4 of halves: four products at once, each of eight lanes.
  bool quarters() const { return m == 8 && a == numerics::MmaType::F16; }
  // Registers of each operand in every lane.
  u32 a_regs() const { return quarters() ? 2 : count(m * k / (sparse ? 2 : 1), a); }
  u32 b_regs() const { return quarters() ? 2 : count(8 * k, b); }
  u32 c_regs() const { return quarters() ? 8 / words(c) : count(m * 8, c); }
  u32 d_regs() const { return quarters() ? 8 / words(d) : count(m * 8, d); }

 private:
  static u32 words(numerics::MmaType t) { return t == numerics::MmaType::F16 ? 2 : 1; }
  static u32 count(u32 elements, numerics::MmaType t) {
    const u32 bits = numerics::bits_of(t);
    return bits == 64 ? elements / 32 : elements * bits / 1024;
  }
};

}  // namespace us::device
