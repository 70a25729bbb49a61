// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/in_place.h"

#include <llvm/IR/MDBuilder.h>

namespace us::codegen {

using llvm::ConstantDataVector;
using llvm::Value;
using probe::Quick;
using probe::QuickRecords;
using probe::QuickSite;

namespace {
constexpr u32 kLine = 128;  // bytes of a word of marks

bool in_one_row(u32 lanes) {
  const u32 low = lanes >> std::countr_zero(lanes);
  return (low & (low + 1)) == 0;
}
}  // namespace

Value* InPlace::at(Value* address, llvm::Type* t, u32 align) {
  return m_.of_runtime(b_.CreateAlignedLoad(t, b_.CreateIntToPtr(address, b_.getPtrTy()), llvm::Align(align)));
}
void InPlace::put(Value* what, Value* address, u32 align) {
  m_.of_runtime(b_.CreateAlignedStore(what, b_.CreateIntToPtr(address, b_.getPtrTy()), llvm::Align(align)));
}
Value* InPlace::field(u64 offset, llvm::Type* t, u32 align) {
  Value* p = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), quick_, offset);
  return m_.of_runtime(b_.CreateAlignedLoad(t, p, llvm::Align(align)));
}
void InPlace::go(Value* yes, Block* to, Block* otherwise) {
  b_.CreateCondBr(yes, to, otherwise, llvm::MDBuilder(c_).createBranchWeights(1000, 1));
  b_.SetInsertPoint(to);
}

void InPlace::judge(const AccessPart& p, Value* place, Block* fine, Block* call) {
  const bool marks = !access_.write && !access_.shared, records = has_record(p);
  if ((!p.same && !in_one_row(p.lanes)) || (!marks && !records)) return void(b_.CreateBr(call));
  llvm::Type* word = b_.getInt64Ty();
  Value* sites = field(offsetof(Quick, sites), b_.getPtrTy());
  go(b_.CreateIsNotNull(sites), Block::Create(c_, "look", s_.out), call);
  const auto of_site = [&](u64 offset) {
    Value* q = b_.CreateConstGEP1_64(b_.getInt8Ty(), sites, u64{site_} * sizeof(QuickSite) + offset);
    return m_.of_runtime(b_.CreateLoad(word, q));
  };
  Value* low = b_.CreateAdd(place, b_.getInt64(u64{first(p)} * access_.bytes));
  Value* size = of_site(offsetof(QuickSite, bytes));
  Value* offset = b_.CreateSub(low, of_site(offsetof(QuickSite, begin)));
  Value* ok =
      b_.CreateAnd(b_.CreateICmpULT(offset, size), b_.CreateICmpUGE(b_.CreateSub(size, offset), b_.getInt64(bytes(p))));
  Value* lanes = b_.CreateAnd(s_.mask(), b_.getInt32(p.lanes));
  ok = b_.CreateAnd(ok, p.same ? b_.CreateICmpNE(lanes, b_.getInt32(0)) : b_.CreateICmpEQ(lanes, b_.getInt32(p.lanes)));
  ok = b_.CreateAnd(ok, b_.CreateICmpEQ(b_.CreateAnd(low, b_.getInt64(access_.bytes - 1)), b_.getInt64(0)));
  go(ok, Block::Create(c_, "inside", s_.out), call);
  Value *other = access_.write ? nullptr : of_site(offsetof(QuickSite, sites)), *far = nullptr;
  if (!access_.shared && !p.same) far = step(p, low);
  if (far && !access_.write) fetch_next(p, low, far);
  if (!marks) return record(p, low, other, far, fine, call);
  Value* words = of_site(offsetof(QuickSite, words));
  auto *mark_it = Block::Create(c_, "mark", s_.out), *record_it = records ? Block::Create(c_, "record", s_.out) : call;
  b_.CreateCondBr(b_.CreateICmpNE(words, b_.getInt64(0)), mark_it, record_it);
  b_.SetInsertPoint(mark_it);
  mark(p, low, words, other, fine, call);
  if (!records) return;
  b_.SetInsertPoint(record_it);
  record(p, low, other, far, fine, call);
}

