// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics. The shape of the address picks the access:
//   uniform           one scalar access
//   consecutive       one (masked) vector access
//   known pattern     a few whole windows of 64 bytes and constant shuffles
//   anything else     gather / scatter
#include <algorithm>
#include <map>
#include <set>

#include <llvm/IR/InlineAsm.h>

#include "codegen/llvm/emitter.h"
#include "codegen/shape_builder.h"

namespace us::codegen {

using device::GridCtx;
using device::WarpCtx;
using isa::Space;

llvm::Value* Emitter::window_base() { return window_; }

void Emitter::compiler_fence() {
  flush_stores();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), false);
  b_.CreateCall(type, llvm::InlineAsm::get(type, "", "~{memory}", true));
}

// Lane address = root + address (32-bit addresses sign-extend; root may be null for plain 64-bit addresses).
LV Emitter::address(const MemRef& m, Value** root) {
  LV zero;
  zero.shape = constant_shape(64, 0);
  zero.base = b_.getInt64(0);
  *root = nullptr;
  switch (m.space) {
    case Space::Shared: case Space::SharedCluster: {
      *root = window_base();
      if (!m.addr) return zero;
      return at(resize(canon(m.addr), 32, false));
    }
    case Space::Param: {
      if (m.addr) return at(resize(canon(m.addr), 64, false));  // the address of a parameter is a host address
      *root = load_at(grid_, offsetof(GridCtx, params), b_.getPtrTy(), "params");
      return zero;
    }
    case Space::Local: {
      *root = load_at(ctx(), offsetof(WarpCtx, local), b_.getPtrTy(), "local");
      V a = m.addr ? resize(canon(m.addr), 64, false) : imm(64, 0);
      Value* stride = load_at(ctx0_, offsetof(WarpCtx, local_stride), b_.getInt64Ty(), "stride");
      V lanes = resize(lane_id(), 64, false);
      V start = make_varying(b_.CreateMul(vec(lanes), b_.CreateVectorSplat(kWarpSize, stride)), 64);
      return at(bin(Bin::Add, start, a));
    }
    default:
      return m.addr ? at(resize(canon(m.addr), 64, false)) : zero;
  }
}

static llvm::Value* pointer_at(llvm::IRBuilder<>& b, llvm::Value* root, llvm::Value* offset, i64 extra) {
  if (!root) {
    if (extra) offset = b.CreateAdd(offset, b.getInt64(static_cast<u64>(extra)));
    return b.CreateIntToPtr(offset, b.getPtrTy());
  }
  if (offset->getType()->getIntegerBitWidth() < 64) offset = b.CreateSExt(offset, b.getInt64Ty());
  llvm::Value* p = b.CreateGEP(b.getInt8Ty(), root, offset);
  return extra ? b.CreateGEP(b.getInt8Ty(), p, b.getInt64(static_cast<u64>(extra))) : p;
}

llvm::Value* Emitter::pointer_vector(Value* root, LV& addr) {
  Value* v = vec(addr);
  if (!root) return b_.CreateIntToPtr(v, llvm::FixedVectorType::get(b_.getPtrTy(), kWarpSize));
  return b_.CreateGEP(b_.getInt8Ty(), root, v);
}

llvm::Value* Emitter::gather(Value* root, LV& addr, i64 offset, u32 bits) {
  Value* ptrs = pointer_vector(root, addr);
  if (offset) ptrs = b_.CreateGEP(b_.getInt8Ty(), ptrs, b_.getInt64(static_cast<u64>(offset)));
  if (bits >= 32) return b_.CreateMaskedGather(vec_type(bits), ptrs, llvm::Align(bits / 8), mask_vec());
  // Narrow elements: gather the aligned word around each and shift.
  auto* i64v = vec_type(64);
  Value* a = b_.CreatePtrToInt(ptrs, i64v);
  Value* word = b_.CreateAnd(a, llvm::ConstantInt::get(i64v, ~u64{3}));
  Value* w = b_.CreateMaskedGather(vec_type(32), b_.CreateIntToPtr(word, ptrs->getType()), llvm::Align(4), mask_vec());
  Value* shift = b_.CreateShl(b_.CreateTrunc(b_.CreateAnd(a, llvm::ConstantInt::get(i64v, 3)), vec_type(32)), llvm::ConstantInt::get(vec_type(32), 3));
  return b_.CreateTrunc(b_.CreateLShr(w, shift), vec_type(bits));
}

template <class F> void Emitter::for_each_lane(F&& body) {
  Block* before = b_.GetInsertBlock();
  auto* loop = Block::Create(c_, "lanes", out_);
  auto* done = Block::Create(c_, "lanes.done", out_);
  Value* all = mask();
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

void Emitter::scatter(Value* root, LV& addr, i64 offset, Value* v) {
  const u32 bits = v->getType()->getScalarSizeInBits();
  Value* ptrs = pointer_vector(root, addr);
  if (offset) ptrs = b_.CreateGEP(b_.getInt8Ty(), ptrs, b_.getInt64(static_cast<u64>(offset)));
  if (bits >= 32) {
    b_.CreateMaskedScatter(v, ptrs, llvm::Align(bits / 8), mask_vec());
    return;
  }
  Value* where = new_alloca(ptrs->getType(), "scatter.p");
  Value* what = new_alloca(v->getType(), "scatter.v");
  b_.CreateStore(ptrs, where);
  b_.CreateStore(v, what);
  for_each_lane([&](Value* lane) {
    Value* p = b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), where, lane));
    Value* x = b_.CreateLoad(int_type(bits), b_.CreateGEP(int_type(bits), what, lane));
    b_.CreateAlignedStore(x, p, llvm::Align(bits / 8));
  });
}

