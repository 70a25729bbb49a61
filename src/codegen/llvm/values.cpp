// SPDX-License-Identifier: Apache-2.0
// Lane-wise values: shapes decide between one scalar operation, scalar plus constant offsets, and vectors.
#include <llvm/IR/Intrinsics.h>

#include "codegen/llvm/directed.h"
#include "codegen/llvm/values.h"
#include "codegen/lower/shape_builder.h"

namespace us::codegen {

llvm::IntegerType* Values::int_type(u32 bits) { return llvm::IntegerType::get(c_, bits); }
llvm::FixedVectorType* Values::vec_type(u32 bits) { return llvm::FixedVectorType::get(int_type(bits), kWarpSize); }
llvm::Value* Values::const_int(u32 bits, u64 v) {
  return llvm::ConstantInt::get(int_type(bits), bits < 64 ? v & mask_bits(bits) : v);
}

llvm::Value* Values::offsets_vector(const Shape& s, u32 bits) {
  std::vector<llvm::Constant*> lanes;
  for (u32 l = 0; l < kWarpSize; ++l)
    lanes.push_back(llvm::ConstantInt::get(int_type(bits), static_cast<u64>(s.offset(l)) & mask_bits(bits)));
  return llvm::ConstantVector::get(lanes);
}

LV Values::first_lane(LV v) {
  if (v.shape.uniform()) return v;
  LV r;
  r.shape = of_first_lane(v.shape);
  r.base = r.shape.known ? const_int(r.shape.bits, r.shape.value) : b_.CreateExtractElement(vec(v), u64{0});
  return r;
}
V Values::make(LV v) {
  pool_.push_back(m_.facts.one_thread ? first_lane(std::move(v)) : std::move(v));
  return V{static_cast<u32>(pool_.size())};
}
V Values::make_uniform(Value* base, Shape shape) {
  LV v;
  v.shape = std::move(shape);
  v.base = v.shape.known ? const_int(v.shape.bits, v.shape.value) : base;
  return make(std::move(v));
}
V Values::make_vec(Value* vec, Shape shape) {
  LV v;
  v.shape = std::move(shape);
  v.vec = vec;
  v.vec_block = b_.GetInsertBlock();
  return make(std::move(v));
}

llvm::Value* Values::vec(LV& v) {
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

LV Values::canon(LV v) {
  if (v.shape.nan != Shape::Nan::F32 && v.shape.nan != Shape::Nan::F64) return v;
  const bool f32 = v.shape.nan == Shape::Nan::F32;
  const FT t = f32 ? FT::F32 : FT::F64;
  const u64 nan = f32 ? 0x7fffffffull : 0xfff8000000000000ull;
  auto fix = [&](Value* x) {
    Value* f = floats_.to_float(x, t);
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
V Values::canon(V v) {
  const auto n = at(v).shape.nan;
  return n == Shape::Nan::F32 || n == Shape::Nan::F64 ? make(canon(at(v))) : v;
}

V Values::imm(u32 bits, u64 value) {
  if (bits > 64) {
    LV v;
    v.shape = uniform_shape(bits);
    v.base = llvm::ConstantInt::get(int_type(bits), value);
    return make(v);
  }
  return make_uniform(nullptr, constant_shape(bits, value));
}

llvm::Value* Values::guarded_div(Bin op, Value* a, Value* b) {
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
llvm::Value* Values::apply_bin(Bin op, Value* a, Value* b, u32 bits, const Shape* amount) {
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
      if (bits == 64 && a->getType()->isVectorTy()) return high_products(a, b, sign);
      llvm::Type* wide = a->getType()->getWithNewBitWidth(bits * 2);
      auto ext = [&](Value* x) { return sign ? b_.CreateSExt(x, wide) : b_.CreateZExt(x, wide); };
      Value* p = b_.CreateMul(ext(a), ext(b));
      return b_.CreateTrunc(b_.CreateLShr(p, llvm::ConstantInt::get(wide, bits)), a->getType());
    }
    default:
      return guarded_div(op, a, b);
  }
}

// High halves of 64-bit products, from products of 32-bit halves: there is no vector of 128-bit numbers, and taking one
// apart costs the compiler more than everything else that a kernel does.
llvm::Value* Values::high_products(Value* a, Value* b, bool sign) {
  llvm::Type* t = a->getType();
  Value *half = llvm::ConstantInt::get(t, 32), *low = llvm::ConstantInt::get(t, 0xffffffff);
  auto lower = [&](Value* x) { return b_.CreateAnd(x, low); };
  auto upper = [&](Value* x) { return b_.CreateLShr(x, half); };
  Value* middle = b_.CreateAdd(b_.CreateMul(upper(a), lower(b)), upper(b_.CreateMul(lower(a), lower(b))));
  Value* other = b_.CreateAdd(b_.CreateMul(lower(a), upper(b)), lower(middle));
  Value* high = b_.CreateAdd(b_.CreateMul(upper(a), upper(b)), b_.CreateAdd(upper(middle), upper(other)));
  if (!sign) return high;
  auto if_negative = [&](Value* x, Value* y) {
    return b_.CreateAnd(b_.CreateAShr(x, llvm::ConstantInt::get(t, 63)), y);
  };
  return b_.CreateSub(high, b_.CreateAdd(if_negative(a, b), if_negative(b, a)));
}

V Values::bin(Bin op, V va, V vb) {
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
  if (bitwise && !a.shape.pattern() && b.shape.pattern()) std::swap(a, b);
  if (bitwise && a.shape.pattern() && b.shape.uniform() && b.shape.known) {  // its high part meets the base
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

V Values::un(Un op, V va) {
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

V Values::icmp(ICmp op, V va, V vb) {
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

V Values::select(V vc, V va, V vb) {
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

V Values::resize(V va, u32 bits, bool sign) {
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

V Values::lanewise(device::NumFn fn, std::initializer_list<V> args, u32 result_bits) {
  bool uniform = true;
  std::vector<V> in;
  for (V v : args) {
    in.push_back(canon(v));
    uniform = uniform && at(v).shape.uniform();
  }
  Value* table = s_.load_at(s_.ctx0, offsetof(device::WarpCtx, num), b_.getPtrTy(), "num");
  Value* callee = s_.load_at(table, static_cast<std::size_t>(fn) * 8, b_.getPtrTy(), "numfn");
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
  std::vector<Value*> wide;
  for (V v : in) wide.push_back(widen(vec(v)));
  if (Value* done = m_.avx512 ? directed(b_, fn, wide) : nullptr) return make_varying(done, result_bits);
  Value* out = llvm::PoisonValue::get(vec_type(result_bits));
  for (u32 l = 0; l < kWarpSize; ++l)
    out = b_.CreateInsertElement(out, call([&](std::size_t k) { return b_.CreateExtractElement(wide[k], l); }), l);
  return make_varying(out, result_bits);
}

V Values::lane_id() { return make_uniform(nullptr, shape_lane_id(m_.facts)); }

}  // namespace us::codegen
