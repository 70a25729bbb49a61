// SPDX-License-Identifier: Apache-2.0
// One machine instruction as it lies in memory: 128 bits.
#pragma once
#include "base/types.h"

namespace us::sass {

struct Word {
  u64 lo = 0, hi = 0;
  // Fields of up to 64 bits; they may cross the middle.
  u64 field(u32 at, u32 width) const {
    const u64 v = at >= 64 ? hi >> (at - 64) : at == 0 ? lo : lo >> at | hi << (64 - at);
    return width >= 64 ? v : v & ((u64{1} << width) - 1);
  }
  i64 signed_field(u32 at, u32 width) const {
    return static_cast<i64>(field(at, width) << (64 - width)) >> (64 - width);
  }
  bool bit(u32 at) const { return field(at, 1); }
  void mark(u32 at, u32 width) {
    for (u32 i = at; i < at + width; ++i) (i < 64 ? lo : hi) |= u64{1} << (i & 63);
  }
  bool operator==(const Word&) const = default;
};

// How an instruction is issued: written by the assembler, obeyed without a look at registers.
struct Control {
  static constexpr u8 kNone = 7;
  u8 stall = 0;                 // cycles until the warp's next instruction
  bool yield = false;           // another warp is preferred
  u8 write_scoreboard = kNone;  // released when the result is there
  u8 read_scoreboard = kNone;   // released when the sources have been read
  u8 wait = 0;                  // scoreboards to wait for, one bit each
  u8 reuse = 0;                 // source slots whose register stays in the operand cache
  static Control of(Word w) {
    const auto f = [&](u32 at, u32 width) { return static_cast<u8>(w.field(at, width)); };
    return {f(105, 4), f(109, 1) == 0, f(110, 3), f(113, 3), f(116, 6), f(122, 4)};
  }
  bool operator==(const Control&) const = default;
};

}  // namespace us::sass