namespace {

// The 64-byte windows that cover all elements of a pattern access.
struct Windows {
  struct Window { i64 start = 0; std::set<u32> elements; };
  std::vector<Window> list;
  u32 per_window = 0;  // elements
  bool ok = false;
};

// `aligned`: windows start at multiples of 64 from the base, so that neighbouring accesses share them.
Windows plan_windows(const Shape& s, u32 bytes, u32 count, u32 limit, i64 offset = 0, bool aligned = false) {
  Windows w;
  w.per_window = 64 / bytes;
  std::set<i64> at;
  for (u32 l = 0; l < kWarpSize; ++l)
    for (u32 c = 0; c < count; ++c) at.insert(offset + s.offset(l) + i64{c} * bytes);
  for (i64 o : at) {
    if (w.list.empty() || o - w.list.back().start >= 64) {
      if (w.list.size() == limit) return w;
      w.list.push_back({aligned && o % bytes == 0 ? o & ~i64{63} : o, {}});
    }
    const i64 d = o - w.list.back().start;
    if (d % bytes) return w;
    w.list.back().elements.insert(static_cast<u32>(d / bytes));
  }
  w.ok = true;
  return w;
}

bool is_consecutive(const Shape& s, u32 bytes) {
  for (u32 l = 0; l < kWarpSize; ++l)
    if (s.offset(l) != s.offset(0) + i64{l} * bytes) return false;
  return true;
}

}  // namespace

bool Emitter::load_windows(const MemRef& m, Value* base, const Shape& shape, std::vector<Value*>& out) {
  const u32 bytes = m.bits / 8;
  // Whole windows may be read where memory is known to go on: the window of a CTA.
  const bool whole = m.space == Space::Shared;
  const Windows w = plan_windows(shape, bytes, m.count, 9 * m.count, m.offset, whole);
  if (!w.ok) return false;
  auto* wide = llvm::FixedVectorType::get(int_type(m.bits), w.per_window);
  std::vector<Value*> data;
  for (const auto& win : w.list) {
    Value* p = b_.CreateGEP(b_.getInt8Ty(), base, b_.getInt64(static_cast<u64>(win.start)));
    if (win.elements.size() == 1) {
      Value* one = b_.CreateGEP(int_type(m.bits), p, b_.getInt64(*win.elements.begin()));
      Value* x = b_.CreateAlignedLoad(int_type(m.bits), one, llvm::Align(bytes));
      data.push_back(b_.CreateVectorSplat(w.per_window, x));
    } else if (whole || win.elements.size() == w.per_window) {
      data.push_back(b_.CreateAlignedLoad(wide, p, llvm::Align(bytes)));
    } else if (*win.elements.rbegin() + 1 == win.elements.size()) {  // a dense prefix
      auto* part = llvm::FixedVectorType::get(int_type(m.bits), static_cast<u32>(win.elements.size()));
      Value* x = b_.CreateAlignedLoad(part, p, llvm::Align(bytes));
      std::vector<int> idx(w.per_window, -1);
      for (u32 k = 0; k < win.elements.size(); ++k) idx[k] = static_cast<int>(k);
      data.push_back(b_.CreateShuffleVector(x, idx));
    } else {
      std::vector<llvm::Constant*> need;
      for (u32 k = 0; k < w.per_window; ++k) need.push_back(b_.getInt1(win.elements.count(k)));
      data.push_back(b_.CreateMaskedLoad(wide, p, llvm::Align(bytes), llvm::ConstantVector::get(need), llvm::PoisonValue::get(wide)));
    }
  }
  for (u32 c = 0; c < m.count; ++c) {
    Value* r = nullptr;
    for (std::size_t k = 0; k < w.list.size(); ++k) {
      std::vector<int> idx(kWarpSize, -1), blend(kWarpSize);
      bool any = false;
      for (u32 l = 0; l < kWarpSize; ++l) {
        const i64 d = m.offset + shape.offset(l) + i64{c} * bytes - w.list[k].start;
        blend[l] = static_cast<int>(l);
        if (d < 0 || d >= 64) continue;
        idx[l] = static_cast<int>(d / bytes);
        blend[l] = static_cast<int>(l + kWarpSize);
        any = true;
      }
      if (!any) continue;
      Value* t = b_.CreateShuffleVector(data[k], idx);
      r = r ? b_.CreateShuffleVector(r, t, blend) : t;
    }
    out[c] = r;
  }
  return true;
}

// Stores to shared memory with one base wait for their neighbours, so that interleaved stores fill whole windows.
void Emitter::defer_store(const MemRef& m, Value* root, LV& addr, const std::vector<Value*>& v) {
  PendingStores& p = stores_;
  if (p.base != addr.base || p.root != root || p.bits != m.bits || p.block != b_.GetInsertBlock()) flush_stores();
  p.base = addr.base;
  p.root = root;
  p.bits = m.bits;
  p.block = b_.GetInsertBlock();
  for (u32 l = 0; l < kWarpSize; ++l)
    for (u32 c = 0; c < m.count; ++c) p.elements[m.offset + addr.shape.offset(l) + i64{c} * m.bits / 8] = {v[c], l};
}

