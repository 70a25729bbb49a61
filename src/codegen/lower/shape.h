// SPDX-License-Identifier: Apache-2.0
// The shape of a value across the 32 lanes of a warp:
//
//   uniform   every active lane has the same value: one scalar
//   pattern   lane l has base + offset[l]; base is a run-time scalar, offsets are compile-time constants
//   varying   anything else: a vector
//
// A constant vector is a pattern whose base is the known constant 0. `low_zeros` is how many low bits of base are known
// to be zero; if all offsets lie in [0, 2^low_zeros) the pattern is `disjoint`: base + offset == base | offset, and
// bitwise operations act on base and offsets separately. `lo..hi` bounds base as an unsigned number.
//
// Float: `nan` says which canonicalisation the value still needs before it is observable (Values::canon).
#pragma once
#include <array>
#include <memory>

#include "codegen/builder.h"
#include "codegen/code_facts.h"

namespace us::codegen {

using Offsets = std::array<i64, kWarpSize>;

struct Shape {
  enum class Kind : u8 { Top, Uniform, Pattern, Varying };  // Top: not known yet (optimistic, analysis only)
  enum class Nan : u8 { Clean, Never, F32, F64 };           // F32/F64: arithmetic result, NaN not canonical yet
  Kind kind = Kind::Varying;
  Nan nan = Nan::Clean;
  u32 bits = 32;
  u8 low_zeros = 0;      // of base; 64 when base is constant 0
  bool guarded = false;  // pattern only under a run-time test; carries a vector beside it
  bool known = false;    // base is the compile-time constant `value`
  u64 value = 0;
  u64 lo = 0, hi = ~u64{0};                // bounds of base
  std::shared_ptr<const Offsets> offsets;  // Pattern

  bool uniform() const { return kind == Kind::Uniform; }
  bool pattern() const { return kind == Kind::Pattern; }
  bool varying() const { return kind == Kind::Varying; }
  bool constant() const { return known && kind != Kind::Varying; }  // all lanes known
  i64 offset(u32 lane) const { return pattern() ? (*offsets)[lane] : 0; }
  u64 lane_constant(u32 lane) const;  // constant(): value of one lane
  i64 min_offset() const;
  i64 max_offset() const;
  bool disjoint() const;
};

u64 mask_bits(u32 bits);
Shape uniform_shape(u32 bits);
Shape constant_shape(u32 bits, u64 value);
Shape varying_shape(u32 bits);
Shape pattern_shape(u32 bits, const Offsets&, u8 low_zeros, u64 lo, u64 hi);
Shape constant_vector(u32 bits, const std::array<u64, kWarpSize>& lanes);
bool same_shape(const Shape&, const Shape&);
Shape meet(const Shape&, const Shape&);  // for phis

// Transfer functions. `needs_guard` (resize): the extension is only a pattern if no lane wraps; the builder emits the
// test.
Shape shape_bin(Bin, const Shape&, const Shape&);
Shape shape_un(Un, const Shape&);
Shape shape_icmp(ICmp, const Shape&, const Shape&);
bool bases_decide(ICmp, const Shape&, const Shape&);  // of a pattern and a uniform value: all lanes compare alike
Shape shape_select(const Shape& c, const Shape& a, const Shape& b);
Shape shape_resize(const Shape&, u32 bits, bool sign, bool* needs_guard);
Shape shape_lanewise(u32 bits, std::initializer_list<const Shape*>);  // uniform if all are, else varying
Shape::Nan nan_of_conversion(FT to, FT from);                         // of the result of Builder::fcvt
Shape shape_float(FT, u32 result_bits, std::initializer_list<const Shape*>);

Shape shape_lane_id(const CodeFacts&);
Shape shape_thread_index(u32 k, const CodeFacts&);
Shape shape_context(device::ContextWord, u32 k, const CodeFacts&);
Shape of_first_lane(const Shape&);  // uniform: the value of lane 0

}  // namespace us::codegen
