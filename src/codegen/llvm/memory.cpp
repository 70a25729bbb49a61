// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics. The shape of the address picks the access:
//   uniform           one scalar access
//   consecutive       one (masked) vector access
//   known pattern     a few whole windows of 64 bytes and constant shuffles
//   anything else     gather / scatter
#include <algorithm>

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>

#include "codegen/llvm/memory.h"
#include "codegen/llvm/windows.h"
#include "codegen/lower/shape_builder.h"

namespace us::codegen {

using device::GridCtx;
using device::WarpCtx;
using isa::Space;

Memory::Memory(FunctionState& s, Values& v, RuntimeCalls& runtime, DeferredStores& stores, AccessTests& tests,
               Params& params)
    : Part(s),
      v_(v),
      floats_(s.b),
      runtime_(runtime),
      stores_(stores),
      tests_(tests),
      params_(params),
      reads_(s, runtime) {}

void Memory::compiler_fence() {
  stores_.flush();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), false);
  b_.CreateCall(type, llvm::InlineAsm::get(type, "", "~{memory}", true));
}

// Lane address = root + address (32-bit addresses sign-extend; root may be null for plain 64-bit addresses).
LV Memory::address(const MemRef& m, Value** root) {
  LV zero;
  zero.shape = constant_shape(64, 0);
  zero.base = b_.getInt64(0);
  *root = nullptr;
  switch (m.space) {
    case Space::Shared:
    case Space::SharedCluster: {
      *root = s_.window;
      if (!m.addr) return zero;
      return v_.at(v_.resize(v_.canon(m.addr), 32, false));
    }
    case Space::Param: {
      *root = s_.load_at(s_.grid, offsetof(GridCtx, params), b_.getPtrTy(), "params");
      return m.addr ? v_.at(v_.resize(v_.canon(m.addr), 64, false)) : zero;
    }
    case Space::Local: {
      *root = s_.load_at(s_.frame->ctx(), offsetof(WarpCtx, local), b_.getPtrTy(), "local");
      V a = m.addr ? v_.resize(v_.canon(m.addr), 64, false) : v_.imm(64, 0);
      Value* stride = s_.load_at(s_.ctx0, offsetof(WarpCtx, local_stride), b_.getInt64Ty(), "stride");
      V lanes = v_.resize(v_.lane_id(), 64, false);
      V start = v_.make_varying(b_.CreateMul(v_.vec(lanes), b_.CreateVectorSplat(kWarpSize, stride)), 64);
      return v_.at(v_.bin(Bin::Add, start, a));
    }
    default:
      return m.addr ? v_.at(v_.resize(v_.canon(m.addr), 64, false)) : zero;
  }
}

// Only where there are several devices, whose memory lies in one address space, or where the program has registered
// memory.
void Memory::require_rights(const MemRef& m, bool writes) {
  const bool everywhere = m.space == Space::Global || m.space == Space::Generic;
  if (!m_.facts.asks || !everywhere || !m.addr) return;
  const V start = v_.bin(Bin::Add, v_.resize(v_.canon(m.addr), 64, false), v_.imm(64, static_cast<u64>(m.offset)));
  V none;
  const u64 how = u64{writes} | u64{m.space == Space::Generic} << 1 | u64{m.bits / 8 * m.count} << 8;
  runtime_.call(device::RtFn::MayTouch, {start, v_.imm(64, how)}, {}, &none, false);
}

llvm::Value* Memory::pointer_vector(Value* root, LV& addr) {
  Value* v = v_.vec(addr);
  if (!root) return b_.CreateIntToPtr(v, llvm::FixedVectorType::get(b_.getPtrTy(), kWarpSize));
  return b_.CreateGEP(b_.getInt8Ty(), root, v);
}

