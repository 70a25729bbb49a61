// SPDX-License-Identifier: Apache-2.0
// Half precision in vectors of x86-64-v3: f16 through F16C, bf16 through integers. Values are i16 or vectors of it.
#include "codegen/llvm/float_code.h"

namespace us::codegen {

using llvm::Value;

namespace {
constexpr u64 kHalfNan = 0x7fff;
struct HalfFormat {
  u32 mantissa;
  u64 quiet;
};  // quiet: exponent all ones and the first mantissa bit
HalfFormat half_format(FT t) { return t == FT::F16 ? HalfFormat{10, 0x7e00} : HalfFormat{7, 0x7fc0}; }
}  // namespace

llvm::Type* FloatCode::like_vector(Value* model, llvm::Type* scalar) {
  return model->getType()->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(scalar, kWarpSize))
                                        : scalar;
}

// -> f32, exact; payloads of bf16 NaNs unchanged.
Value* FloatCode::widen_half(Value* x, FT t) {
  llvm::Type *f32 = like_vector(x, b_.getFloatTy()), *i32 = like_vector(x, b_.getInt32Ty());
  if (t == FT::F16) return b_.CreateFPExt(b_.CreateBitCast(x, like_vector(x, b_.getHalfTy())), f32);
  return b_.CreateBitCast(b_.CreateShl(b_.CreateZExt(x, i32), llvm::ConstantInt::get(i32, 16)), f32);
}

// f32 -> half, nearest even; NaN becomes canonical.
Value* FloatCode::narrow_half(Value* f, FT t) {
  llvm::Type *i16 = like_vector(f, b_.getInt16Ty()), *i32 = like_vector(f, b_.getInt32Ty());
  Value* r;
  if (t == FT::F16) {
    r = b_.CreateBitCast(b_.CreateFPTrunc(f, like_vector(f, b_.getHalfTy())), i16);
  } else {
    auto c = [&](u64 v) { return llvm::ConstantInt::get(i32, v); };
    Value* x = b_.CreateBitCast(f, i32);
    Value* odd = b_.CreateAnd(b_.CreateLShr(x, c(16)), c(1));
    r = b_.CreateTrunc(b_.CreateLShr(b_.CreateAdd(x, b_.CreateAdd(odd, c(0x7fff))), c(16)), i16);
  }
  return b_.CreateSelect(b_.CreateFCmpUNO(f, f), llvm::ConstantInt::get(i16, kHalfNan), r);
}

// f64 -> f32 rounded to odd (inexact results get a last bit of one): a later rounding to fewer bits is then exact.
Value* FloatCode::odd_f32(Value* d) {
  llvm::Type *f32 = like_vector(d, b_.getFloatTy()), *i32 = like_vector(d, b_.getInt32Ty());
  Value* r = b_.CreateFPTrunc(d, f32);
  Value* back = b_.CreateFPExt(r, d->getType());
  Value* bits = b_.CreateBitCast(r, i32);
  Value* one = llvm::ConstantInt::get(i32, 1);
  Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, one), llvm::ConstantInt::get(i32, 0));
  Value* moved = b_.CreateAnd(b_.CreateFCmpONE(back, d), even);
  auto size = [&](Value* v) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, v); };
  Value* outward = b_.CreateFCmpOGT(size(d), size(back));
  Value* step = b_.CreateSelect(outward, one, llvm::Constant::getAllOnesValue(i32));
  return b_.CreateBitCast(b_.CreateSelect(moved, b_.CreateAdd(bits, step), bits), f32);
}

