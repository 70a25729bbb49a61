// SPDX-License-Identifier: Apache-2.0
// Values: floating-point arithmetic, comparisons and conversions.
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "codegen/llvm/values.h"

namespace us::codegen {

using llvm::Intrinsic::ID;

template <class F>
V Values::map_float(FT t, u32 bits, std::initializer_list<V> in, bool dirty_ok, F&& f, Shape::Nan nan) {
  bool uniform = true;
  std::vector<V> args;
  for (V v : in) {
    const auto n = at(v).shape.nan;
    const bool same = n == Shape::Nan::Clean || n == Shape::Nan::Never ||
                      (dirty_ok && ((t == FT::F32 && n == Shape::Nan::F32) || (t == FT::F64 && n == Shape::Nan::F64)));
    args.push_back(same ? v : canon(v));
    uniform = uniform && at(v).shape.uniform();
  }
  std::vector<Value*> x;
  for (V v : args) x.push_back(uniform ? at(v).base : vec(v));
  Value* r = floats_.to_int(f(x));
  Shape s = uniform ? uniform_shape(bits) : varying_shape(bits);
  s.nan = nan;
  return uniform ? make_uniform(r, s) : make_vec(r, s);
}

static Shape::Nan dirty(FT t) {
  return t == FT::F32 ? Shape::Nan::F32 : t == FT::F64 ? Shape::Nan::F64 : Shape::Nan::Clean;
}

V Values::fbin(FBin op, FT t, V a, V b) {
  return map_float(
      t, bits_of(t), {a, b}, true,
      [&](std::vector<Value*>& x) -> Value* {
        if (op == FBin::Min || op == FBin::Max) return floats_.min_max(op == FBin::Min, t, x[0], x[1]);
        Value *p = is_half(t) ? floats_.widen_half(x[0], t) : floats_.to_float(x[0], t),
              *q = is_half(t) ? floats_.widen_half(x[1], t) : floats_.to_float(x[1], t);
        Value* r = op == FBin::Add   ? b_.CreateFAdd(p, q)
                   : op == FBin::Sub ? b_.CreateFSub(p, q)
                   : op == FBin::Mul ? b_.CreateFMul(p, q)
                                     : b_.CreateFDiv(p, q);
        return is_half(t) ? floats_.narrow_half(r, t) : r;  // 24 bits are enough for one rounding in effect
      },
      dirty(t));
}

V Values::fma(FT t, V a, V b, V c) {
  return map_float(
      t, bits_of(t), {a, b, c}, true,
      [&](std::vector<Value*>& x) -> Value* {
        if (is_half(t)) return floats_.fma_half(x[0], x[1], x[2], t);
        Value *p = floats_.to_float(x[0], t), *q = floats_.to_float(x[1], t), *r = floats_.to_float(x[2], t);
        return b_.CreateIntrinsic(llvm::Intrinsic::fma, {p->getType()}, {p, q, r});
      },
      dirty(t));
}

V Values::fun(FUn op, FT t, V a) {
  return map_float(
      t, bits_of(t), {a}, true,
      [&](std::vector<Value*>& x) -> Value* {
        static constexpr ID ids[] = {llvm::Intrinsic::sqrt, llvm::Intrinsic::floor, llvm::Intrinsic::ceil,
                                     llvm::Intrinsic::trunc, llvm::Intrinsic::roundeven};
        Value* p = is_half(t) ? floats_.widen_half(x[0], t) : floats_.to_float(x[0], t);
        Value* r = b_.CreateUnaryIntrinsic(ids[static_cast<int>(op)], p);
        return is_half(t) ? floats_.narrow_half(r, t) : r;
      },
      dirty(t));
}

V Values::fcmp(FCmp op, FT t, V a, V b) {
  using P = llvm::CmpInst;
  static constexpr P::Predicate preds[] = {P::FCMP_OEQ, P::FCMP_ONE, P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT,
                                           P::FCMP_OGE, P::FCMP_UEQ, P::FCMP_UNE, P::FCMP_ULT, P::FCMP_ULE,
                                           P::FCMP_UGT, P::FCMP_UGE, P::FCMP_ORD, P::FCMP_UNO};
  return map_float(
      t, 1, {a, b}, true,
      [&](std::vector<Value*>& x) -> Value* {
        Value *p = is_half(t) ? floats_.widen_half(x[0], t) : floats_.to_float(x[0], t),
              *q = is_half(t) ? floats_.widen_half(x[1], t) : floats_.to_float(x[1], t);
        return b_.CreateFCmp(preds[static_cast<int>(op)], p, q);
      },
      Shape::Nan::Clean);
}

V Values::fcvt(FT to, FT from, V a) {
  // To f64 a NaN keeps its payload: it must be the canonical one if it came out of arithmetic.
  return map_float(
      from, bits_of(to), {a}, to != FT::F64,
      [&](std::vector<Value*>& x) -> Value* {
        if (to == from) return x[0];
        if (from == FT::F64) {
          Value* d = floats_.to_float(x[0], from);
          return is_half(to) ? floats_.half_from_f64(d, to)
                             : b_.CreateFPTrunc(d, floats_.like_vector(d, b_.getFloatTy()));
        }
        Value* f = is_half(from) ? floats_.widen_half(x[0], from) : floats_.to_float(x[0], from);
        if (is_half(to)) return floats_.narrow_half(f, to);
        return to == FT::F64 ? b_.CreateFPExt(f, floats_.like_vector(f, b_.getDoubleTy())) : f;
      },
      nan_of_conversion(to, from));
}

V Values::i2f(FT to, V a, bool sign) {
  const u32 bits = at(a).shape.bits;
  if (bits < 32) a = resize(a, 32, sign);
  return map_float(
      to, bits_of(to), {a}, false,
      [&](std::vector<Value*>& x) -> Value* {
        const bool v = x[0]->getType()->isVectorTy();
        llvm::Type* f = floats_.float_type(to);
        llvm::Type* t = v ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(f, kWarpSize)) : f;
        return sign ? b_.CreateSIToFP(x[0], t) : b_.CreateUIToFP(x[0], t);
      },
      Shape::Nan::Never);
}

