// SPDX-License-Identifier: Apache-2.0
// Sums stay where the registers of the result are: element e of lane l is row l/4 + 8 (e/2), column 2 (l%4) + e%2. What
// it needs of a lies in the four lanes around it, what it needs of b in lane 4 (2 (l%4) + e%2) + q:
//
//     product 4 n r + n q + i:  a  register 2 r + e/2, lane (l & ~3) + q, element i         (n elements in a register)
//                               b  register r,         lane 8 (l%4) + 4 (e%2) + q, element i
#include "codegen/llvm/products.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <map>
#include <tuple>

namespace us::codegen {

using llvm::Value;
using numerics::MmaType;

namespace {
constexpr u32 kLanes = 16, kPieces = 2;  // of a vector; vectors of a warp
constexpr u32 kExponent = 0x7f800000, kMagnitude = 0x7fffffff, kOne = 1u << 23;
constexpr u32 kFraction = 25;  // bits that are kept behind the point of the largest term

class Products {
 public:
  Products(llvm::IRBuilder<>& b, const device::MmaCode& code, std::span<Value* const> registers, bool avx512)
      : b_(b), code_(code), registers_(registers), avx512_(avx512) {}

 protected:
  llvm::FixedVectorType* vector(llvm::Type* of) const { return llvm::FixedVectorType::get(of, kLanes); }
  llvm::FixedVectorType* words() const { return vector(b_.getInt32Ty()); }
  llvm::FixedVectorType* floats() const { return vector(b_.getFloatTy()); }
  Value* imm(u32 v) const { return llvm::ConstantInt::get(words(), v); }
  Value* bits(Value* v) const { return b_.CreateBitCast(v, words()); }
  Value* as_float(Value* v) const { return b_.CreateBitCast(v, floats()); }
  Value* smax(Value* x, Value* y) const { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, y); }
  Value* umin(Value* x, Value* y) const { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y); }

  Value* piece(Value* v, u32 z) const {
    std::vector<int> lanes(kLanes);
    for (u32 l = 0; l < kLanes; ++l) lanes[l] = static_cast<int>(z * kLanes + l);
    return b_.CreateShuffleVector(v, lanes);
  }
  Value* joined(Value* low, Value* high) const {
    std::vector<int> lanes(kLanes * kPieces);
    for (u32 l = 0; l < lanes.size(); ++l) lanes[l] = static_cast<int>(l);
    return b_.CreateShuffleVector(low, high, lanes);
  }
  // Row of a: lane q of each four.
  Value* along_row(Value* v, u32 q) const {
    std::vector<int> lanes(kLanes);
    for (u32 l = 0; l < kLanes; ++l) lanes[l] = static_cast<int>((l & ~3u) + q);
    return b_.CreateShuffleVector(v, lanes);
  }
  // Columns of b for even or odd elements of the result; the same for all rows.
  Value* along_columns(const std::array<Value*, kPieces>& v, u32 odd, u32 q) const {
    std::vector<int> lanes(kLanes);
    for (u32 l = 0; l < kLanes; ++l) lanes[l] = static_cast<int>(8 * (l % 4) + 4 * odd + q);
    return b_.CreateShuffleVector(v[0], v[1], lanes);
  }
  Value* a(u32 r) const { return registers_[r]; }
  Value* b(u32 r) const { return registers_[code_.a_regs() + r]; }
  Value* c(u32 r) const { return registers_[code_.a_regs() + code_.b_regs() + r]; }
  u32 blocks() const { return code_.m / 8u; }

  llvm::IRBuilder<>& b_;
  const device::MmaCode& code_;
  std::span<Value* const> registers_;
  const bool avx512_;
};

