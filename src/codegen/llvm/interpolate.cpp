// SPDX-License-Identifier: Apache-2.0
// The sums of numerics/approx.h for 32 lanes where the processor can permute bytes: all lanes' table entries and
// squares are computed as 16-bit words in one 512-bit register, lane k and lane k + 16 beside each other; products as
// pairs of words.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/values.h"
#include "numerics/approx.h"

namespace us::codegen {
namespace {

using llvm::Value;
constexpr u32 kHalf = 16, kWords = 32, kBytes = 64;  // dwords, words, bytes of a 512-bit register
constexpr u32 kLow = 0xffff, kHigh = 0xffff0000u;    // the words of the lower and the upper 16 lanes

// The sum over k = 1..3 of a >> (4-k) where bit k of b is set, for nibbles a and b, at a * 8 + b / 2.
constexpr std::array<u8, 128> nibble_products() {
  std::array<u8, 128> t{};
  for (u32 i = 0; i < 128; ++i)
    for (u32 k = 1; k < 4; ++k)
      if (i << 1 & 1u << k) t[i] = static_cast<u8>(t[i] + (i >> 3 >> (4 - k)));
  return t;
}
constexpr std::array<u8, 128> kNibbleProducts = nibble_products();

class Interpolation {
 public:
  Interpolation(llvm::IRBuilder<>& b, numerics::Approx function)
      : b_(b), f_(numerics::facts(function)), table_(numerics::approx_table(function)) {}

  // lower, upper: 16 lanes each; result: high and low of the lower lanes, then of the upper ones
  void run(Value* lower, Value* upper, Value* high[2], Value* low[2]) {
    Value* x[2] = {lower, upper};
    const u32 t = f_.table_bits();
    Value* segment = mixed(lshr(lower, t), t == kHalf ? upper : shl(lshr(upper, t), 16));
    Value* index = b_.CreateOr(segment, shl(segment, 8));
    Value* square = squared(f_.x_bits == 16 ? mixed(lower, shl(upper, 16)) : mixed(lshr(lower, 1), shl(upper, 15)));
    Value* c1 = looked_up(table_.slopes, 0, index);
    Value* c2 = looked_up(table_.slopes, 16, index);
    Value* start_low = looked_up(table_.start, 0, index);
    Value* start_high = looked_up(table_.start, 16, index);
    for (u32 half = 0; half < 2; ++half) {
      Value* slopes = half ? mixed(lshr(c1, 16), c2) : mixed(c1, shl(c2, 16));
      Value* start = half ? mixed(lshr(start_low, 16), start_high) : mixed(start_low, shl(start_high, 16));
      Value* centred = b_.CreateXor(x[half], dwords(0x8000));
      Value* factors = mixed(centred, half ? square : shl(square, 16));
      Value* products =
          b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_pmaddw_d_512, {}, {words(slopes), words(factors)});
      Value* t32 = b_.CreateAdd(products, dwords(f_.bias));
      Value* sum = b_.CreateAdd(start, b_.CreateAShr(t32, f_.grain));
      low[half] = b_.CreateAnd(t32, dwords((1u << f_.grain) - 1));
      if (f_.slope) {
        Value* term = shl(b_.CreateAnd(x[half], dwords((1u << t) - 1)), 15 - f_.grain);
        sum = f_.slope > 0 ? b_.CreateAdd(sum, term) : b_.CreateSub(sum, term);
      }
      if (f_.halves) {
        Value* in_upper = b_.CreateICmpNE(b_.CreateAnd(x[half], dwords(1u << 16)), dwords(0));
        sum = b_.CreateSelect(in_upper, b_.CreateAdd(sum, b_.CreateAShr(shl(slopes, 16), f_.grain)), sum);
      }
      high[half] = sum;
    }
  }