// f64 -> half with one rounding; NaN keeps its sign and upper payload.
Value* FloatCode::half_from_f64(Value* d, FT t) {
  llvm::Type *i64 = like_vector(d, b_.getInt64Ty()), *i16 = like_vector(d, b_.getInt16Ty());
  auto c = [&](u64 v) { return llvm::ConstantInt::get(i64, v); };
  const HalfFormat h = half_format(t);
  Value* x = b_.CreateBitCast(d, i64);
  Value* payload = b_.CreateAnd(b_.CreateLShr(x, c(52 - h.mantissa)), c((u64{1} << h.mantissa) - 1));
  Value* sign = b_.CreateAnd(b_.CreateLShr(x, c(48)), c(0x8000));
  Value* nan = b_.CreateTrunc(b_.CreateOr(b_.CreateOr(payload, sign), c(h.quiet)), i16);
  return b_.CreateSelect(b_.CreateFCmpUNO(d, d), nan, narrow_half(odd_f32(d), t));
}

// a * b + c with one rounding: the product is exact in f64; the sum is rounded to odd there with the sign of its error.
Value* FloatCode::fma_half(Value* a, Value* b, Value* c, FT t) {
  llvm::Type* f64 = like_vector(a, b_.getDoubleTy());
  llvm::Type* i64 = like_vector(a, b_.getInt64Ty());
  auto wide = [&](Value* v) { return b_.CreateFPExt(widen_half(v, t), f64); };
  Value *p = b_.CreateFMul(wide(a), wide(b)), *z = wide(c);
  Value* s = b_.CreateFAdd(p, z);
  Value* z2 = b_.CreateFSub(s, p);
  Value* e = b_.CreateFAdd(b_.CreateFSub(p, b_.CreateFSub(s, z2)), b_.CreateFSub(z, z2));
  Value* zero = llvm::ConstantFP::get(f64, 0.0);
  Value* bits = b_.CreateBitCast(s, i64);
  Value* one = llvm::ConstantInt::get(i64, 1);
  Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, one), llvm::ConstantInt::get(i64, 0));
  Value* moved = b_.CreateAnd(b_.CreateFCmpONE(e, zero), even);
  Value* outward = b_.CreateFCmpOGT(b_.CreateFMul(e, s), zero);
  Value* step = b_.CreateSelect(outward, one, llvm::Constant::getAllOnesValue(i64));
  Value* odd = b_.CreateBitCast(b_.CreateSelect(moved, b_.CreateAdd(bits, step), bits), f64);
  return narrow_half(odd_f32(odd), t);
}

llvm::Value* FloatCode::to_float(Value* v, FT t) {
  llvm::Type* f = float_type(t);
  return b_.CreateBitCast(
      v, v->getType()->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(f, kWarpSize)) : f);
}

llvm::Value* FloatCode::to_int(Value* v) {
  llvm::Type* s = v->getType()->getScalarType();
  if (s->isIntegerTy()) return v;
  llvm::Type* i = b_.getIntNTy(s->getScalarSizeInBits());
  return b_.CreateBitCast(
      v, v->getType()->isVectorTy() ? static_cast<llvm::Type*>(llvm::FixedVectorType::get(i, kWarpSize)) : i);
}

// min: -0 < +0, a NaN operand loses. One compare decides the order, integer operations settle equal signs of zero.
llvm::Value* FloatCode::min_max(bool is_min, FT t, Value* a, Value* b) {
  Value *fa = is_half(t) ? widen_half(a, t) : to_float(a, t), *fb = is_half(t) ? widen_half(b, t) : to_float(b, t);
  Value* first = is_min ? b_.CreateFCmpOLT(fa, fb) : b_.CreateFCmpOGT(fa, fb);
  Value* r = b_.CreateSelect(first, a, b);
  r = b_.CreateSelect(b_.CreateFCmpOEQ(fa, fb), is_min ? b_.CreateOr(a, b) : b_.CreateAnd(a, b), r);
  r = b_.CreateSelect(b_.CreateFCmpUNO(fb, fb), a, r);
  if (!is_half(t)) return r;
  Value* both = b_.CreateAnd(b_.CreateFCmpUNO(fa, fa), b_.CreateFCmpUNO(fb, fb));
  return b_.CreateSelect(both, llvm::ConstantInt::get(r->getType(), 0x7fff), r);
}

llvm::Type* FloatCode::float_type(FT t) {
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

}  // namespace us::codegen
