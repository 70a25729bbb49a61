// SPDX-License-Identifier: Apache-2.0
// Lane-wise values: shapes decide between one scalar operation, scalar plus constant offsets, and vectors.
#include <llvm/IR/Intrinsics.h>

#include <cmath>

#include "codegen/llvm/emitter.h"
#include "codegen/shape_builder.h"

namespace us::codegen {

static bool is_half(FT t) { return t == FT::F16 || t == FT::BF16; }

using llvm::Intrinsic::ID;

llvm::IntegerType* Emitter::int_type(u32 bits) { return llvm::IntegerType::get(c_, bits); }
llvm::FixedVectorType* Emitter::vec_type(u32 bits) { return llvm::FixedVectorType::get(int_type(bits), kWarpSize); }
llvm::Type* Emitter::float_type(FT t) {
  switch (t) {
    case FT::F16:
      return llvm::Type::getHalfTy(c_);
    case FT::BF16:
      return llvm::Type::getBFloatTy(c_);
    case FT::F32:
      return llvm::Type::getFloatTy(c_);
    case FT::F64:
      return llvm::Type::getDoubleTy(c_);
  }
  US_UNREACHABLE();
}
llvm::Value* Emitter::const_int(u32 bits, u64 v) {
  return llvm::ConstantInt::get(int_type(bits), bits < 64 ? v & mask_bits(bits) : v);
}

llvm::Value* Emitter::offsets_vector(const Shape& s, u32 bits) {
  std::vector<llvm::Constant*> lanes;
  for (u32 l = 0; l < kWarpSize; ++l)
    lanes.push_back(llvm::ConstantInt::get(int_type(bits), static_cast<u64>(s.offset(l)) & mask_bits(bits)));
  return llvm::ConstantVector::get(lanes);
}

LV Emitter::first_lane(LV v) {
  if (v.shape.uniform()) return v;
  LV r;
  r.shape = of_first_lane(v.shape);
  r.base = r.shape.known ? const_int(r.shape.bits, r.shape.value) : b_.CreateExtractElement(vec(v), u64{0});
  return r;
}
V Emitter::make(LV v) {
  pool_.push_back(m_.facts.one_thread ? first_lane(std::move(v)) : std::move(v));
  return V{static_cast<u32>(pool_.size())};
}
V Emitter::make_uniform(Value* base, Shape shape) {
  LV v;
  v.shape = std::move(shape);
  v.base = v.shape.known ? const_int(v.shape.bits, v.shape.value) : base;
  return make(std::move(v));
}
V Emitter::make_vec(Value* vec, Shape shape) {
  LV v;
  v.shape = std::move(shape);
  v.vec = vec;
  v.vec_block = b_.GetInsertBlock();
  return make(std::move(v));
}

llvm::Value* Emitter::vec(LV& v) {
  if (v.vec && (v.shape.varying() || v.shape.guarded || v.vec_block == b_.GetInsertBlock())) return v.vec;
  v.vec_block = b_.GetInsertBlock();
  if (v.shape.constant()) {
    std::vector<llvm::Constant*> lanes;
    for (u32 l = 0; l < kWarpSize; ++l)
      lanes.push_back(llvm::ConstantInt::get(int_type(v.shape.bits), v.shape.lane_constant(l)));
    return v.vec = llvm::ConstantVector::get(lanes);
  }
  v.vec = b_.CreateVectorSplat(kWarpSize, v.base);
  if (v.shape.pattern()) v.vec = b_.CreateAdd(v.vec, offsets_vector(v.shape, v.shape.bits));
  return v.vec;
}

LV Emitter::canon(LV v) {
  if (v.shape.nan != Shape::Nan::F32 && v.shape.nan != Shape::Nan::F64) return v;
  const bool f32 = v.shape.nan == Shape::Nan::F32;
  const FT t = f32 ? FT::F32 : FT::F64;
  const u64 nan = f32 ? 0x7fffffffull : 0xfff8000000000000ull;
  auto fix = [&](Value* x) {
    Value* f = to_float(x, t);
    Value* bad = b_.CreateFCmpUNO(f, f);
    Value* q = f32 ? llvm::ConstantInt::get(x->getType(), nan)
                   : static_cast<Value*>(b_.CreateOr(x, llvm::ConstantInt::get(x->getType(), 0x0008000000000000ull)));
    return b_.CreateSelect(bad, q, x);
  };
  if (v.shape.uniform())
    v.base = fix(v.base);
  else
    v.vec = fix(vec(v));
  v.vec_block = b_.GetInsertBlock();
  if (v.shape.uniform()) v.vec = nullptr;
  v.shape.nan = Shape::Nan::Clean;
  return v;
}
V Emitter::canon(V v) {
  const auto n = at(v).shape.nan;
  return n == Shape::Nan::F32 || n == Shape::Nan::F64 ? make(canon(at(v))) : v;
}

V Emitter::imm(u32 bits, u64 value) {
  if (bits > 64) {
    LV v;
    v.shape = uniform_shape(bits);
    v.base = llvm::ConstantInt::get(int_type(bits), value);
    return make(v);
  }
  return make_uniform(nullptr, constant_shape(bits, value));
}

llvm::Value* Emitter::guarded_div(Bin op, Value* a, Value* b) {
  llvm::Type* t = a->getType();
  Value* zero = llvm::Constant::getNullValue(t);
  Value* one = llvm::ConstantInt::get(t, 1);
  Value* by_zero = b_.CreateICmpEQ(b, zero);
  Value* safe = b_.CreateSelect(by_zero, one, b);
  const bool is_signed = op == Bin::SDiv || op == Bin::SRem;
  Value* overflow = nullptr;
  if (is_signed) {
    const u32 bits = t->getScalarSizeInBits();
    Value* min = llvm::ConstantInt::get(t, llvm::APInt::getSignedMinValue(bits));
    overflow = b_.CreateAnd(b_.CreateICmpEQ(a, min), b_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(t)));
    safe = b_.CreateSelect(overflow, one, safe);
  }
  Value* r = nullptr;
  switch (op) {
    case Bin::UDiv:
      r = b_.CreateUDiv(a, safe);
      break;
    case Bin::SDiv:
      r = b_.CreateSDiv(a, safe);
      break;  // INT_MIN / 1 == INT_MIN
    case Bin::URem:
      r = b_.CreateURem(a, safe);
      break;
    default:
      r = b_.CreateSRem(a, safe);
      break;
  }
  return b_.CreateSelect(by_zero, llvm::Constant::getAllOnesValue(t), r);
}

