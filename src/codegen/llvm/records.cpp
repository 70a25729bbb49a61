// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/records.h"

#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/short_calls.h"
#include "codegen/llvm/warp_builder.h"

namespace us::codegen {

using llvm::Value;
using probe::RecordBuffer;
using probe::RecordCode;
using Addresses = probe::RecordCode::Addresses;

void write_record(FunctionState& s, u32 site, Value* lanes, RecordCode code, std::initializer_list<Value*> addresses) {
  llvm::IRBuilder<>& b = s.b;
  llvm::Type *ptr = b.getPtrTy(), *byte = b.getInt8Ty(), *word = b.getInt64Ty();
  const auto field = [&](Value* of, u64 offset) { return b.CreateConstInBoundsGEP1_64(byte, of, offset); };
  const auto load = [&](llvm::Type* t, Value* p) { return s.m.of_runtime(b.CreateLoad(t, p)); };
  Value* ctx = s.frame->ctx();
  Value* buffer = s.load_at(s.ctx0, offsetof(device::WarpCtx, records), ptr, "records");
  Value* next = load(ptr, field(buffer, offsetof(RecordBuffer, next)));
  Value* last = load(ptr, field(buffer, offsetof(RecordBuffer, last)));
  auto *full = llvm::BasicBlock::Create(s.c, "full", s.out), *room = llvm::BasicBlock::Create(s.c, "", s.out);
  auto* weights = llvm::MDBuilder(s.c).createBranchWeights(1, 1000);
  auto* before = b.GetInsertBlock();
  b.CreateCondBr(b.CreateICmpUGT(next, last), full, room, weights);
  b.SetInsertPoint(full);
  Value* make_room = load(ptr, field(buffer, offsetof(RecordBuffer, full)));
  b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), {ptr}, false), make_room, {buffer});
  Value* first = load(ptr, field(buffer, offsetof(RecordBuffer, next)));
  b.CreateBr(room);
  b.SetInsertPoint(room);
  llvm::PHINode* at = b.CreatePHI(ptr, 2);
  at->addIncoming(next, before), at->addIncoming(first, full);

  const auto store = [&](Value* v, u64 index) {
    s.m.of_runtime(b.CreateAlignedStore(v, field(at, index * sizeof(u64)), llvm::Align(8)));
  };
  store(b.CreateOr(b.CreateShl(b.CreateZExt(lanes, word), 32), site), 0);
  Value* warp = load(word, field(ctx, offsetof(device::WarpCtx, record)));
  store(b.CreateOr(warp, u64{code.pack()} << 32), 1);
  u64 words = 2;
  for (Value* v : addresses) store(v, words), words += v->getType()->isVectorTy() ? kWarpSize : 1;
  s.m.of_runtime(b.CreateStore(field(at, words * sizeof(u64)), field(buffer, offsetof(RecordBuffer, next))));
}

void record_block(FunctionState& s, u32 site, Value* lanes) {
  if (site < s.m.leaders.size() && s.m.leaders[site]) write_record(s, site, lanes, {}, {});
}