llvm::Value* Memory::gather(const MemRef& m, Value* root, LV& addr, i64 offset) {
  const u32 bits = m.bits;
  Value* ptrs = pointer_vector(root, addr);
  if (offset) ptrs = b_.CreateGEP(b_.getInt8Ty(), ptrs, b_.getInt64(static_cast<u64>(offset)));
  if (bits >= 32)
    return m_.of_space(m.space, b_.CreateMaskedGather(v_.vec_type(bits), ptrs, llvm::Align(bits / 8), s_.mask_vec()));
  // Narrow elements: gather the aligned word around each and shift.
  auto* i64v = v_.vec_type(64);
  Value* a = b_.CreatePtrToInt(ptrs, i64v);
  Value* word = b_.CreateAnd(a, llvm::ConstantInt::get(i64v, ~u64{3}));
  Value* w =
      b_.CreateMaskedGather(v_.vec_type(32), b_.CreateIntToPtr(word, ptrs->getType()), llvm::Align(4), s_.mask_vec());
  Value* shift = b_.CreateShl(b_.CreateTrunc(b_.CreateAnd(a, llvm::ConstantInt::get(i64v, 3)), v_.vec_type(32)),
                              llvm::ConstantInt::get(v_.vec_type(32), 3));
  return b_.CreateTrunc(b_.CreateLShr(w, shift), v_.vec_type(bits));
}

void Memory::scatter(const MemRef& m, Value* root, LV& addr, i64 offset, Value* v) {
  const u32 bits = v->getType()->getScalarSizeInBits();
  Value* ptrs = pointer_vector(root, addr);
  if (offset) ptrs = b_.CreateGEP(b_.getInt8Ty(), ptrs, b_.getInt64(static_cast<u64>(offset)));
  if (bits >= 32) {
    m_.of_space(m.space, b_.CreateMaskedScatter(v, ptrs, llvm::Align(bits / 8), s_.mask_vec()));
    return;
  }
  Value* where = s_.frame->scratch(ptrs->getType(), "scatter.p");
  Value* what = s_.frame->scratch(v->getType(), "scatter.v");
  b_.CreateStore(ptrs, where);
  b_.CreateStore(v, what);
  for_each_lane([&](Value* lane) {
    Value* p = b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), where, lane));
    Value* x = b_.CreateLoad(v_.int_type(bits), b_.CreateGEP(v_.int_type(bits), what, lane));
    b_.CreateAlignedStore(x, p, llvm::Align(bits / 8));
  });
}

void Memory::load_lanes(const MemRef& m, Value* root, LV& addr, std::span<V> out) {
  const u32 bytes = m.bits / 8;
  std::vector<Value*> slow(m.count), fast(m.count);
  auto gather_all = [&](std::vector<Value*>& r) {
    for (u32 c = 0; c < m.count; ++c) r[c] = gather(m, root, addr, m.offset + i64{c} * bytes);
  };
  auto finish = [&](std::vector<Value*>& r) {
    for (u32 c = 0; c < m.count; ++c) out[c] = v_.make_varying(r[c], m.bits);
  };
  const bool usable = addr.shape.pattern() && m.bits <= 64;
  const bool consecutive = usable && m.count == 1 && is_consecutive(addr.shape, bytes);
  if (!usable ||
      (!consecutive && !plan_windows(addr.shape, bytes, m.count, 8 * m.count, m.offset, m.space == Space::Shared).ok)) {
    if (m.count == 1 && m.bits == 32 && addr.shape.varying() && m.space != Space::Local) {
      slow[0] = load_rows(m, root, addr);
      return finish(slow);
    }
    gather_all(slow);
    return finish(slow);
  }
  Value* condition = addr.guard;
  if (!consecutive && !s_.mask_full()) {
    Value* full = b_.CreateICmpEQ(s_.mask(), b_.getInt32(kFullMask));
    condition = condition ? b_.CreateAnd(condition, full) : full;
  }
  auto quick = [&](std::vector<Value*>& r) {
    if (!consecutive) {
      load_windows(m, pointer_at(b_, root, addr.base, 0), addr.shape, r);
      return;
    }
    Value* p = pointer_at(b_, root, addr.base, m.offset);
    p = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(addr.shape.offset(0))));
    if (s_.mask_full())
      r[0] = m_.of_space(m.space, b_.CreateAlignedLoad(v_.vec_type(m.bits), p, llvm::Align(bytes)));
    else
      r[0] = m_.of_space(m.space, b_.CreateMaskedLoad(v_.vec_type(m.bits), p, llvm::Align(bytes), s_.mask_vec(),
                                                      llvm::PoisonValue::get(v_.vec_type(m.bits))));
  };
  if (!condition) {
    quick(fast);
    return finish(fast);
  }
  auto* yes = Block::Create(c_, "ld.pattern", s_.out);
  auto* no = Block::Create(c_, "ld.gather", s_.out);
  auto* join = Block::Create(c_, "ld.done", s_.out);
  b_.CreateCondBr(condition, yes, no, llvm::MDBuilder(c_).createBranchWeights(64, 1));
  b_.SetInsertPoint(no);
  gather_all(slow);
  Block* no_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(yes);
  quick(fast);
  Block* yes_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  for (u32 c = 0; c < m.count; ++c) {
    auto* phi = b_.CreatePHI(v_.vec_type(m.bits), 2);
    phi->addIncoming(fast[c], yes_end);
    phi->addIncoming(slow[c], no_end);
    fast[c] = phi;
  }
  finish(fast);
}