// Scalars or vectors alike. `amount`: shape of a shift amount, to drop the clamp when it is known to be in range.
llvm::Value* Emitter::apply_bin(Bin op, Value* a, Value* b, u32 bits, const Shape* amount) {
  auto clamped = [&](auto&& shift, bool arithmetic) -> Value* {
    const bool in_range = amount && (amount->constant() ? [&] {
      for (u32 l = 0; l < kWarpSize; ++l) if (amount->lane_constant(l) >= bits) return false;
      return true;
    }() : amount->uniform() && amount->hi < bits);
    if (in_range) return shift(b);
    Value* limit = llvm::ConstantInt::get(b->getType(), bits - 1);
    Value* over = b_.CreateICmpUGT(b, limit);
    if (arithmetic) return shift(b_.CreateSelect(over, limit, b));
    // x86 vector shifts give 0 beyond the width; LLVM folds this select into them.
    return b_.CreateSelect(over, llvm::Constant::getNullValue(a->getType()), shift(b));
  };
  switch (op) {
    case Bin::Add:
      return b_.CreateAdd(a, b);
    case Bin::Sub:
      return b_.CreateSub(a, b);
    case Bin::Mul:
      return b_.CreateMul(a, b);
    case Bin::And:
      return b_.CreateAnd(a, b);
    case Bin::Or:
      return b_.CreateOr(a, b);
    case Bin::Xor:
      return b_.CreateXor(a, b);
    case Bin::Shl:
      return clamped([&](Value* s) { return b_.CreateShl(a, s); }, false);
    case Bin::LShr:
      return clamped([&](Value* s) { return b_.CreateLShr(a, s); }, false);
    case Bin::AShr:
      return clamped([&](Value* s) { return b_.CreateAShr(a, s); }, true);
    case Bin::UMin:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
    case Bin::UMax:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, a, b);
    case Bin::SMin:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
    case Bin::SMax:
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
    case Bin::MulHiU:
    case Bin::MulHiS: {
      const bool sign = op == Bin::MulHiS;
      llvm::Type* wide = a->getType()->getWithNewBitWidth(bits * 2);
      auto ext = [&](Value* x) { return sign ? b_.CreateSExt(x, wide) : b_.CreateZExt(x, wide); };
      Value* p = b_.CreateMul(ext(a), ext(b));
      return b_.CreateTrunc(b_.CreateLShr(p, llvm::ConstantInt::get(wide, bits)), a->getType());
    }
    default:
      return guarded_div(op, a, b);
  }
}

