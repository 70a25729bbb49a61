// SPDX-License-Identifier: Apache-2.0
// Values of 32 lanes, and arithmetic on them.
//
// A value (LV) is a Shape plus what it needs at run time: `base`, the scalar of a uniform or pattern; `vec`, the
// 32-lane vector, built on demand; `guard`, an i1 that says whether a guarded pattern holds (its `vec` is always
// right). Values are integers; float operations bitcast.
#pragma once
#include "codegen/llvm/float_code.h"
#include "codegen/llvm/function_state.h"

namespace us::codegen {

struct LV {
  Shape shape;
  llvm::Value* base = nullptr;
  llvm::Value* vec = nullptr;
  llvm::Value* guard = nullptr;
  llvm::BasicBlock* vec_block = nullptr;  // vec of a uniform/pattern is only valid in this block
};

class Values : private Part {
 public:
  explicit Values(FunctionState& s) : Part(s), floats_(s.b) {}

  // The values of one instruction.
  void forget() { pool_.clear(); }
  LV& at(V v) { return pool_[v.id - 1]; }
  V make(LV v);
  V make_uniform(Value* base, Shape shape);
  V make_vec(Value* vec, Shape shape);
  V lane_id();
  V make_varying(Value* vec, u32 bits) { return make_vec(vec, varying_shape(bits)); }
  llvm::IntegerType* int_type(u32 bits);
  llvm::FixedVectorType* vec_type(u32 bits);
  Value* const_int(u32 bits, u64 v);
  Value* vec(LV&);  // the 32-lane vector
  Value* vec(V v) { return vec(at(v)); }
  LV canon(LV v);  // NaN made canonical
  V canon(V v);

  // As in Builder
  u32 width(V v) { return at(v).shape.bits; }
  V imm(u32 bits, u64 value);
  V bin(Bin, V a, V b);
  V un(Un, V a);
  V icmp(ICmp, V a, V b);
  V select(V c, V a, V b);
  V resize(V a, u32 bits, bool sign);
  V fbin(FBin, FT, V a, V b);
  V fma(FT, V a, V b, V c);
  V fun(FUn, FT, V a);
  V fcmp(FCmp, FT, V a, V b);
  V fcvt(FT to, FT from, V a);
  V i2f(FT to, V a, bool sign);
  V f2i(u32 bits, bool sign, FT from, V a);
  V lanewise(device::NumFn fn, std::initializer_list<V> args, u32 result_bits);
  V table(std::span<const u32> entries, V index);
  bool interpolate(numerics::Approx, V place, Builder::Interpolated&);

 private:
  LV first_lane(LV v);
  Value* offsets_vector(const Shape&, u32 bits);
  Value* permuted(std::span<const u32> entries, Value* index);
  Value* apply_bin(Bin, Value* a, Value* b, u32 bits, const Shape* amount);
  Value* high_products(Value* a, Value* b, bool sign);
  Value* guarded_div(Bin, Value* a, Value* b);
  template <class F>
  V map_float(FT t, u32 bits, std::initializer_list<V> in, bool dirty_ok, F&& f, Shape::Nan nan);

  FloatCode floats_;
  std::vector<LV> pool_;
};

}  // namespace us::codegen
