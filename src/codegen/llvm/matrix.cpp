// SPDX-License-Identifier: Apache-2.0
// mma of f64 to nearest: chains of fused multiplications and additions on registers. A result that is a NaN is computed again by the
// runtime function, which knows whose NaN it is.
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/emitter.h"
#include "device/mma_code.h"

namespace us::codegen {
namespace {
constexpr u32 kPiece = 8, kPieces = kWarpSize / kPiece;  // lanes
}

// Lane l has a(l/4 + 8 (r odd), 4 (r/2) + l%4), b(4 r + l%4, l/4), c(l/4 + 8 (e/2), 2 (l%4) + e%2). So in pieces of eight lanes, a is
// needed four times in each half, and b as four columns, twice.
bool Emitter::multiply_doubles(const device::MmaCode& code, std::span<const V> args, V* d) {
  flush_stores();
  const u32 blocks = code.m / 8u, n_a = code.a_regs(), n_b = code.b_regs(), n_d = code.d_regs();
  auto* wide = llvm::FixedVectorType::get(b_.getDoubleTy(), kWarpSize);
  auto piece = [&](V v, u32 z) {
    std::vector<int> lanes(kPiece);
    for (u32 k = 0; k < kPiece; ++k) lanes[k] = static_cast<int>(z * kPiece + k);
    return b_.CreateShuffleVector(b_.CreateBitCast(vec(canon(v)), wide), lanes);
  };
  const auto* a = args.data() + 1;
  const auto* b = a + n_a;
  const auto* c = b + n_b;
  std::vector<Value*> sums;  // by e, piece
  for (u32 e = 0; e < n_d; ++e)
    for (u32 z = 0; z < kPieces; ++z) sums.push_back(piece(c[e], z));
  for (u32 r = 0; r < n_b; ++r) {
    Value* whole_a[2];
    for (u32 block = 0; block < blocks; ++block)
      whole_a[block] = b_.CreateBitCast(vec(canon(a[r * blocks + block])), wide);
    Value* in[kPieces];
    for (u32 z = 0; z < kPieces; ++z) in[z] = piece(b[r], z);
    // Piece z of b holds columns 2z and 2z + 1: element 4 o + k of it is b(k, 2z + o).
    Value* pairs[2][2];  // of pieces 0, 1 and 2, 3; even and odd elements
    for (u32 p = 0; p < 2; ++p)
      for (u32 odd = 0; odd < 2; ++odd) {
        std::vector<int> lanes;
        for (int k = 0; k < 4; ++k) lanes.push_back(2 * k + int(odd)), lanes.push_back(8 + 2 * k + int(odd));
        pairs[p][odd] = b_.CreateShuffleVector(in[2 * p], in[2 * p + 1], lanes);
      }
    for (u32 k = 0; k < 4; ++k) {
      Value* of_b[2];
      for (u32 o = 0; o < 2; ++o) {
        const int at = int(4 * o + k) / 2 * 2;
        const std::vector<int> lanes{at, at + 1, 8 + at, 9 + at, at, at + 1, 8 + at, 9 + at};
        of_b[o] = b_.CreateShuffleVector(pairs[0][k % 2], pairs[1][k % 2], lanes);
      }
      const int i = int(k);
      const std::vector<int> in_halves{i, i, i, i, 4 + i, 4 + i, 4 + i, 4 + i};
      for (u32 block = 0; block < blocks; ++block)
        for (u32 z = 0; z < kPieces; ++z) {
          std::vector<int> lanes = in_halves;
          for (int& l : lanes) l += static_cast<int>(z * kPiece);
          Value* of_a = b_.CreateShuffleVector(whole_a[block], lanes);
          for (u32 o = 0; o < 2; ++o) {
            Value*& sum = sums[(block * 2 + o) * kPieces + z];
            sum = b_.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {of_a, of_b[o], sum});
          }
        }
    }
  }
  Value* odd = nullptr;
  for (std::size_t k = 0; k < sums.size(); k += 2) {
    Value* some = b_.CreateFCmpUNO(sums[k], sums[k + 1]);
    odd = odd ? b_.CreateOr(odd, some) : some;
  }
  Block *rare = Block::Create(c_, "nan", out_), *join = Block::Create(c_, "", out_);
  Block* usual = b_.GetInsertBlock();
  std::vector<Value*> from_usual;
  for (u32 e = 0; e < n_d; ++e) {
    auto both = [&](Value* x, Value* y) {
      std::vector<int> lanes;
      for (u32 k = 0; k < 2 * llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements(); ++k)
        lanes.push_back(static_cast<int>(k));
      return b_.CreateShuffleVector(x, y, lanes);
    };
    Value** z = &sums[e * kPieces];
    from_usual.push_back(b_.CreateBitCast(both(both(z[0], z[1]), both(z[2], z[3])), vec_type(64)));
  }
  auto* weights = llvm::MDBuilder(c_).createBranchWeights(1, 1000);
  b_.CreateCondBr(b_.CreateICmpNE(b_.CreateBitCast(odd, b_.getInt8Ty()), b_.getInt8(0)), rare, join, weights);

  b_.SetInsertPoint(rare);
  V from_rare[kMaxRtResults];
  call_rt_now(device::RtFn::Mma, {args.begin(), args.end()}, std::vector<u32>(n_d, 64), from_rare);
  Block* rare_end = b_.GetInsertBlock();
  b_.CreateBr(join);

  b_.SetInsertPoint(join);
  for (u32 e = 0; e < n_d; ++e) {
    auto* r = b_.CreatePHI(vec_type(64), 2);
    r->addIncoming(from_usual[e], usual);
    r->addIncoming(vec(from_rare[e]), rare_end);
    d[e] = make_varying(r, 64);
  }
  return true;
}

}  // namespace us::codegen