V Emitter::bin(Bin op, V va, V vb) {
  va = canon(va);
  vb = canon(vb);
  if (at(vb).shape.bits != at(va).shape.bits) {  // shift amounts
    // A wider amount must not lose its high bits.
    if (at(vb).shape.bits > at(va).shape.bits) {
      const u32 wb = at(vb).shape.bits;
      vb = bin(Bin::UMin, vb, imm(wb, mask_bits(at(va).shape.bits)));
    }
    vb = resize(vb, at(va).shape.bits, false);
  }
  LV a = at(va), b = at(vb);
  LV r;
  r.shape = shape_bin(op, a.shape, b.shape);
  if (r.shape.constant()) {
    r.base = const_int(r.shape.bits, r.shape.value);
    return make(r);
  }
  if (r.shape.varying()) {
    const Shape amount = b.shape;
    Value* x = vec(a);
    Value* y = vec(b);
    return make_varying(apply_bin(op, x, y, a.shape.bits, &amount), a.shape.bits);
  }
  const bool bitwise = op == Bin::And || op == Bin::Or || op == Bin::Xor;
  if (bitwise && (a.shape.pattern() || b.shape.pattern())) {  // disjoint: the constant's high part meets the base
    if (!a.shape.pattern() || (a.shape.known && b.shape.pattern() && !b.shape.known)) std::swap(a, b);
    const u64 low = a.shape.low_zeros >= 64 ? ~u64{0} : (u64{1} << a.shape.low_zeros) - 1;
    r.base = apply_bin(op, a.base, const_int(a.shape.bits, b.shape.value & ~low), a.shape.bits, nullptr);
  } else {
    r.base = apply_bin(op, a.base, b.base, a.shape.bits, &b.shape);
  }
  if (a.guard || b.guard) {
    r.guard = a.guard && b.guard ? b_.CreateAnd(a.guard, b.guard) : a.guard ? a.guard : b.guard;
    const Shape amount = b.shape;
    Value* x = vec(a);
    Value* y = vec(b);
    r.vec = apply_bin(op, x, y, a.shape.bits, &amount);
    r.vec_block = b_.GetInsertBlock();
  }
  return make(r);
}

V Emitter::un(Un op, V va) {
  va = canon(va);
  const u32 bits = at(va).shape.bits;
  if (op == Un::Neg) return bin(Bin::Sub, imm(bits, 0), va);
  if (op == Un::Not) {
    const Shape s = shape_un(op, at(va).shape);
    if (s.constant()) return make_uniform(nullptr, s);
  }
  auto apply = [&](Value* x) -> Value* {
    switch (op) {
      case Un::Not:
        return b_.CreateNot(x);
      case Un::PopCount:
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
      case Un::Clz:
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, b_.getFalse());
      case Un::Ctz:
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, x, b_.getFalse());
      case Un::BitReverse:
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::bitreverse, x);
      case Un::ByteSwap:
        return b_.CreateUnaryIntrinsic(llvm::Intrinsic::bswap, x);
      case Un::Abs:
        return b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, b_.getFalse());
      default:
        US_UNREACHABLE();
    }
  };
  LV& a = at(va);
  if (a.shape.uniform()) return make_uniform(apply(a.base), shape_un(op, a.shape));
  return make_varying(apply(vec(a)), bits);
}