V Values::f2i(u32 bits, bool sign, FT from, V a) {
  // Saturating, NaN gives 0. LLVM's saturating conversion would be scalarised, so bring the input into range first.
  return map_float(
      from, bits, {a}, true,
      [&](std::vector<Value*>& x) -> Value* {
        Value* p = is_half(from) ? floats_.widen_half(x[0], from) : floats_.to_float(x[0], from);
        llvm::Type* t = p->getType()->isVectorTy() ? static_cast<llvm::Type*>(vec_type(bits)) : int_type(bits);
        llvm::Type* f = p->getType();
        const u32 wide = bits < 32 ? 32 : bits;
        const double limit =
            std::ldexp(1.0, static_cast<int>(sign ? bits - 1 : bits));  // first value that is too large
        Value* zero = llvm::ConstantFP::get(f, 0.0);
        Value* low = llvm::ConstantFP::get(f, sign ? -limit : 0.0);
        Value* over = b_.CreateFCmpOGE(p, llvm::ConstantFP::get(f, limit));
        p = b_.CreateSelect(b_.CreateFCmpUNO(p, p), zero, p);
        p = b_.CreateSelect(b_.CreateFCmpOLT(p, low), low, p);
        p = b_.CreateSelect(over, zero, p);
        llvm::Type* it = t->getWithNewBitWidth(wide);
        Value* r = sign ? b_.CreateFPToSI(p, it) : b_.CreateFPToUI(p, it);
        if (wide != bits) r = b_.CreateTrunc(r, t);
        return b_.CreateSelect(over, llvm::ConstantInt::get(t, sign ? mask_bits(bits) >> 1 : mask_bits(bits)), r);
      },
      Shape::Nan::Clean);
}

}  // namespace us::codegen