void Emitter::flush_stores() {
  PendingStores p = std::move(stores_);
  stores_ = PendingStores();
  if (p.elements.empty()) return;
  const u32 bytes = p.bits / 8, per_window = 64 / bytes;
  Value* base = pointer_at(b_, p.root, p.base, 0);
  for (auto it = p.elements.begin(); it != p.elements.end();) {
    const i64 start = it->first & ~i64{63};
    std::vector<std::pair<Value*, u32>> source(per_window, {nullptr, 0});
    u32 filled = 0;
    bool fits = true;
    auto end = it;
    for (; end != p.elements.end() && end->first < start + 64; ++end) {
      fits = fits && (end->first - start) % bytes == 0;
      source[static_cast<std::size_t>((end->first - start) / bytes)] = end->second;
      ++filled;
    }
    US_CHECK(fits);
    std::vector<Value*> values;
    for (auto& [v, lane] : source)
      if (v && std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
    Value* r = nullptr;
    for (Value* v : values) {
      std::vector<int> idx(per_window, -1), blend(per_window);
      for (u32 k = 0; k < per_window; ++k) {
        blend[k] = static_cast<int>(k);
        if (source[k].first != v) continue;
        idx[k] = static_cast<int>(source[k].second);
        blend[k] = static_cast<int>(k + per_window);
      }
      Value* t = b_.CreateShuffleVector(v, idx);
      r = r ? b_.CreateShuffleVector(r, t, blend) : t;
    }
    Value* at = b_.CreateGEP(b_.getInt8Ty(), base, b_.getInt64(static_cast<u64>(start)));
    if (filled == per_window) {
      b_.CreateAlignedStore(r, at, llvm::Align(bytes));
    } else {
      std::vector<llvm::Constant*> which;
      for (auto& [v, lane] : source) which.push_back(b_.getInt1(v != nullptr));
      b_.CreateMaskedStore(r, at, llvm::Align(bytes), llvm::ConstantVector::get(which));
    }
    it = end;
  }
}

bool Emitter::store_windows(const MemRef& m, Value* base, const Shape& shape, std::vector<Value*>& in) {
  const u32 bytes = m.bits / 8;
  const Windows w = plan_windows(shape, bytes, m.count, 8 * m.count);
  if (!w.ok) return false;
  for (const auto& win : w.list) {
    Value* r = nullptr;
    std::vector<int> lane_of_element(w.per_window, -1), comp_of_element(w.per_window, -1);
    for (u32 l = 0; l < kWarpSize; ++l)  // lanes that write the same place: the highest wins
      for (u32 c = 0; c < m.count; ++c) {
        const i64 d = shape.offset(l) + i64{c} * bytes - win.start;
        if (d < 0 || d >= 64) continue;
        lane_of_element[static_cast<std::size_t>(d / bytes)] = static_cast<int>(l);
        comp_of_element[static_cast<std::size_t>(d / bytes)] = static_cast<int>(c);
      }
    for (u32 c = 0; c < m.count; ++c) {
      std::vector<int> idx(w.per_window, -1), blend(w.per_window);
      bool any = false;
      for (u32 k = 0; k < w.per_window; ++k) {
        blend[k] = static_cast<int>(k);
        if (comp_of_element[k] != static_cast<int>(c)) continue;
        idx[k] = lane_of_element[k];
        blend[k] = static_cast<int>(k + w.per_window);
        any = true;
      }
      if (!any) continue;
      Value* t = b_.CreateShuffleVector(in[c], idx);
      r = r ? b_.CreateShuffleVector(r, t, blend) : t;
    }
    Value* p = b_.CreateGEP(b_.getInt8Ty(), base, b_.getInt64(static_cast<u64>(win.start)));
    if (win.elements.size() == w.per_window) {
      b_.CreateAlignedStore(r, p, llvm::Align(bytes));
    } else {
      std::vector<llvm::Constant*> which;
      for (u32 k = 0; k < w.per_window; ++k) which.push_back(b_.getInt1(win.elements.count(k)));
      b_.CreateMaskedStore(r, p, llvm::Align(bytes), llvm::ConstantVector::get(which));
    }
  }
  return true;
}

// Rows of a two-dimensional index: both half-warps read consecutive words, though the compiler cannot know. Returns the i1
// that says so and the two row pointers.
llvm::Value* Emitter::rows_test(const MemRef& m, Value* root, LV& addr, Value** low, Value** high) {
  Value* a = vec(addr);
  const u32 bits = a->getType()->getScalarSizeInBits();
  std::vector<llvm::Constant*> steps;
  std::vector<int> firsts;
  for (u32 l = 0; l < kWarpSize; ++l) {
    steps.push_back(llvm::ConstantInt::get(int_type(bits), (l % 16) * 4));
    firsts.push_back(l < 16 ? 0 : 16);
  }
  Value* start = b_.CreateSub(a, llvm::ConstantVector::get(steps));
  Value* same = b_.CreateBitCast(b_.CreateICmpEQ(start, b_.CreateShuffleVector(start, firsts)), b_.getInt32Ty());
  if (!mask_full_) same = b_.CreateOr(same, b_.CreateNot(mask()));
  *low = pointer_at(b_, root, b_.CreateExtractElement(a, u64{0}), m.offset);
  *high = pointer_at(b_, root, b_.CreateExtractElement(a, u64{16}), m.offset);
  return b_.CreateICmpEQ(same, b_.getInt32(kFullMask));
}

llvm::Value* Emitter::half_mask(bool high) {
  Value* m = b_.CreateTrunc(high ? b_.CreateLShr(mask(), 16) : mask(), b_.getInt16Ty());
  return b_.CreateBitCast(m, llvm::FixedVectorType::get(b_.getInt1Ty(), 16));
}

llvm::Value* Emitter::load_rows(const MemRef& m, Value* root, LV& addr) {
  Value *low = nullptr, *high = nullptr;
  Value* rows = rows_test(m, root, addr, &low, &high);
  auto* yes = Block::Create(c_, "ld.rows", out_);
  auto* no = Block::Create(c_, "ld.gather", out_);
  auto* join = Block::Create(c_, "ld.done", out_);
  b_.CreateCondBr(rows, yes, no);
  b_.SetInsertPoint(no);
  Value* slow = gather(root, addr, m.offset, m.bits);
  Block* no_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(yes);
  auto* row = llvm::FixedVectorType::get(b_.getInt32Ty(), 16);
  auto half = [&](Value* p, bool is_high) -> Value* {
    if (mask_full_) return b_.CreateAlignedLoad(row, p, llvm::Align(4));
    return b_.CreateMaskedLoad(row, p, llvm::Align(4), half_mask(is_high), llvm::PoisonValue::get(row));
  };
  std::vector<int> both;
  for (int l = 0; l < 32; ++l) both.push_back(l);
  Value* lo = half(low, false);
  Value* fast = b_.CreateShuffleVector(lo, half(high, true), both);
  Block* yes_end = b_.GetInsertBlock();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  auto* phi = b_.CreatePHI(vec_type(32), 2);
  phi->addIncoming(fast, yes_end);
  phi->addIncoming(slow, no_end);
  return phi;
}

void Emitter::store_rows(const MemRef& m, Value* root, LV& addr, Value* v) {
  Value *low = nullptr, *high = nullptr;
  Value* rows = rows_test(m, root, addr, &low, &high);
  auto* yes = Block::Create(c_, "st.rows", out_);
  auto* no = Block::Create(c_, "st.scatter", out_);
  auto* join = Block::Create(c_, "st.done", out_);
  b_.CreateCondBr(rows, yes, no);
  b_.SetInsertPoint(no);
  scatter(root, addr, m.offset, v);
  b_.CreateBr(join);
  b_.SetInsertPoint(yes);
  auto half = [&](Value* p, bool is_high) {
    std::vector<int> which;
    for (int l = 0; l < 16; ++l) which.push_back(l + (is_high ? 16 : 0));
    Value* x = b_.CreateShuffleVector(v, which);
    if (mask_full_) b_.CreateAlignedStore(x, p, llvm::Align(4));
    else b_.CreateMaskedStore(x, p, llvm::Align(4), half_mask(is_high));
  };
  half(low, false);
  half(high, true);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

void Emitter::load_lanes(const MemRef& m, Value* root, LV& addr, std::span<V> out) {
  const u32 bytes = m.bits / 8;
  std::vector<Value*> slow(m.count), fast(m.count);
  auto gather_all = [&](std::vector<Value*>& r) {
    for (u32 c = 0; c < m.count; ++c) r[c] = gather(root, addr, m.offset + i64{c} * bytes, m.bits);
  };
  auto finish = [&](std::vector<Value*>& r) {
    for (u32 c = 0; c < m.count; ++c) out[c] = make_varying(r[c], m.bits);
  };
  const bool usable = addr.shape.pattern() && m.bits <= 64;
  const bool consecutive = usable && m.count == 1 && is_consecutive(addr.shape, bytes);
  if (!usable || (!consecutive && !plan_windows(addr.shape, bytes, m.count, 8 * m.count).ok)) {
    if (m.count == 1 && m.bits == 32 && addr.shape.varying() && m.space != Space::Local) {
      slow[0] = load_rows(m, root, addr);
      return finish(slow);
    }
    gather_all(slow);
    return finish(slow);
  }
  Value* condition = addr.guard;
  if (!consecutive && !mask_full_) {
    Value* full = b_.CreateICmpEQ(mask(), b_.getInt32(kFullMask));
    condition = condition ? b_.CreateAnd(condition, full) : full;
  }
  auto quick = [&](std::vector<Value*>& r) {
    if (!consecutive) {
      load_windows(m, pointer_at(b_, root, addr.base, 0), addr.shape, r);
      return;
    }
    Value* p = pointer_at(b_, root, addr.base, m.offset);
    p = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(addr.shape.offset(0))));
    r[0] = mask_full_ ? static_cast<Value*>(b_.CreateAlignedLoad(vec_type(m.bits), p, llvm::Align(bytes)))
                      : b_.CreateMaskedLoad(vec_type(m.bits), p, llvm::Align(bytes), mask_vec(), llvm::PoisonValue::get(vec_type(m.bits)));
  };
  if (!condition) {
    quick(fast);
    return finish(fast);
  }
  auto* yes = Block::Create(c_, "ld.pattern", out_);
  auto* no = Block::Create(c_, "ld.gather", out_);
  auto* join = Block::Create(c_, "ld.done", out_);
  b_.CreateCondBr(condition, yes, no);
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
    auto* phi = b_.CreatePHI(vec_type(m.bits), 2);
    phi->addIncoming(fast[c], yes_end);
    phi->addIncoming(slow[c], no_end);
    fast[c] = phi;
  }
  finish(fast);
}