V Emitter::icmp(ICmp op, V va, V vb) {
  va = canon(va);
  vb = canon(vb);
  static constexpr llvm::CmpInst::Predicate preds[] = {
      llvm::CmpInst::ICMP_EQ,  llvm::CmpInst::ICMP_NE,  llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULE,
      llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGE, llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_SLE,
      llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_SGE};
  const auto p = preds[static_cast<int>(op)];
  const Shape s = shape_icmp(op, at(va).shape, at(vb).shape);
  if (s.constant()) return make_uniform(nullptr, s);
  if (s.uniform()) return make_uniform(b_.CreateICmp(p, at(va).base, at(vb).base), s);
  Value* x = vec(va);
  Value* y = vec(vb);
  return make_varying(b_.CreateICmp(p, x, y), 1);
}

V Emitter::select(V vc, V va, V vb) {
  LV c = at(vc), a = at(va), b = at(vb);
  LV r;
  r.shape = shape_select(c.shape, a.shape, b.shape);
  if (c.shape.uniform() && c.shape.known) return c.shape.value & 1 ? va : vb;
  if (r.shape.constant()) {
    r.base = const_int(r.shape.bits, r.shape.value);
    return make(r);
  }
  if (r.shape.nan == Shape::Nan::Clean) {
    a = canon(a);
    b = canon(b);
  }
  if (!r.shape.varying()) {
    r.base = b_.CreateSelect(c.base, a.base, b.base);
    return make(r);
  }
  Value* x = vec(a);
  Value* y = vec(b);
  return make_vec(b_.CreateSelect(c.shape.uniform() ? c.base : vec(c), x, y), r.shape);
}

V Emitter::resize(V va, u32 bits, bool sign) {
  if (at(va).shape.bits == bits) return va;
  va = canon(va);
  LV a = at(va);
  bool needs_guard = false;
  LV r;
  r.shape = shape_resize(a.shape, bits, sign, &needs_guard);
  if (r.shape.constant()) {
    r.base = const_int(bits, r.shape.value);
    return make(r);
  }
  auto cast = [&](Value* x) {
    llvm::Type* t = x->getType()->getWithNewBitWidth(bits);
    return bits < a.shape.bits ? b_.CreateTrunc(x, t) : sign ? b_.CreateSExt(x, t) : b_.CreateZExt(x, t);
  };
  if (r.shape.varying()) return make_vec(cast(vec(a)), r.shape);
  r.base = cast(a.base);
  if (needs_guard) {
    const u32 from = a.shape.bits;
    const u64 top = sign ? mask_bits(from) >> 1 : mask_bits(from);
    Value* ok = nullptr;
    const i64 up = a.shape.max_offset(), down = a.shape.min_offset();
    if (up > 0) {
      Value* limit = const_int(from, top - static_cast<u64>(up));
      ok = sign ? b_.CreateICmpSLE(a.base, limit) : b_.CreateICmpULE(a.base, limit);
    }
    if (down < 0) {
      Value* limit =
          const_int(from, sign ? (mask_bits(from) ^ top) + static_cast<u64>(-down) : static_cast<u64>(-down));
      Value* low = sign ? b_.CreateICmpSGE(a.base, limit) : b_.CreateICmpUGE(a.base, limit);
      ok = ok ? b_.CreateAnd(ok, low) : low;
    }
    r.guard = ok;
    r.vec = cast(vec(a));
    r.vec_block = b_.GetInsertBlock();
  }
  return make(r);
}

