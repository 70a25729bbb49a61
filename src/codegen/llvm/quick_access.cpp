// SPDX-License-Identifier: Apache-2.0
// Accesses that whoever listens may judge by their addresses alone (probe/quick.h).
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/in_place.h"
#include "codegen/llvm/warp_builder.h"

namespace us::codegen {
namespace {

using probe::Quick;

constexpr std::size_t kMostParts = 2;

// Empty: there are too many.
std::vector<AccessPart> parts_of(const Shape& s, probe::QuickAccess access) {
  if (s.uniform()) return {{kFullMask, true, 0}};
  std::vector<AccessPart> parts;
  if (!s.pattern()) return parts;
  for (u32 left = kFullMask; left;) {
    const u32 first = static_cast<u32>(std::countr_zero(left));
    u32 row = 0, same = 0;
    for (u32 l = first; l < kWarpSize; ++l) {
      const i64 distance = s.offset(l) - s.offset(first);
      if (distance == i64{l - first} * access.bytes) row |= 1u << l;
      if (distance == 0) same |= 1u << l;
    }
    row &= left, same &= left;
    const bool one = !access.write && std::popcount(same) > std::popcount(row);
    if (parts.size() == kMostParts) return {};
    parts.push_back({one ? same : row, one, s.offset(first) - (one ? 0 : i64{first} * access.bytes)});
    left &= ~parts.back().lanes;
  }
  return parts;
}

}  // namespace

u32 WarpBuilder::settled() const {
  const auto found = s_.lowered.settled.find(s_.inst);
  return found == s_.lowered.settled.end() ? 0 : found->second.number;
}

bool WarpBuilder::closed() const {
  const auto found = s_.lowered.settled.find(s_.inst);
  return found != s_.lowered.settled.end() && found->second.closed;
}

// Lanes of a pattern that are not there may be outside: then it is told.
llvm::Value* WarpBuilder::inside(const Settled& access, u32 bytes, LV& at) {
  const ir::Symbol& s = m_.ir.symbols[access.variable.v];
  const auto number = [](Value* like, u64 x) { return llvm::ConstantInt::get(like->getType(), x); };
  const bool scalar = !at.shape.varying() && !at.guard;
  Value* a = scalar ? at.base : v_.vec(at);
  const i64 low = scalar && at.shape.pattern() ? at.shape.min_offset() : 0,
            high = scalar && at.shape.pattern() ? at.shape.max_offset() : 0;
  const u64 span = static_cast<u64>(high - low) + bytes;
  if (span > s.size) return b_.getFalse();
  a = b_.CreateSub(a, number(a, s.offset - static_cast<u64>(low)));
  if (scalar) return b_.CreateICmpULE(a, number(a, s.size - span));
  Value* out = b_.CreateBitCast(b_.CreateICmpUGT(a, number(a, s.size - span)), b_.getInt32Ty());
  return b_.CreateICmpEQ(b_.CreateAnd(out, s_.mask()), b_.getInt32(0));
}

void WarpBuilder::unless_settled(u32 bytes, V address, const Tell& tell) {
  const Settled& access = s_.lowered.settled.at(s_.inst);
  LV at = v_.at(v_.canon(address));
  stores_.flush();  // not in one of the branches
  llvm::Type *ptr = b_.getPtrTy(), *byte = b_.getInt8Ty();
  Value* quick = b_.CreateConstInBoundsGEP1_64(byte, s_.frame->ctx(), offsetof(device::WarpCtx, quick));
  quick = m_.of_runtime(b_.CreateLoad(ptr, quick, "quick"));
  Value* place =
      m_.of_runtime(b_.CreateLoad(ptr, b_.CreateConstInBoundsGEP1_64(byte, quick, offsetof(Quick, settled))));
  Value* word = m_.of_runtime(b_.CreateLoad(b_.getInt64Ty(), place, "settled"));
  Value* yes = b_.CreateICmpNE(b_.CreateAnd(word, b_.getInt64(u64{1} << (access.number - 1))), b_.getInt64(0));
  if (!access.inside) yes = b_.CreateAnd(yes, inside(access, bytes, at));
  auto *ask = Block::Create(c_, "unsettled", s_.out), *done = Block::Create(c_, "settled", s_.out);
  b_.CreateCondBr(yes, done, ask, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(ask);
  tell();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

// A pattern that holds only under a test is judged where it does; elsewhere `tell` does it all.
void WarpBuilder::unless_quick(u32 site, probe::QuickAccess access, V address, const Tell& tell) {
  if (site == ir::kNoSite) return tell();
  LV at = v_.at(v_.canon(address));
  const auto parts = parts_of(at.shape, access);
  const bool in_place = s_.lowered.in_place && !access.settled();  // these are judged until they are settled, by a call
  stores_.flush();                                                 // not in one of the branches
  auto *ask = Block::Create(c_, "quick", s_.out), *rare = Block::Create(c_, "told", s_.out),
       *done = Block::Create(c_, "", s_.out);
  if (!parts.empty() && at.guard)
    b_.CreateCondBr(at.guard, ask, rare);
  else
    b_.CreateBr(ask);

  b_.SetInsertPoint(ask);
  llvm::Type *ptr = b_.getPtrTy(), *bytes = b_.getInt8Ty(), *word = b_.getInt32Ty();
  Value* quick = b_.CreateConstInBoundsGEP1_64(bytes, s_.frame->ctx(), offsetof(device::WarpCtx, quick));
  quick = m_.of_runtime(b_.CreateLoad(ptr, quick, "quick"));  // not the same throughout the kernel
  const auto judge = [&](u64 field, Value* lanes, Value* place) -> Value* {
    Value* f = b_.CreateLoad(ptr, b_.CreateConstInBoundsGEP1_64(bytes, quick, field));
    auto* type = llvm::FunctionType::get(word, {ptr, word, word, word, place->getType()}, false);
    return b_.CreateCall(type, f, {quick, lanes, b_.getInt32(site), b_.getInt32(access.pack()), place});
  };
  auto* weights = llvm::MDBuilder(c_).createBranchWeights(1, 1000);
  for (const AccessPart& p : parts) {
    Value* place = b_.CreateAdd(at.base, b_.getInt64(static_cast<u64>(p.offset)));
    auto* next = &p == &parts.back() ? done : Block::Create(c_, "", s_.out);
    if (in_place) {
      auto* call = Block::Create(c_, "call", s_.out);
      InPlace(s_, site, access, quick).judge(p, place, next, call);
      b_.SetInsertPoint(call);
    }
    Value* lanes = b_.CreateAnd(s_.mask(), b_.getInt32(p.lanes));
    Value* left = judge(p.same ? offsetof(Quick, same) : offsetof(Quick, row), lanes, place);
    b_.CreateCondBr(b_.CreateICmpNE(left, b_.getInt32(0)), rare, next, weights);
    b_.SetInsertPoint(next);
  }
  if (parts.empty()) {
    if (in_place && at.shape.varying()) judge_varying(InPlace(s_, site, access, quick), access, v_.vec(at), done);
    Value* place = s_.frame->scratch(v_.vec_type(64), "addresses");
    b_.CreateStore(v_.vec(at), place);
    Value* left = judge(offsetof(Quick, lanes), s_.mask(), place);
    b_.CreateCondBr(b_.CreateICmpNE(left, b_.getInt32(0)), rare, done, weights);
  }

  b_.SetInsertPoint(rare);
  tell();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

// Goes on at `done`, or here with all of it to be judged: what has been noted by then would be noted again.
void WarpBuilder::judge_varying(InPlace in_place, probe::QuickAccess access, Value* address, Block* done) {
  judge_halves(in_place, access, address, done);
  if (access.write || access.shared || s_.mask_full()) return;
  // One lane is left where borders are looked after.
  auto *one = Block::Create(c_, "one", s_.out), *call = Block::Create(c_, "call", s_.out);
  Value* others = b_.CreateAnd(s_.mask(), b_.CreateSub(s_.mask(), b_.getInt32(1)));
  b_.CreateCondBr(b_.CreateICmpEQ(others, b_.getInt32(0)), one, call);
  b_.SetInsertPoint(one);
  Value* lane =
      b_.CreateAnd(b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, s_.mask(), b_.getFalse()), b_.getInt32(31));
  in_place.judge({.lanes = kFullMask, .same = true}, b_.CreateExtractElement(address, lane), done, call);
  b_.SetInsertPoint(call);
}

// Both halves of a whole warp may be rows, as those of two-dimensional indices are, though the compiler cannot know.
void WarpBuilder::judge_halves(InPlace in_place, probe::QuickAccess access, Value* address, Block* done) {
  constexpr u32 kHalf = kWarpSize / 2, kLow = (1u << kHalf) - 1;
  std::vector<llvm::Constant*> steps;
  std::vector<int> firsts;
  for (u32 l = 0; l < kWarpSize; ++l) {
    steps.push_back(b_.getInt64(u64{l % kHalf} * access.bytes));
    firsts.push_back(l < kHalf ? 0 : static_cast<int>(kHalf));
  }
  Value* start = b_.CreateSub(address, llvm::ConstantVector::get(steps));
  Value* rows = b_.CreateICmpEQ(start, b_.CreateShuffleVector(start, firsts));
  rows = b_.CreateAnd(b_.CreateBitCast(rows, b_.getInt32Ty()), s_.mask());
  auto *low = Block::Create(c_, "halves", s_.out), *high = Block::Create(c_, "half", s_.out),
       *call = Block::Create(c_, "call", s_.out);
  b_.CreateCondBr(b_.CreateICmpEQ(rows, b_.getInt32(kFullMask)), low, call);
  b_.SetInsertPoint(low);
  in_place.judge({.lanes = kLow}, b_.CreateExtractElement(address, u64{0}), high, call);
  b_.SetInsertPoint(high);
  Value* second = b_.CreateExtractElement(address, u64{kHalf});
  in_place.judge({.lanes = ~kLow}, b_.CreateSub(second, b_.getInt64(u64{kHalf} * access.bytes)), done, call);
  b_.SetInsertPoint(call);
}

void WarpBuilder::unless_whole(V members, const Tell& tell) {
  const LV m = v_.at(v_.canon(members));
  if (!s_.lowered.in_place || !m.shape.uniform()) return tell();
  stores_.flush();  // not in one of the branches
  llvm::Type *ptr = b_.getPtrTy(), *bytes = b_.getInt8Ty(), *word = b_.getInt32Ty();
  Value* quick = b_.CreateConstInBoundsGEP1_64(bytes, s_.frame->ctx(), offsetof(device::WarpCtx, quick));
  quick = m_.of_runtime(b_.CreateLoad(ptr, quick, "quick"));
  quick = b_.CreateConstInBoundsGEP1_64(bytes, quick, offsetof(Quick, whole_untold));
  Value* untold = b_.CreateICmpNE(m_.of_runtime(b_.CreateLoad(word, quick)), b_.getInt32(0));
  Value* all = b_.CreateICmpEQ(b_.CreateAnd(s_.mask(), m.base), b_.getInt32(kFullMask));
  auto *rare = Block::Create(c_, "collective", s_.out), *done = Block::Create(c_, "", s_.out);
  b_.CreateCondBr(b_.CreateAnd(untold, all), done, rare, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(rare);
  tell();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

}  // namespace us::codegen
