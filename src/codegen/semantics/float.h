// SPDX-License-Identifier: Apache-2.0
// Rounding in the four directions, shared by the float and conversion semantics.
#pragma once
#include "codegen/semantics/common.h"

namespace us::codegen {

enum class Rnd : u8 { Nearest, Zero, Down, Up };
inline Rnd rounding_of(const Sem& s) {
  if (s.has(Tok::rz)) return Rnd::Zero;
  if (s.has(Tok::rm)) return Rnd::Down;
  if (s.has(Tok::rp)) return Rnd::Up;
  return Rnd::Nearest;
}

// f32 operations with any rounding.
V add_f32(Builder&, Rnd, V x, V y);
V mul_f32(Builder&, Rnd, V x, V y);
V fma_f32(Builder&, Rnd, V x, V y, V z);
V div_f32(Builder&, Rnd, V x, V y);
V sqrt_f32(Builder&, Rnd, V x);
// Flush of a result to zero. Hardware looks at the result rounded as if exponents had no lower end, so `scaled` is the
// same operation done with an operand from scale_for_flush: it is out of the range of subnormals.
V flush_result(Builder&, FT, V result, V scaled);
V scale_for_flush(Builder&, FT, V operand);
// The f32 next to the exact value s + e (f64 pair, |e| far below s) in direction Rnd.
V round_f64_to_f32(Builder&, Rnd, V s, V e);
// f64 operations with any rounding.
V add_f64(Builder&, Rnd, V x, V y);
V sub_f64(Builder&, Rnd, V x, V y);
V mul_f64(Builder&, Rnd, V x, V y);
V fma_f64(Builder&, Rnd, V x, V y, V z);
V div_f64(Builder&, Rnd, V x, V y);
V sqrt_f64(Builder&, Rnd, V x);

}  // namespace us::codegen