void Memory::store_lanes(const MemRef& m, Value* root, LV& addr, std::span<const V> in) {
  const u32 bytes = m.bits / 8;
  std::vector<Value*> v;
  for (V x : in) v.push_back(v_.vec(x));
  auto scatter_all = [&] {
    for (u32 c = 0; c < m.count; ++c) scatter(m, root, addr, m.offset + i64{c} * bytes, v[c]);
  };
  const bool usable = addr.shape.pattern() && m.bits <= 64;
  const bool consecutive = usable && m.count == 1 && is_consecutive(addr.shape, bytes);
  if (!usable || (!consecutive && !plan_windows(addr.shape, bytes, m.count, 8 * m.count).ok)) {
    stores_.flush();
    if (m.count == 1 && m.bits == 32 && addr.shape.varying() && m.space != Space::Local)
      return store_rows(m, root, addr, v[0]);
    return scatter_all();
  }
  Value* condition = addr.guard;
  const bool aligned = [&] {
    for (u32 l = 0; l < kWarpSize; ++l)
      if ((m.offset + addr.shape.offset(l)) % bytes) return false;
    return true;
  }();
  if (m.space == Space::Shared && m.order == Order::Weak && s_.mask_full() && !condition && aligned && bytes >= 4)
    return stores_.defer(m, root, addr, v);
  if (!consecutive && !s_.mask_full()) {
    Value* full = b_.CreateICmpEQ(s_.mask(), b_.getInt32(kFullMask));
    condition = condition ? b_.CreateAnd(condition, full) : full;
  }
  stores_.flush();
  auto quick = [&] {
    Value* p = pointer_at(b_, root, addr.base, m.offset);
    if (!consecutive) {
      store_windows(m, p, addr.shape, v);
      return;
    }
    p = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(addr.shape.offset(0))));
    if (s_.mask_full())
      m_.of_space(m.space, b_.CreateAlignedStore(v[0], p, llvm::Align(bytes)));
    else
      m_.of_space(m.space, b_.CreateMaskedStore(v[0], p, llvm::Align(bytes), s_.mask_vec()));
  };
  if (!condition) return quick();
  auto* yes = Block::Create(c_, "st.pattern", s_.out);
  auto* no = Block::Create(c_, "st.scatter", s_.out);
  auto* join = Block::Create(c_, "st.done", s_.out);
  b_.CreateCondBr(condition, yes, no, llvm::MDBuilder(c_).createBranchWeights(64, 1));
  b_.SetInsertPoint(no);
  scatter_all();
  b_.CreateBr(join);
  b_.SetInsertPoint(yes);
  quick();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