// As `tame_columns` of numerics/mma.cpp: products and scales are floats without an error. Of a and b every element that
// is not zero has to lie in [2^-48, 2^61), of an accumulator of f32 in [2^-95, 2^128): then no result is smaller than a
// normal number, either.
class FloatProduct : Products {
 public:
  using Products::Products;
  TensorProduct emit() {
    const u32 n_d = code_.m / 4u;
    for (u32 r = 0; r < code_.a_regs(); ++r) take_apart(code_.a, a(r), of_a_[r]);
    for (u32 r = 0; r < code_.b_regs(); ++r) take_apart(code_.b, b(r), of_b_[r]);
    Value* d[4][kPieces];
    for (u32 e = 0; e < n_d; ++e)
      for (u32 z = 0; z < kPieces; ++z) d[e][z] = piece(c(halves() ? e / 2 : e), z);
    for (u32 z = 0; z < kPieces; ++z)
      for (u32 block = 0; block < blocks(); ++block) {
        Value* sums[] = {d[2 * block][z], d[2 * block + 1][z]};
        if (halves()) sums[0] = b_.CreateAnd(sums[0], imm(0xffff)), sums[1] = b_.CreateLShr(sums[1], imm(16));
        const u32 step = code_.twice ? code_.k / 2u : code_.k;
        for (u32 first = 0; first < code_.k; first += step) add_products(z, block, first, first + step, sums);
        for (u32 o = 0; o < 2; ++o) d[2 * block + o][z] = sums[o];
        if (halves()) d[block][z] = b_.CreateOr(sums[0], b_.CreateShl(sums[1], imm(16)));
      }
    TensorProduct all;
    for (u32 e = 0; e < code_.d_regs(); ++e) all.d.push_back(joined(d[e][0], d[e][1]));
    all.rare = rare();
    return all;
  }

 private:
  using Pieces = std::array<Value*, kPieces>;
  struct Elements {
    Pieces value, power;  // floats, and the powers of two below them (of zero: zero)
  };
  struct Range {
    Value *low = nullptr, *high = nullptr;  // the smallest that is not zero, less one; the largest
  };
  bool halves() const { return code_.d == MmaType::F16; }
  static bool wide(MmaType t) { return t != MmaType::F16; }
  static u32 count(MmaType t) { return 32 / numerics::bits_of(t); }

  void note(Range& range, Value* magnitude) {
    range.high = range.high ? smax(range.high, magnitude) : magnitude;
    Value* less = b_.CreateSub(magnitude, imm(1));
    range.low = range.low ? umin(range.low, less) : less;
  }
  Value* of_half(Value* w) {
    Value* h = b_.CreateBitCast(b_.CreateTrunc(w, vector(b_.getInt16Ty())), vector(b_.getHalfTy()));
    return b_.CreateFPExt(h, floats());
  }
  // Of subnormal halves as of the smallest normal ones.
  Value* power_of_half(Value* magnitude) {
    Value* power = smax(b_.CreateAnd(magnitude, imm(kExponent)), imm(113u << 23));
    return b_.CreateSelect(b_.CreateICmpEQ(magnitude, imm(0)), imm(0), power);
  }
  void take_apart(MmaType t, Value* w, Elements* elements) {
    for (u32 z = 0; z < kPieces; ++z)
      for (u32 e = 0; e < count(t); ++e) {
        Value* x = piece(w, z);
        if (t == MmaType::F16) {
          x = bits(of_half(e ? b_.CreateLShr(x, imm(16)) : x));
        } else if (t == MmaType::BF16) {
          x = e ? b_.CreateAnd(x, imm(0xffff0000)) : b_.CreateShl(x, imm(16));
        } else {
          x = b_.CreateAnd(x, imm(~0x1fffu));  // 13 bits that nobody looks at
        }
        Value* magnitude = b_.CreateAnd(x, imm(kMagnitude));
        note(factors_, magnitude);
        elements[e].value[z] = as_float(x);
        elements[e].power[z] = as_float(wide(t) ? b_.CreateAnd(magnitude, imm(kExponent)) : power_of_half(magnitude));
      }
  }

  const Elements& element(const Elements (*of)[2], u32 r, u32 k) const { return of[r][k % count(code_.a)]; }
  u32 lane(u32 k) const { return k / count(code_.a) % 4; }
  u32 group(u32 k) const { return k / (4 * count(code_.a)); }
  Value* of_a(bool power, u32 block, u32 k, u32 z) const {
    const Elements& e = element(of_a_, group(k) * blocks() + block, k);
    return along_row((power ? e.power : e.value)[z], lane(k));
  }
  Value* of_b(bool power, u32 odd, u32 k) {
    Value*& v = columns_[{power, odd, k}];
    const Elements& e = element(of_b_, group(k), k);
    if (!v) v = along_columns(power ? e.power : e.value, odd, lane(k));
    return v;
  }