// Where the CTA's accesses are only counted, one whose cost is known gets no record: the block behind it is returned.
llvm::BasicBlock* WarpBuilder::unless_unheard(u32 site, RecordCode code, LV& at) {
  using probe::Unheard;
  const bool words = code.space == probe::Space::Shared && code.bytes % 4 == 0;
  if (!s_.lowered.unheard || code.looks || (!words && code.space != probe::Space::Local)) return nullptr;
  const auto field = [&](Value* of, u64 offset) { return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), of, offset); };
  const auto load = [&](llvm::Type* t, Value* p) { return m_.of_runtime(b_.CreateAlignedLoad(t, p, llvm::Align(4))); };
  const bool fixed = !at.shape.varying() && !at.guard;
  Value* const lanes = fixed ? nullptr : v_.vec(at);
  auto *known = Block::Create(c_, "known", s_.out), *count = Block::Create(c_, "unheard", s_.out);
  auto *record = Block::Create(c_, "record", s_.out), *done = Block::Create(c_, "", s_.out);
  Value* all = m_.of_runtime(b_.CreateLoad(b_.getPtrTy(), field(s_.frame->ctx(), offsetof(device::WarpCtx, unheard))));
  Value* whole = b_.CreateICmpEQ(s_.mask(), b_.getInt32(kFullMask));
  b_.CreateCondBr(b_.CreateAnd(b_.CreateIsNotNull(all), whole), known, record);
  b_.SetInsertPoint(known);
  Value* of = field(all, u64{site} * sizeof(Unheard));
  Value* same = b_.CreateICmpEQ(load(b_.getInt64Ty(), field(of, offsetof(Unheard, code))), b_.getInt64(code.pack()));
  if (words) {
    auto* type = llvm::FixedVectorType::get(b_.getInt32Ty(), kWarpSize);
    Value* apart = nullptr;
    if (fixed) {
      u32 offsets[kWarpSize];
      for (u32 l = 0; l < kWarpSize; ++l) offsets[l] = static_cast<u32>(at.shape.offset(l) - at.shape.offset(0));
      apart = llvm::ConstantDataVector::get(c_, llvm::ArrayRef(offsets));
    } else {
      Value* low = b_.CreateTrunc(lanes, type);
      apart = b_.CreateSub(low, b_.CreateVectorSplat(kWarpSize, b_.CreateExtractElement(low, u64{0})));
    }
    Value* other = b_.CreateICmpNE(load(type, field(of, offsetof(Unheard, distances))), apart);
    same = b_.CreateAnd(same, b_.CreateIsNull(b_.CreateBitCast(other, b_.getInt32Ty())));
  }
  b_.CreateCondBr(same, count, record);
  b_.SetInsertPoint(count);
  Value* times = field(of, offsetof(Unheard, times));
  m_.of_runtime(b_.CreateStore(b_.CreateAdd(load(b_.getInt64Ty(), times), b_.getInt64(1)), times));
  b_.CreateBr(done);
  b_.SetInsertPoint(record);
  return done;
}

void WarpBuilder::record(u32 site, RecordCode code, V address) {
  LV at = v_.at(v_.canon(address));
  Block* const done = unless_unheard(site, code, at);
  write_record_at(site, code, at);
  if (!done) return;
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

void WarpBuilder::write_record_at(u32 site, RecordCode code, LV& at) {
  const bool pattern = at.shape.pattern() && !at.guard;
  bool row = pattern;
  for (u32 l = 0; row && l < kWarpSize; ++l) row = at.shape.offset(l) - at.shape.offset(0) == i64{l} * code.bytes;
  code.addresses = at.shape.uniform() ? Addresses::Same
                   : row              ? Addresses::Row
                   : pattern          ? Addresses::Pattern
                                      : Addresses::Each;
  const auto write = [&](std::initializer_list<Value*> words) { write_record(s_, site, s_.mask(), code, words); };
  if (at.shape.uniform()) return write({at.base});
  if (row) return write({b_.CreateAdd(at.base, b_.getInt64(static_cast<u64>(at.shape.offset(0))))});
  if (pattern) return write({at.base, b_.CreatePtrToInt(distances(m_, at.shape), b_.getInt64Ty())});
  write({v_.vec(at)});
}

void WarpBuilder::record_lanes(u32 site, probe::Detour d, V lanes) {
  Value* mask = b_.CreateAnd(b_.CreateBitCast(v_.vec(lanes), b_.getInt32Ty()), s_.mask());
  auto *some = Block::Create(c_, "detour", s_.out), *none = Block::Create(c_, "", s_.out);
  auto* weights = llvm::MDBuilder(c_).createBranchWeights(1, 1000);
  b_.CreateCondBr(b_.CreateICmpNE(mask, b_.getInt32(0)), some, none, weights);
  b_.SetInsertPoint(some);
  write_record(s_, site, mask, {.bytes = static_cast<u32>(d)}, {});
  b_.CreateBr(none);
  b_.SetInsertPoint(none);
}

}  // namespace us::codegen