void Emitter::store_lanes(const MemRef& m, Value* root, LV& addr, std::span<const V> in) {
  const u32 bytes = m.bits / 8;
  std::vector<Value*> v;
  for (V x : in) v.push_back(vec(x));
  auto scatter_all = [&] {
    for (u32 c = 0; c < m.count; ++c) scatter(root, addr, m.offset + i64{c} * bytes, v[c]);
  };
  const bool usable = addr.shape.pattern() && m.bits <= 64;
  const bool consecutive = usable && m.count == 1 && is_consecutive(addr.shape, bytes);
  if (!usable || (!consecutive && !plan_windows(addr.shape, bytes, m.count, 8 * m.count).ok)) {
    flush_stores();
    if (m.count == 1 && m.bits == 32 && addr.shape.varying() && m.space != Space::Local) return store_rows(m, root, addr, v[0]);
    return scatter_all();
  }
  Value* condition = addr.guard;
  const bool aligned = [&] {
    for (u32 l = 0; l < kWarpSize; ++l)
      if ((m.offset + addr.shape.offset(l)) % bytes) return false;
    return true;
  }();
  if (m.space == Space::Shared && m.order == Order::Weak && mask_full_ && !condition && aligned && bytes >= 4) return defer_store(m, root, addr, v);
  if (!consecutive && !mask_full_) {
    Value* full = b_.CreateICmpEQ(mask(), b_.getInt32(kFullMask));
    condition = condition ? b_.CreateAnd(condition, full) : full;
  }
  flush_stores();
  auto quick = [&] {
    Value* p = pointer_at(b_, root, addr.base, m.offset);
    if (!consecutive) {
      store_windows(m, p, addr.shape, v);
      return;
    }
    p = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(addr.shape.offset(0))));
    if (mask_full_) b_.CreateAlignedStore(v[0], p, llvm::Align(bytes));
    else b_.CreateMaskedStore(v[0], p, llvm::Align(bytes), mask_vec());
  };
  if (!condition) return quick();
  auto* yes = Block::Create(c_, "st.pattern", out_);
  auto* no = Block::Create(c_, "st.scatter", out_);
  auto* join = Block::Create(c_, "st.done", out_);
  b_.CreateCondBr(condition, yes, no);
  b_.SetInsertPoint(no);
  scatter_all();
  b_.CreateBr(join);
  b_.SetInsertPoint(yes);
  quick();
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