  // Two columns and half the rows: sums are the bits of an f32 or f16 each.
  void add_products(u32 z, u32 block, u32 first, u32 last, Value* (&sums)[2]) {
    Value *most[2], *scale[2], *of_c[2], *part[2] = {};
    for (u32 o = 0; o < 2; ++o) {
      if (halves()) sums[o] = bits(of_half(sums[o]));
      Value* magnitude = b_.CreateAnd(sums[o], imm(kMagnitude));
      note(halves() ? factors_ : accumulators_, magnitude);
      Value* power = halves() ? power_of_half(magnitude) : b_.CreateAnd(magnitude, imm(kExponent));
      most[o] = smax(power, imm(kOne));
    }
    for (u32 k = first; k < last; ++k) {
      Value* x = of_a(true, block, k, z);
      for (u32 o = 0; o < 2; ++o) most[o] = smax(most[o], bits(b_.CreateFMul(x, of_b(true, o, k))));
    }
    for (u32 o = 0; o < 2; ++o) {
      Value* up = b_.CreateSub(imm((kFraction + 254) << 23), most[o]);
      scale[o] = as_float(umin(up, imm(254u << 23)));
      of_c[o] = cut(b_.CreateFMul(as_float(sums[o]), scale[o]));
    }
    for (u32 k = first; k < last; ++k) {
      Value* x = of_a(false, block, k, z);
      for (u32 o = 0; o < 2; ++o) {
        Value* p = cut(b_.CreateFMul(b_.CreateFMul(x, of_b(false, o, k)), scale[o]));
        part[o] = part[o] ? b_.CreateAdd(part[o], p) : p;
      }
    }
    for (u32 o = 0; o < 2; ++o) {
      Value* total = b_.CreateAdd(part[o], of_c[o]);
      if (last - first > 8) {  // 8 products of less than 2^27 and an accumulator of less than 2^26 fit
        Value* changed = b_.CreateAnd(b_.CreateXor(part[o], total), b_.CreateXor(of_c[o], total));
        overflow_ = overflow_ ? b_.CreateOr(overflow_, changed) : changed;
      }
      Value* down = b_.CreateSub(smax(most[o], imm(kFraction << 23)), imm(kFraction << 23));
      sums[o] = rounded(total, as_float(down));
    }
  }
  Value* cut(Value* v) const { return b_.CreateFPToSI(v, words()); }
  Value* cut_to_float(Value* total) const {
    if (avx512_)
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_sitofp_round, {floats(), words()},
                                {total, b_.getInt32(8 | 3)});
    auto* doubles = vector(b_.getDoubleTy());
    auto* longs = vector(b_.getInt64Ty());
    Value* exact = b_.CreateBitCast(b_.CreateSIToFP(total, doubles), longs);
    Value* kept = b_.CreateAnd(exact, llvm::ConstantInt::get(longs, ~((u64{1} << 29) - 1)));
    return b_.CreateFPTrunc(b_.CreateBitCast(kept, doubles), floats());
  }
  // Bits of total * scale: cut off to an f32, or to the nearest f16 (by way of an f32 whose last bit says that
  // something is cut off).
  Value* rounded(Value* total, Value* scale) {
    Value* r = cut_to_float(total);
    if (!halves()) return bits(b_.CreateFMul(r, scale));
    Value* lost = b_.CreateICmpNE(cut(r), total);
    Value* odd = b_.CreateOr(bits(r), b_.CreateZExt(lost, words()));
    Value* h = b_.CreateFPTrunc(b_.CreateFMul(as_float(odd), scale), vector(b_.getHalfTy()));
    Value* v = b_.CreateZExt(b_.CreateBitCast(h, vector(b_.getInt16Ty())), words());
    return b_.CreateSelect(b_.CreateICmpEQ(v, imm(0x8000)), imm(0), v);  // what rounds to zero is +0
  }

  Value* rare() {
    Value* any = nullptr;
    auto also = [&](Value* v) { any = any ? b_.CreateOr(any, v) : v; };
    if (wide(code_.a)) {
      also(b_.CreateICmpUGE(factors_.high, imm((127u + 61) << 23)));
      also(b_.CreateICmpULT(factors_.low, imm(((127u - 48) << 23) - 1)));
    } else {
      also(b_.CreateICmpUGE(factors_.high, imm(kExponent)));
    }
    if (!halves()) {
      also(b_.CreateICmpUGE(accumulators_.high, imm(kExponent)));
      also(b_.CreateICmpULT(accumulators_.low, imm((32u << 23) - 1)));
    }
    if (overflow_) also(b_.CreateICmpSLT(overflow_, imm(0)));
    return b_.CreateICmpNE(b_.CreateBitCast(any, b_.getInt16Ty()), b_.getInt16(0));
  }

  Elements of_a_[8][2], of_b_[4][2];  // by register and element of it
  std::map<std::tuple<bool, u32, u32>, Value*> columns_;
  Range factors_, accumulators_;
  Value* overflow_ = nullptr;
};