// --- floating point ---

llvm::Value* Emitter::to_float(Value* v, FT t) {
  llvm::Type* f = float_type(t);
  return b_.CreateBitCast(
      v, v->getType()->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(f, kWarpSize)) : f);
}
llvm::Value* Emitter::to_int(Value* v) {
  llvm::Type* s = v->getType()->getScalarType();
  if (s->isIntegerTy()) return v;
  llvm::Type* i = int_type(s->getScalarSizeInBits());
  return b_.CreateBitCast(
      v, v->getType()->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(i, kWarpSize)) : i);
}

template <class F>
V Emitter::map_float(FT t, u32 bits, std::initializer_list<V> in, bool dirty_ok, F&& f, Shape::Nan nan) {
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
  Value* r = to_int(f(x));
  Shape s = uniform ? uniform_shape(bits) : varying_shape(bits);
  s.nan = nan;
  return uniform ? make_uniform(r, s) : make_vec(r, s);
}

static Shape::Nan dirty(FT t) {
  return t == FT::F32 ? Shape::Nan::F32 : t == FT::F64 ? Shape::Nan::F64 : Shape::Nan::Clean;
}

// min: -0 < +0, a NaN operand loses. One compare decides the order, integer operations settle equal signs of zero.
llvm::Value* Emitter::min_max(bool is_min, FT t, Value* a, Value* b) {
  Value *fa = is_half(t) ? widen_half(a, t) : to_float(a, t), *fb = is_half(t) ? widen_half(b, t) : to_float(b, t);
  Value* first = is_min ? b_.CreateFCmpOLT(fa, fb) : b_.CreateFCmpOGT(fa, fb);
  Value* r = b_.CreateSelect(first, a, b);
  r = b_.CreateSelect(b_.CreateFCmpOEQ(fa, fb), is_min ? b_.CreateOr(a, b) : b_.CreateAnd(a, b), r);
  r = b_.CreateSelect(b_.CreateFCmpUNO(fb, fb), a, r);
  if (!is_half(t)) return r;
  Value* both = b_.CreateAnd(b_.CreateFCmpUNO(fa, fa), b_.CreateFCmpUNO(fb, fb));
  return b_.CreateSelect(both, llvm::ConstantInt::get(r->getType(), 0x7fff), r);
}

V Emitter::fbin(FBin op, FT t, V a, V b) {
  return map_float(
      t, bits_of(t), {a, b}, true,
      [&](std::vector<Value*>& x) -> Value* {
        if (op == FBin::Min || op == FBin::Max) return min_max(op == FBin::Min, t, x[0], x[1]);
        Value *p = is_half(t) ? widen_half(x[0], t) : to_float(x[0], t),
              *q = is_half(t) ? widen_half(x[1], t) : to_float(x[1], t);
        Value* r = op == FBin::Add   ? b_.CreateFAdd(p, q)
                   : op == FBin::Sub ? b_.CreateFSub(p, q)
                   : op == FBin::Mul ? b_.CreateFMul(p, q)
                                     : b_.CreateFDiv(p, q);
        return is_half(t) ? narrow_half(r, t) : r;  // 24 bits are enough for one rounding in effect
      },
      dirty(t));
}

V Emitter::fma(FT t, V a, V b, V c) {
  return map_float(
      t, bits_of(t), {a, b, c}, true,
      [&](std::vector<Value*>& x) -> Value* {
        if (is_half(t)) return fma_half(x[0], x[1], x[2], t);
        Value *p = to_float(x[0], t), *q = to_float(x[1], t), *r = to_float(x[2], t);
        return b_.CreateIntrinsic(llvm::Intrinsic::fma, {p->getType()}, {p, q, r});
      },
      dirty(t));
}