void Emitter::load(const MemRef& m, std::span<V> out) {
  if (m.space != Space::Param && m.space != Space::Const) flush_stores();
  u32 param_offset = 0;
  if (m.space == Space::Param && m.param.valid()) {
    if (Value* buf = param_buffer(m.param, &param_offset)) {
      for (u32 c = 0; c < m.count; ++c) out[c] = load_param(buf, param_offset + static_cast<u32>(m.offset) + c * m.bits / 8, m.bits);
      return;
    }
  }
  Value* root = nullptr;
  MemRef r = m;
  LV addr = address(r, &root);
  if (m.order != Order::Weak) compiler_fence();
  const Shape want = [&] {
    Shape a = addr.shape;
    return shape_load(m, m.addr ? &a : nullptr, a_.its);
  }();
  if (addr.shape.uniform()) {
    for (u32 c = 0; c < m.count; ++c) {
      auto* l = b_.CreateAlignedLoad(int_type(m.bits), pointer_at(b_, root, addr.base, r.offset + i64{c} * m.bits / 8), llvm::Align(std::max(1u, m.bits / 8)));
      if (m.order != Order::Weak) l->setVolatile(true);
      if (m.space == Space::Param || m.space == Space::Const) l->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(c_, {}));
      Shape s = want;
      s.bits = m.bits;
      s.hi = mask_bits(m.bits);
      if (s.uniform()) out[c] = make_uniform(l, uniform_shape(m.bits));
      else out[c] = make_varying(b_.CreateVectorSplat(kWarpSize, l), m.bits);
    }
  } else {
    load_lanes(r, root, addr, out);
  }
  if (m.order != Order::Weak) compiler_fence();
}

void Emitter::store(const MemRef& m, std::span<const V> in) {
  std::vector<V> data;
  for (V v : in) data.push_back(canon(v));
  u32 param_offset = 0;
  if (m.space == Space::Param && m.param.valid()) {
    if (Value* buf = param_buffer(m.param, &param_offset)) {
      for (u32 c = 0; c < m.count; ++c) store_param(buf, param_offset + static_cast<u32>(m.offset) + c * m.bits / 8, data[c], m.bits);
      return;
    }
  }
  Value* root = nullptr;
  LV addr = address(m, &root);
  if (m.order != Order::Weak || !addr.shape.pattern() || m.space != Space::Shared) flush_stores();
  if (m.order != Order::Weak) compiler_fence();
  if (addr.shape.uniform()) {  // all lanes write one place: the highest active lane wins
    Value* lane = nullptr;
    for (u32 c = 0; c < m.count; ++c) {
      LV& d = at(data[c]);
      Value* x = d.base;
      if (!d.shape.uniform()) {
        if (!lane) lane = mask_full_ ? static_cast<Value*>(b_.getInt32(31)) : b_.CreateSub(b_.getInt32(31), b_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, mask(), b_.getTrue()));
        x = b_.CreateExtractElement(vec(d), lane);
      }
      auto* s = b_.CreateAlignedStore(x, pointer_at(b_, root, addr.base, m.offset + i64{c} * m.bits / 8), llvm::Align(std::max(1u, m.bits / 8)));
      if (m.order != Order::Weak) s->setVolatile(true);
    }
  } else {
    store_lanes(m, root, addr, data);
  }
  if (m.order != Order::Weak) compiler_fence();
}

