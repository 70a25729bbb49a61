// SPDX-License-Identifier: Apache-2.0
// The operations of the multi-function unit, on f32 bits: subnormal arguments and results are zeros, NaN results
// canonical. They give the bits of an H200 for every argument; the instructions around them are in approx.cpp.
#pragma once
#include "codegen/builder.h"

namespace us::codegen {

V unit_rcp(Builder&, V x);
V unit_rsqrt(Builder&, V x);
V unit_sqrt(Builder&, V x);
V unit_ex2(Builder&, V x);
V unit_lg2(Builder&, V x);
V unit_sin(Builder&, V x, bool cosine);  // of x radians: the multiplication by 1 / 2 pi included
V unit_tanh(Builder&, V x);              // keeps small subnormals
// For ordinary arguments, all whose steps and results are normal numbers, the instruction is the unit's operation, and
// that is shorter.
struct Ordinary {
  Builder::Operation test, operation;  // test: 1 bit
};
extern const Ordinary kOrdinaryRcp, kOrdinaryRsqrt, kOrdinarySqrt, kOrdinaryEx2, kOrdinaryLg2;
// --math=fast (Builder::fast_math): within the bounds of the PTX ISA. Subnormals are kept.
V fast_rcp(Builder&, V x);
V fast_rsqrt(Builder&, V x);
V fast_sqrt(Builder&, V x);
V fast_ex2(Builder&, V x);
V fast_lg2(Builder&, V x);
V fast_sin(Builder&, V x);
V fast_cos(Builder&, V x);
V fast_tanh(Builder&, V x);
V fast_div(Builder&, V x, V y, bool full);
// On the upper words of f64
V unit_rcp64(Builder&, V high);
V unit_rsqrt64(Builder&, V high);

}  // namespace us::codegen