V Emitter::fun(FUn op, FT t, V a) {
  return map_float(
      t, bits_of(t), {a}, true,
      [&](std::vector<Value*>& x) -> Value* {
        static constexpr ID ids[] = {llvm::Intrinsic::sqrt, llvm::Intrinsic::floor, llvm::Intrinsic::ceil,
                                     llvm::Intrinsic::trunc, llvm::Intrinsic::roundeven};
        Value* p = is_half(t) ? widen_half(x[0], t) : to_float(x[0], t);
        Value* r = b_.CreateUnaryIntrinsic(ids[static_cast<int>(op)], p);
        return is_half(t) ? narrow_half(r, t) : r;
      },
      dirty(t));
}

V Emitter::fcmp(FCmp op, FT t, V a, V b) {
  using P = llvm::CmpInst;
  static constexpr P::Predicate preds[] = {P::FCMP_OEQ, P::FCMP_ONE, P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT,
                                           P::FCMP_OGE, P::FCMP_UEQ, P::FCMP_UNE, P::FCMP_ULT, P::FCMP_ULE,
                                           P::FCMP_UGT, P::FCMP_UGE, P::FCMP_ORD, P::FCMP_UNO};
  return map_float(
      t, 1, {a, b}, true,
      [&](std::vector<Value*>& x) -> Value* {
        Value *p = is_half(t) ? widen_half(x[0], t) : to_float(x[0], t),
              *q = is_half(t) ? widen_half(x[1], t) : to_float(x[1], t);
        return b_.CreateFCmp(preds[static_cast<int>(op)], p, q);
      },
      Shape::Nan::Clean);
}

V Emitter::fcvt(FT to, FT from, V a) {
  // To f64 a NaN keeps its payload: it must be the canonical one if it came out of arithmetic.
  return map_float(
      from, bits_of(to), {a}, to != FT::F64,
      [&](std::vector<Value*>& x) -> Value* {
        if (to == from) return x[0];
        if (from == FT::F64) {
          Value* d = to_float(x[0], from);
          return is_half(to) ? half_from_f64(d, to) : b_.CreateFPTrunc(d, like_vector(d, b_.getFloatTy()));
        }
        Value* f = is_half(from) ? widen_half(x[0], from) : to_float(x[0], from);
        if (is_half(to)) return narrow_half(f, to);
        return to == FT::F64 ? b_.CreateFPExt(f, like_vector(f, b_.getDoubleTy())) : f;
      },
      nan_of_conversion(to, from));
}

V Emitter::i2f(FT to, V a, bool sign) {
  const u32 bits = at(a).shape.bits;
  if (bits < 32) a = resize(a, 32, sign);
  return map_float(
      to, bits_of(to), {a}, false,
      [&](std::vector<Value*>& x) -> Value* {
        const bool v = x[0]->getType()->isVectorTy();
        llvm::Type* f = float_type(to);
        llvm::Type* t = v ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(f, kWarpSize)) : f;
        return sign ? b_.CreateSIToFP(x[0], t) : b_.CreateUIToFP(x[0], t);
      },
      Shape::Nan::Never);
}