void InPlace::mark(const AccessPart& p, Value* low, Value* words, Value* sites, Block* fine, Block* call) {
  const u32 all = bytes(p) / 4, blocks = (bytes(p) + QuickRecords::kCovers - 1) / QuickRecords::kCovers;
  llvm::Type *word = b_.getInt64Ty(), *half = b_.getInt16Ty();
  const bool whole = !p.same && access_.bytes > 4;  // words of marks, from the first bit on
  if (whole && all % 32) return void(b_.CreateBr(call));
  if (whole) {
    Value* begins = b_.CreateICmpEQ(b_.CreateAnd(low, b_.getInt64(kLine - 1)), b_.getInt64(0));
    go(begins, Block::Create(c_, "lines", s_.out), call);
  }
  Value* place = b_.CreateAdd(words, b_.CreateShl(b_.CreateLShr(low, b_.getInt64(7)), b_.getInt64(2)));
  if (whole) {
    put(llvm::Constant::getAllOnesValue(llvm::FixedVectorType::get(b_.getInt32Ty(), all / 32)), place, 4);
  } else {
    Value* shift = b_.CreateAnd(b_.CreateLShr(low, b_.getInt64(2)), b_.getInt64(31));
    Value* bits = b_.CreateShl(b_.getInt64((u64{1} << all) - 1), shift);
    put(b_.CreateOr(at(place, word, 4), bits), place, 4);
  }
  const auto site_of = [&](Value* address) {
    return b_.CreateAdd(sites, b_.CreateShl(b_.CreateLShr(address, b_.getInt64(6)), b_.getInt64(1)));
  };
  Value* site = llvm::ConstantInt::get(half, site_);
  if (whole) {
    put(b_.CreateVectorSplat(blocks, site), site_of(low), 2);
  } else {
    Value* of_first = site_of(low);
    put(site, of_first, 2);
    if (blocks > 1) put(site, b_.CreateAdd(of_first, b_.getInt64(2)), 2);
    if (!p.same) put(site, site_of(b_.CreateAdd(low, b_.getInt64(bytes(p) - 1))), 2);
  }
  b_.CreateBr(fine);
}

// How far this place lies behind the last one.
Value* InPlace::step(const AccessPart& p, Value* low) {
  const u64 at = offsetof(Quick, last) + sizeof(u64) * ((2 * site_ + (first(p) > 0)) % Quick::kLast);
  Value* last = b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), quick_, at);
  Value* step = b_.CreateSub(low, m_.of_runtime(b_.CreateLoad(b_.getInt64Ty(), last)));
  m_.of_runtime(b_.CreateStore(low, last));
  return step;
}

void InPlace::fetch(Value* address) {
  constexpr i32 kNextToNearest = 2;  // cache
  b_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {b_.getPtrTy()},
      {b_.CreateIntToPtr(address, b_.getPtrTy()), b_.getInt32(0), b_.getInt32(kNextToNearest), b_.getInt32(1)});
}

// What a load reads next, if places go on as they did: of others the compiler knows more (strides.h).
void InPlace::fetch_next(const AccessPart& p, Value* low, Value* step) {
  for (const ir::Operand& o : s_.inst->ops)
    if (o.kind == ir::Operand::Kind::Address && o.value.valid() && o.value.v < s_.lowered.strides.size() &&
        s_.lowered.strides[o.value.v].bytes)
      return;
  Value* next = b_.CreateAdd(low, step);
  fetch(next);
  if (bytes(p) > QuickRecords::kCovers) fetch(b_.CreateAdd(next, b_.getInt64(QuickRecords::kCovers)));
}

bool InPlace::has_record(const AccessPart& p) const { return !p.same && bytes(p) % QuickRecords::kCovers == 0; }

// Two words of each record, which grow by as much from one to the next.
Value* InPlace::pairs(const AccessPart& p, u64 first, u64 step, u64 second, u64 second_step) {
  std::vector<u64> all;
  for (u32 k = 0; k < bytes(p) / QuickRecords::kCovers; ++k)
    all.push_back(first + k * step), all.push_back(second + k * second_step);
  return ConstantDataVector::get(c_, llvm::ArrayRef<u64>(all));
}