// --- atomics ---

llvm::Value* Emitter::atomic_scalar(AtomOp op, isa::Type type, Value* ptr, Value* x, Value* y, bool exclusive, Order order) {
  (void)order;
  const u32 bits = isa::bits_of(type);
  const bool sign = isa::is_signed(type);
  llvm::Type* t = int_type(bits);
  const bool is_float = op == AtomOp::FAdd || op == AtomOp::FMin || op == AtomOp::FMax;
  const FT ft = bits == 64 ? FT::F64 : FT::F32;
  const llvm::Align align(bits / 8);
  // Global memory adds f32 with subnormals flushed to zero, shared memory does not (the ISA on atom.add.f32).
  auto flushed = [&](Value* v) -> Value* {
    Value* f = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, to_float(v, FT::F32));
    Value* tiny = b_.CreateFCmpOLT(f, llvm::ConstantFP::get(f->getType(), 0x1p-126));
    return b_.CreateSelect(tiny, b_.CreateAnd(v, llvm::ConstantInt::get(v->getType(), 0x80000000u)), v);
  };
  auto half_op = [&](Value* old, Value* with, FT h) -> Value* {
    if (op == AtomOp::FAdd) return narrow_half(b_.CreateFAdd(widen_half(old, h), widen_half(with, h)), h);
    return min_max(op == AtomOp::FMin, h, old, with);
  };
  auto halves = [&](Value* old, Value* with) -> Value* {
    const FT h = type == isa::Type::bf16 || type == isa::Type::bf16x2 ? FT::BF16 : FT::F16;
    if (bits == 16) return half_op(old, with, h);
    auto part = [&](Value* v, u64 k) { return b_.CreateTrunc(b_.CreateLShr(v, 16 * k), b_.getInt16Ty()); };
    Value* low = b_.CreateZExt(half_op(part(old, 0), part(with, 0), h), t);
    return b_.CreateOr(low, b_.CreateShl(b_.CreateZExt(half_op(part(old, 1), part(with, 1), h), t), 16));
  };
  const bool of_halves = is_float && (bits < 32 || isa::class_of(type) == isa::TypeClass::Packed);
  auto compute = [&](Value* old) -> Value* {
    if (of_halves) return halves(old, x);
    switch (op) {
      case AtomOp::Add: return b_.CreateAdd(old, x);
      case AtomOp::And: return b_.CreateAnd(old, x);
      case AtomOp::Or: return b_.CreateOr(old, x);
      case AtomOp::Xor: return b_.CreateXor(old, x);
      case AtomOp::Min: return b_.CreateBinaryIntrinsic(sign ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, old, x);
      case AtomOp::Max: return b_.CreateBinaryIntrinsic(sign ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, old, x);
      case AtomOp::Inc: return b_.CreateSelect(b_.CreateICmpUGE(old, x), llvm::ConstantInt::get(t, 0), b_.CreateAdd(old, llvm::ConstantInt::get(t, 1)));
      case AtomOp::Dec: return b_.CreateSelect(b_.CreateOr(b_.CreateICmpEQ(old, llvm::ConstantInt::get(t, 0)), b_.CreateICmpUGT(old, x)), x, b_.CreateSub(old, llvm::ConstantInt::get(t, 1)));
      case AtomOp::Exch: return x;
      case AtomOp::Cas: return b_.CreateSelect(b_.CreateICmpEQ(old, x), y, old);
      case AtomOp::FAdd: {
        LV s;
        s.shape = uniform_shape(bits);
        s.shape.nan = bits == 64 ? Shape::Nan::F64 : Shape::Nan::F32;
        const bool ftz = bits == 32 && !exclusive;
        s.base = to_int(b_.CreateFAdd(to_float(ftz ? flushed(old) : old, ft), to_float(ftz ? flushed(x) : x, ft)));
        s.base = canon(s).base;
        return ftz ? flushed(s.base) : s.base;
      }
      case AtomOp::FMin: return min_max(true, ft, old, x);
      case AtomOp::FMax: return min_max(false, ft, old, x);
    }
    US_UNREACHABLE();
  };
  if (exclusive) {  // shared memory: one worker owns the CTA
    Value* old = b_.CreateAlignedLoad(t, ptr, align);
    b_.CreateAlignedStore(compute(old), ptr, align);
    return old;
  }
  using RMW = llvm::AtomicRMWInst;
  const auto sc = llvm::AtomicOrdering::SequentiallyConsistent;
  if (op == AtomOp::Cas)
    return b_.CreateExtractValue(b_.CreateAtomicCmpXchg(ptr, x, y, align, sc, sc), 0);
  std::optional<RMW::BinOp> direct;
  switch (op) {
    case AtomOp::Add: direct = RMW::Add; break;
    case AtomOp::And: direct = RMW::And; break;
    case AtomOp::Or: direct = RMW::Or; break;
    case AtomOp::Xor: direct = RMW::Xor; break;
    case AtomOp::Exch: direct = RMW::Xchg; break;
    case AtomOp::Min: direct = sign ? RMW::Min : RMW::UMin; break;
    case AtomOp::Max: direct = sign ? RMW::Max : RMW::UMax; break;
    default: break;
  }
  if (direct) return b_.CreateAtomicRMW(*direct, ptr, x, align, sc);
  // Compare-and-swap loop.
  Block* before = b_.GetInsertBlock();
  auto* loop = Block::Create(c_, "cas", out_);
  auto* done = Block::Create(c_, "cas.done", out_);
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