 private:
  Value* splat(u32 bits, u32 count, u64 v) {
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(count), b_.getIntN(bits, v));
  }
  Value* dwords(u32 v) { return splat(32, kHalf, v); }
  Value* as(u32 bits, u32 count, Value* v) {
    return b_.CreateBitCast(v, llvm::FixedVectorType::get(b_.getIntNTy(bits), count));
  }
  Value* words(Value* v) { return as(16, kWords, v); }
  Value* shl(Value* v, u32 n) { return b_.CreateShl(v, n); }
  Value* lshr(Value* v, u32 n) { return b_.CreateLShr(v, n); }
  // The lower words of a, the upper words of c.
  Value* mixed(Value* a, Value* c) {
    return b_.CreateOr(b_.CreateAnd(a, dwords(kLow)), b_.CreateAnd(c, dwords(kHigh)));
  }

  // Byte `index` of 128
  Value* permuted(llvm::ArrayRef<u8> entries, Value* index) {
    auto part = [&](u32 at) { return llvm::ConstantDataVector::get(b_.getContext(), entries.slice(at, kBytes)); };
    return b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_qi_512, {},
                              {part(0), as(8, kBytes, index), part(kBytes)});
  }
  // Bits shift.. of the entries, as words; index: twice in each word
  Value* looked_up(std::span<const u32, numerics::kApproxEntries> entries, u32 shift, Value* index) {
    auto plane = [&](u32 at) {
      std::array<u8, numerics::kApproxEntries> bytes;
      for (u32 k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<u8>(entries[k] >> at);
      return permuted(bytes, index);
    };
    llvm::SmallVector<llvm::Constant*> even;
    for (u32 k = 0; k < kBytes; ++k) even.push_back(b_.getInt1(k % 2 == 0));
    return as(32, kHalf, b_.CreateSelect(llvm::ConstantVector::get(even), plane(shift), plane(shift + 8)));
  }
  // S of each word. With h and l as nibbles, the products of whole nibbles are exact, and the others come from one
  // table:
  //   S = (h*h >> 1) + h1*l1 + products(h0, l1) + products(h1, l0)
  Value* squared(Value* x) {
    x = words(x);
    auto word = [&](u64 v) { return splat(16, kWords, v); };
    Value* h = lshr(x, 8);
    Value* index =
        b_.CreateOr(b_.CreateAnd(lshr(x, 5), word(0x7f)),
                    b_.CreateOr(b_.CreateAnd(lshr(x, 1), word(0x7800)), b_.CreateAnd(shl(x, 7), word(0x0700))));
    Value* small = permuted(kNibbleProducts, index);
    small = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_pmaddubs_w_512, {}, {small, splat(8, kBytes, 1)});
    Value* exact = b_.CreateMul(lshr(x, 12), b_.CreateAnd(lshr(x, 4), word(15)));
    return as(32, kHalf, b_.CreateAdd(b_.CreateAdd(lshr(b_.CreateMul(h, h), 1), small), exact));
  }

  llvm::IRBuilder<>& b_;
  numerics::ApproxFacts f_;
  numerics::ApproxTable table_;
};

}  // namespace

bool Values::interpolate(numerics::Approx function, V place, Builder::Interpolated& r) {
  place = canon(place);
  if (!m_.byte_permutes || at(place).shape.uniform()) return false;
  Value* x = vec(place);
  auto half = [&](u32 first) {
    std::vector<int> lanes;
    for (u32 k = 0; k < kHalf; ++k) lanes.push_back(static_cast<int>(first + k));
    return b_.CreateShuffleVector(x, lanes);
  };
  Value *high[2], *low[2];
  Interpolation(b_, function).run(half(0), half(kHalf), high, low);
  std::vector<int> all;
  for (u32 k = 0; k < kWarpSize; ++k) all.push_back(static_cast<int>(k));
  r.high = make_varying(b_.CreateShuffleVector(high[0], high[1], all), 32);
  r.low = make_varying(b_.CreateShuffleVector(low[0], low[1], all), 32);
  return true;
}

}  // namespace us::codegen