void InPlace::record(const AccessPart& p, Value* low, Value* least, Value* step, Block* fine, Block* call) {
  const u32 blocks = bytes(p) / QuickRecords::kCovers, lanes = QuickRecords::kCovers / access_.bytes;
  const u64 records = access_.shared ? offsetof(Quick, shared) : offsetof(Quick, global);
  const u64 shift = static_cast<u64>(std::countr_zero(access_.bytes / 4u)), lane = first(p);
  const u64 low_half = 0xffffffff, of_reader = (u64{1} << QuickRecords::kWriterShift) - 1;
  auto* pair = llvm::FixedVectorType::get(b_.getInt64Ty(), 2);
  llvm::SmallVector<int, 16> twice;
  for (u32 k = 0; k < blocks; ++k) twice.push_back(0), twice.push_back(1);
  const auto spread = [&](Value* v) { return b_.CreateShuffleVector(v, twice); };
  const auto known = [&](u64 offset) { return spread(field(records + offset, pair)); };

  auto* look = Block::Create(c_, "records", s_.out);
  Value* begins = b_.CreateICmpEQ(b_.CreateAnd(low, b_.getInt64(QuickRecords::kCovers - 1)), b_.getInt64(0));
  Value* first_record = field(records + offsetof(QuickRecords, at), b_.getInt64Ty());
  go(b_.CreateAnd(begins, b_.CreateICmpNE(first_record, b_.getInt64(0))), look, call);
  Value* place = b_.CreateAdd(first_record, b_.CreateLShr(low, b_.getInt64(2)));
  static_assert(QuickRecords::kCovers / QuickRecords::kBytes == 4);
  if (step) fetch(b_.CreateAdd(place, b_.CreateAShr(step, b_.getInt64(2))));
  Value* old = at(place, llvm::FixedVectorType::get(b_.getInt64Ty(), 2 * blocks), QuickRecords::kBytes);
  Value* numbers = b_.CreateAnd(old, pairs(p, low_half, 0, low_half, 0));
  Value* limit = known(offsetof(QuickRecords, limit));
  if (least) {
    Value* from = b_.CreateInsertElement(llvm::Constant::getNullValue(pair), least, u64{0});
    from = spread(from);
    numbers = b_.CreateSub(numbers, from), limit = b_.CreateSub(limit, from);
  }
  Value* read = known(offsetof(QuickRecords, read));
  const u64 reader = lane << 32 | shift << QuickRecords::kReaderShift, next = u64{lanes} << 32;
  Value* mine = b_.CreateOr(read, pairs(p, 1, 0, reader, next));
  Value* own = b_.CreateICmpEQ(b_.CreateAnd(old, pairs(p, 0, 0, of_reader, 0)), mine);
  Value* ok = b_.CreateAndReduce(b_.CreateOr(b_.CreateICmpULT(numbers, limit), own));
  auto* note = Block::Create(c_, "note", s_.out);
  go(ok, note, call);
  if (access_.write) {
    Value* write = known(offsetof(QuickRecords, write));
    const u64 writer = lane | u64{site_} << 32;
    put(b_.CreateOr(write, pairs(p, writer, lanes, shift << QuickRecords::kWriterShift, 0)), place,
        QuickRecords::kBytes);
  } else {
    Value* kept = b_.CreateAnd(old, pairs(p, (u64{1} << 48) - 1, 0, ~of_reader, 0));
    put(b_.CreateOr(kept, b_.CreateOr(read, pairs(p, u64{site_} << 48, 0, reader, next))), place, QuickRecords::kBytes);
  }
  if (!access_.shared) {
    Value* pages = field(records + offsetof(QuickRecords, pages), b_.getInt64Ty());
    const auto touch = [&](Value* a) { put(b_.getInt8(1), b_.CreateAdd(pages, b_.CreateLShr(a, b_.getInt64(12))), 1); };
    touch(low);
    touch(b_.CreateAdd(low, b_.getInt64(bytes(p) - 1)));
  }
  b_.CreateBr(fine);
}

}  // namespace us::codegen
