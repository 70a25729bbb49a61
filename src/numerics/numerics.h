// SPDX-License-Identifier: Apache-2.0
// Scalar arithmetic on bit patterns.
#pragma once
#include "base/types.h"

namespace us::numerics {

#define US_NUM(id, args, note) u64 id(u64 a, u64 b, u64 c);
#include "numerics/functions.inc"
#undef US_NUM

enum class Round : u8 { Nearest, Zero, Down, Up };
// A binary interchange format: sign, `exponent` bits with the usual bias, `mantissa` bits.
struct Format {
  int exponent, mantissa;
};
inline constexpr Format kF16{5, 10}, kBF16{8, 7};

// The number of format f next to value + residual, where |residual| is below the last bit of value and only its sign
// counts. Infinities and overflow follow the rounding direction; NaN is all ones with sign 0.
u64 narrow(double value, double residual, Format f, Round r);
double widen(u64 bits, Format f);  // exact

}  // namespace us::numerics