V Emitter::atomic(AtomOp op, isa::Type type, const MemRef& m, V vx, V vy, bool result_used) {
  flush_stores();
  const u32 bits = isa::bits_of(type);
  Value* root = nullptr;
  LV addr = address(m, &root);
  const bool exclusive = m.space == Space::Shared || m.space == Space::SharedCluster;
  vx = canon(vx);
  if (vy) vy = canon(vy);
  compiler_fence();
  if (addr.shape.uniform() && !result_used) {
    std::optional<llvm::Intrinsic::ID> reduce;
    u64 neutral = 0;
    const u64 all = mask_bits(bits);
    switch (op) {
      case AtomOp::Add: reduce = llvm::Intrinsic::vector_reduce_add; break;
      case AtomOp::Or: reduce = llvm::Intrinsic::vector_reduce_or; break;
      case AtomOp::Xor: reduce = llvm::Intrinsic::vector_reduce_xor; break;
      case AtomOp::And: reduce = llvm::Intrinsic::vector_reduce_and; neutral = all; break;
      case AtomOp::Min: reduce = isa::is_signed(type) ? llvm::Intrinsic::vector_reduce_smin : llvm::Intrinsic::vector_reduce_umin; neutral = isa::is_signed(type) ? all >> 1 : all; break;
      case AtomOp::Max: reduce = isa::is_signed(type) ? llvm::Intrinsic::vector_reduce_smax : llvm::Intrinsic::vector_reduce_umax; neutral = isa::is_signed(type) ? (all >> 1) + 1 : 0; break;
      default: break;
    }
    if (reduce) {  // exact in any order: one update for the warp
      Value* x = vec(vx);
      if (!mask_full_) x = b_.CreateSelect(mask_vec(), x, llvm::ConstantInt::get(vec_type(bits), neutral));
      Value* sum = b_.CreateUnaryIntrinsic(*reduce, x);
      atomic_scalar(op, type, pointer_at(b_, root, addr.base, m.offset), sum, nullptr, exclusive, m.order);
      compiler_fence();
      return imm(bits, 0);
    }
  }
  Value* ptrs = pointer_vector(root, addr);
  Value* where = new_alloca(ptrs->getType(), "atom.p");
  b_.CreateStore(ptrs, where);
  auto spill = [&](V v) -> Value* {
    if (!v) return nullptr;
    if (at(v).shape.uniform()) return nullptr;
    Value* slot = new_alloca(vec_type(bits), "atom.v");
    b_.CreateStore(vec(v), slot);
    return slot;
  };
  Value* sx = spill(vx);
  Value* sy = spill(vy);
  Value* results = result_used ? new_alloca(vec_type(bits), "atom.r") : nullptr;
  for_each_lane([&](Value* lane) {
    Value* p = b_.CreateLoad(b_.getPtrTy(), b_.CreateGEP(b_.getPtrTy(), where, lane));
    if (m.offset) p = b_.CreateGEP(b_.getInt8Ty(), p, b_.getInt64(static_cast<u64>(m.offset)));
    auto pick = [&](V v, Value* slot) -> Value* {
      if (!v) return nullptr;
      return slot ? static_cast<Value*>(b_.CreateLoad(int_type(bits), b_.CreateGEP(int_type(bits), slot, lane))) : at(v).base;
    };
    Value* old = atomic_scalar(op, type, p, pick(vx, sx), pick(vy, sy), exclusive, m.order);
    if (results) b_.CreateStore(old, b_.CreateGEP(int_type(bits), results, lane));
  });
  compiler_fence();
  if (!results) return imm(bits, 0);
  return make_varying(b_.CreateLoad(vec_type(bits), results), bits);
}

void Emitter::fence(Order order, Scope scope) {
  compiler_fence();
  if (scope == Scope::Gpu || scope == Scope::Sys)
    b_.CreateFence(order == Order::SeqCst ? llvm::AtomicOrdering::SequentiallyConsistent : llvm::AtomicOrdering::AcquireRelease);
}

// --- addresses ---

