// SPDX-License-Identifier: Apache-2.0
// Addresses, loads, stores, atomics: a vector of 32 lanes at a time.
#pragma once
#include "codegen/llvm/access_tests.h"
#include "codegen/llvm/params.h"
#include "codegen/llvm/read_before_store.h"

namespace us::codegen {

class Memory : private Part {
 public:
  Memory(FunctionState&, Values&, RuntimeCalls&, DeferredStores&, AccessTests&, Params&);

  // As in Builder
  void load(const MemRef&, std::span<V> out);
  void store(const MemRef&, std::span<const V> in);
  V atomic(Builder& to, AtomOp, isa::Type, const MemRef&, V b, V c, bool result_used);  // to: what computes
  void fence(Order, Scope);
  V symbol_address(ir::SymId, i64 offset);
  V to_generic(isa::Space, V addr64);
  V parameters();
  V from_generic(isa::Space, V addr64);
  V in_space(isa::Space, V addr64);

  void compiler_fence();
  ReadBeforeStore& reads() { return reads_; }

 private:
  void require_rights(const MemRef&, bool writes);
  LV address(const MemRef&, Value** root);  // lane address = root + addr (addr sign-extended to 64)
  Value* pointer_vector(Value* root, LV& addr);
  void load_lanes(const MemRef&, Value* root, LV& addr, std::span<V> out);
  void store_lanes(const MemRef&, Value* root, LV& addr, std::span<const V> in);
  Value* gather(const MemRef&, Value* root, LV& addr, i64 offset);
  void scatter(const MemRef&, Value* root, LV& addr, i64 offset, Value* v);
  // windows.cpp
  bool load_windows(const MemRef&, Value* base_ptr, const Shape& shape, std::vector<Value*>& out);
  bool store_windows(const MemRef&, Value* base_ptr, const Shape& shape, std::vector<Value*>& in);
  Value* rows_test(const MemRef&, Value* root, LV& addr, Value** low, Value** high);
  Value* half_mask(bool high);
  Value* load_rows(const MemRef&, Value* root, LV& addr);
  void store_rows(const MemRef&, Value* root, LV& addr, Value* v);
  // wide_access.cpp
  bool moves_wide(const MemRef&);  // a strong access to a vector: one access for a lane's 2 to 16 bytes
  void load_wide(const MemRef&, std::span<V> out);
  void store_wide(const MemRef&, std::span<const V> in);
  void split_words(std::span<const V> words, u32 bits, std::span<V> out);
  std::vector<V> join_words(const MemRef&, std::span<const V> in);

  void fetch_ahead(const MemRef&, LV& addr);
  Value* atomic_scalar(Builder& to, AtomOp, isa::Type, Value* ptr, Value* b, Value* c, bool exclusive);
  // Runs `body(lane i32)` for each active lane, lowest first.
  template <class F>
  void for_each_lane(F&& body);

  Values& v_;
  FloatCode floats_;
  RuntimeCalls& runtime_;
  DeferredStores& stores_;
  AccessTests& tests_;
  Params& params_;
  ReadBeforeStore reads_;
};

template <class F>
void Memory::for_each_lane(F&& body) {
  if (m_.facts.one_thread) return body(b_.getInt64(0));
  Block* before = b_.GetInsertBlock();
  auto* loop = Block::Create(c_, "lanes", s_.out);
  auto* done = Block::Create(c_, "lanes.done", s_.out);
  Value* all = s_.mask();
  b_.CreateCondBr(b_.CreateICmpNE(all, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(loop);
  auto* m = b_.CreatePHI(b_.getInt32Ty(), 2);
  m->addIncoming(all, before);
  Value* lane = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, m, b_.getTrue());
  body(b_.CreateZExt(lane, b_.getInt64Ty()));
  Value* rest = b_.CreateAnd(m, b_.CreateSub(m, b_.getInt32(1)));
  m->addIncoming(rest, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt32(0)), loop, done);
  b_.SetInsertPoint(done);
}

}  // namespace us::codegen