V Emitter::f2i(u32 bits, bool sign, FT from, V a) {
  // Saturating, NaN gives 0. LLVM's saturating conversion would be scalarised, so bring the input into range first.
  return map_float(
      from, bits, {a}, true,
      [&](std::vector<Value*>& x) -> Value* {
        Value* p = is_half(from) ? widen_half(x[0], from) : to_float(x[0], from);
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

// --- operands ---

LV Emitter::read_value(ir::ValueId id) {
  const bool shadow =
      !a_.its && a_.shadow[id.v] && reads_shadow(a_, cfg_, id, def_block_[id.v], cur_) && !a_.shapes[id.v].constant();
  if (shadow) {
    LV v;
    v.shape = varying_shape(a_.shapes[id.v].bits);
    v.shape.nan = a_.shapes[id.v].nan;
    v.vec = b_.CreateLoad(vec_type(v.shape.bits), place(shadows_[id.v]));
    v.vec_block = b_.GetInsertBlock();
    return v;
  }
  if (a_.shapes[id.v].constant() && !a_.shapes[id.v].varying()) {
    LV v;
    v.shape = a_.shapes[id.v];
    v.base = const_int(v.shape.bits, v.shape.value);
    return v;
  }
  if (value_block_[id.v] == body_[cur_] && body_[cur_]) return values_[id.v];
  // One load serves the rest of the LLVM block: stores then see that their addresses have one base.
  if (loaded_.size() < f_.regs.size()) loaded_.resize(f_.regs.size());
  auto& [block, loaded] = loaded_[id.v];
  if (block != b_.GetInsertBlock()) {
    loaded = load_slot(slot_of(id), a_.shapes[id.v]);
    block = b_.GetInsertBlock();
  }
  return loaded;
}

V Emitter::read(const ir::Operand& o, isa::Type as) {
  const u32 bits = isa::bits_of(as);
  switch (o.kind) {
    case ir::Operand::Kind::Value: {
      V v = make(read_value(o.value));
      if (at(v).shape.bits != bits) v = resize(v, bits, false);
      return o.negated ? un(Un::Not, v) : v;
    }
    case ir::Operand::Kind::Imm:
    case ir::Operand::Kind::ImmF32:
    case ir::Operand::Kind::ImmF64: {
      if (bits > 64) return imm(bits, static_cast<u64>(o.imm));
      return make_uniform(nullptr, shape_immediate(o, as));
    }
    case ir::Operand::Kind::SReg: {
      V v = sreg(o.sreg, o.comp);
      return at(v).shape.bits == bits ? v : resize(v, bits, false);
    }
    case ir::Operand::Kind::Symbol: {
      V v = symbol_address(o.sym, o.imm);
      return bits == 64 ? v : resize(v, bits, false);
    }
    default:
      return imm(bits, 0);
  }
}

void Emitter::write(const ir::Operand& o, V v) {
  if (o.kind != ir::Operand::Kind::Value) return;
  const u32 bits = ir::bits_of(f_.regs[o.value.v]);
  if (at(v).shape.bits != bits) v = resize(v, bits, false);
  written_.push_back({o.value, v});
}

const ir::Module& Emitter::module() const { return m_.ir; }

V Emitter::lanewise(device::NumFn fn, std::initializer_list<V> args, u32 result_bits) {
  bool uniform = true;
  std::vector<V> in;
  for (V v : args) {
    in.push_back(canon(v));
    uniform = uniform && at(v).shape.uniform();
  }
  Value* table = load_at(ctx0_, offsetof(device::WarpCtx, num), b_.getPtrTy(), "num");
  Value* callee = load_at(table, static_cast<std::size_t>(fn) * 8, b_.getPtrTy(), "numfn");
  auto* type = llvm::FunctionType::get(b_.getInt64Ty(), {b_.getInt64Ty(), b_.getInt64Ty(), b_.getInt64Ty()}, false);
  auto call = [&](auto&& arg) {
    std::vector<Value*> a;
    for (std::size_t k = 0; k < 3; ++k) a.push_back(k < in.size() ? arg(k) : b_.getInt64(0));
    auto* r = b_.CreateCall(type, callee, a);
    r->setDoesNotAccessMemory();
    r->setDoesNotThrow();
    return b_.CreateTrunc(r, int_type(result_bits));
  };
  auto widen = [&](Value* x) { return b_.CreateZExt(x, x->getType()->getWithNewBitWidth(64)); };
  if (uniform)
    return make_uniform(call([&](std::size_t k) { return widen(at(in[k]).base); }), uniform_shape(result_bits));
  Value* out = llvm::PoisonValue::get(vec_type(result_bits));
  std::vector<Value*> wide;
  for (V v : in) wide.push_back(widen(vec(v)));
  for (u32 l = 0; l < kWarpSize; ++l)
    out = b_.CreateInsertElement(out, call([&](std::size_t k) { return b_.CreateExtractElement(wide[k], l); }), l);
  return make_varying(out, result_bits);
}

}  // namespace us::codegen
