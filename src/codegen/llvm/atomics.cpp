// SPDX-License-Identifier: Apache-2.0
// Atomic operations: one update per lane, or one per warp where that is exact.
#include "codegen/llvm/memory.h"
#include "codegen/semantics/atomic.h"

namespace us::codegen {

using isa::Space;

llvm::Value* Memory::atomic_scalar(Builder& to, AtomOp op, isa::Type type, Value* ptr, Value* x, Value* y,
                                   bool exclusive) {
  const u32 bits = isa::bits_of(type);
  const bool sign = isa::is_signed(type);
  llvm::Type* t = v_.int_type(bits);
  const llvm::Align align(bits / 8);
  const auto scalar = [&](Value* v) { return v ? v_.make_uniform(v, uniform_shape(bits)) : V{}; };
  const auto compute = [&](Value* old) -> Value* {
    const V r = v_.canon(updated(to, op, type, scalar(old), scalar(x), scalar(y), exclusive));
    return v_.at(r).base;
  };
  if (exclusive) {  // shared memory: one worker owns the CTA
    Value* old = b_.CreateAlignedLoad(t, ptr, align);
    b_.CreateAlignedStore(compute(old), ptr, align);
    return old;
  }
  using RMW = llvm::AtomicRMWInst;
  const auto sc = llvm::AtomicOrdering::SequentiallyConsistent;
  if (op == AtomOp::Cas) return b_.CreateExtractValue(b_.CreateAtomicCmpXchg(ptr, x, y, align, sc, sc), 0);
  std::optional<RMW::BinOp> direct;
  switch (op) {
    case AtomOp::Add:
      direct = RMW::Add;
      break;
    case AtomOp::And:
      direct = RMW::And;
      break;
    case AtomOp::Or:
      direct = RMW::Or;
      break;
    case AtomOp::Xor:
      direct = RMW::Xor;
      break;
    case AtomOp::Exch:
      direct = RMW::Xchg;
      break;
    case AtomOp::Min:
      direct = sign ? RMW::Min : RMW::UMin;
      break;
    case AtomOp::Max:
      direct = sign ? RMW::Max : RMW::UMax;
      break;
    default:
      break;
  }
  if (direct) return b_.CreateAtomicRMW(*direct, ptr, x, align, sc);
  // Compare-and-swap loop.
  Block* before = b_.GetInsertBlock();
  auto* loop = Block::Create(c_, "cas", s_.out);
  auto* done = Block::Create(c_, "cas.done", s_.out);
  Value* first = b_.CreateAlignedLoad(t, ptr, align);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* old = b_.CreatePHI(t, 2);
  old->addIncoming(first, before);
  Value* next = compute(old);
  Value* pair = b_.CreateAtomicCmpXchg(ptr, old, next, align, sc, sc);
  Value* seen = b_.CreateExtractValue(pair, 0);
  old->addIncoming(seen, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(pair, 1), done, loop);
  b_.SetInsertPoint(done);
  return old;
}

V Memory::atomic(Builder& to, AtomOp op, isa::Type type, const MemRef& m, V vx, V vy, bool result_used) {
  stores_.flush();
  const u32 bits = isa::bits_of(type);
  Value* root = nullptr;
  require_rights(m, true);
  LV addr = address(m, &root);
  const bool exclusive = m.space == Space::Shared || m.space == Space::SharedCluster;
  tests_.require_alignment(m, addr);
  tests_.require_bounds(m, addr, true);
  tests_.make_all();
  vx = v_.canon(vx);
  if (vy) vy = v_.canon(vy);
  compiler_fence();
  if (addr.shape.uniform() && !result_used) {
    std::optional<llvm::Intrinsic::ID> reduce;
    u64 neutral = 0;
    const u64 all = mask_bits(bits);
    switch (op) {
      case AtomOp::Add:
        reduce = llvm::Intrinsic::vector_reduce_add;
        break;
      case AtomOp::Or:
        reduce = llvm::Intrinsic::vector_reduce_or;
        break;
      case AtomOp::Xor:
        reduce = llvm::Intrinsic::vector_reduce_xor;
        break;
      case AtomOp::And:
        reduce = llvm::Intrinsic::vector_reduce_and;
        neutral = all;
        break;
      case AtomOp::Min:
        reduce = isa::is_signed(type) ? llvm::Intrinsic::vector_reduce_smin : llvm::Intrinsic::vector_reduce_umin;
        neutral = isa::is_signed(type) ? all >> 1 : all;
        break;
      case AtomOp::Max:
        reduce = isa::is_signed(type) ? llvm::Intrinsic::vector_reduce_smax : llvm::Intrinsic::vector_reduce_umax;
        neutral = isa::is_signed(type) ? (all >> 1) + 1 : 0;
        break;
      default:
        break;
    }
    if (reduce) {  // exact in any order: one update for the warp
      Value* x = v_.vec(vx);
      if (!s_.mask_full()) x = b_.CreateSelect(s_.mask_vec(), x, llvm::ConstantInt::get(v_.vec_type(bits), neutral));
      Value* sum = b_.CreateUnaryIntrinsic(*reduce, x);
      atomic_scalar(to, op, type, pointer_at(b_, root, addr.base, m.offset), sum, nullptr, exclusive);
      compiler_fence();
      return v_.imm(bits, 0);
    }
  }
  Value* ptrs = pointer_vector(root, addr);
  Value* where = s_.frame->scratch(ptrs->getType(), "atom.p");
  b_.CreateStore(ptrs, where);
  auto spill = [&](V v, const char* name) -> Value* {
    if (!v) return nullptr;
    if (v_.at(v).shape.uniform()) return nullptr;
    Value* slot = s_.frame->scratch(v_.vec_type(bits), name);
    b_.CreateStore(v_.vec(v), slot);
    return slot;
  };
  Value* sx = spill(vx, "atom.x");
  Value* sy = spill(vy, "atom.y");
  Value* results = result_used ? s_.frame->scratch(v_.vec_type(bits), "atom.r") : nullptr;
  for_each_lane([&](Value* lane) {
    Value* p = b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), where, lane));
    if (m.offset) p = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(m.offset)));
    auto pick = [&](V v, Value* slot) -> Value* {
      if (!v) return nullptr;
      return slot ? static_cast<Value*>(b_.CreateLoad(v_.int_type(bits), b_.CreateGEP(v_.int_type(bits), slot, lane)))
                  : v_.at(v).base;
    };
    Value* old = atomic_scalar(to, op, type, p, pick(vx, sx), pick(vy, sy), exclusive);
    if (results) b_.CreateStore(old, b_.CreateGEP(v_.int_type(bits), results, lane));
  });
  compiler_fence();
  if (!results) return v_.imm(bits, 0);
  return v_.make_varying(b_.CreateLoad(v_.vec_type(bits), results), bits);
}

}  // namespace us::codegen