V Emitter::symbol_address(ir::SymId id, i64 offset) {
  const ir::Symbol& s = m_.ir.symbols[id.v];
  switch (s.space) {
    case Space::Shared: {
      if (m_.facts.cluster_one) return imm(64, s.offset + static_cast<u64>(offset));
      Value* base = b_.CreateZExt(load_at(ctx0_, offsetof(WarpCtx, shared_base), b_.getInt32Ty(), "shared"), b_.getInt64Ty());
      return make_uniform(b_.CreateAdd(base, b_.getInt64(s.offset + static_cast<u64>(offset))), uniform_shape(64));
    }
    case Space::Local: {
      Value* base = local_base_ ? b_.CreateZExt(b_.CreateLoad(b_.getInt32Ty(), local_base_), b_.getInt64Ty()) : static_cast<Value*>(b_.getInt64(0));
      return make_uniform(b_.CreateAdd(base, b_.getInt64(s.offset + static_cast<u64>(offset))), uniform_shape(64));
    }
    case Space::Param: {
      u32 at_byte = 0;
      for (const ir::Param& p : f_.params)
        if (p.sym == id) at_byte = p.offset;
      Value* params = b_.CreatePtrToInt(load_at(grid_, offsetof(GridCtx, params), b_.getPtrTy(), "params"), b_.getInt64Ty());
      return make_uniform(b_.CreateAdd(params, b_.getInt64(at_byte + static_cast<u64>(offset))), uniform_shape(64));
    }
    default: {
      Value* table = load_at(grid_, offsetof(GridCtx, symbols), b_.getPtrTy(), "symbols");
      Value* a = load_at(table, std::size_t{id.v} * 8, b_.getInt64Ty(), "symbol");
      return make_uniform(offset ? b_.CreateAdd(a, b_.getInt64(static_cast<u64>(offset))) : a, uniform_shape(64));
    }
  }
}

V Emitter::to_generic(Space s, V a) {
  a = resize(canon(a), 64, false);
  if (s == Space::Shared || s == Space::SharedCluster) {
    Value* w = b_.CreatePtrToInt(window_base(), b_.getInt64Ty());
    return bin(Bin::Add, a, make_uniform(w, uniform_shape(64)));
  }
  if (s == Space::Local) {
    Value* base = b_.CreatePtrToInt(load_at(ctx(), offsetof(WarpCtx, local), b_.getPtrTy(), "local"), b_.getInt64Ty());
    Value* stride = load_at(ctx0_, offsetof(WarpCtx, local_stride), b_.getInt64Ty(), "stride");
    V lanes = resize(lane_id(), 64, false);
    V start = make_varying(b_.CreateAdd(b_.CreateMul(vec(lanes), b_.CreateVectorSplat(kWarpSize, stride)), b_.CreateVectorSplat(kWarpSize, base)), 64);
    return bin(Bin::Add, start, a);
  }
  return bin(Bin::Add, a, imm(64, 0));
}

V Emitter::from_generic(Space s, V a) {
  a = canon(a);
  V start;
  if (s == Space::Shared || s == Space::SharedCluster) start = make_uniform(b_.CreatePtrToInt(window_base(), b_.getInt64Ty()), uniform_shape(64));
  else if (s == Space::Local) start = to_generic(Space::Local, imm(64, 0));
  else return bin(Bin::Add, a, imm(64, 0));
  return bin(Bin::Sub, a, start);
}

// Windows are known ranges; whatever is in none of them is global.
V Emitter::in_space(Space s, V a) {
  a = canon(a);
  auto inside = [&](Value* start, u64 bytes) {
    V d = bin(Bin::Sub, a, make_uniform(start, uniform_shape(64)));
    return icmp(ICmp::ULt, d, imm(64, bytes));
  };
  auto shared_start = [&](bool own) {
    Value* w = b_.CreatePtrToInt(window_base(), b_.getInt64Ty());
    if (!own) return w;
    return b_.CreateAdd(w, b_.CreateZExt(load_at(ctx0_, offsetof(WarpCtx, shared_base), b_.getInt32Ty(), "shared"), b_.getInt64Ty()));
  };
  auto local = [&] {
    Value* start = b_.CreatePtrToInt(load_at(ctx(), offsetof(WarpCtx, local), b_.getPtrTy(), "local"), b_.getInt64Ty());
    Value* stride = load_at(ctx0_, offsetof(WarpCtx, local_stride), b_.getInt64Ty(), "stride");
    V d = bin(Bin::Sub, a, make_uniform(start, uniform_shape(64)));
    V size = make_uniform(b_.CreateMul(stride, b_.getInt64(kWarpSize)), uniform_shape(64));
    return icmp(ICmp::ULt, d, size);
  };
  auto params = [&] {
    Value* start = b_.CreatePtrToInt(load_at(grid_, offsetof(GridCtx, params), b_.getPtrTy(), "params"), b_.getInt64Ty());
    return inside(start, 4096);
  };
  switch (s) {
    case Space::Shared: return inside(shared_start(true), device::kCtaSharedStride);
    case Space::SharedCluster: return inside(shared_start(false), 16 * device::kCtaSharedStride);
    case Space::Local: return local();
    case Space::Param: return params();
    case Space::Const: {
      Value* start = b_.CreatePtrToInt(load_at(grid_, offsetof(GridCtx, const_bank), b_.getPtrTy(), "const"), b_.getInt64Ty());
      return inside(start, 65536);
    }
    default: {
      Value* bank = b_.CreatePtrToInt(load_at(grid_, offsetof(GridCtx, const_bank), b_.getPtrTy(), "const"), b_.getInt64Ty());
      V other = bin(Bin::Or, inside(shared_start(false), 16 * device::kCtaSharedStride), local());
      other = bin(Bin::Or, other, inside(bank, 65536));
      return un(Un::Not, other);
    }
  }
}

}  // namespace us::codegen