// Integers as pairs of 16 bits, bits as they are.
class IntegerProduct : Products {
 public:
  using Products::Products;
  TensorProduct emit() {
    const bool ones = code_.a == MmaType::B1;
    const u32 n_d = code_.m / 4u, parts = ones ? 1 : 16 / numerics::bits_of(code_.a);
    Value* sums[4][kPieces] = {};
    for (u32 r = 0; r < code_.b_regs(); ++r)
      for (u32 p = 0; p < parts; ++p) {
        std::array<Value*, kPieces> of_b;
        for (u32 z = 0; z < kPieces; ++z) of_b[z] = part(code_.b, piece(b(r), z), p);
        Value* columns[2][4];
        for (u32 o = 0; o < 2; ++o)
          for (u32 q = 0; q < 4; ++q) columns[o][q] = along_columns(of_b, o, q);
        for (u32 block = 0; block < blocks(); ++block)
          for (u32 z = 0; z < kPieces; ++z) {
            Value* of_a = part(code_.a, piece(a(r * blocks() + block), z), p);
            for (u32 q = 0; q < 4; ++q) {
              Value* x = along_row(of_a, q);
              for (u32 o = 0; o < 2; ++o) {
                Value*& sum = sums[2 * block + o][z];
                Value* more = ones ? common_ones(x, columns[o][q]) : products(x, columns[o][q]);
                sum = sum ? b_.CreateAdd(sum, more) : more;
              }
            }
          }
      }
    TensorProduct all;
    for (u32 e = 0; e < n_d; ++e) {
      Value* sum = joined(sums[e][0], sums[e][1]);
      all.d.push_back(code_.saturate ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, sum, c(e))
                                     : b_.CreateAdd(sum, c(e)));
    }
    return all;
  }

 private:
  // Element p of both halves of each word, as 16 bits.
  Value* part(MmaType t, Value* w, u32 p) const {
    if (t == MmaType::B1) return w;
    const u32 n = numerics::bits_of(t);
    auto* pairs = llvm::FixedVectorType::get(b_.getInt16Ty(), 2 * kLanes);
    Value* x = b_.CreateBitCast(w, pairs);
    if (p + 1 < 16 / n) x = b_.CreateShl(x, llvm::ConstantInt::get(pairs, 16 - n * (p + 1)));
    auto* down = llvm::ConstantInt::get(pairs, 16 - n);
    const bool sign = t == MmaType::S8 || t == MmaType::S4;
    return bits(sign ? b_.CreateAShr(x, down) : b_.CreateLShr(x, down));
  }
  Value* common_ones(Value* x, Value* y) const {
    Value* v = code_.exclusive ? b_.CreateXor(x, y) : b_.CreateAnd(x, y);
    return b_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, v);
  }
  // Sums of two products each.
  Value* products(Value* x, Value* y) const {
    auto shorts = [&](Value* v, u32 n) { return b_.CreateBitCast(v, llvm::FixedVectorType::get(b_.getInt16Ty(), n)); };
    if (avx512_)
      return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_pmaddw_d_512, {},
                                {shorts(x, 2 * kLanes), shorts(y, 2 * kLanes)});
    Value* half[2];
    for (int h = 0; h < 2; ++h) {
      const std::vector<int> lanes{8 * h, 8 * h + 1, 8 * h + 2, 8 * h + 3, 8 * h + 4, 8 * h + 5, 8 * h + 6, 8 * h + 7};
      half[h] = b_.CreateIntrinsic(
          llvm::Intrinsic::x86_avx2_pmadd_wd, {},
          {shorts(b_.CreateShuffleVector(x, lanes), kLanes), shorts(b_.CreateShuffleVector(y, lanes), kLanes)});
    }
    std::vector<int> lanes(kLanes);
    for (u32 l = 0; l < kLanes; ++l) lanes[l] = static_cast<int>(l);
    return b_.CreateShuffleVector(half[0], half[1], lanes);
  }
};

bool is_half_or_tf32(MmaType t) { return t == MmaType::F16 || t == MmaType::BF16 || t == MmaType::TF32; }
}  // namespace

bool has_vector_form(const device::MmaCode& code) {
  if (code.sparse || code.quarters()) return false;
  if (numerics::is_integer(code.a)) return true;
  return is_half_or_tf32(code.a) && code.a == code.b && code.c == code.d && code.m == 16;
}

TensorProduct tensor_product(llvm::IRBuilder<>& b, const device::MmaCode& code, std::span<Value* const> registers,
                             bool avx512) {
  if (numerics::is_integer(code.a)) return IntegerProduct(b, code, registers, avx512).emit();
  return FloatProduct(b, code, registers, avx512).emit();
}

}  // namespace us::codegen