void Memory::load(const MemRef& m, std::span<V> out) {
  reads_.note(m.space);
  if (moves_wide(m)) return load_wide(m, out);
  if (m.space != Space::Param && m.space != Space::Const) stores_.flush();
  u32 param_offset = 0;
  if (m.space == Space::Param && m.param.valid()) {
    if (Value* buf = params_.buffer(m.param, &param_offset)) {
      for (u32 c = 0; c < m.count; ++c)
        out[c] = params_.load(buf, param_offset + static_cast<u32>(m.offset) + c * m.bits / 8, m.bits);
      return;
    }
  }
  Value* root = nullptr;
  MemRef r = m;
  require_rights(m, false);
  LV addr = address(r, &root);
  tests_.require_bounds(m, addr, false);
  tests_.require_alignment(m, addr);
  fetch_ahead(m, addr);
  if (m.order != Order::Weak) compiler_fence();
  const Shape want = [&] {
    Shape a = addr.shape;
    return shape_load(m, m.addr ? &a : nullptr, s_.frame->lanes_apart());
  }();
  if (addr.shape.uniform()) {
    for (u32 c = 0; c < m.count; ++c) {
      auto* l =
          b_.CreateAlignedLoad(v_.int_type(m.bits), pointer_at(b_, root, addr.base, r.offset + i64{c} * m.bits / 8),
                               llvm::Align(std::max(1u, m.bits / 8)));
      m_.of_space(m.space, l);
      if (m.order != Order::Weak) l->setVolatile(true);
      if (m.space == Space::Param || m.space == Space::Const)
        l->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
      Shape s = want;
      s.bits = m.bits;
      s.hi = mask_bits(m.bits);
      if (s.uniform())
        out[c] = v_.make_uniform(l, uniform_shape(m.bits));
      else
        out[c] = v_.make_varying(b_.CreateVectorSplat(kWarpSize, l), m.bits);
    }
  } else {
    load_lanes(r, root, addr, out);
  }
  if (m.order != Order::Weak) compiler_fence();
}

void Memory::store(const MemRef& m, std::span<const V> in) {
  std::vector<V> data;
  for (V v : in) data.push_back(v_.canon(v));
  u32 param_offset = 0;
  if (m.space == Space::Param && m.param.valid()) {
    if (Value* buf = params_.buffer(m.param, &param_offset)) {
      for (u32 c = 0; c < m.count; ++c)
        params_.store(buf, param_offset + static_cast<u32>(m.offset) + c * m.bits / 8, data[c], m.bits,
                      params_.stored_in_parts(m.param));
      return;
    }
  }
  reads_.let_others_read(m.space);
  if (moves_wide(m)) return store_wide(m, data);
  Value* root = nullptr;
  if (m_.facts.asks) stores_.flush();
  require_rights(m, true);
  LV addr = address(m, &root);
  if (m.order != Order::Weak || !addr.shape.pattern() || m.space != Space::Shared) stores_.flush();
  tests_.require_alignment(m, addr);
  tests_.require_bounds(m, addr, true);
  if (m.order != Order::Weak) compiler_fence();
  if (addr.shape.uniform()) {  // all lanes write one place: the highest active lane wins
    Value* lane = nullptr;
    for (u32 c = 0; c < m.count; ++c) {
      LV& d = v_.at(data[c]);
      Value* x = d.base;
      if (!d.shape.uniform()) {
        if (!lane)
          lane = s_.mask_full() ? static_cast<Value*>(b_.getInt32(31))
                                : b_.CreateSub(b_.getInt32(31), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz,
                                                                                         s_.mask(), b_.getTrue()));
        x = b_.CreateExtractElement(v_.vec(d), lane);
      }
      auto* s = b_.CreateAlignedStore(x, pointer_at(b_, root, addr.base, m.offset + i64{c} * m.bits / 8),
                                      llvm::Align(std::max(1u, m.bits / 8)));
      m_.of_space(m.space, s);
      if (m.order != Order::Weak) s->setVolatile(true);
    }
  } else {
    store_lanes(m, root, addr, data);
  }
  if (m.order != Order::Weak) compiler_fence();
}

void Memory::fence(Order order, Scope scope) {
  compiler_fence();
  if (scope == Scope::Gpu || scope == Scope::Sys)
    b_.CreateFence(order == Order::SeqCst ? llvm::AtomicOrdering::SequentiallyConsistent
                                          : llvm::AtomicOrdering::AcquireRelease);
}

}  // namespace us::codegen
